"""Dates and times: days as a number, and month, weekday and hour as categories, where they vary."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import filled, values_of
from riata.data.columns.beside import one_hot
from riata.data.columns.column import MISSING, BadRow, Encoder, Learner, as_strings, first_failing, shown
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import BinSums, Explained, Labels
from riata.data.columns.gaps import Gap, gaps_are_counted, tell_gaps
from riata.data.columns.row_order import Order
from riata.scipy_later import sparse as sp

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
PARTS = {"month": 13, "weekday": 7, "hour": 24}  # with the number of codes
SECONDS_PER_DAY = 86_400.0
MIDNIGHT = "T00:00:00"  # of days without a time
FIRST_DAY = "1970-01-01T"  # of times of day
INSTANT = pa.timestamp("us")


@dataclass(frozen=True)
class Date(Encoder):
    """Days since `origin` (in days since 1970), then a feature per value of each part, then one for missing dates."""

    column: str
    origin: int
    mean: float
    parts: dict[str, list[int]] = field(hash=False)
    missing: bool
    kind = "date"

    def fault(self) -> str | None:
        if not all(0 <= code < PARTS.get(part, 0) for part, codes in self.parts.items() for code in codes):
            return "has a month, weekday or hour that no date has"
        return None

    @property
    def names(self) -> Sequence[str]:
        parts = [
            f"{self.column}.{part}={WEEKDAYS[code] if part == 'weekday' else code}"
            for part, codes in self.parts.items()
            for code in codes
        ]
        return [f"{self.column}.days", *parts, *[f"{self.column}={MISSING}"] * self.missing]

    @property
    def nonzeros(self) -> float:
        return 1.0 + len(self.parts)

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        instants = as_instants(columns[0], self.column)
        null = values_of(instants.is_null())
        if gaps_are_counted():
            tell_gaps(id(self), self.column, Gap.NUMBER, len(null), int(null.sum()), [])
        days = np.where(null, self.mean, days_of(instants)) - self.origin
        blocks = [sp.csr_array(days[:, None].astype(dtype))]
        for part, codes in self.parts.items():
            position = np.full(PARTS[part], -1)
            position[codes] = np.arange(len(codes))
            code = part_of(instants, part)
            blocks.append(one_hot(np.where(null, -1, position[code]), len(codes), dtype))
        if self.missing:
            blocks.append(one_hot(np.where(null, 0, -1), 1, dtype))
        return sp.hstack(blocks, format="csr")


class DateLearner(Learner):
    """The first and last day, and which months, weekdays and hours occur."""

    single = False  # days have fractions

    def __init__(self, column: str) -> None:
        self.column = column
        self.n_missing = 0
        self.weight = self.mean = 0.0
        self.least, self.largest = np.inf, -np.inf
        self.seen = {part: np.zeros(n, dtype=bool) for part, n in PARTS.items()}
        self.on_first = self.on_last = True  # whether all are on the first, or on the last, day of a month
        self.of_day = False  # whether these are times of day
        self.order, self.bins = Order(), BinSums()

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        instants = as_instants(columns[0], self.column)
        valid = values_of(instants.is_valid())
        self.n_missing += instants.null_count
        days = days_of(instants)
        if y is not None:
            self.bins.add(np.where(valid, days, np.nan), weight, y)
        if not valid.any():
            return
        days, weight = days[valid], weight[valid]
        self.order.add(days)
        self.least, self.largest = min(self.least, days.min()), max(self.largest, days.max())
        self.weight += weight.sum()
        self.mean += weight @ (days - self.mean) / self.weight
        self.of_day = pa.types.is_time(columns[0].type)
        whole = np.floor(days).astype(np.int64)
        self.on_first = self.on_first and _begin_months(whole)
        self.on_last = self.on_last and _begin_months(whole + 1)
        for part, seen in self.seen.items():
            seen[part_of(instants, part)[valid]] = True

    def merge(self, later: Self) -> None:
        self.n_missing += later.n_missing
        self.on_first, self.on_last = self.on_first and later.on_first, self.on_last and later.on_last
        self.of_day = self.of_day or later.of_day
        self.least, self.largest = min(self.least, later.least), max(self.largest, later.largest)
        if later.weight > 0:
            self.weight += later.weight
            self.mean += later.weight * (later.mean - self.mean) / self.weight
        for part, seen in self.seen.items():
            seen |= later.seen[part]
        self.order.merge(later.order)
        self.bins.merge(later.bins)

    def encoder(self, n_rows: int) -> Date:
        parts = {part: np.flatnonzero(seen).tolist() for part, seen in self.seen.items() if seen.sum() > 1}
        if self.on_first or self.on_last:  # of months or years: on which weekday that is, is chance
            parts.pop("weekday", None)
        origin = int(np.floor(self.least)) if self.weight else 0
        return Date(self.column, origin, float(self.mean), parts, self.n_missing > 0)

    def summary(self) -> ColumnProfile:
        ends = [str(np.datetime64(int(d * SECONDS_PER_DAY), "s")) for d in (self.least, self.largest) if np.isfinite(d)]
        if self.of_day:
            ends = [end.removeprefix(FIRST_DAY) for end in ends]
        elif all(end.endswith(MIDNIGHT) for end in ends):
            ends = [end.removesuffix(MIDNIGHT) for end in ends]
        if not ends:
            return ColumnProfile("date", self.n_missing)
        rises = bool(self.order.rises)
        return ColumnProfile("date", self.n_missing, least=ends[0], largest=ends[-1], numbers_rows=rises)

    def explained(self, spread: float) -> Explained | None:
        return self.bins.explained(spread)


def _begin_months(days: np.ndarray) -> bool:
    """Whether all these days since 1970 are the first of a month."""
    dates = days.astype("datetime64[D]")
    return bool((dates == dates.astype("datetime64[M]")).all())


def as_instants(column: pa.Array, name: str) -> pa.Array:
    """Dates, timestamps, times of day and ISO 8601 strings as timestamps; with a zone, as UTC."""
    try:
        return _instants(column)
    except pa.ArrowException as error:
        row = first_failing(column, _instants)
        raise BadRow(
            row, f"column {name!r} holds {_shown(column, row)}, which is no date such as 2024-12-31"
        ) from error


def _instants(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _instants(column.dictionary_decode())
    if pa.types.is_time(kind):
        whole = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()).cast(pa.int64())
        return whole.cast(pa.timestamp(kind.unit)).cast(INSTANT, safe=False)  # nanoseconds are cut off
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return column.cast(pa.timestamp(kind.unit)).cast(INSTANT, safe=False)  # what is stored is UTC
    return column.cast(INSTANT, safe=False) if pa.types.is_temporal(kind) else parse_dates(as_strings(column))


def _shown(column: pa.Array, row: int) -> str:
    """A value for a message; one that Python has no date for as Arrow writes it."""
    try:
        return shown(column[row].as_py())
    except (ValueError, OverflowError):
        return str(column.type)


def parse_dates(strings: pa.Array) -> pa.Array:
    """ISO 8601 strings, with or without a time zone, as timestamps; each distinct string is parsed once."""
    coded = strings.dictionary_encode()
    try:
        instants = coded.dictionary.cast(INSTANT)
    except pa.ArrowInvalid:
        instants = coded.dictionary.cast(pa.timestamp("us", "UTC")).cast(INSTANT)
    return instants.take(coded.indices)


def look_like_dates(strings: pa.Array) -> bool:
    """Whether all these strings are dates; a plain number is not."""
    strings = strings.drop_null()
    if len(strings) == 0 or not pc.match_substring_regex(strings[:1], r"^\d{4}-\d\d-\d\d").to_pylist()[0]:
        return False
    try:
        parse_dates(strings)
    except pa.ArrowInvalid:
        return False
    return True


def days_of(instants: pa.Array) -> np.ndarray:
    """Days since 1970, with fractions; arbitrary for nulls."""
    micros = values_of(filled(instants.cast(pa.int64()), 0))
    return micros / (SECONDS_PER_DAY * 1e6)


def part_of(instants: pa.Array, part: str) -> np.ndarray:
    """The code of the month, weekday or hour; arbitrary for nulls."""
    get = {"month": pc.month, "weekday": pc.day_of_week, "hour": pc.hour}[part]
    return values_of(filled(get(instants), 0))
