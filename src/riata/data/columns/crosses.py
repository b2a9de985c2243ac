"""Crosses: every combination of the levels of some columns is a level, named as in `carrier=UA^dest=SFO`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from riata.data.columns.beside import Part
from riata.data.columns.categories import Category, CategoryLearner, HashedCategory
from riata.data.columns.column import Encoder, Entries, Learner
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.combined_levels import CROSSED, CombinedLevels, CrossedColumns
from riata.data.columns.explained import Labels
from riata.data.columns.gaps import gaps_are_counted
from riata.data.columns.hashed import Levels
from riata.data.columns.names import Joined, Names
from riata.data.columns.strings import as_numbers
from riata.scipy_later import sparse as sp


@dataclass(frozen=True)
class Combination(Levels):
    """The levels of combined columns, which already contain the names of the columns."""

    kind = "combination"

    @property
    def prefix(self) -> str:
        return ""


@dataclass(frozen=True)
class Cross(Encoder):
    """Applies an encoder of categories to the combined levels of several columns."""

    column: str  # the name of the cross
    crossed: tuple[str, ...]
    numeric: tuple[bool, ...]  # which of the columns are numbers
    inner: Encoder
    kind = "cross"

    def fault(self) -> str | None:
        if not 2 <= len(self.crossed) == len(self.numeric):
            return "is not a cross of two columns or more"
        return None

    @property
    def columns(self) -> tuple[str, ...]:
        return self.crossed

    @property
    def stem(self) -> str:
        return self.crossed[0]

    @property
    def names(self) -> Sequence[str]:
        """Combinations name themselves; rare, missing or hashed levels are prefixed by the name of the cross."""
        return CrossNames(Joined([self.inner.names]), f"{self.column}=", f"{self.crossed[0]}=")

    def factors(self) -> list[tuple[str, str] | None]:
        """The names of the two features that each feature of two columns combines; None for rare levels."""
        first, second = self.crossed[:2]
        return [
            _taken_apart(name, f"{first}=", f"{second}=") if len(self.crossed) == 2 else None for name in self.names
        ]

    def narrowed(self, names: Collection[str]) -> "Cross":
        own = f"{self.column}="
        return replace(self, inner=self.inner.narrowed({*names, *(own + name for name in names)}))

    def narrowed_to(self, places: np.ndarray) -> "Cross":
        return replace(self, inner=self.inner.narrowed_to(places))

    @property
    def width(self) -> int:
        return self.inner.width

    @property
    def nonzeros(self) -> float:
        return 1.0

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        return self.inner.encode([self._combined(columns).strings()], dtype)

    def part(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Part:
        return self.part_of(crossed_columns(self.crossed, columns), dtype)

    def part_of(self, columns: CrossedColumns, dtype: npt.DTypeLike) -> Part:
        """`part` for columns that are made ready once for all crosses that they are in."""
        levels = CombinedLevels(columns, self.crossed, self.numeric)
        inner, counted = self.inner, gaps_are_counted()  # gaps are told with strange levels, as strings
        if levels.worth_hashing and (
            isinstance(inner, HashedCategory) or (isinstance(inner, Category) and not counted)
        ):
            return inner.part_by_hashes(levels.hashes, levels.strings)
        return inner.part([levels.strings()], dtype)

    def entries(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Entries:
        levels = self._combined(columns)
        if not isinstance(self.inner, Levels):
            return self.inner.entries([levels.strings()], dtype)
        numbers = as_numbers(levels.hashes)

        def name_at(row: int) -> str:
            return str(levels.strings(np.array([row]))[0])

        ones = np.broadcast_to(np.ones(1, dtype), len(numbers))
        return Entries(np.arange(len(numbers) + 1), numbers, ones, name_at, of_levels=True)

    def _combined(self, columns: Sequence[pa.Array]) -> CombinedLevels:
        return CombinedLevels(crossed_columns(self.crossed, columns), self.crossed, self.numeric)

    def gives(self, names: Collection[str]) -> bool:
        if isinstance(self.inner, Levels):
            return any(name.startswith(f"{self.crossed[0]}=") and CROSSED in name for name in names)
        return super().gives(names)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "column": self.column,
            "crossed": list(self.crossed),
            "numeric": list(self.numeric),
            "inner": self.inner.to_json(),
        }


def crossed_columns(names: Sequence[str], columns: Sequence[pa.Array]) -> CrossedColumns:
    """The columns of one cross."""
    return CrossedColumns(dict(zip(names, columns, strict=True)).__getitem__)


class CrossNames(Names):
    """The names of an encoder of combinations, which name themselves, without what it puts before them."""

    def __init__(self, names: Names, own: str, first: str) -> None:
        """`own` is before all names, and `first` begins those of combinations."""
        self._names, self._own, self._first = names, own, first

    def __len__(self) -> int:
        return len(self._names)

    def at(self, i: int) -> str:
        return self._shown(self._names.at(i))

    def at_all(self, places: np.ndarray) -> list[str]:
        return list(map(self._shown, self._names.at_all(places)))

    def _shown(self, name: str) -> str:
        level = name.removeprefix(self._own)
        return level if level.startswith(self._first) else name

    def find(self, name: str) -> int | None:
        return self._names.find(self._own + name if name.startswith(self._first) else name)


def _taken_apart(name: str, first: str, second: str) -> tuple[str, str] | None:
    """The two names that a combination is made of, if they can be told apart."""
    left, joint, right = name.partition(f"^{second}")
    return (left, f"{second}{right}") if joint and left.startswith(first) else None


class CrossLearner(Learner):
    """Shows the combined levels of several columns to a learner of categories."""

    between = CROSSED

    def __init__(self, crossed: tuple[str, ...], numeric: tuple[bool, ...], inner: Learner) -> None:
        self.crossed, self.numeric, self.inner = crossed, numeric, inner

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        # what columns explain of the target is said of each alone, which is what can be dropped
        levels = CombinedLevels(crossed_columns(self.crossed, columns), self.crossed, self.numeric)
        if isinstance(self.inner, CategoryLearner) and levels.worth_hashing:
            self.inner.add_by_hashes(levels.hashes, levels.strings)
        else:
            self.inner.add([levels.strings()], weight, None)

    def merge(self, later: Self) -> None:
        self.inner.merge(later.inner)

    def encoder(self, n_rows: int) -> Cross:
        inner = self.inner.encoder(n_rows)
        if isinstance(inner, Levels):
            inner = Combination(inner.column)
        return Cross(inner.column, self.crossed, self.numeric, inner)

    def summary(self) -> ColumnProfile:
        return self.inner.summary()
