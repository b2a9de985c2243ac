"""Vowpal Wabbit's text and libffm's, plain or compressed: rows of named features, one a line.

Features are a column of maps from names to numbers, `X`; what becomes of it is told in `columns/maps.py`. As codes, the
maps have the hash of every name beside its number.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of, bytes_array
from riata.data.columns.maps import HASHED
from riata.data.formats.files import File
from riata.data.formats.parsed_lines import Parsed, ParsedLines
from riata.data.formats.reused_memory import ReusedMemory
from riata.data.formats.source import DENSE, TARGET, WEIGHT
from riata.kernels.named_lines import PROBLEMS, NamedRows, most_named, read_named

BASE, TAG = "base", "tag"
SHARE_OF_BLOCK = 0.75  # rows take three times as much memory as their text: those of a whole block would be divided
NAMED = pa.map_(pa.large_string(), pa.float64())


class NamedLines(ParsedLines):
    """Rows whose features have names."""

    problems = PROBLEMS
    fields: ClassVar[bool]  # whether the names are a field and an index
    _as_codes = False

    def __init__(self, files: Sequence[File], *, block_bytes: int, skip_bad: bool = False) -> None:
        super().__init__(files, block_bytes=max(int(SHARE_OF_BLOCK * block_bytes), 1), skip_bad=skip_bad)
        self._memory = ReusedMemory()

    def as_codes(self) -> None:
        self._as_codes = True

    def parse(self, block: np.ndarray, start: int, stop: int) -> Parsed:
        n_lines, n_features, n_bytes, ascii = most_named(block, start, stop)
        room = NamedRows(
            *self._memory.arrays(
                (n_lines, np.float64), (n_lines, np.float64), (n_lines, np.float64), (n_lines, np.int64),
                (n_lines, np.int64), (n_lines + 1, np.int32), (n_features + 1, np.int64), (n_features, np.float64),
                (n_features, np.uint64), (n_bytes, np.uint8),
            )
        )  # fmt: skip
        wanted = self.with_judged(())
        n, nnz, n_written, *of_lines = read_named(
            block,
            start,
            stop,
            self._skip_bad,
            self.fields,
            BASE in wanted,
            WEIGHT in (self._judged_by or ()),
            ascii,
            room,
        )
        names = _strings(room.name_ends[: nnz + 1], room.names[:n_written])
        items = arrow_of(room.values[:nnz])
        if self._as_codes:
            items = pa.StructArray.from_arrays([items, arrow_of(room.hashes[:nnz])], fields=list(HASHED))
        X = pa.MapArray.from_arrays(arrow_of(room.indptr[: n + 1]), names, items)
        tags = _tags(block, room.tag_starts[:n], room.tag_ends[:n]) if TAG in wanted else pa.nulls(n, pa.large_string())
        columns = {
            TARGET: arrow_of(room.y[:n]), WEIGHT: arrow_of(room.weight[:n]), BASE: arrow_of(room.base[:n]),
            TAG: tags, DENSE: X,
        }  # fmt: skip
        arrays = [columns[name] for name in self.schema.names]
        return Parsed(pa.RecordBatch.from_arrays(arrays, self.schema.names), *of_lines)


class VowpalWabbit(NamedLines):
    """Rows of Vowpal Wabbit: target, weight (importance), base, tag and features. Targets may be missing."""

    fields = False
    schema = pa.schema(
        [(TARGET, pa.float64()), (WEIGHT, pa.float64()), (BASE, pa.float64()), (TAG, pa.large_string()), (DENSE, NAMED)]
    )


class Libffm(NamedLines):
    """Rows of libffm: target and features."""

    fields = True
    schema = pa.schema([(TARGET, pa.float64()), (DENSE, NAMED)])


def _strings(ends: np.ndarray, content: np.ndarray) -> pa.Array:
    return pa.Array.from_buffers(pa.large_string(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(content)])


def _tags(block: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> pa.Array:
    """The tags of rows; an empty one is a tag, too."""
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return bytes_array([block[a:b].tobytes() for a, b in spans]).cast(pa.large_string())
