"""Arrow IPC files (Feather version 2), a record batch at a time."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyarrow import fs

from riata.data.formats.damage import validated
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
from riata.data.formats.held_file import HeldFile
from riata.data.formats.tables import flat_batch, flat_schema, owners

SMALL_BATCH = 1 << 20


class Ipc(FileSource):
    """Rows of Arrow IPC files."""

    def __init__(self, files: Sequence[File], batch_bytes: int = SMALL_BATCH) -> None:
        """Where a file cannot be held while it is mapped, record batches of so many bytes are read as a whole."""
        super().__init__(files)
        self._batch_bytes = batch_bytes
        self.metadata_bytes: dict[bytes, int] = {}  # how long each entry in the schema of the last file is
        self.schema = one_schema(files, [self._schema(file) for file in files])

    def _schema(self, file: File) -> pa.Schema:
        with self.door(file), file.seekable() as handle, pa.ipc.open_file(handle) as reader:
            self.metadata_bytes = {key: len(value) for key, value in (reader.schema.metadata or {}).items()}
            _ = reader.schema.names  # which may be no text
            return flat_schema(reader.schema.remove_metadata())

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        """A local file is mapped into memory, since a record batch may be as large as the file; others are read."""
        if isinstance(file.filesystem, fs.LocalFileSystem):
            held = HeldFile(file.path, self._batch_bytes)
            for i in range(*(file.span or (0, held.view.reader.num_record_batches))):
                yield from _slices(held, i, columns, rows)
            return
        with file.seekable() as handle, pa.ipc.open_file(handle) as reader:
            for i in range(*(file.span or (0, reader.num_record_batches))):
                batch = _stored(reader.get_batch(i), columns)
                for start in range(0, batch.num_rows, rows):
                    yield flat_batch(validated(batch.slice(start, rows)), columns)

    def rows_before(self, file: File) -> int:
        with file.seekable() as handle, pa.ipc.open_file(handle) as reader:
            return sum(reader.get_batch(i).num_rows for i in range(file.span[0] if file.span else 0))


def _slices(held: HeldFile, i: int, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """A record batch in slices, each from the present view of the file; what was decompressed is not so again."""
    view = held.view
    batch = _stored(view.reader.get_batch(i), columns)
    is_copy = view.is_copy(batch)
    for start in range(0, batch.num_rows, rows):
        now = held.view  # which says so if the file has changed
        if not is_copy and now is not view:
            view = now
            batch = _stored(view.reader.get_batch(i), columns)
        yield flat_batch(validated(batch.slice(start, rows)), columns)
        view.release_all()


def _stored(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """What a file has of these columns, of which some may be fields of structs."""
    return batch.select([field.name for field in owners(batch.schema, columns)])
