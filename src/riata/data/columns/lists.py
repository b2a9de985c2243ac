"""Columns of many features: lists of numbers, and pairs of list columns (indices and values of sparse rows)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from riata.data.columns.arrow_values import values_of
from riata.data.columns.column import BadRow, Encoder, Learner
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.names import Numbered
from riata.data.csr import canonical
from riata.data.formats.source import Source
from riata.data.whole_numbers import Ranges, SparseRanges
from riata.errors import DataError
from riata.scipy_later import sparse as sp


@dataclass(frozen=True)
class Dense(Encoder):
    """The numbers of a list, unchanged."""

    column: str
    size: int
    share_nonzero: float = field(default=1.0, compare=False)
    given_names: tuple[str, ...] | None = None
    kind = "dense"

    def fault(self) -> str | None:
        return _size_fault(self.size, self.given_names)

    @property
    def names(self) -> Sequence[str]:
        return self.given_names or (
            Numbered("x", 0, self.size) if self.column == "X" else Numbered(f"{self.column}[", 0, self.size, "]")
        )

    @property
    def nonzeros(self) -> float:
        return self.size * self.share_nonzero

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        flat, lengths = flatten(columns[0], self.column)
        wrong = lengths != self.size
        if wrong.any():
            row = int(np.argmax(wrong))
            raise BadRow(row, f"{self.column!r} has {lengths[row]} numbers here, and {self.size} in the rows before")
        values = flat.reshape(len(lengths), self.size)
        check_numbers(values, self.column)
        return values.astype(dtype, copy=False)


@dataclass(frozen=True)
class Sparse(Encoder):
    """Sparse rows from a pair of list columns; the first index is `first`. Indices out of range are ignored."""

    column: str
    values: str
    size: int
    first: int
    per_row: float = field(compare=False)
    given_names: tuple[str, ...] | None = None
    kind = "sparse"

    def fault(self) -> str | None:
        return (
            "counts its indices neither from 0 nor from 1"
            if self.first not in (0, 1)
            else _size_fault(self.size, self.given_names)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return self.column, self.values

    @property
    def names(self) -> Sequence[str]:
        return self.given_names or Numbered(
            "x" if self.column == "X.indices" else f"{stem(self.column)}.", self.first, self.size
        )

    @property
    def nonzeros(self) -> float:
        return self.per_row

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        values, indices, offsets = pairs_of(columns, self.column, self.values)
        if len(indices) and not self.first <= indices.min() <= indices.max() < self.first + self.size:
            inside = (indices >= self.first) & (indices < self.first + self.size)
            offsets = np.concatenate([[0], np.cumsum(inside)])[offsets]
            indices, values = indices[inside], values[inside]
        small = max(self.size, len(indices)) < 2**31
        kind = np.int32 if small else np.int64
        if self.first:
            indices = np.subtract(indices, self.first, dtype=kind, casting="unsafe")  # all of them fit by now
        X = sp.csr_array(
            (values.astype(dtype, copy=False), indices.astype(kind, copy=False), offsets.astype(kind, copy=False)),
            shape=(len(offsets) - 1, self.size),
        )
        return canonical(X)


def _size_fault(size: int, names: tuple[str, ...] | None) -> str | None:
    if not 0 <= size <= 2**62 or (names is not None and len(names) != size):
        return f"has {size} features, and {len(names or ())} names of them"
    return None


def stem(column: str) -> str:
    """The part of the name that a pair of columns shares: 'doc' for 'doc.indices' and 'doc_values'."""
    for ending in ("indices", "values"):
        if column.endswith(ending):
            return column.removesuffix(ending).rstrip("._") or "x"
    return column


def flatten(column: pa.Array, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The concatenated numbers of all lists, and the length of each list."""
    if not hasattr(column, "value_lengths"):
        raise DataError(f"{name!r} is of {column.type} here, where the model has lists of numbers")
    if column.null_count:
        row = int(np.argmax(values_of(column.is_null())))
        raise BadRow(row, f"{name!r} has no list here; missing lists cannot be filled in")
    flat = column.flatten()
    if pa.types.is_fixed_size_list(column.type):
        lengths = np.full(len(column), column.type.list_size)
    else:
        lengths = values_of(column.value_lengths())
    if pa.types.is_boolean(flat.type) or pa.types.is_decimal(flat.type):
        flat = flat.cast(pa.float64())
    return values_of(flat), lengths


def pairs_of(
    columns: Sequence[pa.Array], indices_name: str, values_name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(values, indices, offsets) of a pair of list columns."""
    indices, lengths = flatten(columns[0], indices_name)
    values, value_lengths = flatten(columns[1], values_name)
    if not np.array_equal(lengths, value_lengths):
        row = int(np.argmax(lengths != value_lengths))
        raise BadRow(
            row, f"{indices_name!r} has {lengths[row]} entries here, but {values_name!r} has {value_lengths[row]}"
        )
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    check_values(values, indices, offsets)
    return values, indices, offsets


def check_values(values: np.ndarray, indices: Any, offsets: np.ndarray) -> None:
    """Refuse sparse rows with a value that is not finite; indices may be names."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64)  # a sum is quick; if it is not finite, every value is checked
    if not np.isfinite(total) and not np.isfinite(values).all():
        entry = int(np.argmax(~np.isfinite(values)))
        raise BadRow(
            np.searchsorted(offsets, entry, "right") - 1,
            f"feature {indices[entry]} is {values[entry]}, not a finite number",
        )


def check_numbers(values: np.ndarray, name: str) -> None:
    """Refuse a dense matrix with a value that is not finite."""
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()  # quick, in their own precision; if it is not finite, every value is checked
    if not np.isfinite(total) and not np.isfinite(values).all():
        row, j = np.argwhere(~np.isfinite(values))[0]
        raise BadRow(
            row,
            f"column {j} of {name} is {values[row, j]}; fill in what is missing, or give a frame with named columns",
        )


class DenseLearner(Learner):
    """The length of the lists of a column, and how many of their numbers are not zero."""

    def __init__(self, column: str, names: Sequence[str] = ()) -> None:
        self.column, self.n_rows, self.n_nonzero = column, 0, 0
        self.width: int | None = None
        self.names = tuple(names) if names else None
        self.ranges = Ranges()

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        flat, lengths = flatten(columns[0], self.column)
        if len(lengths) == 0:
            return
        self.width = width = int(lengths[0]) if self.width is None else self.width
        if (lengths != width).any():
            row = int(np.argmax(lengths != width))
            raise BadRow(row, f"{self.column!r} has {lengths[row]} numbers here, and {width} in the rows before")
        check_numbers(flat.reshape(len(lengths), width), self.column)
        self.ranges.add(flat.reshape(len(lengths), width))
        self.n_rows += len(lengths)
        self.n_nonzero += int(np.count_nonzero(flat != 0))  # counting booleans is twice as fast as counting numbers
        self.single = self.single and exact_in_single(flat)

    def merge(self, later: Self) -> None:
        if None not in (self.width, later.width) and self.width != later.width:
            raise BadRow(0, f"{self.column!r} has {later.width} numbers here, and {self.width} in the rows before")
        self.width = later.width if self.width is None else self.width
        self.n_rows, self.n_nonzero = self.n_rows + later.n_rows, self.n_nonzero + later.n_nonzero
        self.single = self.single and later.single
        self.ranges.merge(later.ranges)

    def check_sizes(self, source: Source) -> None:
        names = self.encoder(self.n_rows).names
        self.ranges.check(lambda j: names[j], source, self.column)

    def encoder(self, n_rows: int) -> Dense:
        width = self.width or 0
        return Dense(self.column, width, self.n_nonzero / max(self.n_rows * width, 1), self.names)

    def summary(self) -> ColumnProfile:
        return ColumnProfile("list", levels=self.width)


class SparseLearner(Learner):
    """The range of the indices of a pair of list columns."""

    def __init__(
        self, indices: str, values: str, width: int | None = None, first: int | None = None, names: Sequence[str] = ()
    ) -> None:
        self.indices, self.values, self.width, self.first = indices, values, width, first
        self.least, self.largest = np.iinfo(np.int64).max, -1
        self.n_rows = self.n_pairs = 0
        self.names = tuple(names) if names else None
        self.ranges = SparseRanges()

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        values, indices, offsets = pairs_of(columns, self.indices, self.values)
        self.n_rows += len(offsets) - 1
        self.n_pairs += len(values)
        if len(indices):
            self.least, self.largest = min(self.least, int(indices.min())), max(self.largest, int(indices.max()))
            if self.least < 0:
                row = np.searchsorted(offsets, int(np.argmin(indices)), "right") - 1
                raise BadRow(row, f"{self.indices!r} holds {self.least}; an index is zero or more")
        self.single = self.single and exact_in_single(values)
        self.ranges.add(indices, values, offsets)

    def merge(self, later: Self) -> None:
        self.ranges.merge(later.ranges)
        self.n_rows, self.n_pairs = self.n_rows + later.n_rows, self.n_pairs + later.n_pairs
        self.least, self.largest = min(self.least, later.least), max(self.largest, later.largest)
        self.single = self.single and later.single

    def check_sizes(self, source: Source) -> None:
        names = self.encoder(self.n_rows).names
        self.ranges.check(lambda j: names[j - self.counts_from], source, self.values)

    @property
    def counts_from(self) -> int:
        return self.first if self.first is not None else int(self.least > 0 and self.largest > 0)

    def encoder(self, n_rows: int) -> Sparse:
        width = self.width or max(self.largest + 1 - self.counts_from, 0)
        return Sparse(
            self.indices, self.values, width, self.counts_from, self.n_pairs / max(self.n_rows, 1), self.names
        )

    def summary(self) -> ColumnProfile:
        return ColumnProfile("sparse", levels=self.largest + 1 - self.counts_from, counts_from=self.counts_from)


def exact_in_single(values: np.ndarray) -> bool:
    """Whether these numbers are exact in float32."""
    if values.dtype.itemsize <= 2 or values.dtype == np.float32:
        return True
    with np.errstate(over="ignore"):  # what is too large for float32 is infinite there: another number
        return bool((values.astype(np.float32) == values).all())
