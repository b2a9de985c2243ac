"""Rows that can be read and not be learnt: with an infinite number, or a weight that is no number of zero or more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of, values_of

if TYPE_CHECKING:
    from riata.data.formats.filesource import FileSource


@dataclass(frozen=True)
class Unlearnable:
    """Which rows these are, by the columns that decide which rows are bad."""

    weight: str | None

    def with_own(self, source: "FileSource", columns: Sequence[str]) -> list[str]:
        """These columns, and after them all others that may make a row unlearnable."""
        own = [name for name in source.with_judged(columns) if self._may_tell(source.schema.field(name))]
        return list(dict.fromkeys([*columns, *own]))

    def _may_tell(self, field: pa.Field) -> bool:
        return field.name == self.weight or bool(pa.types.is_floating(field.type))

    def rows(self, batch: pa.RecordBatch) -> np.ndarray:
        """Their numbers in a batch."""
        bad = np.zeros(batch.num_rows, dtype=bool)
        for field, column in zip(batch.schema, batch.columns, strict=True):
            if pa.types.is_floating(field.type):
                values = values_of(column)
                if not np.isfinite(values.sum()):
                    bad |= np.isinf(values)
            if field.name == self.weight and (pa.types.is_floating(field.type) or pa.types.is_integer(field.type)):
                bad |= ~(values_of(column) >= 0)
        return np.flatnonzero(bad)


def without_rows(batch: pa.RecordBatch, rows: np.ndarray) -> pa.RecordBatch:
    """The batch without some rows."""
    if not len(rows):
        return batch
    keep = np.ones(batch.num_rows, dtype=bool)
    keep[rows] = False
    return batch.filter(arrow_of(keep))
