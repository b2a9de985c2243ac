"""Parts of the rows, each on one worker.

A part is a Dask future: if its worker dies, another one makes it again from the source. Rows of files are encoded once
into a temporary file on the worker's own disk, which is mapped into memory; if Dask moves such a part, the other worker
reads the source itself, and no row is sent.
"""

import pickle
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from riata.data.chunk import Chunk
from riata.data.columns.column import BadRow
from riata.data.encoded_file import EncodedRows, write_chunks
from riata.data.encoding import Encoding
from riata.data.formats.parts import files_of
from riata.data.formats.source import Source, rebatch
from riata.data.opening.first_pass import FirstPass
from riata.engines.dask.payload import Carried
from riata.errors import DataError
from riata.machine import file_without_name

HEAVY = 16 << 20  # the size that Dask is told for rows on disk: moving them means to read and encode them again


class Part(Protocol):
    """Rows on a worker, in chunks."""

    @property
    def counts(self) -> list[int]:
        """How many rows each chunk has."""

    def rows(self, i: int, span: slice) -> Chunk:
        """Some rows of chunk i."""

    def release(self, i: int) -> None:
        """Chunk i is not needed for now."""

    def anew(self) -> Iterator[Chunk]:
        """All rows as they were first encoded: with the names of features, where these are hashed."""
        ...


@dataclass
class RowsInMemory:
    """Chunks in the memory of the worker; Dask moves or spills them like any other data."""

    chunks: list[Chunk]

    @property
    def counts(self) -> list[int]:
        return [chunk.n_rows for chunk in self.chunks]

    def rows(self, i: int, span: slice) -> Chunk:
        return _cut(self.chunks[i], span)

    def release(self, i: int) -> None:
        pass

    def anew(self) -> Iterator[Chunk]:
        return iter(self.chunks)

    def __sizeof__(self) -> int:
        return sum(part.nbytes for chunk in self.chunks for part in chunk.arrays)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Dask may put arrays that it moves at odd addresses, where BLAS adds in another order: these are copied."""
        self.chunks = [chunk if _aligned(chunk) else deepcopy(chunk) for chunk in state["chunks"]]


def _aligned(chunk: Chunk) -> bool:
    """Whether all arrays of a chunk lie where compiled code wants them."""
    matrix, *others = chunk.arrays
    parts = [getattr(matrix.array, name, None) for name in ("data", "indices", "indptr")]  # of sparse rows
    arrays = [one for one in (matrix.array, *parts, *others) if isinstance(one, np.ndarray)]
    return all(array.flags.aligned for array in arrays)


def _cut(chunk: Chunk, span: slice) -> Chunk:
    """Some rows of a chunk."""
    return chunk if span.stop - span.start == chunk.n_rows else chunk.rows(span)


class Recipe(NamedTuple):
    """How the rows of a part are made."""

    source: Source
    encoding: Encoding
    chunk_rows: int
    folder: str | None  # of the files of encoded rows: the worker's temporary folder by default
    uses_all_rows: bool  # whether no row is left out, for lack of a target or a weight

    def chunks(self) -> Iterator[Chunk]:
        batches = rebatch(self.source.batches(self.encoding.columns, self.chunk_rows), self.chunk_rows)
        for i, batch in enumerate(batches):
            if (chunk := self.encode(i * self.chunk_rows, batch)).n_rows:
                yield chunk

    def encode(self, start: int, batch: pa.RecordBatch) -> Chunk:
        """A chunk of a batch, whose first row is at `start` in the source."""
        try:
            return self.encoding.chunk(batch)
        except BadRow as bad:
            raise DataError(f"{self.source.where(start + bad.row)}: {bad.sentence}") from None


class RowsOnDisk:
    """Encoded rows of a source, in a temporary file that disappears with this object or with the worker."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.counts: list[int] = []
        try:
            with file_without_name(recipe.folder) as handle:
                for chunk in write_chunks(handle, recipe.chunks()):
                    self.counts.append(chunk.n_rows)
                if self.counts:
                    self._rows = EncodedRows(handle, recipe.encoding.n_features)
        except OSError as error:
            folder = recipe.folder or tempfile.gettempdir()
            raise DataError(
                f"a worker cannot keep encoded rows in {folder}: {error.strerror or error}; name another folder "
                "(cache='/folder')"
            ) from None

    def rows(self, i: int, span: slice) -> Chunk:
        return _cut(self._rows.chunk(i), span)

    def release(self, i: int) -> None:
        self._rows.release(i)

    def anew(self) -> Iterator[Chunk]:
        return self._recipe.chunks()

    def __reduce__(self) -> tuple[type["RowsOnDisk"], tuple[Recipe]]:
        return RowsOnDisk, (self._recipe,)

    def __sizeof__(self) -> int:
        return HEAVY


class RowsByPosition:
    """Rows of a source with fast random access: read from it in every pass."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        n_rows, step = recipe.source.n_rows or 0, recipe.chunk_rows
        self.counts = [min(step, n_rows - start) for start in range(0, n_rows, step)]

    def rows(self, i: int, span: slice) -> Chunk:
        start = i * self._recipe.chunk_rows
        batch = self._recipe.source.slice(self._recipe.encoding.columns, start + span.start, start + span.stop)
        return self._recipe.encode(start + span.start, batch)

    def release(self, i: int) -> None:
        pass

    def anew(self) -> Iterator[Chunk]:
        return self._recipe.chunks()


def part_of_source(source: Source, how: Carried) -> Part:
    """The rows of a part of a source."""
    recipe = Recipe(source, *how.value)
    _check_files(source)
    return RowsByPosition(recipe) if source.fast and recipe.uses_all_rows else RowsOnDisk(recipe)


def part_of_block(block: Source, how: Carried) -> RowsInMemory:
    """The rows of a block in the memory of a worker."""
    return RowsInMemory(list(Recipe(block, *how.value).chunks()))


def _check_files(source: Source) -> None:
    """Refuse files that do not exist on this worker, though they do where the data was opened."""
    for file in files_of(source):
        if file.filesystem.get_file_info(file.path).size is None:
            raise DataError(
                f"a worker finds no file {file.path}; files must lie where every worker finds them under the same "
                "name: a shared folder, or a store such as s3://"
            )


def look_at_source(source: Source, look: Carried, rows: int) -> FirstPass:
    """The first pass over a part of a source."""
    _check_files(source)
    found: FirstPass = pickle.loads(look.content)  # a copy, which is changed below
    found.source = source
    found.over(source.batches(found.columns, rows))
    found.source = None  # type: ignore[assignment]  # not sent back; the caller sets it again
    return found


def merged_looks(looks: list[FirstPass]) -> FirstPass:
    """One first pass of several, over consecutive rows."""
    together: FirstPass = pickle.loads(pickle.dumps(looks[0]))  # a copy: results of Dask's tasks must not change
    for look in looks[1:]:
        together.merge(look)
    return together
