"""The combined levels of several columns, such as `carrier=UA^dest=SFO`.

Of millions of rows a string for each would take longer than to learn them. So the hash of a row's string is made from
the bytes of its levels, where they are, and strings are made of those rows alone whose combinations need a name.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import arrow_of, filled, string_scalar
from riata.data.columns.column import MISSING, as_floats, as_strings
from riata.data.columns.levels import coded_by_strings, codes_of, worth_compiling
from riata.data.columns.strings import buffers_as_they_are
from riata.kernels.text_hashing import OFFSET, hash_behind, mix_hashes

CROSSED = "^"  # between the levels of columns

_MISSING = np.frombuffer(MISSING.encode(), np.uint8)


class _Levels(NamedTuple):
    """Strings, and the code of each row's, which is behind all of them where it is missing."""

    strings: pa.Array
    codes: np.ndarray
    text: np.ndarray  # the bytes of all strings, and where each begins
    offsets: np.ndarray

    def of_rows(self, rows: np.ndarray) -> pa.Array:
        codes = self.codes[rows]
        levels = self.strings.take(arrow_of(codes, null=codes == len(self.strings)))
        return filled(levels, MISSING).cast(pa.string())

    def hashed_behind(self, name: bytes) -> np.ndarray:
        """The state of a hash, for every row, after these bytes and its level."""
        few = len(self.strings) < len(self.codes)  # then rows that begin alike need not be hashed one by one
        codes = np.arange(len(self.strings) + 1, dtype=np.int32) if few else self.codes
        states = np.full(len(codes), OFFSET)
        self.go_on(states, name, codes)
        return states[self.codes] if few else states

    def go_on(self, states: np.ndarray, name: bytes, codes: np.ndarray) -> None:
        """Let hashes go on over these bytes and the levels of some codes."""
        hash_behind(states, np.frombuffer(name, np.uint8), codes, self.text, self.offsets, _MISSING)


class CrossedColumns:
    """The columns of some rows, each of which is looked at once, however many crosses it is part of."""

    def __init__(self, column: Callable[[str], pa.Array]) -> None:
        self._column, self._found = column, dict[tuple[str, bool], _Levels]()

    def levels(self, name: str, number: bool) -> _Levels:
        """The levels of a column; whether it is one of numbers is said."""
        found = self._found.get((name, number))
        if found is None:
            found = self._found[name, number] = _levels(self._column(name), name, number)
        return found


class CombinedLevels:
    """The levels of each row in some of the columns."""

    def __init__(self, columns: CrossedColumns, names: Sequence[str], numeric: Sequence[bool]) -> None:
        self._columns = {name: columns.levels(name, number) for name, number in zip(names, numeric, strict=True)}
        self._n_rows = len(next(iter(self._columns.values())).codes)

    @property
    def worth_hashing(self) -> bool:
        """Whether there are rows enough for compiled code, or it is there anyway."""
        return worth_compiling(self._n_rows)

    def strings(self, rows: np.ndarray | None = None) -> pa.Array:
        """A string for each of these rows, or of all: the names and levels of all columns."""
        rows = np.arange(self._n_rows) if rows is None else rows
        parts = [
            pc.binary_join_element_wise(string_scalar(name), levels.of_rows(rows), string_scalar("="))
            for name, levels in self._columns.items()
        ]
        return pc.binary_join_element_wise(*parts, string_scalar(CROSSED))

    @cached_property
    def hashes(self) -> np.ndarray:
        """The hashes of all strings, none of which is made."""
        (name, first), *others = self._columns.items()
        states = first.hashed_behind(f"{name}=".encode())
        for name, levels in others:
            levels.go_on(states, f"{CROSSED}{name}=".encode(), levels.codes)
        mix_hashes(states)
        return states


def _levels(column: pa.Array, name: str, number: bool) -> _Levels:
    """Levels as strings; numbers are parsed first, so that 7 and 7.0 are the same level."""
    if not number and coded_by_strings(column):
        strings, codes = column.dictionary, codes_of(column)
    else:
        strings = filled(as_strings(arrow_of(as_floats(column, name))) if number else as_strings(column), MISSING)
        codes = np.arange(len(strings), dtype=np.int32)
    return _Levels(strings, codes, *buffers_as_they_are(strings))
