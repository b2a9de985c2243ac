"""Rows of plain text, bytes in, columns out: cells that no quote, comment or odd line end makes hard to tell apart.

Numbers are written with at most 15 digits and perhaps a point between them, so that one division gives the nearest
float64. Whatever else there is, is not read here, and that is all that is said of it.
"""

from typing import Any, NamedTuple

import numpy as np

from riata.kernels.bytes_together import AT_ONCE, DIGITS_AT_ONCE, copy_together, few_digits
from riata.kernels.compiled import compiled, uint64
from riata.kernels.named_lines import _is_utf8
from riata.kernels.svmlight import MINUS, NEWLINE, NINE, POINT, POWERS, RETURN, ZERO

# what a column is that is not read; the first of strings, after which come -3, -4, ...
LEFT_OUT, FIRST_STRINGS = -1, -2
MOST_DIGITS = 15
ROWS_TOGETHER = 64
NOT_PLAIN = -1


class Columns(NamedTuple):
    """Room for rows, one column after the other."""

    numbers: np.ndarray  # NaN where one is missing
    ends: np.ndarray  # of strings in their column; one more than there are rows, the first is 0
    missing: np.ndarray  # for every string: 1 where it is
    n_missing: np.ndarray  # of each column of strings
    starts: np.ndarray  # of each of these columns in the text
    text: np.ndarray  # with room for AT_ONCE bytes behind each column


class Words(NamedTuple):
    """What cells are that are missing, besides empty ones."""

    text: np.ndarray  # one after the other
    ends: np.ndarray
    begin: np.ndarray  # for every byte: whether one of them begins with it


@compiled(nogil=True)
def count_ends(text: np.ndarray, separator: int, quote: int) -> tuple[int, int, int]:
    """How many lines and cells end here, and how many returns there are.

    NOT_PLAIN three times where there is a quote, or something not UTF-8.
    """
    lines, cells, returns, quotes, bits = 0, 0, 0, 0, np.uint8(0)
    for c in text:  # counted without a branch, many bytes at a time
        lines += c == NEWLINE
        cells += (c == NEWLINE) | (c == separator)
        returns += c == RETURN
        quotes += c == quote
        bits |= c
    if quotes or (bits >= 128 and not _is_utf8(text, 0, text.shape[0])):
        return NOT_PLAIN, NOT_PLAIN, NOT_PLAIN
    return lines, cells, returns


@compiled(nogil=True)
def are_plain(text: np.ndarray, returns: int, ends: np.ndarray, n_rows: int, lengths: np.ndarray) -> bool:
    """Whether all of so many lines have a cell for each of `lengths`, which get how many bytes each column has.

    `ends` has -1 and then the ends of all cells, of which the last may be that of the text.
    """
    width = lengths.shape[0]
    if ends.shape[0] - 1 != n_rows * width:
        return False
    for c in range(width):
        lengths[c] = 0
    for row in range(n_rows):
        for c in range(width):
            lengths[c] += ends[row * width + c + 1] - ends[row * width + c] - 1
        last = ends[(row + 1) * width]
        if last < text.shape[0] and text[last] != NEWLINE:
            return False
        if last > 0 and text[last - 1] == RETURN:
            returns -= 1
    return returns == 0  # none is in the middle of a line


@compiled(nogil=True)
def read_cells(
    text: np.ndarray, ends: np.ndarray, n_rows: int, places: np.ndarray, words: Words, columns: Columns
) -> bool:
    """Read lines that are plain into the columns; returns whether numbers are, too.

    `places` tells of every cell of a row which column of numbers it is, or FIRST_STRINGS - its column of strings.
    """
    width = places.shape[0]
    for s in range(columns.n_missing.shape[0]):
        columns.ends[s * (n_rows + 1)] = 0
        columns.n_missing[s] = 0
    for start in range(0, n_rows, ROWS_TOGETHER):  # their text stays near the processor
        stop = min(start + ROWS_TOGETHER, n_rows)
        for c in range(width):
            place = places[c]
            if place <= FIRST_STRINGS:
                _read_strings(text, ends, width, c, start, stop, n_rows, words, FIRST_STRINGS - place, columns)
            elif place != LEFT_OUT:
                out = columns.numbers[place * n_rows : (place + 1) * n_rows]
                if not _read_numbers(text, ends, width, c, start, stop, words, out):
                    return False
    return True


@compiled(nogil=True)
def _read_strings(
    text: np.ndarray,
    cell_ends: np.ndarray,
    width: int,
    c: int,
    start: int,
    stop: int,
    n_rows: int,
    words: Words,
    s: int,
    columns: Columns,
) -> None:
    """Read column c of some rows, the next of the column s of strings."""
    _, all_ends, all_missing, n_missing, starts, all_strings = columns
    ends = all_ends[s * (n_rows + 1) : (s + 1) * (n_rows + 1)]
    missing, strings = all_missing[s * n_rows : (s + 1) * n_rows], all_strings[starts[s] :]
    to = uint64(ends[start])
    for row in range(uint64(start), uint64(stop)):
        first, last = _span(text, cell_ends, row * uint64(width) + uint64(c), c + 1 == width)
        no_string = first == last or (words.begin[text[first]] and _is_word(text, first, last, words))
        if no_string:
            n_missing[s] += 1
        else:
            to = _copy(text, first, last, strings, to)
        missing[row] = no_string
        ends[row + uint64(1)] = to


@compiled(nogil=True)
def _read_numbers(
    text: np.ndarray, cell_ends: np.ndarray, width: int, c: int, start: int, stop: int, words: Words, out: np.ndarray
) -> bool:
    """Read column c of some rows; returns whether all of them are plain numbers, or missing."""
    for row in range(uint64(start), uint64(stop)):
        first, last = _span(text, cell_ends, row * uint64(width) + uint64(c), c + 1 == width)
        is_number, number = _number_in(text, first, last)
        missing = first == last or (words.begin[text[first]] and _is_word(text, first, last, words))
        if not (is_number or missing):
            return False
        out[row] = number
    return True


@compiled(nogil=True, inline="always")
def _span(text: np.ndarray, cell_ends: np.ndarray, cell: Any, ends_line: bool) -> tuple[Any, Any]:
    """Where a cell begins and ends."""
    first, last = uint64(cell_ends[cell] + 1), uint64(cell_ends[cell + uint64(1)])
    if ends_line and last > first and text[last - uint64(1)] == RETURN:
        last -= uint64(1)
    return first, last


@compiled(nogil=True, inline="always")
def _copy(text: np.ndarray, first: Any, last: Any, strings: np.ndarray, to: Any) -> Any:
    """Copy text[first:last]; returns where the copy ends. What is written behind that will be written again."""
    while first < last and first + uint64(AT_ONCE) <= uint64(text.shape[0]):
        copy_together(text, first, strings, to)
        n = last - first if last - first < uint64(AT_ONCE) else uint64(AT_ONCE)
        first, to = first + n, to + n
    while first < last:
        strings[to] = text[first]
        first, to = first + uint64(1), to + uint64(1)
    return to


@compiled(nogil=True, inline="always")
def _number_in(text: np.ndarray, first: Any, last: Any) -> tuple[bool, float]:
    """Whether text[first:last] is a plain number, and which; NaN if it is none."""
    n = last - first
    if n == uint64(0):
        return False, np.nan
    if n <= uint64(DIGITS_AT_ONCE) and first + uint64(DIGITS_AT_ONCE) <= uint64(text.shape[0]):
        are_digits, value = few_digits(text, first, n)
        if are_digits:
            return True, float(value)
    number, behind = _plain_number(text, first, last)
    return (True, number) if behind == last else (False, np.nan)


@compiled(nogil=True)
def _plain_number(text: np.ndarray, first: Any, end: Any) -> tuple[float, Any]:
    """A number of few digits, and the position behind it, which is where it began if there is none."""
    i, value = first, uint64(0)
    negative = i < end and text[i] == MINUS
    if negative:
        i += uint64(1)
    digits = i
    while i < end and ZERO <= text[i] <= NINE:
        value = value * uint64(10) + uint64(text[i] - ZERO)
        i += uint64(1)
    whole, part = i - digits, uint64(0)
    if whole > uint64(0) and i < end and text[i] == POINT:
        i += uint64(1)
        digits = i
        while i < end and ZERO <= text[i] <= NINE:
            value = value * uint64(10) + uint64(text[i] - ZERO)
            i += uint64(1)
        part = i - digits
        if part == uint64(0):
            return 0.0, first
    if whole == uint64(0) or whole + part > uint64(MOST_DIGITS):
        return 0.0, first
    number = float(value) / POWERS[part]
    return (-number if negative else number), i


@compiled(nogil=True)
def _is_word(text: np.ndarray, first: Any, last: Any, words: Words) -> bool:
    """Whether text[first:last] is one of the words."""
    letters, ends, _ = words
    start = 0
    for w in range(ends.shape[0]):
        same = np.int64(last - first) == ends[w] - start
        p = start
        while same and p < ends[w]:
            same = text[first + uint64(p - start)] == letters[p]
            p += 1
        if same:
            return True
        start = ends[w]
    return False
