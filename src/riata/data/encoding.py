"""The encoding: how columns of any type become numeric features with names. Learned once, saved with the model."""

import sys
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.cells.cell_format import CellFormat
from riata.data.cells.formats import from_json
from riata.data.chunk import Chunk, HashedChunk
from riata.data.column_names import no_column
from riata.data.columns.arrow_values import arrow_of
from riata.data.columns.beside import Part, dense, sparse
from riata.data.columns.categories import Category, HashedCategory
from riata.data.columns.column import BadRow, Encoder, as_floats
from riata.data.columns.combined_levels import CrossedColumns
from riata.data.columns.crosses import Combination, Cross
from riata.data.columns.dates import Date
from riata.data.columns.hashed import SPACE, Levels, Words, side_by_side
from riata.data.columns.lists import Dense, Sparse
from riata.data.columns.maps import AnyNames, HashedMap, Map
from riata.data.columns.names import Joined
from riata.data.columns.numbers import Number
from riata.data.columns.numbers_together import AnyColumns, NumbersTogether, together
from riata.data.columns.products import Product
from riata.data.columns.texts import HashedText, Text
from riata.data.offset import Offset
from riata.data.target import Target, has_target
from riata.data.trials import check_trials
from riata.errors import DataError, ModelFileError
from riata.matrices.csr_parts import CsrParts
from riata.schema import SchemaError, build
from riata.scipy_later import sparse as sp

KINDS: dict[str, Any] = {
    encoder.kind: encoder
    for encoder in (
        Number, Category, HashedCategory, Date, Text, HashedText, Dense, Sparse, Map, HashedMap, Levels, Words,
        AnyNames, Combination, Cross, Product,
    )
}  # fmt: skip
MATRICES = (Dense.kind, Sparse.kind)
SPARSE_BELOW = 0.2  # density at which skipping zeros beats the speed of dense products
INDEX_BYTES = 4
HASHED_ENTRY_BYTES = 8 * 6  # a number, and all that its name is found by: number, value, hash, beginning, end
NAME_BYTES = 80  # of the name of a feature
MOST_NONZEROS = 1e15  # of a row: more is no number that anybody counted


@dataclass(frozen=True)
class Encoding:
    """How rows of a source become features, target and weight."""

    encoders: tuple[Encoder, ...]
    target: Target | None = None
    weight: str | None = None
    offset: Offset | None = None
    single: bool = False  # whether every number is exact in float32
    hashed: bool = False  # whether features are numbered by hashes of their names
    cells: Mapping[str, CellFormat] = field(default_factory=dict, hash=False)  # how cells of text files are written

    @property
    def columns(self) -> list[str]:
        """The columns that are read, each once."""
        offset = None if self.offset is None else self.offset.column
        roles = [*(self.target.columns if self.target else ()), self.weight, offset]
        names = [c for e in self.encoders for c in e.columns] + [name for name in roles if name is not None]
        return list(dict.fromkeys(names))

    @property
    def dtype(self) -> type[np.float32] | type[np.float64]:
        return np.float32 if self.single else np.float64

    @cached_property
    def feature_names(self) -> Sequence[str] | None:
        if self.hashed:
            return None  # the list of all names is not known
        if len(self.encoders) == 1:
            return self.encoders[0].names  # of a matrix with millions of columns they are made one by one, on demand
        return Joined([encoder.names for encoder in self.encoders])

    @property
    def names_bytes(self) -> int:
        """About how much memory the names of all features take, where they are not made on demand."""
        return 0 if self.hashed or len(self.encoders) < 2 else NAME_BYTES * self.n_features

    @cached_property
    def n_features(self) -> int:
        return SPACE if self.hashed else sum(encoder.width for encoder in self.encoders)

    @cached_property
    def nonzeros(self) -> float:
        """About how many features of a row are not zero."""
        return sum(encoder.nonzeros for encoder in self.encoders)

    @cached_property
    def sparse(self) -> bool:
        return self.nonzeros < SPARSE_BELOW * self.n_features

    @cached_property
    def _parts(self) -> list[NumbersTogether | AnyColumns]:
        """What rows with hashed features are made by."""
        return together(self.encoders)

    @property
    def row_bytes(self) -> float:
        """The approximate size of an encoded row in memory."""
        item = np.dtype(self.dtype).itemsize
        entry = item + (HASHED_ENTRY_BYTES if self.hashed else INDEX_BYTES)
        numbers = self.nonzeros * entry + 8 if self.sparse else self.n_features * item
        n_targets = 1 if self.target is None else len(self.target.numbers)
        return numbers + 8 * (n_targets + 1) + (8 if self.offset else 0)  # target, weight and offset

    @property
    def is_matrix(self) -> bool:
        """Whether the features are the numbers of one dense matrix, unchanged."""
        return [e.kind for e in self.encoders] == [Dense.kind] and not self.sparse

    def chunk(self, batch: pa.RecordBatch, matrix: np.ndarray | None = None) -> Chunk:
        """The rows of a batch that have a target and a positive weight.

        Features may be given as a `matrix` of finite numbers, instead of columns of the batch.
        """
        y, weight, keep = self.roles(batch)
        if not keep.all():
            batch, y, weight = batch.filter(arrow_of(keep)), y[keep], weight[keep]
            matrix = None if matrix is None else matrix[keep]
        try:
            offset = offsets_of(batch, self.offset)
            if matrix is not None:
                return Chunk(matrix.astype(self.dtype, copy=False), y, weight, offset)
            if self.hashed:
                self._check_columns(batch)
                X, names = side_by_side([part.entries(batch, self.dtype) for part in self._parts])
                return HashedChunk(X, y, weight, offset, names)
            return Chunk(self.features(batch), y, weight, offset)
        except BadRow as bad:
            bad.row = int(np.flatnonzero(keep)[bad.row]) if len(keep) else bad.row
            raise

    def roles(self, batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every row: its target, its weight, and whether it is kept."""
        weight = weights_of(batch, self.weight, None if self.target is None else self.target.trials)
        keep = weight > 0
        if self.target is None:
            return np.zeros(batch.num_rows), weight, keep
        if keep.all():
            y = self.target.encode(self.target.of(batch))
            return y, weight, keep & has_target(y)
        several = self.target.several
        y = np.full(batch.num_rows if several is None else (batch.num_rows, len(several)), np.nan)
        try:
            counted = batch.select(self.target.columns).filter(arrow_of(keep))
            y[keep] = self.target.encode(self.target.of(counted))  # rows that do not count may have any label
        except BadRow as bad:
            bad.row = int(np.flatnonzero(keep)[bad.row])
            raise
        return y, weight, keep & has_target(y)

    def features(self, batch: pa.RecordBatch) -> "np.ndarray | sp.csr_array | CsrParts":
        """X of all rows of a batch."""
        self._check_columns(batch)
        if not self.encoders:  # of a model without any feature
            return np.empty((batch.num_rows, 0), self.dtype)
        crossed = CrossedColumns(batch.column)
        parts: list[Part] = [
            e.part_of(crossed, self.dtype)
            if isinstance(e, Cross)
            else e.part([batch.column(c) for c in e.columns], self.dtype)
            for e in self.encoders
        ]
        if self.sparse:
            return sparse(parts, self.dtype)
        blocks = [dense(part, self.dtype) for part in parts]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def _check_columns(self, batch: pa.RecordBatch) -> None:
        names = set(batch.schema.names)
        for column in (c for encoder in self.encoders for c in encoder.columns):
            if column not in names:
                raise DataError(no_column(column, sorted(names), ", which the model needs"))

    def of_features(self, names: Collection[str]) -> "Encoding":
        """The encoding without the columns that give none of these features, and without levels that are not named."""
        ordered = sorted(names)
        encoders = []
        for encoder in self.encoders:
            own = ordered if encoder.kind in MATRICES else _beginning_with(encoder.stem, ordered)
            if encoder.kind in MATRICES or encoder.gives(own):
                encoders.append(encoder.narrowed(own))
        return replace(self, encoders=tuple(encoders))

    def of_places(self, places: np.ndarray) -> "Encoding":
        """`of_features` for features by their numbers, in order: to find them by their names takes longer."""
        encoders, start = [], 0
        for encoder in self.encoders:
            stop = start + encoder.width
            first, last = np.searchsorted(places, (start, stop))
            if encoder.kind in MATRICES:
                encoders.append(encoder)
            elif first < last:
                encoders.append(encoder.narrowed_to(places[first:last] - start))
            start = stop
        return replace(self, encoders=tuple(encoders))

    def to_json(self) -> dict[str, Any]:
        return {
            "encoders": [encoder.to_json() for encoder in self.encoders],
            "target": self.target and self.target.to_json(),
            "weight": self.weight,
            **({} if self.offset is None else {"offset": asdict(self.offset)}),
            "single": self.single,
            "hashed": self.hashed,
            "cells": {name: one.to_json() for name, one in self.cells.items()},
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Encoding":
        try:
            own = build(_Plain, plain, "the encoding")
            target = None if own.target is None else Target.from_json(own.target)
            encoders = tuple(_encoder(item) for item in own.encoders)
            cells = {name: from_json(one) for name, one in own.cells.items()}
            offset = None if own.offset is None else build(Offset, own.offset, "its offset")
            return cls(encoders, target, own.weight, offset, own.single, own.hashed, cells)
        except SchemaError as error:
            raise ModelFileError(
                f"the encoding of columns cannot be read ({error}); it is damaged, or of another version"
            ) from error


def _beginning_with(stem: str, ordered: list[str]) -> list[str]:
    """The names that begin with a stem, of a list in order."""
    start = bisect_left(ordered, stem)
    return ordered[start : bisect_left(ordered, stem + chr(sys.maxunicode), start)]


@dataclass(frozen=True)
class _Plain:
    """An encoding as JSON has it."""

    encoders: list[dict[str, Any]]
    target: dict[str, Any] | None
    weight: str | None
    single: bool
    offset: dict[str, Any] | None = None
    hashed: bool = False
    cells: dict[str, dict[str, Any]] = field(default_factory=dict)


def _encoder(plain: Any) -> Encoder:
    kind = plain.get("kind") if isinstance(plain, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"there is no kind of column {kind!r}")
    values = {key: value for key, value in plain.items() if key != "kind"}
    if kind == Cross.kind and "inner" in values:
        values["inner"] = _encoder(values["inner"])
    if kind == Product.kind and isinstance(values.get("parts"), list):
        values["parts"] = [_encoder(part) for part in values["parts"]]
    encoder: Encoder = build(KINDS[kind], values, f"column {values.get('column')!r}")
    fault = encoder.fault()
    if fault is None and not 0.0 <= encoder.nonzeros <= MOST_NONZEROS:
        fault = "has no number of features that a row is likely to have"
    if fault is not None:
        raise SchemaError(f"column {encoder.column!r} {fault}")
    return encoder


def weights_of(batch: pa.RecordBatch, column: str | None, trials: str | None = None) -> np.ndarray:
    """The weights of rows, which must be finite and not negative; 1 for every row by default.

    A row of several trials counts as often; one whose trials are missing has no target, and is left out for that.
    """
    if trials is not None:
        count = as_floats(batch.column(trials), trials, "trials must be numbers")
        check_trials(count)
        return weights_of(batch, column) * np.where(np.isnan(count), 1.0, count)
    if column is None:
        return np.ones(batch.num_rows)
    weight = as_floats(batch.column(column), column, "weights must be numbers")
    wrong = ~(weight >= 0) | np.isinf(weight)
    if wrong.any():
        row = int(np.argmax(wrong))
        said = f"the weight in {column!r} is {weight[row]}, and a weight is a number of zero or more"
        raise BadRow(row, f"{said}: correct it, or leave such rows out")
    return weight


def offsets_of(batch: pa.RecordBatch, offset: Offset | None) -> np.ndarray | None:
    """The offsets of rows; None where there are none."""
    if offset is None or offset.column is None:
        return None
    if offset.column not in batch.schema.names:
        sentence = f": it is the {offset.role} of the model, and every row needs it"
        raise DataError(no_column(offset.column, sorted(batch.schema.names), sentence))
    return offset.of(as_floats(batch.column(offset.column), offset.column, "offsets must be numbers"))
