"""svmlight text, bytes in, CSR arrays out: `label [qid:q] index:value index:value ... # comment`, one line per row.

A number is read as digits times a power of ten, mantissa and quotient in twice the working precision: the nearest
float64 for up to 19 digits and powers within 1e-22..1e22, within four units in the last place beyond.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled

GOOD, NO_LABEL, NO_NUMBER, NO_PAIR, NOT_INCREASING, TOO_LARGE, INFINITE = range(7)
PROBLEMS = {
    NO_LABEL: "a line must begin with a number, the target",
    NO_NUMBER: "there is something that is not a number",
    NO_PAIR: "a feature must be written index:value",
    NOT_INCREASING: "the indices of a line must increase",
    TOO_LARGE: "an index does not fit 63 bits",
    INFINITE: "there is a number so large that it is infinite",
}
POWERS = np.array([float(f"1e{i}") for i in range(309)])  # exact up to 22, then the nearest
EXACT = 1 << 53
SPLITTER = 134217729.0  # 2^27 + 1
NEWLINE, RETURN, SPACE, TAB, COLON, HASH = 10, 13, 32, 9, 58, 35
PLUS, MINUS, POINT, ZERO, NINE = 43, 45, 46, 48, 57


@compiled(inline="always")
def _two_product(a: float, b: float) -> tuple[float, float]:
    """a b as a float and what rounding lost (Dekker)."""
    p = a * b
    t = SPLITTER * a
    ah = t - (t - a)
    al = a - ah
    t = SPLITTER * b
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@compiled(nogil=True)
def scaled(mantissa: int, exponent: int) -> float:
    """mantissa * 10^exponent, for a whole number below 2^63."""
    hi = float(mantissa)
    if exponent == 0 or mantissa == 0:
        return hi
    if mantissa < EXACT and -22 <= exponent <= 22:  # both are exact: one operation rounds once
        return hi * POWERS[exponent] if exponent > 0 else hi / POWERS[-exponent]
    lo = float(mantissa - np.int64(hi)) if hi < 9.2e18 else 0.0
    if 0 < exponent <= 22:
        p, e = _two_product(hi, POWERS[exponent])
        return p + (e + lo * POWERS[exponent])
    if -22 <= exponent < 0:
        power = POWERS[-exponent]
        q = hi / power
        p, e = _two_product(q, power)
        return q + (((hi - p) - e) + lo) / power
    if exponent > 0:
        return hi * POWERS[min(exponent, 308)] * (1.0 if exponent <= 308 else math.inf)
    return hi / POWERS[min(-exponent, 308)] / POWERS[min(max(-exponent - 308, 0), 308)]


@compiled(nogil=True)
def read_number(text: np.ndarray, at: int, stop: int) -> tuple[float, int]:
    """The number that begins at a position: (value, the position after it); that position is unchanged if none does."""
    i = at
    negative = False
    if i < stop and (text[i] == MINUS or text[i] == PLUS):
        negative = text[i] == MINUS
        i += 1
    mantissa, exponent, digits = np.int64(0), 0, 0
    while i < stop and ZERO <= text[i] <= NINE:
        if mantissa < 900000000000000000:
            mantissa = mantissa * 10 + (text[i] - ZERO)
        else:
            exponent += 1
        digits += 1
        i += 1
    if i < stop and text[i] == POINT:
        i += 1
        while i < stop and ZERO <= text[i] <= NINE:
            if mantissa < 900000000000000000:
                mantissa = mantissa * 10 + (text[i] - ZERO)
                exponent -= 1
            digits += 1
            i += 1
    if digits == 0:
        return 0.0, at
    if i < stop and (text[i] == 101 or text[i] == 69):  # e, E
        j = i + 1
        down = False
        if j < stop and (text[j] == MINUS or text[j] == PLUS):
            down = text[j] == MINUS
            j += 1
        power, first = 0, j
        while j < stop and ZERO <= text[j] <= NINE:
            power = min(power * 10 + (text[j] - ZERO), 100000)
            j += 1
        if j > first:
            exponent += -power if down else power
            i = j
    value = scaled(mantissa, exponent)
    return (-value if negative else value), i


@compiled(nogil=True)
def line_before(text: np.ndarray, at: int) -> int:
    """The last position up to `at` where a line begins; 0 if that is in the first one."""
    while at > 0 and text[at - 1] != NEWLINE:
        at -= 1
    return at


@compiled(nogil=True)
def most_rows(text: np.ndarray, start: int, stop: int) -> tuple[int, int]:
    """How many (rows, non-zeros) there can be at most in text[start:stop]."""
    lines, pairs = 1, 0
    for c in text[start:stop]:
        lines += c == NEWLINE
        pairs += c == COLON
    return lines, pairs


@compiled(nogil=True)
def read_lines(
    text: np.ndarray,
    start: int,
    stop: int,
    skip_bad: bool,
    y: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
) -> tuple[int, int, int, int, int, int]:
    """Parse whole lines of text[start:stop] into the arrays, from their beginning.

    Returns (rows, non-zeros, lines begun, lines skipped, problem, line of the problem). Blank lines and comments are
    no rows. A bad line ends the reading, or is left out if `skip_bad`.
    """
    i = start
    rows, nnz, lines, skipped = 0, 0, 0, 0
    indptr[0] = 0
    while i < stop:
        lines += 1
        problem = GOOD
        while i < stop and (text[i] == SPACE or text[i] == TAB):
            i += 1
        if i < stop and text[i] != NEWLINE and text[i] != RETURN and text[i] != HASH:
            y[rows], after = read_number(text, i, stop)
            if after == i:
                problem = NO_LABEL
            elif abs(y[rows]) == math.inf:
                problem = INFINITE
            else:
                i, nnz, problem = _read_pairs(text, after, stop, indices, values, nnz)
            if problem == GOOD:
                rows += 1
                indptr[rows] = nnz
            elif skip_bad:
                skipped += 1
                nnz = indptr[rows]
            else:
                return rows, nnz, lines, skipped, problem, lines
        while i < stop and text[i] != NEWLINE:  # a comment, or the rest of a bad line
            i += 1
        i += 1
    return rows, nnz, lines, skipped, GOOD, 0


@compiled(nogil=True)
def _read_pairs(
    text: np.ndarray, i: int, stop: int, indices: np.ndarray, values: np.ndarray, nnz: int
) -> tuple[int, int, int]:
    """The pairs of a line into the arrays from nnz on: (the position where they end, the new nnz, problem)."""
    last = np.int64(-1)
    while True:
        if (
            i < stop
            and text[i] != SPACE
            and text[i] != TAB
            and text[i] != NEWLINE
            and text[i] != RETURN
            and text[i] != HASH
        ):
            return i, nnz, NO_NUMBER
        while i < stop and (text[i] == SPACE or text[i] == TAB or text[i] == RETURN):
            i += 1
        if i >= stop or text[i] == NEWLINE or text[i] == HASH:
            return i, nnz, GOOD
        is_query = i + 3 < stop and text[i] == 113 and text[i + 1] == 105 and text[i + 2] == 100  # qid
        if is_query:
            i += 3
        index, first = np.int64(0), i
        while i < stop and ZERO <= text[i] <= NINE:
            if index > 900000000000000000:
                return i, nnz, TOO_LARGE
            index = index * 10 + (text[i] - ZERO)
            i += 1
        if i >= stop or text[i] != COLON or (i == first and not is_query):
            return i, nnz, NO_PAIR
        value, after = read_number(text, i + 1, stop)
        if after == i + 1:
            return i, nnz, NO_NUMBER
        i = after
        if is_query:
            continue
        if abs(value) == math.inf:
            return i, nnz, INFINITE
        if index <= last:
            return i, nnz, NOT_INCREASING
        last = index
        indices[nnz] = index
        values[nnz] = value
        nnz += 1
