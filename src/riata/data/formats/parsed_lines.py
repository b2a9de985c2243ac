"""Text of one row a line that a compiled loop parses, on all cores, a block of lines at a time."""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from riata.data.budget import in_words
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource
from riata.data.formats.live_files import Followed, StandardInput
from riata.data.whole_numbers import DigitsLost
from riata.errors import DataError
from riata.kernels.svmlight import line_before
from riata.threads import n_cores

LONGEST_LINE = 16  # blocks
AT_ONCE = 2  # blocks that are parsed at the same time: one is read and parsed while the rows of another are used


class Parsed(NamedTuple):
    """What was found in some lines."""

    rows: pa.RecordBatch
    lines: int
    skipped: int  # bad lines left out
    problem: int = 0  # the number of what is wrong with a line, if anything
    line: int = 0  # which one that is, from 1 on


class ParsedLines(FileSource):
    """Rows of files of lines; bad ones end the reading, or are left out if `skip_bad`."""

    bare = True
    of_lines = True
    problems: ClassVar[Mapping[int, str]]  # sentences on what may be wrong with a line, by numbers

    def __init__(self, files: Sequence[File], *, block_bytes: int, skip_bad: bool = False) -> None:
        super().__init__(files)
        self._block_bytes, self._skip_bad = block_bytes, skip_bad

    @abstractmethod
    def parse(self, block: np.ndarray, start: int, stop: int) -> Parsed:
        """The rows of the whole lines in block[start:stop], which will be overwritten."""

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        lines, live = 0, isinstance(file, StandardInput | Followed)
        at_once = 1 if live else AT_ONCE  # rows that are there do not wait for those to come
        with file.stream() as stream, ThreadPoolExecutor(n_cores()) as threads:
            for parts in begun_ahead(self._parsing(stream, threads, at_once), at_once):
                for part in parts:
                    found = part.result()
                    if found.problem:
                        raise DataError(
                            f"{file.path}, line {file.lines_before() + lines + found.line}: "
                            f"{self.problems[found.problem]}; correct the line, or skip such rows (on_error='skip')"
                        )
                    self.skipped += found.skipped
                    lines += found.lines
                    yield found.rows.select(columns)

    def _parsing(self, stream: Any, threads: ThreadPoolExecutor, at_once: int) -> Iterator[list["Future[Parsed]"]]:
        """The parts of each block, which threads have begun to parse: one where there are no more cores than blocks."""
        n_parts = -(-n_cores() // at_once)
        for block in whole_lines(stream, self._block_bytes, at_once):
            yield [threads.submit(self.parse, block, a, b) for a, b in pairwise(cuts(block, n_parts))]

    def whole_range(self, column: str) -> tuple[int, int] | None:
        raise DigitsLost  # of a feature that every row has: too rare for a second way to read lines

    def rows_before(self, file: File) -> int:
        return file.lines_before()


def whole_lines(stream: Any, block_bytes: int, at_once: int = 1) -> Iterator[np.ndarray]:
    """The bytes of a stream in blocks of complete lines; each overwrites an earlier one, of which so many are kept."""
    blocks = [np.empty(block_bytes, dtype=np.uint8) for _ in range(at_once)]
    filled = 0
    while n_read := stream.readinto(blocks[0][filled:]):
        block = blocks[0]
        filled += n_read
        if cut := line_before(block, filled):
            yield block[:cut]
            blocks.append(blocks.pop(0))
            rest = filled - cut
            if len(blocks[0]) < len(block):
                blocks[0] = np.empty_like(block)
            blocks[0][:rest] = block[cut:filled]
            filled = rest
        elif len(block) >= LONGEST_LINE * block_bytes:
            raise DataError(f"a line is longer than {in_words(len(block))}: it is no text, or needs more memory")
        elif filled == len(block):
            blocks[0] = np.concatenate([block, np.empty_like(block)])
    if filled:
        yield blocks[0][:filled]


T = TypeVar("T")


def begun_ahead(items: Iterable[T], at_once: int) -> Iterator[T]:
    """The same items, each handed out once so many of them, itself included, have been begun.

    An error comes where its item would have come.
    """
    begun: deque[T] = deque()
    try:
        for item in items:
            begun.append(item)
            if len(begun) == at_once:
                yield begun.popleft()
    except Exception:
        yield from begun
        raise
    yield from begun


def cuts(block: np.ndarray, n_parts: int) -> list[int]:
    """Positions that divide a block into about equal parts, each beginning at the start of a line."""
    return [0, *(line_before(block, i * len(block) // n_parts) for i in range(1, n_parts)), len(block)]
