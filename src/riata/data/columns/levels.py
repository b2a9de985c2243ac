"""Levels of the rows of a column: strings, each of which is looked at once where a file has them as codes."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of, filled, values_of
from riata.data.columns.column import as_strings
from riata.kernels.compiled import numba_is_here
from riata.kernels.text_hashing import first_uses

WORTH_COMPILING = 10_000  # rows: for fewer, importing numba takes longer


class LevelsOfRows(NamedTuple):
    """Strings, in the order in which rows have them first, and the place of each row's; -1 where it is missing."""

    strings: pa.Array
    places: np.ndarray | None  # None: every row has its own, which may be missing

    @property
    def missing(self) -> np.ndarray | None:
        """Which strings are missing; None where none of them are."""
        return values_of(self.strings.is_null()) if self.strings.null_count else None

    def of_rows(self, codes: np.ndarray, missing: int) -> np.ndarray:
        """The code of each row, from the code of each string and that of a missing one."""
        if self.places is None:
            return codes
        return np.append(codes, missing).astype(np.int32)[self.places]  # the last is that of -1


def worth_compiling(n_rows: int) -> bool:
    """Whether so many rows are enough for compiled code; any are where numba is there for something else."""
    return n_rows >= WORTH_COMPILING or numba_is_here()


def levels_of_rows(column: pa.Array) -> LevelsOfRows:
    """The levels of a column; a level that no row has is not among them."""
    if pa.types.is_integer(column.type) and len(column) >= WORTH_COMPILING:  # few of which differ, as a rule
        coded = column.dictionary_encode()
        places = values_of(filled(coded.indices, -1)).astype(np.int32, copy=False)
        return LevelsOfRows(as_strings(coded.dictionary), places)
    if not coded_by_strings(column):
        return LevelsOfRows(as_strings(column), None)
    there = column.drop_null() if column.null_count else column
    used = np.empty(len(column.dictionary), np.int32)
    codes = values_of(there.indices).astype(np.int32)
    used = used[: first_uses(codes, np.full(len(used), -1, np.int32), used)]
    places = codes
    if len(there) < len(column):
        places = np.full(len(column), -1, np.int32)
        places[values_of(column.is_valid())] = codes
    return LevelsOfRows(column.dictionary.take(arrow_of(used)), places)


def coded_by_strings(column: pa.Array) -> bool:
    """Whether rows, enough to compile for, are codes of strings in a dictionary."""
    if not pa.types.is_dictionary(column.type) or not worth_compiling(len(column)):
        return False
    kind = column.type.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind)) and not column.dictionary.null_count


def codes_of(column: pa.Array) -> np.ndarray:
    """The codes of rows in a dictionary; behind all of them, that of a missing value."""
    indices = column.indices.cast(pa.int32())  # in which there is room for one more
    return values_of(filled(indices, len(column.dictionary)))


class LastDictionary:
    """What an encoder has made of the levels of a dictionary: several batches in turn have the same one."""

    def __init__(self) -> None:
        self._last: tuple[pa.Array, np.ndarray] | None = None  # replaced as a whole: threads may encode side by side

    def __reduce__(self) -> tuple[type["LastDictionary"], tuple[()]]:
        """It stays in this process."""
        return LastDictionary, ()

    def numbers(self, dictionary: pa.Array, made: Callable[[pa.Array], np.ndarray]) -> np.ndarray:
        """What was made of these levels for the batch before, where it had the same; else what is made of them now."""
        last = self._last
        if last is None or not last[0].equals(dictionary):
            last = self._last = dictionary, made(dictionary)
        return last[1]
