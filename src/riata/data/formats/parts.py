"""Dividing a source into parts that other processes or machines can read independently.

A part is a source of its own: consecutive row groups of a Parquet file, record batches of an Arrow file, lines of text
or rows of an array. Only headers of files are read here and, in text, enough to find the ends of some lines.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq

from riata.data.formats.csv import Csv
from riata.data.formats.csv_cuts import row_starts
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource
from riata.data.formats.ipc import Ipc
from riata.data.formats.json import Json
from riata.data.formats.npy import Npy
from riata.data.formats.orc import Orc
from riata.data.formats.parquet import Parquet
from riata.data.formats.parsed_lines import ParsedLines
from riata.data.formats.sampled_negatives import SampledNegatives
from riata.data.formats.source import OneColumn, Source, WithColumns
from riata.errors import DataError

LOOK_AHEAD = 1 << 16  # bytes in which to look for the end of a line


def parts_of(source: Source, n_parts: int) -> list[Source]:
    """About so many parts of the rows of a source, in their order; fewer where it cannot be divided so finely."""
    if isinstance(source, FileSource) and not isinstance(source, Npy):
        return [_with_file(source, part) for part in _cut_files(source, n_parts)]
    if isinstance(source, SampledNegatives):
        return [source.of_part(part, i) for i, part in enumerate(parts_of(source.inner, n_parts))]
    if source.n_rows and by_rows(source):
        step = -(-source.n_rows // n_parts)
        return [RowRange(source, a, min(a + step, source.n_rows)) for a in range(0, source.n_rows, step)]
    raise DataError(
        "these rows cannot be shared out: a cluster reads files of one format that hold the target and the weights as "
        "columns, or .npy arrays; put them into Parquet files, or leave the engine out"
    )


def by_rows(source: Source) -> bool:
    """Whether any process can read any rows of the source without the others."""
    if isinstance(source, WithColumns):
        return all(map(by_rows, source.sources))
    return by_rows(source.inner) if isinstance(source, OneColumn) else isinstance(source, Npy)


def files_of(source: Source) -> list[File]:
    """The files that a source reads."""
    if isinstance(source, FileSource):
        return source.files
    if isinstance(source, WithColumns):
        return [file for other in source.sources for file in files_of(other)]
    return files_of(source.inner) if isinstance(source, OneColumn | RowRange | SampledNegatives) else []


def _with_file(source: FileSource, file: File) -> FileSource:
    part = copy.copy(source)
    part.files, part.n_rows, part.n_bytes = [file], None, None
    return part


def _cut_files(source: FileSource, n_parts: int) -> Iterator[File]:
    """The files of a source; large ones are divided into spans where their format allows it."""
    share = max(1, sum(file.size for file in source.files) // n_parts)
    for file in source.files:
        n_spans = max(1, round(file.size / share))
        for a, b in pairwise(_cuts(source, file, n_spans)):
            yield replace(file, span=(a, b))
        if not _can_be_cut(source, file):
            yield file


def _can_be_cut(source: FileSource, file: File) -> bool:
    if isinstance(source, Csv | Json):
        return source.can_be_cut(file)
    return isinstance(source, Parquet | Ipc | Orc) or (isinstance(source, ParsedLines) and file.compression is None)


def _cuts(source: FileSource, file: File, n_spans: int) -> Sequence[int]:
    """The limits of about so many spans of a file; nothing if its format cannot be divided."""
    if not _can_be_cut(source, file):
        return []
    if isinstance(source, Csv):
        return row_starts(file, n_spans, source.dialect(file))
    if isinstance(source, ParsedLines | Json):
        return _line_starts(file, n_spans)
    groups = _group_count(source, file)
    return _even(groups, min(n_spans, groups))


def _group_count(source: FileSource, file: File) -> int:
    """How many row groups, stripes or record batches a file has."""
    if isinstance(source, Orc):
        return source.n_stripes(file)
    count: int
    with file.seekable() as handle:
        if isinstance(source, Parquet):
            with pq.ParquetFile(handle) as parquet:
                count = parquet.num_row_groups
        else:
            with pa.ipc.open_file(handle) as reader:
                count = reader.num_record_batches
    return count


def _even(total: int, n_spans: int) -> list[int]:
    return [i * total // n_spans for i in range(n_spans + 1)] if n_spans else []


def _line_starts(file: File, n_spans: int) -> list[int]:
    """The starts of lines that divide a file into about equal spans, with its beginning and its end."""
    cuts = [0]
    with file.seekable() as handle:
        for wanted in _even(file.size, n_spans)[1:-1]:
            start = max(wanted, cuts[-1])
            handle.seek(start)
            while content := handle.read(LOOK_AHEAD):
                if (end := content.find(b"\n")) >= 0:
                    cuts.append(start + end + 1)
                    break
                start += len(content)
    return sorted({*cuts, file.size})


class RowRange(Source):
    """Consecutive rows of a source with random access."""

    n_rows: int

    def __init__(self, source: Source, start: int, stop: int) -> None:
        self.inner, self._start = source, start
        self.schema, self.n_rows = source.schema, min(stop, source.n_rows or stop) - start
        for name in ("bare", "fast", "any_base", "width", "feature_names"):
            setattr(self, name, getattr(source, name))

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        for start in range(0, self.n_rows, rows):
            yield self.slice(columns, start, start + rows)

    def slice(self, columns: Sequence[str], start: int, stop: int) -> pa.RecordBatch | None:
        return self.inner.slice(columns, self._start + start, self._start + min(stop, self.n_rows))

    def where(self, row: int) -> str:
        return self.inner.where(self._start + row)

    def place(self) -> str:
        return self.inner.place()
