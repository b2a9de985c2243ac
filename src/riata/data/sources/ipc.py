"""Arrow IPC files (Feather version 2), a record batch at a time."""

import pyarrow as pa

from riata.data.sources.files import File
from riata.data.sources.filesource import FileSource, one_schema
from riata.errors import DataError


class Ipc(FileSource):
    """Rows of Arrow IPC files."""

    def __init__(self, files):
        super().__init__(files)
        self.metadata = None  # of the schema, where there is one file
        self.schema = one_schema(files, [self._schema(file) for file in files])

    def _schema(self, file):
        try:
            with file.seekable() as handle, pa.ipc.open_file(handle) as reader:
                self.metadata = reader.schema.metadata
                return reader.schema.remove_metadata()
        except (pa.ArrowException, OSError) as error:
            raise DataError(self.explain(file, error, ())) from error

    def read(self, file: File, columns, rows):
        with file.seekable() as handle, pa.ipc.open_file(handle) as reader:
            for i in range(reader.num_record_batches):
                batch = reader.get_batch(i).select(columns)
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)
