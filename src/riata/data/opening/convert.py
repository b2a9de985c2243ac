"""Converting data to an Arrow file of encoded rows, which later fits map into memory without decoding."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from riata.data.budget import in_words
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.encoded_file import META, EncodedRows, write_chunks
from riata.data.formats.damage import DAMAGE, reason_of
from riata.data.formats.ipc import Ipc
from riata.data.formats.source import TARGET
from riata.data.opening.profile import Profile
from riata.data.out_of_core import OutOfCore
from riata.errors import DataError, ModelFileError
from riata.files import replacing
from riata.schema import SchemaError

META_COPIES = 4  # of the encoding: of two views of the file, of the pages that one is made from, and as it is used
CHUNK_BYTES = 4 << 20  # small enough for every memory budget


def convert(data: Dataset, out: str | Path) -> None:
    """Write the encoded rows of a dataset, with its encoding and profile: one pass."""
    if data.profile is None:
        raise DataError("arrays that are in memory need no conversion; save them with numpy.save")
    with replacing(out) as file:
        for _ in write_chunks(file, _small(data), data.profile.to_json()):
            pass


def _small(data: Dataset) -> Iterator[Chunk]:
    rows = max(1, int(CHUNK_BYTES // data.profile.encoding.row_bytes)) if data.profile else 1
    for chunk in data.visit():
        for start in range(0, chunk.n_rows, rows):
            yield chunk.rows(slice(start, start + rows))


def open_converted(source: Ipc, memory: int) -> OutOfCore | None:
    """The dataset of a converted file; None for any other Arrow file."""
    if len(source.files) > 1 or META not in source.metadata_bytes:
        return None
    file = source.files[0]
    _check_meta(file.path, source.metadata_bytes[META], memory)
    try:
        rows = EncodedRows(file.path)
        _check_meta(file.path, rows.meta_bytes, memory)
        profile = Profile.from_json(rows.meta())
        rows.n_features = profile.encoding.n_features
        if TARGET not in source.schema.names:
            raise SchemaError("it has no column of what is to be predicted")
        target, kind = profile.encoding.target, source.schema.field(TARGET).type
        if target is not None and target.classes is not None:
            rows.n_classes = len(target.classes)
        width = kind.list_size if pa.types.is_fixed_size_list(kind) else 1
        if width != (1 if target is None else len(target.numbers)):
            raise SchemaError(f"a row has {width} numbers to predict, and it says otherwise")
        if rows.count() != profile.n_rows:
            raise SchemaError(f"there are {rows.count()} rows, and it says {profile.n_rows}")
        return OutOfCore.converted(rows, source, profile, memory)
    except _TooManyNames:
        raise
    except (*DAMAGE, ModelFileError) as error:
        raise DataError(f"{file.path} is damaged ({reason_of(error)}); convert the data again") from error


class _TooManyNames(DataError):
    """A file whose features have longer names than there is memory for."""


def _check_meta(path: str, n_bytes: int, memory: int) -> None:
    """Refuse an encoding that takes more than the memory."""
    if (need := META_COPIES * n_bytes) > memory:
        raise _TooManyNames(
            f"{path} names so many features that to open it takes about {in_words(need)}, more than the budget of "
            f"{in_words(memory)}: give it more memory, or convert the data again with fewer columns"
        )
