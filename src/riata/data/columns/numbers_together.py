"""Columns of numbers side by side, whose features are numbered by hashes: every chunk of them is one block.

One by one, a few rows of thousands of columns would take as long as many thousands of rows of few columns.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from riata.data.columns.column import Encoder, Entries
from riata.data.columns.numbers import Number
from riata.data.columns.strings import numbers_of


class NumbersTogether:
    """Encoders of numbers that follow one another, as one."""

    def __init__(self, encoders: list[Encoder]) -> None:
        self._encoders = encoders

    @cached_property
    def _names(self) -> list[str]:
        return [name for encoder in self._encoders for name in encoder.names]

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The hashes of the names of all features."""
        return numbers_of(self._names)

    def entries(self, batch: pa.RecordBatch, dtype: npt.DTypeLike) -> Entries:
        """Their features of the rows of a batch, those of each row in the order of the columns."""
        block = np.concatenate([one.encode([batch.column(one.column)], dtype) for one in self._encoders], axis=1)
        n_rows, width = block.shape
        entries = np.flatnonzero(block)  # and what follows of them, in less time than NumPy takes row by row
        rows = entries // width
        columns = entries - rows * width
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))])
        return Entries(indptr, self._numbers[columns], block.ravel()[entries], lambda at: self._names[columns[at]])


class AnyColumns:
    """An encoder of any other kind."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def entries(self, batch: pa.RecordBatch, dtype: npt.DTypeLike) -> Entries:
        """Its features of the rows of a batch."""
        return self._encoder.entries([batch.column(c) for c in self._encoder.columns], dtype)


def together(encoders: Sequence[Encoder]) -> list[NumbersTogether | AnyColumns]:
    """The encoders in their order, runs of numbers as one."""
    found: list[NumbersTogether | AnyColumns] = []
    for are_numbers, run in groupby(encoders, key=lambda one: isinstance(one, Number)):
        its = list(run)
        found += [NumbersTogether(its)] if are_numbers else map(AnyColumns, its)
    return found
