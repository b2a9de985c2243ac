"""A chunk is a run of consecutive rows in memory: the unit in which all data is read."""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from riata.matrices.host import as_matrix
from riata.matrices.matrix import Matrix

T = TypeVar("T")


class _Fields(NamedTuple):
    X: Matrix
    y: np.ndarray
    weight: np.ndarray
    offset: np.ndarray | None = None


class Chunk(_Fields):
    """Rows X (an array or a SciPy matrix is wrapped as a `Matrix`), with their targets and positive weights.

    Where rows have an offset, which is added to their margins, all of them do. While a model is fitted, it stands
    beside the target in y (`riata.losses.with_offset`).
    """

    def __new__(cls, X: Any, y: Any, weight: Any, offset: Any = None) -> Self:
        return super().__new__(cls, as_matrix(X), y, weight, offset)

    @property
    def names(self) -> Callable[[np.ndarray], dict[int, str]] | None:
        """A function from numbers of features to their names, where the numbers are hashes of the names."""
        return None

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    def rows(self, selection: Any) -> "Chunk":
        """The chunk of some of these rows (a slice, a mask or positions)."""
        if isinstance(selection, slice) and selection.indices(self.n_rows) == (0, self.n_rows, 1):
            return self
        offset = None if self.offset is None else self.offset[selection]
        return Chunk(self.X[selection], self.y[selection], self.weight[selection], offset)

    @property
    def arrays(self) -> list[Any]:
        """What it is made of: the matrix, and an array over the rows for everything else."""
        return [part for part in self if part is not None]

    def blocks(self, n_rows: int) -> Iterator["Chunk"]:
        """Runs of at most so many of these rows, in their order."""
        if self.n_rows <= n_rows:
            yield self
            return
        for start in range(0, self.n_rows, n_rows):
            yield self.rows(slice(start, start + n_rows))

    def _replace(self, **changes: Any) -> "Chunk":
        return Chunk(**(self._asdict() | changes))


class HashedChunk(Chunk):
    """Rows whose features are numbered by hashes of their names; `names` looks up those of this chunk."""

    _names: Callable[[np.ndarray], dict[int, str]]

    def __new__(cls, X: Any, y: Any, weight: Any, offset: Any, names: Callable[[np.ndarray], dict[int, str]]) -> Self:
        self = super().__new__(cls, X, y, weight, offset)
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
    """One chunk of the rows of several; a single chunk is returned as it is."""
    return chunks[0] if len(chunks) == 1 else copied(chunks)


def copied(chunks: Sequence[Chunk]) -> Chunk:
    """A copy of the rows of several chunks, in their order, which no longer refers to what they were read from."""
    Xs, *others = zip(*(chunk.arrays for chunk in chunks), strict=True)
    return Chunk(Xs[0].stacked(Xs[1:]), *(np.concatenate(part) for part in others))


def gathered(chunks: Iterable[Chunk], n_rows: int) -> Chunk:
    """A copy of the rows of chunks that are made one by one, in all `n_rows`: they are never held twice."""
    chunks = iter(chunks)
    first = next(chunks)
    if first.X.sparse:
        return _gathered_sparse(first, chunks)
    whole = [np.empty((n_rows, *part.shape[1:]), part.dtype) for part in _plain(first)]
    start = 0
    for chunk in chain([first], chunks):
        for all_rows, part in zip(whole, _plain(chunk), strict=True):
            all_rows[start : start + chunk.n_rows] = part
        start += chunk.n_rows
    return Chunk(*(all_rows[:start] for all_rows in whole))


def _gathered_sparse(first: Chunk, others: Iterable[Chunk]) -> Chunk:
    beside = [first.arrays[1:]]

    def rows_of_others() -> Iterator[Matrix]:
        for chunk in others:
            beside.append(chunk.arrays[1:])
            yield chunk.X

    X = first.X.stacked(rows_of_others())
    return Chunk(X, *(np.concatenate(part) for part in zip(*beside, strict=True)))


def _plain(chunk: Chunk) -> list[np.ndarray]:
    """The arrays of a chunk of dense rows."""
    return [chunk.X.toarray(), *chunk.arrays[1:]]


def left_over(chunk: Chunk) -> Any:
    """The targets less the offsets: what is left for a model to explain, where the loss is a function of y - z."""
    return chunk.y if chunk.offset is None else chunk.y - chunk.offset


def targets_alone(y: Any) -> Any:
    """The targets of rows, without the offsets that may stand beside them."""
    return y if y.ndim == 1 else y[:, 0]


def add(a: Any, b: Any, plus: Callable[[Any, Any], Any] = operator.add) -> Any:
    """a + b, element by element if they are tuples (nested, named or plain): how `Dataset.sum` adds results."""
    if isinstance(a, tuple):
        parts = [add(x, y, plus) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return plus(a, b)


def added(values: Iterable[T]) -> T:
    """The sum of all values, in their order. The first addition makes a new total, the later ones are in place."""
    values = iter(values)
    total = next(values)
    plus: Callable[[Any, Any], Any] = operator.add
    for value in values:
        total, plus = add(total, value, plus), operator.iadd
        del value  # free it while waiting for the next one
    return total
