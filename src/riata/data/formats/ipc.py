"""Arrow IPC files (Feather version 2), a record batch at a time."""

import mmap
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyarrow import fs

from riata.data.formats.damage import validated
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
from riata.machine import forget_pages


class Ipc(FileSource):
    """Rows of Arrow IPC files."""

    def __init__(self, files: Sequence[File]) -> None:
        super().__init__(files)
        self.metadata: dict[bytes, bytes] | None = None  # of the schema of the last file
        self.schema = one_schema(files, [self._schema(file) for file in files])

    def _schema(self, file: File) -> pa.Schema:
        with self.door(file), file.seekable() as handle, pa.ipc.open_file(handle) as reader:
            self.metadata = reader.schema.metadata
            _ = reader.schema.names  # which may be no text
            return reader.schema.remove_metadata()

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """A local file is mapped into memory, since a record batch may be as large as the file; others are read."""
        mapped = map_file(file) if isinstance(file.filesystem, fs.LocalFileSystem) else None
        reader = pa.ipc.open_file(file.seekable() if mapped is None else pa.py_buffer(mapped))
        for i in range(*(file.span or (0, reader.num_record_batches))):
            batch = reader.get_batch(i).select(columns)
            for start in range(0, batch.num_rows, rows):
                yield validated(batch.slice(start, rows))
                if mapped is not None:
                    forget_pages(mapped)

    def rows_before(self, file: File) -> int:
        with file.seekable() as handle, pa.ipc.open_file(handle) as reader:
            return sum(reader.get_batch(i).num_rows for i in range(file.span[0] if file.span else 0))


def map_file(file: File) -> mmap.mmap:
    with open(file.path, "rb") as handle:
        return mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
