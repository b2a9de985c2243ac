"""ORC files, a stripe at a time: about 64 MB of a file, as most writers cut them."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from riata.data.formats.damage import validated
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
from riata.data.formats.tables import flat, flat_schema, owners
from riata.errors import MissingPackageError


class Orc(FileSource):
    """Rows of ORC files."""

    def __init__(self, files: Sequence[File]) -> None:
        super().__init__(files)
        schemas, counts = zip(*(self._footer(file) for file in files), strict=True)
        self.schema = one_schema(files, schemas)
        self.n_rows = sum(counts)

    def _footer(self, file: File) -> tuple[pa.Schema, int]:
        """The schema of a file, and how many rows it has."""
        with self.door(file), file.seekable() as handle:
            reader = orc_file(handle)
            return flat_schema(reader.schema).remove_metadata(), reader.nrows

    def n_stripes(self, handle: pa.NativeFile) -> int:
        """Into how many stripes a file is cut."""
        return int(orc_file(handle).nstripes)

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        with file.seekable() as handle:
            reader = orc_file(handle)
            stored = [field.name for field in owners(reader.schema, columns)]
            for i in range(*(file.span or (0, reader.nstripes))):
                stripe = flat(pa.Table.from_batches([reader.read_stripe(i, columns=stored)])).select(list(columns))
                wanted = pa.schema([self.schema.field(name) for name in columns])
                yield from map(validated, stripe.cast(wanted).combine_chunks().to_batches(max_chunksize=rows))

    def rows_before(self, file: File) -> int:
        with file.seekable() as handle:
            reader = orc_file(handle)
            one = reader.schema.names[:1]
            return sum(reader.read_stripe(i, columns=one).num_rows for i in range(file.span[0] if file.span else 0))


def orc_file(handle: pa.NativeFile) -> Any:
    try:
        from pyarrow import orc
    except ImportError:
        raise MissingPackageError("this build of PyArrow reads no ORC files: install one that does") from None
    return orc.ORCFile(handle)
