"""Parts of the rows, each on one worker.

Dask knows a part as a future: if its worker dies, it is made again elsewhere from where it came. Rows of files are
encoded once into a nameless file on the worker's own disk and mapped into memory; if Dask moves such a part, the other
worker reads the source for itself and no row travels.
"""

import pickle
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from riata.data.chunk import Chunk
from riata.data.columns.column import BadRow
from riata.data.encoded_file import EncodedRows, write_chunks
from riata.data.encoding import Encoding
from riata.data.formats.parts import files_of
from riata.data.formats.source import Source, rebatch
from riata.data.opening.profile import FirstPass
from riata.engines.dask.payload import Carried
from riata.errors import DataError
from riata.machine import file_without_name

HEAVY = 16 << 20  # bytes of rows on disk, as Dask believes: to move them is to read and encode them again


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
        return _cut(self.chunks[i], span)

    def release(self, i):
        pass

    def __sizeof__(self):
        return sum(part.nbytes for chunk in self.chunks for part in chunk)


def _cut(chunk: Chunk, span: slice) -> Chunk:
    """Some rows of a chunk."""
    return chunk if span.stop - span.start == chunk.n_rows else chunk.rows(span)


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

    def __init__(self, recipe: Recipe) -> None:
        self._recipe, self.counts = recipe, []
        try:
            with file_without_name(recipe.folder) as handle:
                for chunk in write_chunks(handle, recipe.chunks()):
                    self.counts.append(chunk.n_rows)
                if self.counts:
                    self._rows = EncodedRows(handle, recipe.encoding.n_features)
        except OSError as error:
            folder = recipe.folder or tempfile.gettempdir()
            raise DataError(
                f"a worker cannot keep encoded rows in {folder}: {error}; name another folder (cache='/folder')"
            ) from None

    def rows(self, i, span):
        return _cut(self._rows.chunk(i), span)

    def release(self, i):
        self._rows.release(i)

    def __reduce__(self):
        return RowsOnDisk, (self._recipe,)

    def __sizeof__(self):
        return HEAVY


class RowsByPosition:
    """Rows of a source that is as fast as any copy: read anew in every pass."""

    def __init__(self, recipe: Recipe) -> None:
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
    for file in files_of(source):
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
