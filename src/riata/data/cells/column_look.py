"""What the values of one column of text may be: the formats in which all those seen so far can be written."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.asked import AskedCells
from riata.data.cells.booleans import BOOLEAN_FORMATS
from riata.data.cells.cell_format import CellFormat
from riata.data.cells.dates import DAY_NUMBER, ISO_DATES, DateFormat, EpochFormat
from riata.data.cells.numbers import MARKS, MINUSES, PLAIN, NumberFormat, mark_of, negative_of, unit_of

ANY_MARK = f"({'|'.join(re.escape(mark) for mark in MARKS)})?"
DIGITS = "[0-9.,' \u2019\u00a0\u202f]*"
SIGNS = rf"[\s+({MINUSES}-]*"
SOME_NUMBER = rf"^{SIGNS}{ANY_MARK}{SIGNS}{DIGITS}\d{DIGITS}([eE][+-]?\d+)?[\s)-]*{ANY_MARK}[\s)-]*$"
MOSTLY = 0.8  # a column with a greater share of numbers looks like numbers
MOST_STRAYS = 5  # different words among numbers, beyond which a column is words
FEW = 20  # values that tell which formats there may be
LEAST_NUMBERS = 5  # different numbers, below which a column with words among them is levels
DAY_NUMBERS = (19000101, 21001231)
EPOCH_NAME = re.compile(r"time|date|datum|^day$|stamp|epoch|created|updated|(^|_)(ts|at|on)$", re.IGNORECASE)
EPOCHS = {"s": (631_152_000, 2_208_988_800), "ms": (631_152_000_000, 2_208_988_800_000)}  # 1990 to 2040


class ColumnLook:
    """The formats of a column that all values seen so far are written in."""

    def __init__(self, name: str, asked: AskedCells, known: CellFormat | None = None) -> None:
        self.name, self.asked, self.known = name, asked, known
        self.formats: list[CellFormat] | None = None  # None before the first value
        self.strays: Counter[str] = Counter()  # words among what looks like numbers
        self.n_values = self.n_words = self.n_numbers = 0  # the last: different ones
        self.mixed_marks = False  # 34% beside 0.34, or $ beside EUR
        self.codes = False  # whole numbers with zeros before them, such as 02134
        self.example = ""
        self.almost: list[CellFormat] = [PLAIN]  # in which most values are written, if no format has all
        self.divided = ""  # a value with a point or a comma
        self.dates_apart: list[str] = []  # an example of each way, where dates are written in several

    def add(self, strings: pa.Array) -> None:
        """Look at more values, as they are written."""
        counted = pc.value_counts(strings.drop_null())
        values, counts = counted.field("values"), counted.field("counts")
        if len(values) == 0:
            return
        if not self.example:
            self.example = values[0].as_py()
        self.codes = self.codes or bool(pc.any(pc.match_substring_regex(values, r"^\s*[+-]?0\d+\s*$")).as_py())
        if not self.divided:
            divided = values.filter(pc.match_substring_regex(values, "[.,]"))
            self.divided = divided[0].as_py() if len(divided) else ""
        if self.formats is None:
            self.formats = self._candidates(values)
        elif self.formats:
            before = self.formats
            self.formats = [one for one in before if one.reads(values)]
            self.almost = self.formats or _of_most(before, values)
        self._count_strays(values, counts)

    @property
    def looks_like(self) -> str | None:
        """ "numbers" or "dates", if the column has those but for a few words."""
        few = 0 < self.n_words < (1 - MOSTLY) * self.n_values and len(self.strays) <= MOST_STRAYS
        return f"{self.almost[0].kind}s" if few and self.n_numbers >= LEAST_NUMBERS else None

    def as_asked(self) -> CellFormat | None:
        """The pattern of dates that a user gave, if all values follow it."""
        wanted = [one for one in self.formats or () if isinstance(one, DateFormat) and one.pattern == self.asked.dates]
        return next(iter(wanted), None)

    def as_known(self) -> CellFormat | None:
        """The format that the column had in the files of the model, if it may be written in that one here, too."""
        formats = self.formats or []
        if isinstance(self.known, NumberFormat):
            wanted = (self.known.decimal, self.known.thousands)
            return next((one for one in self.numbers() if (one.decimal, one.thousands) == wanted), None)
        return self.known if self.known in formats else None

    def numbers(self) -> list[NumberFormat]:
        return [one for one in self.formats or () if isinstance(one, NumberFormat)]

    def _candidates(self, values: pa.Array) -> list[CellFormat]:
        unit = unit_of(values, MOSTLY) if len(values) >= LEAST_NUMBERS else ""
        alike = values if unit else values.filter(pc.match_substring_regex(values, SOME_NUMBER))
        mark = unit or mark_of(alike)
        self.mixed_marks = mark is None and len(alike) == len(values)
        negative = negative_of(alike)
        numbers = [replace(one, mark=mark or "", negative=negative) for one in self.asked.number_formats if len(alike)]
        some = values[:FEW].to_pylist()
        letters = set().union(*some)
        likely = (one for one in self.asked.date_formats if one.marks <= letters)  # to compile an expression takes time
        dates = [one for one in likely if any(map(one.looks.match, some))]
        possible: list[CellFormat] = [*numbers, *dates]
        few = values[:FEW]  # which most formats cannot read, as those of numbers where values are words
        found = [] if self.mixed_marks else [one for one in possible if one.reads(few) and one.reads(values)]
        if not found and possible:
            self.almost = _of_most(possible, values)
            self.dates_apart = _ways([*dates, *ISO_DATES], values) if dates else []
        if 2 <= len(values) <= 8:
            lower = set(pc.utf8_lower(pc.utf8_trim_whitespace(values)).to_pylist())
            found += [one for one in BOOLEAN_FORMATS if lower == {one.yes, one.no}]
        if not found and self.known is not None and self.known.reads(values):
            return [self.known]
        return found

    def _count_strays(self, values: pa.Array, counts: pa.Array) -> None:
        """Count values that are no numbers (or dates, if most are), while they are few."""
        words = pc.invert(self.almost[0].valid(values) if not self.formats else pc.is_valid(values))
        self.n_values += pc.sum(counts).as_py()
        self.n_numbers = max(self.n_numbers, len(values) - pc.sum(words).as_py())
        self.n_words += pc.sum(counts.filter(words)).as_py() or 0
        if len(self.strays) <= MOST_STRAYS:
            some = slice(MOST_STRAYS + 1)
            self.strays.update(
                dict(zip(values.filter(words)[some].to_pylist(), counts.filter(words)[some].to_pylist(), strict=True))
            )


def _of_most(formats: Sequence[CellFormat], values: pa.Array) -> list[CellFormat]:
    """The formats in which most of these values are written."""
    counts = [pc.sum(one.valid(values)).as_py() or 0 for one in formats]
    return [one for one, count in zip(formats, counts, strict=True) if count == max(counts)]


def _ways(dates: Sequence[DateFormat], values: pa.Array) -> list[str]:
    """An example of each way in which dates are written, if every value is one in some way; else none."""
    examples = []
    for one in dates:
        good = one.valid(values)
        if pc.any(good).as_py():
            examples.append(values.filter(good)[0].as_py())
            values = values.filter(pc.invert(good))
    return examples if len(values) == 0 else []


def may_be_epoch(name: str, asked: AskedCells, known: Mapping[str, CellFormat]) -> bool:
    """Whether whole numbers in a column of this name may be instants: if that is said or known, or by the name."""
    if name in known:
        return known[name].kind == EpochFormat.kind or known[name] == DAY_NUMBER
    if asked.epoch is None:
        return bool(EPOCH_NAME.search(name)) and name not in asked.numbers
    return name in asked.epoch


def days_of(numbers: pa.Array) -> DateFormat | None:
    """The format of whole numbers such as 20130131, if all are days."""
    limits = pc.min_max(numbers).as_py()
    if limits["min"] is None or not DAY_NUMBERS[0] <= limits["min"] <= limits["max"] <= DAY_NUMBERS[1]:
        return None
    return DAY_NUMBER if DAY_NUMBER.reads(numbers.cast(pa.string())) else None


def epoch_of(numbers: pa.Array, certain: bool) -> EpochFormat | None:
    """The format of whole numbers that are instants: those between 1990 and 2040, unless it is `certain`."""
    limits = pc.min_max(numbers).as_py()
    least, largest = limits["min"], limits["max"]
    if least is None:
        return None
    for unit, (first, last) in EPOCHS.items():
        if first <= least and largest <= last:
            return EpochFormat(unit)
    return EpochFormat("s" if abs(largest) < 10**11 else "ms") if certain else None
