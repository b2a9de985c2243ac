"""Dates that are not ISO 8601: day first, month first, with names of months, and seconds since 1970."""

import re
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.cell_format import CellFormat
from riata.data.columns.arrow_values import filled

INSTANT = pa.timestamp("us")
PARTS = {
    "%d": r"(?P<day>\d{1,2})", "%m": r"\d{1,2}", "%Y": r"\d{4}", "%y": r"\d{2}", "%H": r"\d{1,2}", "%M": r"\d{2}",
    "%S": r"\d{2}", "%I": r"\d{1,2}", "%p": "[AaPp][Mm]", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]{3,9}",
    "%a": "[A-Za-z]{3}", "%A": "[A-Za-z]{6,9}",
}  # fmt: skip
SOME_YEAR = r"(1[89]|2[01])\d{2}"  # that a month without a day may be of: other digits are of codes
DAY_FIRST, MONTH_FIRST, YEAR_FIRST = "day first", "month first", "year first"


@dataclass(frozen=True)
class DateFormat(CellFormat):
    """A pattern as `strptime` takes it."""

    pattern: str
    kind = "date"
    type = INSTANT

    @cached_property
    def expression(self) -> str:
        """A regular expression for such dates, in which the day is a group of that name."""
        parts = PARTS if "%d" in self.pattern else PARTS | {"%Y": SOME_YEAR}
        pieces = [parts.get(piece) or re.escape(piece) for piece in re.split(r"(%[a-zA-Z])", self.pattern)]
        return rf"^\s*{''.join(pieces)}\s*$"

    @cached_property
    def marks(self) -> frozenset[str]:
        """The signs that every such date has: without them, nothing needs to be matched."""
        return frozenset(re.sub("%[a-zA-Z]", "", self.pattern))

    @cached_property
    def looks(self) -> re.Pattern[str]:
        """The compiled expression, to be matched with many values."""
        return re.compile(self.expression)

    def valid(self, strings: pa.Array) -> pa.Array:
        coded = strings.dictionary_encode()
        distinct = coded.dictionary
        alike = pc.match_substring_regex(distinct, self.expression)
        instants = self._parsed(distinct)
        good = pc.and_(alike, instants.is_valid())
        if "%d" in self.pattern:  # strptime takes 31/02 for the third of March
            day = pc.struct_field(pc.extract_regex(distinct, self.expression), "day").cast(pa.int64())
            good = filled(pc.and_(good, pc.equal(day, pc.day(instants))), False)
        return good.take(coded.indices)

    def parse(self, strings: pa.Array) -> pa.Array:
        coded = strings.dictionary_encode()
        return self._parsed(coded.dictionary).take(coded.indices)

    def _parsed(self, strings: pa.Array) -> pa.Array:
        strings = pc.utf8_trim_whitespace(strings)
        return pc.strptime(strings, format=self.pattern, unit="us", error_is_null=True)

    @property
    def order(self) -> str:
        """Whether the day, the month or the year comes first."""
        first = min((self.pattern.find(part), word) for part, word in ORDERS.items() if part in self.pattern)
        return first[1]

    def said(self) -> str:
        return f"dates {self.order}"


def is_pattern(word: str) -> bool:
    """Whether a word is a pattern for dates: of parts that are known, each at most once, among them a year."""
    parts = re.findall("%.?", word)
    return set(parts) <= PARTS.keys() and len(set(parts)) == len(parts) and not {"%Y", "%y"}.isdisjoint(parts)


ORDERS = {"%d": DAY_FIRST, "%m": MONTH_FIRST, "%b": MONTH_FIRST, "%B": MONTH_FIRST, "%Y": YEAR_FIRST,
          "%y": YEAR_FIRST}  # fmt: skip
DAYS = [
    *(f"{a}{mark}{b}{mark}{year}" for mark in "/.-" for a, b in (("%d", "%m"), ("%m", "%d")) for year in ("%Y", "%y")),
    *(f"%d{mark}{month}{mark}{year}" for mark in " -" for month in ("%b", "%B") for year in ("%Y", "%y")),
    *(f"{month} %d, %Y" for month in ("%b", "%B")),
    *(f"{weekday}, {day} %Y" for weekday, month in (("%a", "%b"), ("%A", "%B"))
      for day in (f"%d {month}", f"{month} %d,")),
    "%Y/%m/%d", "%Y.%m.%d",
]  # fmt: skip
TIMES = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"]
DAY_NUMBER = DateFormat("%Y%m%d")  # whole numbers: found apart, by the names of their columns
MONTH = DateFormat("%Y-%m")  # the first of it
ISO_DATES = tuple(DateFormat(f"%Y-%m-%d{time}") for time in ("", " %H:%M:%S", "T%H:%M:%S"))  # which Arrow reads itself
DATE_FORMATS = (*(DateFormat(day + time) for day in DAYS for time in TIMES), MONTH)


@dataclass(frozen=True)
class EpochFormat(CellFormat):
    """Seconds or thousandths of a second since 1970, in whole numbers."""

    unit: str  # "s" or "ms"
    kind = "epoch"
    type = INSTANT

    def valid(self, strings: pa.Array) -> pa.Array:
        return pc.match_substring_regex(strings, r"^\s*-?\d{1,15}(\.0*)?\s*$")

    def parse(self, strings: pa.Array) -> pa.Array:
        whole = pc.utf8_trim_whitespace(strings).cast(pa.float64()).cast(pa.int64())
        return whole.cast(pa.timestamp(self.unit)).cast(INSTANT)

    def said(self) -> str:
        return "seconds since 1970, as dates" if self.unit == "s" else "milliseconds since 1970, as dates"
