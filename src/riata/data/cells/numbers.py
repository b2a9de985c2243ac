"""Numbers with a decimal comma, separators of thousands, a percent or currency sign, a unit, or an odd minus."""

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.cell_format import CellFormat

CURRENCIES = ("$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY")
PERCENT = "%"
MARKS = (PERCENT, *CURRENCIES)
# such as kg, m², °C, km/h
UNIT = "[A-Za-z\u00b0\u00b5\u03a9\u03bc][A-Za-z0-9/\u00b0\u00b2\u00b3\u00b5\u03a9\u03bc]{0,15}"
EXPONENT = "[eE][0-9]*"
ZERO = r"^\s*0*[.,]?0*\s*$"
SPACES = "[ \u00a0\u202f]"  # plain, and the two that do not break
MINUS = "\u2212"  # the sign of typesetters, which web pages and some programs write
MINUSES = f"{MINUS}\u2013"  # and the dash that word processors make of a minus
THOUSANDS = {"": "", ",": ",", ".": r"\.", " ": SPACES, "'": "['\u2019]"}  # what may divide thousands, as expressions
# how -5 may be written besides that: as accountants do, with the minus behind, and with the minus of typesetters
BRACKETS, BEHIND, TYPESET = "(5)", "5-", f"{MINUS}5"
NEGATIVES = ("", BRACKETS, BEHIND, TYPESET)


@dataclass(frozen=True)
class NumberFormat(CellFormat):
    """The decimal mark, what divides thousands ("" for nothing), and a sign or unit before or after ("" for none).

    A percentage is the number as it is written: 34.0% is 34. Negative numbers have a minus before them, and where
    `negative` says so may be written in another way, too.
    """

    decimal: str = "."
    thousands: str = ""
    mark: str = ""
    negative: str = ""
    kind = "number"
    type = pa.float64()

    @property
    def unit(self) -> str:
        """The mark, if numbers with another or without one are not the same: all but currencies."""
        return "" if self.mark in CURRENCIES else self.mark

    @property
    def pattern(self) -> str:
        """A regular expression for these numbers, in which only whole groups of three digits are divided."""
        point, divider = re.escape(self.decimal), THOUSANDS[self.thousands]
        whole = rf"([1-9]\d{{0,2}}({divider}\d{{3}})+|\d+)" if divider else r"\d+"
        number = rf"({whole}({point}\d*)?|{point}\d+)([eE][+-]?\d+)?"
        mark = rf"({_as_written(self.mark)})?" if self.mark else ""
        sign = rf"[+{MINUSES if self.negative == TYPESET else ''}-]?"
        usual = rf"{mark}\s*{sign}\s*{mark}\s*{number}\s*{mark}"
        others = {
            BRACKETS: rf"|{mark}\s*\(\s*{mark}\s*{number}\s*{mark}\s*\)\s*{mark}",
            BEHIND: rf"|{mark}\s*{number}\s*{mark}\s*-\s*{mark}",
        }
        return rf"^\s*({usual}{others.get(self.negative, '')})\s*$"

    def valid(self, strings: pa.Array) -> pa.Array:
        found = pc.match_substring_regex(strings, self.pattern)
        if self.unit:  # a number without it, but for 0, may mean another thing: 0.34 is 34% or 0.34%
            with_it = pc.match_substring_regex(strings, _as_written(self.unit))
            found = pc.and_(found, pc.or_(with_it, pc.match_substring_regex(strings, ZERO)))
        return found

    def parse(self, strings: pa.Array) -> pa.Array:
        return self.plain(strings).cast(pa.float64())

    def plain(self, strings: pa.Array) -> pa.Array:
        """The same numbers as Arrow reads them: a point, a minus before them and no marks."""
        if self.negative == TYPESET:
            strings = pc.replace_substring_regex(strings, f"[{MINUSES}]", "-")
        if self.mark:
            strings = pc.replace_substring_regex(strings, _as_written(self.mark), "")
        if self.thousands in (" ", "'"):
            strings = pc.replace_substring_regex(strings, THOUSANDS[self.thousands], "")
        elif self.thousands:
            strings = pc.replace_substring(strings, self.thousands, "")
        if self.decimal != ".":
            strings = pc.replace_substring(strings, self.decimal, ".")
        strings = pc.utf8_trim_whitespace(strings)
        strings = pc.replace_substring_regex(strings, SPACES, "")  # such as those of - 5
        if self.negative in (BRACKETS, BEHIND):
            other = r"^\((.*)\)$" if self.negative == BRACKETS else r"^(.*)-$"
            strings = pc.replace_substring_regex(strings, other, r"-\1")
        return pc.utf8_ltrim(strings, "+")

    def said(self) -> str:
        parts = ["decimal commas"] * (self.decimal == ",")
        if self.thousands:
            parts.append(f"thousands divided by {self.thousands!r}")
        if self.mark:
            others = f"numbers with the unit {self.mark}" if self.unit else f"amounts in {self.mark}"
            parts.append("percentages, 34% as 34" if self.mark == PERCENT else others)
        if self.negative:
            parts.append(f"{self.negative} for -5")
        return " and ".join(parts) or "plain numbers"


PLAIN = NumberFormat()
NUMBER_FORMATS = tuple(
    NumberFormat(decimal, thousands) for decimal in ".," for thousands in THOUSANDS if thousands != decimal
)


def mark_of(strings: pa.Array) -> str | None:
    """The one sign that stands at numbers in these strings, "" if there is none; None for a mixture.

    Currencies may be left out at some numbers; a number without % among percentages (but for 0) may mean another thing.
    """
    found = [mark for mark in MARKS if pc.any(pc.match_substring(strings, mark)).as_py()]
    if not found:
        return ""
    if len(found) > 1:
        return None
    bare = strings.filter(pc.invert(pc.match_substring(strings, found[0])))
    if found[0] == PERCENT and not pc.all(pc.match_substring_regex(bare, ZERO), min_count=0).as_py():
        return None
    return found[0]


def is_unit(word: str) -> bool:
    """Whether a word may be a unit behind numbers: e3 is an exponent."""
    return re.fullmatch(UNIT, word) is not None and re.fullmatch(EXPONENT, word) is None


def unit_of(strings: pa.Array, share: float) -> str:
    """The word that stands behind numbers in more than this share of the strings, "" if there is none.

    Digits with zeros in front are codes, whatever is behind them.
    """
    if pc.any(pc.match_substring_regex(strings, r"^\s*[+-]?0\d")).as_py():
        return ""
    found = pc.extract_regex(strings, rf"^[\s+({MINUSES}-]*[0-9.,' ]*[0-9.]\s*(?P<unit>{UNIT})\s*$")
    words = pc.struct_field(found.drop_null(), "unit")
    counts = {one["values"]: one["counts"] for one in pc.value_counts(words).to_pylist()}
    for word in [word for word in counts if f"{word}s" in counts]:
        counts[f"{word}s"] += counts.pop(word)  # 1 year, 2 years
    unit, count = max(counts.items(), key=lambda one: one[1], default=("", 0))
    return unit if is_unit(unit) and count > share * len(strings) else ""


def _as_written(mark: str) -> str:
    """An expression for a mark or unit: 1 year is of the same unit as 2 years."""
    plural = mark not in MARKS and len(mark) > 2 and mark.endswith("s")
    return rf"{re.escape(mark[:-1])}s?" if plural else re.escape(mark)


def negative_of(strings: pa.Array) -> str:
    """How negative numbers are written in these strings, if not with a minus before them.

    Where all stand in brackets, those mean something else.
    """
    in_brackets = pc.match_substring(strings, "(")
    if pc.any(in_brackets).as_py():
        return "" if pc.all(in_brackets).as_py() else BRACKETS
    if pc.any(pc.match_substring_regex(strings, f"[{MINUSES}]")).as_py():
        return TYPESET
    return BEHIND if pc.any(pc.match_substring_regex(strings, r"\d[^-+eE]*-")).as_py() else ""
