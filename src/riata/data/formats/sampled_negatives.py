"""All positive rows of a source and a share of the others, whose weights make up for those that are left out.

Which rows stay depends on their numbers alone, so that all passes agree.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of
from riata.data.columns.column import as_floats
from riata.data.formats.source import OF_CELLS, Source
from riata.data.mixed_bits import GOLDEN, mixed_bits
from riata.errors import DataError, OptionError

SAMPLING_WEIGHT = "sampling weight"  # the column of weights, where there was none
REMEMBERED = 64  # batches whose rows can be named in messages
OF_PARTS = np.uint64(0xBF58476D1CE4E5B9)  # keeps the numbers of one part apart from those of another


def as_share(given: Any) -> float:
    """The share of negatives to keep, if it is one."""
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not (number and 0.0 < given <= 1.0):
        raise OptionError(f"sample_negatives is the share of negative rows to keep, above 0 and up to 1, not {given!r}")
    return float(given)


class SampledNegatives(Source):
    """The rows of another source that stay, with their weights."""

    def __init__(self, source: Source, target: str, weight: str | None, share: float, part: int = 0) -> None:
        """`part` tells parts of one source apart, each of which counts its rows from 0 on."""
        kind = source.schema.field(target).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise DataError(
                f"sample_negatives asks which rows have a target above 0, and {target!r} is {kind}: make it 0 and 1"
            )
        self.inner, self._target, self._share, self._part = source, target, share, part
        self.rows_before = self.n_read = 0  # of files that were read before; and with those read since
        self._weight, self.weight = weight, weight or SAMPLING_WEIGHT
        others = [field for field in source.schema if field.name != weight]
        self.schema = pa.schema([*others, pa.field(self.weight, pa.float64())])
        for name in ("n_bytes", "single_pass", "unordered", "bare", "any_base", "width", "feature_names", *OF_CELLS):
            setattr(self, name, getattr(source, name))
        if share < 1.0:
            kept = f"a share of {share:g} is kept, which counts {1 / share:.4g}-fold"
            self.notes = [*source.notes, f"of rows whose {target!r} is not above 0 {kept}"]
        self._recent: deque[tuple[int, np.ndarray]] = deque(maxlen=REMEMBERED)  # (first row here, numbers there)

    def of_part(self, source: Source, part: int) -> "SampledNegatives":
        """The same of a part of the source."""
        return SampledNegatives(source, self._target, self._weight, self._share, part)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        read = dict.fromkeys([*columns, self._target])
        weighted = read.pop(self.weight, 0) is None
        if self._weight is not None and weighted:
            read[self._weight] = None
        n_read = n_kept = 0
        for batch in self.inner.batches(list(read), rows):
            negative = as_floats(batch.column(self._target), self._target) <= 0.0
            numbers = np.arange(n_read, n_read + batch.num_rows)
            keep = ~negative | (_uniform(numbers + self.rows_before, self._part) < self._share)
            self._recent.append((n_kept, numbers[keep]))
            self.skipped, self.skipped_at = self.inner.skipped, self.inner.skipped_at
            n_read, n_kept = n_read + batch.num_rows, n_kept + int(keep.sum())
            self.n_read = self.rows_before + n_read
            yield self._weighted(batch.filter(arrow_of(keep)), negative[keep], weighted).select(list(columns))
        self.skipped, self.skipped_at = self.inner.skipped, self.inner.skipped_at

    def whole_range(self, column: str) -> tuple[int, int] | None:
        return self.inner.whole_range(column)

    def _weighted(self, batch: pa.RecordBatch, negative: np.ndarray, weighted: bool) -> pa.RecordBatch:
        """The batch with the weights of its rows."""
        if not weighted:
            return batch
        factors = np.where(negative, 1.0 / self._share, 1.0)
        if self._weight is not None:
            place = batch.schema.get_field_index(self._weight)
            factors *= as_floats(batch.column(place), self._weight)
            batch = batch.remove_column(place)
        return batch.append_column(self.weight, arrow_of(factors))

    def judge_by(self, columns: Sequence[str]) -> None:
        self.inner.judge_by(self.inner.own(dict.fromkeys([*columns, self._target])))

    def leave_out_unlearnable(self, weight: str | None) -> None:
        self.inner.leave_out_unlearnable(self._weight)

    def as_codes(self) -> None:
        self.inner.as_codes()

    def read_beside_others(self) -> None:
        self.inner.read_beside_others()

    def close(self) -> None:
        self.inner.close()

    def fingerprint(self) -> object | None:
        mark = self.inner.fingerprint()
        return None if mark is None else [mark, self._target, self._weight, self._share]

    def where(self, row: int) -> str:
        for first, numbers in reversed(self._recent):
            if first <= row < first + len(numbers):
                return self.inner.where(int(numbers[row - first]))
        return f"row {row + 1} of those that were kept"

    def place(self) -> str:
        return self.inner.place()


def _uniform(numbers: np.ndarray, part: int) -> np.ndarray:
    """For each whole number another one between 0 and 1, as if drawn at random."""
    with np.errstate(over="ignore"):
        uniform: np.ndarray = (
            mixed_bits((numbers.astype(np.uint64) + np.uint64(part + 1) * OF_PARTS) * GOLDEN) / 2.0**64
        )
    return uniform
