"""What a user says about the cells of text files; what is not said is found by a first look."""

from collections.abc import Sequence
from dataclasses import dataclass

from riata.data.cells.dates import DATE_FORMATS, DAY_FIRST, MONTH_FIRST, DateFormat
from riata.data.cells.numbers import NUMBER_FORMATS, NumberFormat


@dataclass(frozen=True)
class AskedCells:
    """How numbers and dates are written, and which words stand for a missing value; None for what is to be found."""

    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None  # "day first", "month first", or a pattern of strptime
    epoch: tuple[str, ...] | None = None  # columns of seconds since 1970
    missing: tuple[str, ...] = ()  # besides the usual words
    numbers: tuple[str, ...] = ()  # columns that a model knows as numbers, whatever they are called

    @property
    def number_formats(self) -> Sequence[NumberFormat]:
        """The formats in which numbers may be written, the simplest first."""
        found = [one for one in NUMBER_FORMATS if self.decimal in (None, one.decimal) and one.decimal != self.thousands]
        return [one for one in found if self.thousands is None or one.thousands in ("", self.thousands)]

    @property
    def date_formats(self) -> Sequence[DateFormat]:
        """The formats in which dates may be written."""
        if self.dates is None:
            return DATE_FORMATS
        if "%" in self.dates:
            return [DateFormat(self.dates)]
        other = MONTH_FIRST if self.dates == DAY_FIRST else DAY_FIRST
        return [one for one in DATE_FORMATS if one.order != other or "%b" in one.pattern.lower()]
