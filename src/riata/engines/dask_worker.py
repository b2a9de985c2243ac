"""What runs on the workers: functions that arrive there, the rows they hold, and sums over them.

A *part* is a run of rows on one worker. Dask knows it as a future: if its worker dies, the part is made again elsewhere
from where it came. Rows of files are encoded once into a nameless file on the worker's own disk and mapped into memory;
if Dask moves such a part, the other worker reads the source for itself and no row travels.
"""

import importlib
import io
import pickle
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import islice
from typing import Any, NamedTuple, Protocol

import cloudpickle
import numpy as np
import scipy.sparse as sp
from numba.core.dispatcher import Dispatcher

from riata.data.chunk import Chunk, add
from riata.data.columns.column import BadRow
from riata.data.encoded import EncodedRows, write_chunks
from riata.data.encoding import Encoding
from riata.data.profile import FirstPass
from riata.data.sources.filesource import FileSource
from riata.data.sources.source import Source, rebatch
from riata.errors import DataError

# What Dask believes to be the size of things, which decides where tasks run: with the rows, whatever else they need.
# Rows on disk are small in memory, but to move them is to read and encode them again.
LIGHT, HEAVY = 100, 16 << 20


class _Pickler(cloudpickle.Pickler):
    """Compiled functions go by name: pickled by value, each worker would compile them again."""

    def reducer_override(self, obj):
        if isinstance(obj, Dispatcher):
            return _compiled, (obj.py_func.__module__, obj.py_func.__qualname__)
        return super().reducer_override(obj)


def _compiled(module, name):
    return getattr(importlib.import_module(module), name)


class Carried:
    """A value on its way to the workers: pickled once here, unpickled once on each of them."""

    def __init__(self, value):
        buffer = io.BytesIO()
        _Pickler(buffer).dump(value)
        self.content = buffer.getvalue()

    @cached_property
    def value(self):
        return pickle.loads(self.content)

    def __getstate__(self):
        return {"content": self.content}

    def __sizeof__(self):
        return LIGHT


class Part(Protocol):
    """Rows on a worker, in chunks."""

    counts: list[int]  # rows of every chunk

    def rows(self, i: int, span: slice) -> Chunk: ...

    def release(self, i: int) -> None: ...


@dataclass
class RowsInMemory:
    """Chunks that the worker holds; Dask moves or spills them like any other data."""

    chunks: list[Chunk]

    @property
    def counts(self):
        return [chunk.n_rows for chunk in self.chunks]

    def rows(self, i, span):
        return self.chunks[i].rows(span)

    def release(self, i):
        pass

    def __sizeof__(self):
        return sum(_nbytes(array) for chunk in self.chunks for array in chunk)


def _nbytes(array) -> int:
    return array.data.nbytes + array.indices.nbytes + array.indptr.nbytes if sp.issparse(array) else array.nbytes


class Recipe(NamedTuple):
    """How the rows of a part are made."""

    source: Source
    encoding: Encoding
    chunk_rows: int
    folder: str | None  # where the encoded rows are kept: the worker's temporary folder by default
    whole: bool  # whether every row that is read counts

    def chunks(self) -> Iterator[Chunk]:
        batches = rebatch(self.source.batches(self.encoding.columns, self.chunk_rows), self.chunk_rows)
        for i, batch in enumerate(batches):
            if (chunk := self.encode(i * self.chunk_rows, batch)).n_rows:
                yield chunk

    def encode(self, start, batch) -> Chunk:
        try:
            return self.encoding.chunk(batch)
        except BadRow as bad:
            raise DataError(f"{self.source.where(start + bad.row)}: {bad.sentence}") from None


class RowsOnDisk:
    """Encoded rows of a source, in a file that is gone when nobody needs them, or when the worker is."""

    def __init__(self, recipe: Recipe):
        self._recipe, self.counts = recipe, []
        with tempfile.TemporaryFile(dir=recipe.folder, prefix="riata-") as handle:
            for chunk in write_chunks(handle, recipe.chunks()):
                self.counts.append(chunk.n_rows)
            if self.counts:
                self._rows = EncodedRows(handle, recipe.encoding.n_features)

    def rows(self, i, span):
        return self._rows.chunk(i).rows(span)

    def release(self, i):
        self._rows.release(i)

    def __reduce__(self):
        return RowsOnDisk, (self._recipe,)

    def __sizeof__(self):
        return HEAVY


class RowsByPosition:
    """Rows of a source that is as fast as any copy: read anew in every pass."""

    def __init__(self, recipe: Recipe):
        self._recipe = recipe
        n_rows, step = recipe.source.n_rows or 0, recipe.chunk_rows
        self.counts = [min(step, n_rows - start) for start in range(0, n_rows, step)]

    def rows(self, i, span):
        start = i * self._recipe.chunk_rows
        batch = self._recipe.source.slice(self._recipe.encoding.columns, start + span.start, start + span.stop)
        return self._recipe.encode(start + span.start, batch)

    def release(self, i):
        pass


def part_of_source(source: Source, how: Carried) -> Part:
    """The rows of a part of a source."""
    recipe = Recipe(source, *how.value)
    _check_files(source)
    return RowsByPosition(recipe) if source.fast and recipe.whole else RowsOnDisk(recipe)


def part_of_block(block: Source, how: Carried) -> RowsInMemory:
    """The rows of a block that a worker holds."""
    return RowsInMemory(list(Recipe(block, *how.value).chunks()))


def _check_files(source):
    """Files of the one who asks need not be there for the one who reads."""
    for file in source.files if isinstance(source, FileSource) else ():
        if file.filesystem.get_file_info(file.path).size is None:
            raise DataError(
                f"a worker finds no file {file.path}; files must lie where every worker finds them under the same "
                "name: a shared folder, or a store such as s3://"
            )


def look_at_source(source: Source, look: Carried, rows: int) -> FirstPass:
    """What the first pass finds in a part of a source."""
    _check_files(source)
    found: FirstPass = pickle.loads(look.content)  # a copy: it will be added to
    found.source = source
    found.over(source.batches(found.columns, rows))
    found.source = None  # type: ignore[assignment]
    return found


def merged_looks(looks: list[FirstPass]) -> FirstPass:
    """What they found together; they are of consecutive rows."""
    together = pickle.loads(pickle.dumps(looks[0]))  # what Dask holds must stay as it is
    for look in looks[1:]:
        together.merge(look)
    return together


class Mapping(NamedTuple):
    """A view of rows through a function of their chunks."""

    f: Callable[[Chunk], Chunk]


class Keeping(NamedTuple):
    """A view of the rows whose positions are kept."""

    keep: Callable[[np.ndarray], np.ndarray]


View = tuple[Mapping | Keeping, ...]
Starts = tuple[int, ...]  # the position of a part's first row, among all rows and among those each Keeping keeps


def chunks_of(part: Part, view: View, starts: Starts) -> Iterator[tuple[int, Chunk]]:
    """The chunks of a part in a view, each with the position of its first row."""
    for i, start, keeps in _spans(part, view, starts):
        yield start, _seen(part, i, view, keeps)
        part.release(i)


def _spans(part: Part, view: View, starts: Starts) -> Iterator[tuple[int, int, list[np.ndarray]]]:
    """(its number, the position of its first row, the rows that each Keeping keeps) of chunks with rows in a view."""
    positions = list(starts)
    for i, count in enumerate(part.counts):
        keeps: list[np.ndarray] = []
        for step in view:
            if isinstance(step, Keeping):
                start = positions[len(keeps)]
                keeps.append(np.flatnonzero(step.keep(np.arange(start, start + (len(keeps[-1]) if keeps else count)))))
        if count and (not keeps or len(keeps[-1])):
            yield i, positions[-1], keeps
        for level, kept in enumerate([count, *map(len, keeps)]):
            positions[level] += kept


def _seen(part: Part, i: int, view: View, keeps: list[np.ndarray]) -> Chunk:
    """A chunk in a view: rows before the first that is kept and after the last are not read."""
    span = _span(part, i, keeps)
    chunk, offset = part.rows(i, span), span.start
    keeping = iter(keeps)
    for step in view:
        if isinstance(step, Mapping):
            chunk = step.f(chunk)
            continue
        kept = next(keeping) - offset
        chunk, offset = chunk if len(kept) == chunk.n_rows else chunk.rows(kept), 0
    return chunk


def _span(part, i, keeps) -> slice:
    return slice(int(keeps[0][0]), int(keeps[0][-1]) + 1) if keeps else slice(0, part.counts[i])


def sum_of_part(part: Part, starts: Starts, carried: Carried):
    """f(chunk) added over the chunks of a part in their order; None where there is no row."""
    view, f = carried.value
    total = None
    for _, chunk in chunks_of(part, view, starts):
        value = f(chunk)
        total = value if total is None else add(total, value)
    return total


def run_of_part(part: Part, numbered: tuple[int, Starts], carried: Carried):
    """f(number, placed chunks) of a part; None where there is no row."""
    (number, starts), (view, f) = numbered, carried.value
    run = chunks_of(part, view, starts)
    first = next(run, None)
    return None if first is None else f(number, _chained(first, run))


def _chained(first, rest):
    yield first
    yield from rest


def sum_of(values: list[Any]):
    """The sum of what parts came to, in their order."""
    there = [value for value in values if value is not None]
    return reduce(add, there) if there else None


def chunks_in_part(part: Part, starts: Starts, carried: Carried) -> int:
    """How many chunks of a part have rows in a view."""
    return sum(1 for _ in _spans(part, carried.value, starts))


def chunk_of_part(part: Part, i: int, starts: Starts, carried: Carried) -> Chunk:
    """The chunk number i of those."""
    number, _, keeps = next(islice(_spans(part, carried.value, starts), i, None))
    return _seen(part, number, carried.value, keeps)


def rows_of_part(part: Part, starts: Starts, carried: Carried) -> np.ndarray:
    """How many rows of a part are in a view, and how many have to be read for them."""
    total = np.zeros(2, dtype=np.int64)
    for i, _, keeps in _spans(part, carried.value, starts):
        span = _span(part, i, keeps)
        total += [len(keeps[-1]) if keeps else part.counts[i], span.stop - span.start]
    return total


def held_part(part: Part, starts: Starts, carried: Carried) -> RowsInMemory:
    """The rows of a part in a view, in the memory of the worker."""
    chunks = (chunk for _, chunk in chunks_of(part, carried.value, starts))
    return RowsInMemory([chunk._replace(y=chunk.y.copy(), weight=chunk.weight.copy()) for chunk in chunks])
