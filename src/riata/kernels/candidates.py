"""Second-order statistics of the candidates of solver 'online' (see `solvers.online.top_k`), from sparse rows.

A symmetric matrix is its lower half, row after row: the product of columns i and j <= i is at i (i + 1) / 2 + j.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.prefetch import fetch_row
from riata.kernels.rows import CsrRows

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
OF_MARK = 8  # features whose marks are one number: in its lower byte who is a candidate, in its upper who was seen


@compiled(inline="always")
def _mixed_bits(x: np.uint64) -> np.uint64:
    """Those of `data.mixed_bits`, of one number."""
    x = (x ^ (x >> np.uint64(30))) * FIRST_FACTOR
    x = (x ^ (x >> np.uint64(27))) * SECOND_FACTOR
    return x ^ (x >> np.uint64(31))


@compiled(nogil=True)
def rows_that_count(
    slopes: np.ndarray,
    first: int,
    n_whole: int,
    least: float,
    per_slope: float,
    taken: np.ndarray,
    times: np.ndarray,
) -> int:
    """Which rows count, the first of number `first`, and how many times; returns how many they are.

    A row of slope u has its place with probability p = |u| * per_slope, within `least` and 1, as bits that look random
    decide, which depend on its number alone. The first `n_whole` all count.
    """
    n = 0
    for i in range(len(slopes)):
        share = 1.0 if i < n_whole else min(max(abs(slopes[i]) * per_slope, least), 1.0)
        if _mixed_bits(np.uint64(first + i) * GOLDEN) * 0.5**64 < share:
            taken[n], times[n] = i, 1.0 / share
            n += 1
    return n


@compiled(nogil=True)
def add_products(
    rows: CsrRows,
    plain: bool,
    visits: np.ndarray,
    marks: np.ndarray,
    place_of: np.ndarray,
    curvatures: np.ndarray,
    responses: np.ndarray,
    xx: np.ndarray,
    xy: np.ndarray,
) -> None:
    """Add curvature * x x' and response * x of the visited rows, where x are their candidates and, last, a one.

    `place_of` has the place of every candidate in xx and xy: what a row costs is the square of how many candidates it
    has, however many there are. Which features are candidates is looked up in `marks`, which have two bits each and
    stay near the processor; features of these rows are marked as seen.
    """
    indptr, indices, data, shrink = rows
    last, one, three, seven = uint64(xy.shape[0] - 1), uint64(1), uint64(3), uint64(7)
    longest = 0
    for i in visits:
        longest = max(longest, indptr[i + 1] - indptr[i])
    at, places, values = np.empty(longest, np.uint64), np.empty(longest + 1, np.uint64), np.empty(longest + 1)
    for t in range(visits.shape[0]):
        i = visits[t]
        if t + 2 < visits.shape[0]:
            fetch_row(rows, visits[t + 2])
        n = uint64(0)
        for p in range(uint64(indptr[i]), uint64(indptr[i + 1])):
            j = uint64(indices[p])
            mark, bit = marks[j >> three], j & seven
            if not (mark >> (bit + uint64(8))) & one:
                marks[j >> three] = mark | (uint64(256) << bit)
            at[n] = p  # without a branch, of which the processor could not know where it goes
            n += (mark >> bit) & one
        for a in range(n):
            p = at[a]
            j = uint64(indices[p])
            place, value = uint64(place_of[j]), data[p] if plain else data[p] * shrink[j]
            b = a
            while b > uint64(0) and places[b - one] > place:  # as in few rows: features come in order, as a rule
                places[b], values[b] = places[b - one], values[b - one]
                b -= one
            places[b], values[b] = place, value
        places[n], values[n] = last, 1.0
        n += one
        h, u = curvatures[t], responses[t]
        for a in range(n):
            place, scaled = places[a], h * values[a]
            xy[place] += u * values[a]
            row = place * (place + one) // uint64(2)
            for b in range(a + one):
                xx[row + places[b]] += scaled * values[b]


@compiled(nogil=True)
def move_products(xx: np.ndarray, old: np.ndarray, new: np.ndarray, n: int) -> None:
    """Move the columns at places `old` to places `new`, both in order, in place; all others of n become zero."""
    for a in range(old.shape[0]):  # together, to the front
        row, was = a * (a + 1) // 2, old[a] * (old[a] + 1) // 2
        for b in range(a + 1):
            xx[row + b] = xx[was + old[b]]
    a = old.shape[0] - 1
    for place in range(n - 1, -1, -1):  # apart, from behind
        row, was = place * (place + 1) // 2, a * (a + 1) // 2
        stays = a >= 0 and new[a] == place
        b = a if stays else -1
        for q in range(place, -1, -1):
            if b >= 0 and new[b] == q:
                xx[row + q] = xx[was + b]
                b -= 1
            else:
                xx[row + q] = 0.0
        a -= 1 if stays else 0


@compiled(nogil=True)
def unpack(xx: np.ndarray, places: np.ndarray, scale: np.ndarray, A: np.ndarray) -> None:
    """Make A the products of the columns at some places, in order, over their scales."""
    for a in range(places.shape[0]):
        row = places[a] * (places[a] + 1) // 2
        for b in range(a + 1):
            A[a, b] = A[b, a] = xx[row + places[b]] / (scale[a] * scale[b])


@compiled(nogil=True)
def eliminate(P: np.ndarray, v: np.ndarray, alive: np.ndarray, dropped: np.ndarray, columns: np.ndarray) -> int:
    """Drop the cheapest variables of min v'Av / 2 - c'v, as many as `dropped` has room for; returns how many it were.

    P has the lower half of the inverse of A, and v = P c changes in place. Dropping j costs v_j^2 / (2 P_jj), and
    takes P_:j P_j: / P_jj from P. What all who were dropped take from it is not taken from all of P, but from its
    diagonal, and from a column when that is needed: `columns` gets these, each over the root of P_jj. Only those that
    are `alive` at the beginning may be dropped.
    """
    n = v.shape[0]
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = P[i, i]
    for t in range(dropped.shape[0]):
        j, least = -1, np.inf
        for i in range(n):
            if alive[i] and v[i] * v[i] < least * diagonal[i]:
                j, least = i, v[i] * v[i] / diagonal[i]
        if j < 0:
            return t
        alive[j], dropped[t] = False, j
        column = columns[t]
        for i in range(n):
            column[i] = P[j, i] if i <= j else P[i, j]
        for s in range(t):
            earlier, share = columns[s], columns[s, j]
            for i in range(n):
                column[i] -= share * earlier[i]
        root = math.sqrt(diagonal[j])
        value = v[j] / root
        for i in range(n):
            column[i] /= root
            v[i] -= column[i] * value
            diagonal[i] -= column[i] * column[i]
    return dropped.shape[0]
