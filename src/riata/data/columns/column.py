"""What all kinds of columns share: the learner, the encoder, and Arrow arrays as NumPy ones."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import values_of
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.strings import numbers_of
from riata.errors import DataError
from riata.scipy_later import sparse as sp

MISSING, RARE = "(missing)", "(rare)"


class BadRow(DataError):
    """A value that cannot be used, at a row of the batch; whoever knows the batch's place says where that is."""

    def __init__(self, row: int | np.integer, sentence: str):
        super().__init__(sentence)
        self.row, self.sentence = int(row), sentence


class Entries(NamedTuple):
    """Non-zeros of some rows by hashes of the features' names, and a function that gives those hashes and names."""

    indptr: np.ndarray
    numbers: np.ndarray
    values: np.ndarray
    vocabulary: Callable[[], tuple[np.ndarray, Sequence[str]]]


class Encoder(ABC):
    """Turns some columns of a batch into features. A frozen dataclass of plain values."""

    kind: ClassVar[str]
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return (self.column,)

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The names of its features, which may be made when asked for."""

    @property
    def width(self) -> int:
        """How many features it makes."""
        return len(self.names)

    @property
    @abstractmethod
    def nonzeros(self) -> float:
        """How many features of a row are not zero, about."""

    @abstractmethod
    def encode(self, columns: Sequence[pa.Array], dtype) -> "np.ndarray | sp.csr_array":
        """Features of these rows, dense or sparse as it is easier."""

    def entries(self, columns: Sequence[pa.Array], dtype) -> Entries:
        """Features of these rows, known by hashes of their names."""
        X: Any = sp.csr_array(self.encode(columns, dtype))
        known = numbers_of(self.names)
        return Entries(X.indptr, known[X.indices], X.data, lambda: (known, self.names))

    def gives(self, names: Collection[str]) -> bool:
        """Whether one of these features is its own."""
        return not set(names).isdisjoint(self.names)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


class Learner(ABC):
    """Sees a column in the first pass."""

    @abstractmethod
    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | None) -> None:
        """Learn from some rows; y is their target where it is a number."""

    @abstractmethod
    def merge(self, later) -> None:
        """Learn what another learner of this column has seen of later rows."""

    @abstractmethod
    def encoder(self, n_rows: int) -> Encoder:
        """The encoder of what was seen."""

    @abstractmethod
    def summary(self) -> ColumnProfile:
        """What a person wants to know about the column."""

    single = True  # whether all values are exact in float32


def one_hot(codes: np.ndarray, width: int, dtype) -> "sp.csr_array":
    """A one at the code of each row; a row of code -1 stays empty."""
    some = codes >= 0
    indptr = np.concatenate([[0], np.cumsum(some)]).astype(np.int32)
    indices = codes[some].astype(np.int32)
    return sp.csr_array((np.ones(len(indices), dtype), indices, indptr), shape=(len(codes), width))


def first_failing(column: pa.Array, parse: Callable[[pa.Array], Any]) -> int:
    """The row of the first value that cannot be parsed with those before it, of which there is one."""

    def fails(n_rows):
        try:
            parse(column[:n_rows])
        except pa.ArrowInvalid:
            return True
        return False

    return bisect_left(range(1, len(column)), True, key=fails)


def as_floats(column: pa.Array, name: str) -> np.ndarray:
    """Numbers, decimals, booleans and durations as float64, with NaN for null."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_floats(column.dictionary_decode(), name)
    if pa.types.is_duration(kind):
        column = pc.divide(column.cast(pa.int64()).cast(pa.float64()), float(_PER_SECOND[kind.unit]))
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        try:
            column = column.cast(pa.float64())
        except pa.ArrowInvalid as error:
            row = first_failing(column, lambda part: part.cast(pa.float64()))
            raise BadRow(row, f"column {name!r} holds {kind}, where the model has numbers ({error})") from error
    return values_of(column).astype(np.float64, copy=False)


_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def as_strings(column: pa.Array) -> pa.Array:
    """Any column of levels as strings; NaN is null."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    plain = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return column if plain else column.cast(pa.string())
