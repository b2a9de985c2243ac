"""svmlight / libsvm text, plain or compressed: parsed by a compiled loop on all cores, a block of lines at a time.

Indices start at zero or at one, which only the complete data can tell: any index 0 means zero. So they are passed on
as written, and the profile decides. Features are named by the numbers in the file.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.budget import in_words
from riata.data.columns.arrow_values import arrow_of
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource
from riata.data.formats.source import INDICES, TARGET, VALUES
from riata.data.formats.tables import list_column
from riata.errors import DataError
from riata.kernels.svmlight import PROBLEMS, line_before, most_rows, read_lines
from riata.threads import n_cores

LONGEST_LINE = 16  # blocks


class Svmlight(FileSource):
    """Rows of svmlight files: the target `y` and the pair X.indices, X.values."""

    bare = any_base = True
    schema = pa.schema(
        [(TARGET, pa.float64()), (INDICES, pa.large_list(pa.int64())), (VALUES, pa.large_list(pa.float64()))]
    )

    def __init__(self, files: Sequence[File], *, block_bytes: int, skip_bad: bool = False) -> None:
        super().__init__(files)
        self._block_bytes, self._skip_bad = block_bytes, skip_bad

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        lines = 0
        with file.stream() as stream, ThreadPoolExecutor(n_cores()) as threads:
            for block in whole_lines(stream, self._block_bytes):
                parts = [threads.submit(self._parse, block, a, b) for a, b in pairwise(cuts(block, n_cores()))]
                for part in parts:
                    batch, n_lines, skipped, problem, line = part.result()
                    if problem:
                        raise DataError(
                            f"{file.path}, line {file.lines_before() + lines + line}: {PROBLEMS[problem]}; correct the "
                            "line, or skip such rows (on_error='skip')"
                        )
                    self.skipped += skipped
                    lines += n_lines
                    yield batch.select(columns)

    def rows_before(self, file: File) -> int:
        return file.lines_before()

    def _parse(self, block: np.ndarray, start: int, stop: int) -> tuple[pa.RecordBatch, int, int, int, int]:
        """(rows, lines read, lines skipped, code of the problem or 0, its line) of a part of a block."""
        n_lines, n_pairs = most_rows(block, start, stop)
        y, indptr = np.empty(n_lines), np.empty(n_lines + 1, dtype=np.int64)
        indices, values = np.empty(n_pairs, dtype=np.int64), np.empty(n_pairs)
        rows, nnz, lines, skipped, problem, line = read_lines(
            block, start, stop, self._skip_bad, y, indptr, indices, values
        )
        offsets = indptr[: rows + 1]
        arrays = [arrow_of(y[:rows]), list_column(offsets, indices[:nnz]), list_column(offsets, values[:nnz])]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema), lines, skipped, problem, line


def whole_lines(stream: Any, block_bytes: int) -> Iterator[np.ndarray]:
    """The bytes of a stream in blocks of complete lines; each block overwrites the one before."""
    block, filled = np.empty(block_bytes, dtype=np.uint8), 0
    while n_read := stream.readinto(block[filled:]):
        filled += n_read
        if cut := line_before(block, filled):
            yield block[:cut]
            block[: filled - cut] = block[cut:filled]
            filled -= cut
        elif len(block) >= LONGEST_LINE * block_bytes:
            raise DataError(f"a line is longer than {in_words(len(block))}: it is no text, or needs more memory")
        elif filled == len(block):
            block = np.concatenate([block, np.empty_like(block)])
    if filled:
        yield block[:filled]


def cuts(block: np.ndarray, n_parts: int) -> list[int]:
    """Positions that divide a block into about equal parts, each beginning at the start of a line."""
    return [0, *(line_before(block, i * len(block) // n_parts) for i in range(1, n_parts)), len(block)]
