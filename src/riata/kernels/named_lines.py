"""Lines of named features, bytes in, arrays out: Vowpal Wabbit's text and libffm's.

    [label [importance [base]]] ['tag]|namespace[:weight] name[:value] name[:value] ... |namespace ...
    label field:index:value field:index:value ...

Names are written one after the other, as Arrow has strings: `namespace^name`, as Vowpal Wabbit prints them, `name`
where the namespace has none, and `field:index`, each with its hash (see `text_hashing`), which costs little while its
bytes are at hand. A feature without a name has its number in its namespace, from 0 on. Zeros are left out. As in Vowpal
Wabbit, the last word before the first bar is a tag if nothing is between them, or if it begins with a quote.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.svmlight import COLON, NEWLINE, NINE, RETURN, SPACE, TAB, ZERO, read_number
from riata.kernels.text_hashing import OFFSET, _mixed, _with_byte

GOOD, NO_BAR, NO_LABEL, NO_NUMBER, LONG_NAMESPACE, NOT_UTF8, NO_TARGET, NO_TRIPLE, A_BASE, INFINITE, BAD_WEIGHT = range(
    11
)
LONGEST_NAMESPACE = 100  # bytes: each of its features repeats them
PROBLEMS = {
    NO_BAR: "there is no | before the features",
    NO_LABEL: "before the first | there may be a label, an importance, a base and a tag; all but the tag are numbers",
    NO_NUMBER: "there is something that is not a number behind a colon",
    LONG_NAMESPACE: f"the name of a namespace is longer than {LONGEST_NAMESPACE} bytes",
    NOT_UTF8: "it is not UTF-8 text",
    NO_TARGET: "a line must begin with a number, the target",
    NO_TRIPLE: "a feature must be written field:index:value",
    A_BASE: "the third number before the |, the base, is to be added to the prediction: take it as an offset "
    "(offset='base')",
    INFINITE: "there is a number so large that it is infinite",
    BAD_WEIGHT: "the importance is no number of zero or more",
}
DIGITS = 10  # of the number of a feature without a name
FEW_DIGITS = 15  # of a whole number that float64 has exactly
BAR, CARET, QUOTE = 124, 94, 39
ENDS_NAME = np.isin(np.arange(256), [SPACE, TAB, BAR, COLON, RETURN, NEWLINE])


class NamedRows(NamedTuple):
    """Room for rows: one entry for each, but for what is of features (see `most_named`)."""

    y: np.ndarray  # NaN where there is no label
    weight: np.ndarray
    base: np.ndarray
    tag_starts: np.ndarray  # positions in the text
    tag_ends: np.ndarray
    indptr: np.ndarray
    name_ends: np.ndarray  # of features, behind a first 0
    values: np.ndarray  # of features
    hashes: np.ndarray  # of their names
    names: np.ndarray  # bytes


@compiled(nogil=True)
def most_named(text: np.ndarray, start: int, stop: int) -> tuple[int, int, int, bool]:
    """How many (rows, features, bytes of their names) there can be at most in text[start:stop]; whether it is ASCII."""
    lines, features, bars, bits = 1, 0, 0, np.uint8(0)
    for c in text[start:stop]:  # counted without a branch, many bytes at a time
        lines += c == NEWLINE
        features += (c == SPACE) | (c == TAB) | (c == RETURN)  # one is before every feature
        bars += c == BAR
        bits |= c
    # memory that is never written to costs nothing: to look for the longest namespace would cost more
    n_bytes = stop - start + features * ((LONGEST_NAMESPACE if bars else 0) + 1 + DIGITS)
    return lines, features, n_bytes, bool(bits < 128)


@compiled(nogil=True)
def read_named(
    text: np.ndarray,
    start: int,
    stop: int,
    skip_bad: bool,
    fields: bool,
    bases: bool,
    weights: bool,
    ascii: bool,
    rows: NamedRows,
) -> tuple[int, int, int, int, int, int, int]:
    """Parse whole lines of text[start:stop] into `rows`, from their beginning; with `fields` they are libffm's.

    Without `bases` a line with one that is not 0 is bad, and with `weights` one with an importance that is no weight.

    Returns (rows, features, bytes of names, lines begun, lines skipped, problem, line of the problem). Blank lines are
    no rows. A bad line ends the reading, or is left out if `skip_bad`.
    """
    y, weight, base, tag_starts, tag_ends, indptr, name_ends, values, hashes, names = rows
    n, nnz, n_bytes, lines, skipped = 0, 0, 0, 0, 0
    indptr[0] = 0
    name_ends[0] = 0
    i = start
    while i < stop:
        lines += 1
        first = i
        while i < stop and (text[i] == SPACE or text[i] == TAB or text[i] == RETURN):
            i += 1
        if i == stop or text[i] == NEWLINE:
            i += 1
            continue
        y[n], weight[n], base[n], tag_starts[n], tag_ends[n] = np.nan, 1.0, 0.0, first, first
        problem = GOOD
        if not (ascii or _is_utf8(text, first, _line_end(text, i, stop))):
            problem = NOT_UTF8
        elif fields:
            y[n], i = read_number(text, first, stop)
            problem = NO_TARGET if i == first else GOOD
            if problem == GOOD:
                i, nnz, n_bytes, problem = _read_triples(text, i, stop, nnz, n_bytes, name_ends, names, values, hashes)
        else:
            while i < stop and text[i] != BAR and text[i] != NEWLINE:
                i += 1
            if i == stop or text[i] == NEWLINE:
                problem = NO_BAR
            else:
                problem = _read_label(text, first, i, n, y, weight, base, tag_starts, tag_ends)
            if problem == GOOD and base[n] != 0.0 and not bases:
                problem = A_BASE
            if problem == GOOD and abs(base[n]) == math.inf:
                problem = INFINITE
            if problem == GOOD and weights and not 0.0 <= weight[n] < math.inf:
                problem = BAD_WEIGHT
            if problem == GOOD:
                i, nnz, n_bytes, problem = _read_features(text, i, stop, nnz, n_bytes, name_ends, names, values, hashes)
        if problem == GOOD and abs(y[n]) == math.inf:
            problem = INFINITE
        if problem == GOOD:
            n += 1
            indptr[n] = nnz
            i += 1
            continue
        if not skip_bad:
            return n, indptr[n], name_ends[indptr[n]], lines, skipped, problem, lines
        skipped += 1
        nnz = indptr[n]
        n_bytes = name_ends[nnz]
        i = _line_end(text, first, stop) + 1
    return n, nnz, n_bytes, lines, skipped, GOOD, 0


@compiled(nogil=True)
def _line_end(text: np.ndarray, i: int, stop: int) -> int:
    """Where the line of a position ends, without its newline."""
    while i < stop and text[i] != NEWLINE:
        i += 1
    return i


@compiled(nogil=True)
def _read_label(
    text: np.ndarray,
    i: int,
    bar: int,
    row: int,
    y: np.ndarray,
    weight: np.ndarray,
    base: np.ndarray,
    tag_starts: np.ndarray,
    tag_ends: np.ndarray,
) -> int:
    """What stands before the first bar, into the arrays; returns the problem."""
    n_numbers = 0
    while True:
        while i < bar and (text[i] == SPACE or text[i] == TAB):
            i += 1
        if i == bar:
            return GOOD
        first = i
        while i < bar and text[i] != SPACE and text[i] != TAB:
            i += 1
        if i == bar or text[first] == QUOTE:
            tag_starts[row] = first + 1 if text[first] == QUOTE else first
            tag_ends[row] = i
            while i < bar and (text[i] == SPACE or text[i] == TAB):
                i += 1
            return GOOD if i == bar else NO_LABEL
        value, after = read_number(text, first, i)
        if after != i or n_numbers == 3:
            return NO_LABEL
        if n_numbers == 0:
            y[row] = value
        elif n_numbers == 1:
            weight[row] = value
        else:
            base[row] = value
        n_numbers += 1


@compiled(nogil=True)
def _read_features(
    text: np.ndarray,
    bar: int,
    stop: int,
    nnz: int,
    n_bytes: Any,
    name_ends: np.ndarray,
    names: np.ndarray,
    values: np.ndarray,
    hashes: np.ndarray,
) -> tuple[Any, int, Any, int]:
    """The features from the first bar on into the arrays: (the end of the line, new nnz, new n_bytes, problem)."""
    i, end = uint64(bar), uint64(stop)
    space, space_end, factor, nameless = i, i, 1.0, 0
    of_space = OFFSET  # the hash so far of what every name in the namespace begins with
    while True:
        while i < end and (text[i] == SPACE or text[i] == TAB or text[i] == RETURN):
            i += uint64(1)
        if i == end or text[i] == NEWLINE:
            return np.int64(i), nnz, n_bytes, GOOD
        new_namespace = text[i] == BAR
        if new_namespace:
            i += uint64(1)
        first, at, h = i, uint64(n_bytes), OFFSET
        if not new_namespace and space_end > space:
            for p in range(space, space_end):
                names[at] = text[p]
                at += uint64(1)
            names[at] = CARET
            at += uint64(1)
            h = of_space
        while i < end and not ENDS_NAME[text[i]]:
            c = text[i]
            names[at] = c
            h = _with_byte(h, c)
            at += uint64(1)
            i += uint64(1)
        last, value = i, 1.0
        if i < end and text[i] == COLON:
            value, after = _read_value(text, i + uint64(1), end)
            if after == i + uint64(1) or (after < end and (text[after] == COLON or not ENDS_NAME[text[after]])):
                return np.int64(i), nnz, n_bytes, NO_NUMBER
            i = after
        if new_namespace:
            space, space_end, factor, nameless = first, last, value, 0
            of_space = _with_byte(h, CARET)
            if last - first > uint64(LONGEST_NAMESPACE):
                return np.int64(i), nnz, n_bytes, LONG_NAMESPACE
            continue
        number = nameless
        nameless += first == last
        if value * factor == 0.0:
            continue
        if first == last:
            behind = _write_number(number, names, np.int64(at))
            for p in range(np.int64(at), behind):
                h = _with_byte(h, names[p])
            n_bytes = behind
        else:
            n_bytes = np.int64(at)
        if not abs(value * factor) < math.inf:  # also infinity times 0
            return np.int64(i), nnz, n_bytes, INFINITE
        values[nnz] = value * factor
        hashes[nnz] = _mixed(h)
        nnz += 1
        name_ends[nnz] = n_bytes


@compiled(nogil=True, inline="always")
def _read_value(text: np.ndarray, at: Any, end: Any) -> tuple[float, Any]:
    """As `read_number`, which takes thrice as long for what most values are: a few digits."""
    i, digits = at, uint64(0)
    while i < end and ZERO <= text[i] <= NINE:
        digits = digits * uint64(10) + uint64(text[i] - ZERO)
        i += uint64(1)
    if at < i < end and i - at <= uint64(FEW_DIGITS) and ENDS_NAME[text[i]]:
        return float(digits), i
    value, behind = read_number(text, np.int64(at), np.int64(end))
    return value, uint64(behind)


@compiled(nogil=True)
def _write_number(number: int, names: np.ndarray, at: int) -> int:
    """Write the digits of a number from a position on; returns the one behind them."""
    power = 1
    while number // power >= 10:
        power *= 10
    while power > 0:
        names[at] = ZERO + number // power % 10
        at += 1
        power //= 10
    return at


@compiled(nogil=True)
def _read_triples(
    text: np.ndarray,
    start: int,
    stop: int,
    nnz: int,
    n_bytes: Any,
    name_ends: np.ndarray,
    names: np.ndarray,
    values: np.ndarray,
    hashes: np.ndarray,
) -> tuple[Any, int, Any, int]:
    """The features field:index:value of a line into the arrays: (end of the line, new nnz, new n_bytes, problem)."""
    i, end = uint64(start), uint64(stop)
    while True:
        if i < end and text[i] != SPACE and text[i] != TAB and text[i] != RETURN and text[i] != NEWLINE:
            return np.int64(i), nnz, n_bytes, NO_NUMBER
        while i < end and (text[i] == SPACE or text[i] == TAB or text[i] == RETURN):
            i += uint64(1)
        if i == end or text[i] == NEWLINE:
            return np.int64(i), nnz, n_bytes, GOOD
        first, at, n_colons, h, filled = i, uint64(n_bytes), 0, OFFSET, True
        while i < end:
            c = text[i]
            if c == COLON:
                filled = filled and i > first and text[i - uint64(1)] != COLON
                n_colons += 1
                if n_colons == 2:
                    break
            elif c in (SPACE, TAB, NEWLINE):
                break
            names[at] = c
            h = _with_byte(h, c)
            at += uint64(1)
            i += uint64(1)
        if n_colons < 2 or not filled:
            return np.int64(i), nnz, n_bytes, NO_TRIPLE
        value, behind = read_number(text, np.int64(i) + 1, stop)
        if uint64(behind) == i + uint64(1):
            return np.int64(i), nnz, n_bytes, NO_NUMBER
        i = uint64(behind)
        if abs(value) == math.inf:
            return np.int64(i), nnz, n_bytes, INFINITE
        if value != 0.0:
            n_bytes = np.int64(at)
            values[nnz] = value
            hashes[nnz] = _mixed(h)
            nnz += 1
            name_ends[nnz] = n_bytes


@compiled(nogil=True)
def _is_utf8(text: np.ndarray, i: int, end: int) -> bool:
    """Whether these bytes are letters of UTF-8, none of them cut, written too long or half of a pair of UTF-16."""
    while i < end:
        c = text[i]
        n = 1 if c < 0x80 else 2 if 0xC2 <= c < 0xE0 else 3 if 0xE0 <= c < 0xF0 else 4 if 0xF0 <= c < 0xF5 else 0
        if n == 0 or i + n > end:
            return False
        for p in range(i + 1, i + n):
            if text[p] & 0xC0 != 0x80:
                return False
        if n > 2:
            second = text[i + 1]
            too_long = (c == 0xE0 and second < 0xA0) or (c == 0xF0 and second < 0x90)
            too_large = (c == 0xED and second >= 0xA0) or (c == 0xF4 and second >= 0x90)
            if too_long or too_large:
                return False
        i += n
    return True
