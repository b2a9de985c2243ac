"""Crosses: every combination of the levels of some columns is a level, named as in `carrier=UA^dest=SFO`."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import arrow_of, filled, string_scalar
from riata.data.columns.beside import Part
from riata.data.columns.column import MISSING, Encoder, Entries, Learner, as_floats, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.explained import Labels
from riata.data.columns.hashed import Levels
from riata.scipy_later import sparse as sp

CROSSED = "^"  # between the levels of columns


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
        own, first = f"{self.column}=", f"{self.crossed[0]}="
        stripped = ((name, name.removeprefix(own)) for name in self.inner.names)
        return [level if level.startswith(first) else name for name, level in stripped]

    def factors(self) -> list[tuple[str, str] | None]:
        """The names of the two features that each feature of two columns combines; None for rare levels."""
        first, second = self.crossed[:2]
        return [
            _taken_apart(name, f"{first}=", f"{second}=") if len(self.crossed) == 2 else None for name in self.names
        ]

    def narrowed(self, names: Collection[str]) -> "Cross":
        own = f"{self.column}="
        return replace(self, inner=self.inner.narrowed({*names, *(own + name for name in names)}))

    @property
    def width(self) -> int:
        return self.inner.width

    @property
    def nonzeros(self) -> float:
        return 1.0

    def encode(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> "np.ndarray | sp.csr_array":
        return self.inner.encode([combined(self.crossed, self.numeric, columns)], dtype)

    def part(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Part:
        return self.inner.part([combined(self.crossed, self.numeric, columns)], dtype)

    def entries(self, columns: Sequence[pa.Array], dtype: npt.DTypeLike) -> Entries:
        return self.inner.entries([combined(self.crossed, self.numeric, columns)], dtype)

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


def _taken_apart(name: str, first: str, second: str) -> tuple[str, str] | None:
    """The two names that a combination is made of, if they can be told apart."""
    left, joint, right = name.partition(f"^{second}")
    return (left, f"{second}{right}") if joint and left.startswith(first) else None


def combined(names: Sequence[str], numeric: Sequence[bool], columns: Sequence[pa.Array]) -> pa.Array:
    """A string per row, such as carrier=UA^dest=SFO: the names and levels of all columns."""
    parts = [
        pc.binary_join_element_wise(
            string_scalar(name), filled(_levels(column, name, number), MISSING), string_scalar("=")
        )
        for name, number, column in zip(names, numeric, columns, strict=True)
    ]
    return pc.binary_join_element_wise(*parts, string_scalar(CROSSED))


def _levels(column: pa.Array, name: str, number: bool) -> pa.Array:
    """Levels as strings; numbers are parsed first, so that 7 and 7.0 are the same level."""
    levels = as_strings(arrow_of(as_floats(column, name))) if number else as_strings(column)
    return levels.cast(pa.string())


class CrossLearner(Learner):
    """Shows the combined levels of several columns to a learner of categories."""

    between = CROSSED

    def __init__(self, crossed: tuple[str, ...], numeric: tuple[bool, ...], inner: Learner) -> None:
        self.crossed, self.numeric, self.inner = crossed, numeric, inner

    def add(self, columns: Sequence[pa.Array], weight: np.ndarray, y: np.ndarray | Labels | None) -> None:
        # what columns explain of the target is said of each alone, which is what can be dropped
        self.inner.add([combined(self.crossed, self.numeric, columns)], weight, None)

    def merge(self, later: Self) -> None:
        self.inner.merge(later.inner)

    def encoder(self, n_rows: int) -> Cross:
        inner = self.inner.encoder(n_rows)
        if isinstance(inner, Levels):
            inner = Combination(inner.column)
        return Cross(inner.column, self.crossed, self.numeric, inner)

    def summary(self) -> ColumnProfile:
        return self.inner.summary()
