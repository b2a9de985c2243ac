"""The interfaces of learners and encoders of columns, and conversions from Arrow arrays to NumPy arrays."""

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import values_of
from riata.data.columns.beside import Part
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Explained, Labels
from riata.data.columns.names import Names
from riata.data.columns.strings import numbers_of
from riata.data.formats.source import Source
from riata.errors import DataError
from riata.scipy_later import sparse as sp

MISSING, RARE = "(missing)", "(rare)"
ENOUGH_ROWS = 20  # fewer tell nothing of a column: it is taken as it is


class BadRow(DataError):
    """A value that cannot be used, at a row of a batch; the caller adds the file and the position of the batch."""

    def __init__(self, row: int | np.integer, sentence: str) -> None:
        super().__init__(sentence)
        self.row, self.sentence = int(row), sentence


class Entries(NamedTuple):
    """Non-zeros of some rows in CSR form, where features are numbered by hashes of their names."""

    indptr: np.ndarray
    numbers: np.ndarray
    values: np.ndarray
    name_at: Callable[[int], str]  # the name of the feature of an entry
    repeats: bool = False  # whether a row may have a feature twice
    of_levels: bool = False  # whether every row has one entry, which is a one


class Encoder(ABC):
    """Turns one or more columns of a batch into features. A frozen dataclass of plain values."""

    kind: ClassVar[str]
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""
        return (self.column,)

    @property
    def stem(self) -> str:
        """What the names of all its features begin with, unless it is a matrix."""
        return self.column

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """The names of its features, perhaps made on demand."""

    @property
    def width(self) -> int:
        """How many features it makes."""
        return len(self.names)

    @property
    @abstractmethod
    def nonzeros(self) -> float:
        """About how many features of a row are not zero."""

    @abstractmethod
    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        """Features of these rows, dense or sparse, whichever is easier to make."""

    def part(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Part:
        """Features of these rows, to be put beside those of other columns: levels by their codes alone."""
        return self.encode(columns, dtype)

    def entries(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Entries:
        """Features of these rows, numbered by hashes of their names."""
        X: Any = sp.csr_array(self.encode(columns, dtype))
        return Entries(X.indptr, self._numbers[X.indices], X.data, lambda place: self.names[X.indices[place]])

    @cached_property
    def _numbers(self) -> np.ndarray:
        """The hashes of the names of its features; kept, as those of thousands of columns take long to make."""
        return numbers_of(self.names)

    def gives(self, names: Collection[str]) -> bool:
        """Whether it makes at least one of these features."""
        mine = self.names
        if isinstance(mine, Names):
            return any(mine.find(name) is not None for name in names)
        return not set(names).isdisjoint(mine)

    def narrowed(self, names: Collection[str]) -> "Encoder":
        """An encoder that makes these of its features as it does, and of the others perhaps only some."""
        return self

    def narrowed_to(self, places: np.ndarray) -> "Encoder":
        """`narrowed` to the features at these places among its own, in order."""
        names = self.names
        return self.narrowed(names.at_all(places) if isinstance(names, Names) else [names[i] for i in places.tolist()])

    def fault(self) -> str | None:
        """What is wrong with an encoder from a file, beyond the types of its fields, as the end of a sentence."""
        return None

    def to_json(self) -> dict[str, Any]:
        own: Any = self  # every encoder is a dataclass
        return {"kind": self.kind} | {one.name: getattr(self, one.name) for one in fields(own)}


class Learner(ABC):
    """Sees a column, or an interaction of several, in the first pass."""

    between = ""  # the names of the columns of an interaction; of a single column there is nothing

    @property
    def constant(self) -> bool:
        """Whether all values are the same number, perhaps by rounding."""
        return False

    @property
    def too_many_levels(self) -> bool:
        """Whether a column of an interaction has more levels than are kept apart."""
        return False

    def name_of(self, columns: tuple[str, ...]) -> str:
        """What it is called that it sees in these columns: where it is no interaction, by the first."""
        return self.between.join(columns) if self.between else columns[0]

    @abstractmethod
    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        """Learn from some rows; y is their target, if there is one: numbers, or classes."""

    @abstractmethod
    def merge(self, later: Self) -> None:
        """Take over what another learner of this column has seen in later rows."""

    @abstractmethod
    def encoder(self, n_rows: int) -> Encoder:
        """The encoder for the values seen."""

    @abstractmethod
    def summary(self) -> ColumnProfile:
        """What a user wants to know about the column."""

    def check_sizes(self, source: Source) -> None:  # noqa: B027 (of most kinds there are none)
        """Refuse tiny numbers, and large whole ones that are nearly the same: floating point leaves nothing of them."""

    def explained(self, spread: float) -> Explained | None:
        """What it alone explains of the target, whose centred sum of squares is `spread` if it is of numbers."""
        return None

    single = True  # whether all values are exact in float32


def first_failing(column: pa.Array, parse: Callable[[pa.Array], Any]) -> int:
    """The row of the first value that cannot be parsed, by bisection; there must be one."""

    def fails(n_rows: int) -> bool:
        try:
            parse(column[:n_rows])
        except pa.ArrowException:
            return True
        return False

    return bisect_left(range(1, len(column)), True, key=fails)


def shown(value: object) -> str:
    """A value as people write it: words in quotes, dates as they are in files."""
    return repr(value) if isinstance(value, str) else str(value)


def as_floats(column: pa.Array, name: str, rule: str = "the model needs numbers there") -> np.ndarray:
    """Numbers, decimals, booleans and durations as float64, with NaN for null; `rule` says why others are refused."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_floats(column.dictionary_decode(), name, rule)
    if pa.types.is_duration(kind):
        seconds = column.cast(pa.int64()).cast(pa.float64(), safe=False)  # beyond 2^53 of a unit, to the nearest
        column = pc.divide(seconds, float(_PER_SECOND[kind.unit]))
    elif pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        try:
            if isinstance(kind, pa.BaseExtensionType):
                raise pa.ArrowNotImplementedError
            column = column.cast(pa.float64())
        except pa.ArrowException as error:
            if isinstance(error, pa.ArrowNotImplementedError):
                held = "holds dates" if pa.types.is_temporal(kind) else f"is {kind}"
                raise DataError(f"column {name!r} {held}, and {rule}: convert it, or name another") from None
            row = first_failing(column, lambda part: part.cast(pa.float64()))
            raise BadRow(row, f"column {name!r} holds {shown(column[row].as_py())}, and {rule}") from error
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
