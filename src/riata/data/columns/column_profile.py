"""A summary of a column of data, for users."""

from dataclasses import asdict, astuple, dataclass, fields
from typing import Any, NamedTuple

from riata.schema import build, checked


class Bins(NamedTuple):
    """A histogram of the values of a column, with bins of equal width."""

    start: float
    width: float
    counts: list[int]


@dataclass(frozen=True)
class Told:
    """A class that a column tells from the others, and how much of its indicator's variance it explains."""

    label: str
    share: float


@dataclass(frozen=True)
class ColumnProfile:
    """The summary of a column; None for what its type does not have, or where all values are missing."""

    type: str  # "number", "category", "date", "text", "list", "sparse" or "target"
    missing: int = 0
    mean: float | None = None
    deviation: float | None = None
    least: float | str | None = None  # a string for dates
    largest: float | str | None = None
    levels: int | None = None  # different values, words or indices; None where they are hashed
    hashed: bool | None = None
    most_frequent: list[str] | None = None
    counts: list[int] | None = None  # of the levels, the most frequent first
    counts_from: int | None = None  # the first index, of pairs of indices and values
    explains: float | None = None  # the share of the target's variance that this column alone explains
    tells: Told | None = None  # the class of which it explains most, of several
    distinct: int | None = None  # about how many different levels there are, also where they are hashed
    whole: bool | None = None  # whether numbers are whole
    numbers_rows: bool | None = None  # whether every row has its own number, or its own date
    histogram: Bins | None = None

    def to_json(self) -> dict[str, Any]:
        """The values that are not None, under the names used in files and in `--json`."""
        known = {_in_json(name): value for name, value in vars(self).items() if value is not None}
        if self.histogram is not None:
            known["histogram"] = self.histogram._asdict()
        if self.tells is not None:
            known["tells"] = asdict(self.tells)
        return known

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "ColumnProfile":
        plain = checked(dict[str, Any], plain, "the profile of a column")
        values = {FIELDS[name]: value for name, value in plain.items() if name in FIELDS}
        if values.get("histogram") is not None:
            values["histogram"] = Bins(*astuple(build(_PlainBins, values["histogram"], "a histogram")))
        if values.get("tells") is not None:
            values["tells"] = build(Told, values["tells"], "what a column tells")
        return build(cls, values, "the profile of a column")


@dataclass(frozen=True)
class _PlainBins:
    """A histogram as JSON has it."""

    start: float
    width: float
    counts: list[int]


def _in_json(name: str) -> str:
    """Names in files have spaces."""
    return name.replace("_", " ")


FIELDS = {_in_json(one.name): one.name for one in fields(ColumnProfile)}
