"""A chunk is a run of rows held together: the unit in which all data is read."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from riata.matrices.host import as_matrix
from riata.matrices.matrix import Matrix


class _Fields(NamedTuple):
    X: Matrix
    y: np.ndarray
    weight: np.ndarray


class Chunk(_Fields):
    """Rows of X (an array or a SciPy matrix becomes a `Matrix` here), their targets and their positive weights."""

    def __new__(cls, X: Any, y: Any, weight: Any) -> Self:
        return super().__new__(cls, as_matrix(X), y, weight)

    @property
    def names(self) -> Callable[[np.ndarray], dict[int, str]] | None:
        """Tells the names of features by their numbers, where those are hashes of names."""
        return None

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    def rows(self, selection: Any) -> "Chunk":
        """The chunk of some of these rows (a slice, a mask or positions)."""
        return Chunk(self.X[selection], self.y[selection], self.weight[selection])

    def _replace(self, **changes: Any) -> "Chunk":
        return Chunk(**(self._asdict() | changes))


class HashedChunk(Chunk):
    """Rows whose features are known by hashes of their names; `names` tells those of this chunk."""

    _names: Callable[[np.ndarray], dict[int, str]]

    def __new__(cls, X: Any, y: Any, weight: Any, names: Callable[[np.ndarray], dict[int, str]]) -> Self:
        self = super().__new__(cls, X, y, weight)
        self._names = names
        return self

    @property
    def names(self) -> Callable[[np.ndarray], dict[int, str]]:
        return self._names

    def rows(self, selection: Any) -> "HashedChunk":
        return HashedChunk(*super().rows(selection), self._names)

    def _replace(self, **changes: Any) -> "HashedChunk":
        return HashedChunk(*super()._replace(**changes), self._names)


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """The rows of several chunks in one; one alone stays as it is."""
    return chunks[0] if len(chunks) == 1 else copied(chunks)


def copied(chunks: Sequence[Chunk]) -> Chunk:
    """A copy of the rows of some chunks, one after the other: what they were read from may go."""
    Xs, ys, weights = zip(*chunks, strict=True)
    return Chunk(Xs[0].stacked(Xs[1:]), np.concatenate(ys), np.concatenate(weights))


def add(a, b, plus=operator.add):
    """a + b, leaf by leaf when they are tuples: how `Dataset.sum` adds the results of chunks."""
    if isinstance(a, tuple):
        parts = [add(x, y, plus) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return plus(a, b)


def added(values: Iterable):
    """All values added, in their order. Only the first sum is new: later ones, which may be large, take its place."""
    values = iter(values)
    total, plus = next(values), operator.add
    for value in values:
        total, plus = add(total, value, plus), operator.iadd
        del value  # or it would live on while the next one is awaited
    return total
