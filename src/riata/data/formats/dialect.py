"""The syntax of one text file: its encoding, separator, quotes, comments and header, told by its first rows.

Syntax is a matter of each file. What the cells mean, such as day first, is a matter of all files: `riata.data.cells`.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from riata.data.cells.column_look import SOME_NUMBER
from riata.data.cells.matching import matching
from riata.data.cells.missing import MISSING_WORDS
from riata.data.cells.numbers import NUMBER_FORMATS
from riata.data.formats.csv_options import CsvOptions
from riata.data.formats.header_names import named_columns, usual_width
from riata.data.formats.text_encoding import encoding_of, marked, plain_utf8

SEPARATORS = ",\t;|"
ENOUGH_ROWS = 5  # of numbers, to tell that a row of words above them has units
TAB_ENDINGS = (".tsv", ".tab")
COMMENTS = "#%"
FIRST_ROWS, FIRST_BYTES = 200, 1 << 17  # that are looked at
SEP_LINE = re.compile(r'"?sep=(.)"?\s*$', re.IGNORECASE)  # a first line that tells Excel the separator
NUMBER = "|".join(f"({one.pattern})" for one in NUMBER_FORMATS)


@dataclass(frozen=True)
class Dialect:
    """How the rows of a file are written."""

    encoding: str
    separator: str
    quote: str  # "" for none
    comment: str  # "" for none
    names: tuple[str, ...]  # of all columns, each once
    left_out: tuple[str, ...]  # columns that are none: what stands after a last separator
    header_lines: int  # lines before the first row
    start: int  # where the rows begin, in bytes of the text as UTF-8
    raw_start: int  # the same in bytes of the file
    width: int  # how many cells most of the first rows have
    before_header: int  # lines before the first that has so many cells, which may be the header
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """The names of those that are read."""
        return [name for name in self.names if name not in self.left_out]


def dialect_of(head: bytes, options: CsvOptions, suffix: str = ".csv", whole: bool = True) -> Dialect:
    """The dialect of a file that begins with these bytes; `whole` if that is all of it."""
    encoding = encoding_of(head) if options.encoding is None else marked(options.encoding, head)
    first = head[:FIRST_BYTES] if b"\n" in head[:FIRST_BYTES] else head
    text = _decoded(first, encoding)
    text = text if whole and len(first) == len(head) else text[: text.rfind("\n") + 1] or text
    quote = '"' if options.quote is None else options.quote
    skipped, comment = _preamble(text, options)
    body = text[len(skipped) :]
    said = SEP_LINE.match(skipped.partition("\n")[0])
    separator = options.separator or (said[1] if said else "\t" if suffix in TAB_ENDINGS else _separator(body, quote))
    rows, ends = _rows(body, separator, quote)
    notes = []
    if not comment and options.comment is None and any(_is_comment(row) for row in rows[1:]):
        comment = COMMENTS[0]
    if comment:
        kept = [i for i, row in enumerate(rows) if not row[0].lstrip().startswith(comment)]
        rows, ends = [rows[i] for i in kept], [ends[i] for i in kept]
    if not rows:
        return Dialect(encoding, separator, quote, comment, (), (), 0, 0, 0, 0, 0)
    has_header = options.header if options.header is not None else _has_header(rows)
    in_comment = [] if has_header or options.header is not None else _header_in(skipped, comment, separator, quote)
    if len(in_comment) == len(rows[0]):  # as NumPy writes it
        header = in_comment
        notes.append(
            "the names of the columns are those of the comment before the rows (csv={'header': 'no'} says otherwise)"
        )
    else:
        in_comment = []
        header = [name.strip() for name in rows[0]] if has_header else [f"x{j}" for j in range(len(rows[0]))]
    prefix = skipped + (body[: ends[0]] if has_header else "")
    width = usual_width(rows[1:] or rows)
    at = next((i for i, row in enumerate(rows) if len(row) == width), 0)
    in_header = sum(cell.count("\n") for cell in rows[at])
    before_header = max(_n_lines(skipped + body[: ends[at]]) - 1 - in_header, 0)
    if has_header and len(rows) > 1 and (_are_units(rows) if options.units is None else options.units):
        prefix = skipped + body[: ends[1]]
        if options.units is None:
            units = ", ".join(cell for cell in rows[1] if cell.strip())
            notes.append(
                f"line {_n_lines(prefix)} looks like units ({units}): left out (csv={{'units': 'no'}} makes it a row)"
            )
        del rows[1]
    if not has_header and not in_comment and options.header is None:
        notes.append(f"the first line has numbers and no names: the columns are called x0 to x{len(header) - 1}")
    names, left_out, more = named_columns(header, rows[1:] if has_header else rows)
    start = len(prefix.encode()) + (3 if plain_utf8(encoding) and head.startswith(b"\xef\xbb\xbf") else 0)
    raw_start = start if plain_utf8(encoding) else len(prefix.encode(encoding, errors="replace"))
    lines = _n_lines(prefix)
    notes += more
    return Dialect(
        encoding,
        separator,
        quote,
        comment,
        names,
        left_out,
        lines,
        start,
        raw_start,
        width,
        before_header,
        tuple(notes),
    )


def _header_in(skipped: str, comment: str, separator: str, quote: str) -> list[str]:
    """The cells of the last comment before the rows, if all of them may be names."""
    lines = [line.strip() for line in skipped.splitlines() if line.strip()]
    if not comment or not lines or not lines[-1].startswith(comment):
        return []
    rows, _ = _rows(lines[-1].lstrip(comment + " \t"), separator, quote)
    names = [name.strip() for name in rows[0]] if rows else []
    return names if len(set(names)) == len(names) and all(names) and not matching(names, NUMBER) else []


def _n_lines(text: str) -> int:
    return text.count("\n") or text.count("\r")


def _decoded(head: bytes, encoding: str) -> str:
    text = head.decode(encoding, errors="replace")
    return text.removeprefix("\ufeff")


def _preamble(text: str, options: CsvOptions) -> tuple[str, str]:
    """What comes before the header or the first row, and what comments begin with."""
    lines = text.splitlines(keepends=True)
    n_skipped = options.skip or int(bool(lines) and SEP_LINE.match(lines[0]) is not None)
    rest = lines[n_skipped:]
    comment = options.comment
    if comment is None:
        first = next((line.lstrip()[:1] for line in rest if line.strip()), "")
        comment = first if first and first in COMMENTS else ""
    for line in rest:
        if line.strip() and not (comment and line.lstrip().startswith(comment)):
            break
        n_skipped += 1
    return "".join(lines[:n_skipped]), comment


def _separator(text: str, quote: str) -> str:
    """The separator that divides most rows into the same number of cells, more than one."""

    def score(separator: str) -> tuple[float, int]:
        counts = [len(row) for row in _rows(text, separator, quote, 50)[0]]
        if len(counts) < 1 or max(counts) < 2:
            return 0.0, 0
        usual, times = Counter(counts[1:] or counts).most_common(1)[0]
        if usual < 2:
            return 0.0, counts[0]
        agrees = {0: 1.0, 1: 0.8}.get(usual - counts[0], 0.5) if counts[0] > 1 else 0.3  # the header with the rows
        return agrees * times / max(len(counts) - 1, 1), usual

    return max(SEPARATORS, key=score)


def _rows(text: str, separator: str, quote: str, most: int = FIRST_ROWS) -> tuple[list[list[str]], list[int]]:
    """The first rows, and after how many characters each ends; empty lines are none."""
    lines = _Counted(text)
    quoting = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    rows, ends = [], []
    try:
        for row in islice(csv.reader(lines, delimiter=separator, **quoting), most):
            if row:
                rows.append(row)
                ends.append(lines.n_read)
    except csv.Error:  # a cell beyond the limit of that module: what came before it tells enough
        pass
    return rows, ends


class _Counted:
    """The lines of a text, and how many characters of it were handed out."""

    def __init__(self, text: str) -> None:
        self._lines = io.StringIO(text, newline="")
        self.n_read = 0

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> str:
        line = self._lines.readline()
        if not line:
            raise StopIteration
        self.n_read += len(line)
        return line


def _is_comment(row: Sequence[str]) -> bool:
    """Whether a line among rows of several cells is a remark."""
    return len(row) == 1 and row[0].startswith(COMMENTS[0])


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has names: not if every column of numbers has one there, or nothing, unless they count, or
    stand beside an empty cell over the names of the rows, as years do."""
    first, rest = rows[0], rows[1:]
    if not rest or not matching(first, NUMBER):
        return True
    row_names = {row[0].strip() for row in rest}
    own_names = len(row_names) == len(rest) and row_names.isdisjoint(MISSING_WORDS) and not matching(row_names, NUMBER)
    if own_names and not first[0].strip() and all(cell.strip() for cell in first[1:]):
        return True
    numbers, numeric = matching(chain.from_iterable(rows), NUMBER), []
    for j, cell in enumerate(first):
        values = [row[j] for row in rest if j < len(row) and row[j].strip() not in MISSING_WORDS]
        if values and numbers.issuperset(values) and cell.strip() not in MISSING_WORDS:
            numeric.append(cell)
    if not numeric or not numbers.issuperset(numeric):
        return True
    whole = [int(cell) for cell in numeric if cell.strip().isdigit()]
    return len(whole) == len(numeric) > 1 and all(b - a == 1 for a, b in pairwise(whole))


def _are_units(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the row under the header has words, two at least, in the columns that have numbers in all others."""
    first, rest = rows[1], rows[2:]
    numbers, numeric = matching(chain.from_iterable(rest), SOME_NUMBER), []
    for j, cell in enumerate(first):
        values = [row[j] for row in rest if j < len(row) and row[j].strip() not in MISSING_WORDS]
        if len(values) >= ENOUGH_ROWS and numbers.issuperset(values):
            numeric.append(cell.strip())
    words = [cell for cell in numeric if cell not in MISSING_WORDS]
    return len(first) == len(rows[0]) and len(words) >= 2 and not matching(words, SOME_NUMBER)
