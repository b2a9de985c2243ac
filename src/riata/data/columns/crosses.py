"""Crosses: every combination of the levels of some columns is a level, named as in `carrier=UA^dest=SFO`."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.column import MISSING, Encoder, Learner, as_floats, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.hashed import Levels


@dataclass(frozen=True)
class Combination(Levels):
    """The levels of combined columns, each of which is its own name."""

    kind = "combination"

    @property
    def prefix(self):
        return ""


@dataclass(frozen=True)
class Cross(Encoder):
    """What an encoder of categories makes of the combined columns."""

    column: str  # the name of the cross
    crossed: tuple[str, ...]
    numeric: tuple[bool, ...]  # which of them held numbers
    inner: Encoder
    kind = "cross"

    @property
    def columns(self):
        return self.crossed

    @property
    def names(self):
        """Combinations as they are; what stands for several of them after the name of the cross."""
        own, first = f"{self.column}=", f"{self.crossed[0]}="
        stripped = ((name, name.removeprefix(own)) for name in self.inner.names)
        return [level if level.startswith(first) else name for name, level in stripped]

    @property
    def width(self):
        return self.inner.width

    @property
    def nonzeros(self):
        return 1.0

    def encode(self, columns, dtype):
        return self.inner.encode([combined(self.crossed, self.numeric, columns)], dtype)

    def entries(self, columns, dtype):
        return self.inner.entries([combined(self.crossed, self.numeric, columns)], dtype)

    def gives(self, names):
        if isinstance(self.inner, Levels):
            return any(name.startswith(f"{self.crossed[0]}=") and "^" in name for name in names)
        return super().gives(names)

    def to_json(self):
        return {
            "kind": self.kind,
            "column": self.column,
            "crossed": list(self.crossed),
            "numeric": list(self.numeric),
            "inner": self.inner.to_json(),
        }


def combined(names, numeric, columns) -> pa.Array:
    """One text per row: the levels of all columns, with their names."""
    parts = [
        pc.binary_join_element_wise(name, _levels(column, name, number).fill_null(MISSING), "=")
        for name, number, column in zip(names, numeric, columns, strict=True)
    ]
    return pc.binary_join_element_wise(*parts, "^")


def _levels(column, name, number) -> pa.Array:
    """Levels as text; those of a column of numbers are written alike whether the file has 7 or 7.0."""
    levels = as_strings(pa.array(as_floats(column, name))) if number else as_strings(column)
    return levels.cast(pa.string())


class CrossLearner(Learner):
    """A learner of categories that sees the combined columns."""

    def __init__(self, crossed: tuple[str, ...], numeric: tuple[bool, ...], inner: Learner):
        self.crossed, self.numeric, self.inner = crossed, numeric, inner

    def add(self, columns, weight, y):
        self.inner.add([combined(self.crossed, self.numeric, columns)], weight, y)

    def merge(self, later):
        self.inner.merge(later.inner)

    def encoder(self, n_rows):
        inner = self.inner.encoder(n_rows)
        if isinstance(inner, Levels):
            inner = Combination(inner.column)
        return Cross(inner.column, self.crossed, self.numeric, inner)

    def summary(self) -> ColumnProfile:
        return self.inner.summary()
