"""Features known by 64-bit numbers: places for those that matter, buckets for the sums of all others.

A place is found by open addressing: `table` holds places, `ids` the feature of each place (-1: free). Every other
feature adds to one bucket by its hash: `sums` holds sums of slopes, with a sign by the same hash, `squares` those of
squares. The two belong together: a bucket shared by features that say nothing has a sum as large as the root of its
squares lets one expect, so sharing alone makes no feature stand out.
"""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.prefetch import prefetch
from riata.kernels.rows import CsrRows

NOWHERE = np.int64(-1)
ROOMY, LARGEST_ROOMY = 16, 1 << 12  # slots for each of a few numbers, and in all: one look at an empty one tells
GOLDEN, LOW = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFFFFFFFF)
MIX1, MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class Places(NamedTuple):
    """Places for features, all of which change."""

    ids: np.ndarray  # the feature of each place
    waiting: np.ndarray  # whether that feature has yet to move in
    table: np.ndarray  # finds the place of a feature
    free: np.ndarray  # the free places, and last how many there are


@compiled(inline="always")
def mixed(number: int) -> np.uint64:
    """64 bits, each of which depends on every bit of the number (splitmix64)."""
    h = np.uint64(number) + GOLDEN
    h = (h ^ (h >> np.uint64(30))) * MIX1
    h = (h ^ (h >> np.uint64(27))) * MIX2
    return h ^ (h >> np.uint64(31))


@compiled(inline="always")
def bucket(number: int, n_buckets: int) -> tuple[np.int64, float]:
    """(bucket, sign) of a feature."""
    h = mixed(number)
    return np.int64(((h & LOW) * np.uint64(n_buckets)) >> np.uint64(32)), 1.0 if h >> np.uint64(63) else -1.0


@compiled(inline="always")
def first_slot(number: int, table: np.ndarray) -> np.int64:
    """Where the search for a feature begins."""
    return np.int64((mixed(number) >> np.uint64(31)) & np.uint64(table.shape[0] - 1))


@compiled()
def find(number: int, ids: np.ndarray, table: np.ndarray) -> np.int64:
    """The place of a feature, or NOWHERE."""
    mask = table.shape[0] - 1
    at = first_slot(number, table)
    while table[at] != NOWHERE:
        if ids[table[at]] == number:
            return table[at]
        at = (at + 1) & mask
    return NOWHERE


@compiled()
def enter(place: int, ids: np.ndarray, table: np.ndarray) -> None:
    """Make the feature of a place known to the table."""
    mask = table.shape[0] - 1
    at = first_slot(ids[place], table)
    while table[at] != NOWHERE:
        at = (at + 1) & mask
    table[at] = place


@compiled()
def take_place(number: int, ids: np.ndarray, table: np.ndarray, free: np.ndarray) -> np.int64:
    """A free place for a feature, or NOWHERE. `free` holds the free places, its last entry how many there are."""
    last = free.shape[0] - 1
    if free[last] == 0:
        return NOWHERE
    free[last] -= 1
    place = free[free[last]]
    ids[place] = number
    enter(place, ids, table)
    return place


@compiled()
def split_rows(
    rows: CsrRows,
    visits: np.ndarray,
    first_come: bool,
    places: Places,
    inside: tuple[np.ndarray, np.ndarray, np.ndarray],
    outside: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Part the entries of some rows into those of features with a place and all others.

    Fills `inside` = (indptr, places, values) and `outside` = (indptr, numbers, values). With `first_come` a new
    feature takes a place at once, while there are any. One that waits for its place is outside.
    """
    indptr, numbers, values, _ = rows
    ids, waiting, table, free = places
    in_ptr, in_places, in_values = inside
    out_ptr, out_numbers, out_values = outside
    n_in = n_out = 0
    in_ptr[0] = out_ptr[0] = 0
    for r in range(visits.shape[0]):
        if r + 2 < visits.shape[0]:  # what the next rows need is brought near: first the slots, then what they point to
            for p in range(indptr[visits[r + 2]], indptr[visits[r + 2] + 1]):
                prefetch(table, first_slot(numbers[p], table))
            for p in range(indptr[visits[r + 1]], indptr[visits[r + 1] + 1]):
                place = np.int64(table[first_slot(numbers[p], table)])
                if place != NOWHERE:
                    prefetch(ids, place)
                    prefetch(waiting, place)
        for p in range(indptr[visits[r]], indptr[visits[r] + 1]):
            place = find(numbers[p], ids, table)
            if place == NOWHERE and first_come:
                place = take_place(numbers[p], ids, table, free)
            if place != NOWHERE and not waiting[place]:
                in_places[n_in], in_values[n_in] = place, values[p]
                n_in += 1
            else:
                out_numbers[n_out], out_values[n_out] = numbers[p], values[p]
                n_out += 1
        in_ptr[r + 1], out_ptr[r + 1] = n_in, n_out


@compiled()
def count_outside(
    outside: tuple[np.ndarray, np.ndarray, np.ndarray],
    slopes: np.ndarray,
    weights: np.ndarray,
    bar: float,
    sums: np.ndarray,
    squares: np.ndarray,
    places: Places,
) -> None:
    """Count rows of features without a place into their buckets; one whose sum^2 / squares passes the bar gets to wait
    in a free place."""
    indptr, numbers, values = outside
    ids, waiting, table, free = places
    for i in range(slopes.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            at, sign = bucket(numbers[p], sums.shape[0])
            sums[at] += sign * slopes[i] * values[p]
            squares[at] += weights[i] * values[p] * values[p]
            if sums[at] * sums[at] > bar * squares[at] and find(numbers[p], ids, table) == NOWHERE:
                place = take_place(numbers[p], ids, table, free)
                if place != NOWHERE:
                    waiting[place] = True


@compiled()
def places_among(wanted: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Where each of a few different numbers is among many, at last; NOWHERE for one that is not there."""
    size, n = 2, wanted.shape[0]
    while size < max(2 * n, min(ROOMY * n, LARGEST_ROOMY)):
        size *= 2
    table, places = np.full(size, np.int32(-1)), np.full(wanted.shape[0], NOWHERE)
    for place in range(wanted.shape[0]):
        enter(place, wanted, table)
    for p in range(numbers.shape[0]):
        place = find(numbers[p], wanted, table)
        if place != NOWHERE:
            places[place] = p
    return places


@compiled()
def move_in(
    waiting: np.ndarray,
    ids: np.ndarray,
    sums: np.ndarray,
    squares: np.ndarray,
    place_sums: np.ndarray,
    place_squares: np.ndarray,
) -> None:
    """The features of these places take the content of their buckets with them."""
    for p in range(waiting.shape[0]):
        at, sign = bucket(ids[waiting[p]], sums.shape[0])
        place_sums[p], place_squares[p] = sign * sums[at], squares[at]
        sums[at] = squares[at] = 0.0


@compiled()
def move_out(
    gone: np.ndarray,
    ids: np.ndarray,
    table: np.ndarray,
    free: np.ndarray,
    sums: np.ndarray,
    squares: np.ndarray,
    place_sums: np.ndarray,
    place_squares: np.ndarray,
) -> None:
    """The features of these places leave their sums in buckets."""
    last = free.shape[0] - 1
    for place in gone:
        at, sign = bucket(ids[place], sums.shape[0])
        sums[at] += sign * place_sums[place]
        squares[at] += place_squares[place]
        ids[place] = NOWHERE
        free[free[last]] = place
        free[last] += 1
    table[:] = NOWHERE
    for place in range(ids.shape[0]):
        if ids[place] != NOWHERE:
            enter(place, ids, table)
