"""Parquet files, with the folders of hive partitions (year=2013/...) as columns."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from riata.data.budget import in_words
from riata.data.formats.damage import validated
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
from riata.errors import DataError

OPTIONS = {
    "pre_buffer": False,
    "buffer_size": 1 << 16,  # bytes of a column read at a time: column chunks are streamed, not loaded
    "page_checksum_verification": True,  # where the file has checksums
}


class Parquet(FileSource):
    """Rows of Parquet files, decoded a batch at a time: a row group may be larger than memory."""

    def __init__(self, files: Sequence[File], most_bytes: int | None = None) -> None:
        """`most_bytes` limits what rows may take that have to be decoded at once."""
        super().__init__(files)
        self._most_bytes = most_bytes
        schemas, counts = zip(*(self._footer(file) for file in files), strict=True)
        self.schema = one_schema(files, schemas)
        for name in files[0].partitions:
            if name not in self.schema.names:
                self.schema = self.schema.append(pa.field(name, self._partition_type(name)))
        self.n_rows = sum(counts)

    def _footer(self, file: File) -> tuple[pa.Schema, int]:
        """The schema of a file, and how many rows it has."""
        with self.door(file), file.seekable() as handle, pq.ParquetFile(handle) as parquet:
            groups = [parquet.metadata.row_group(i) for i in range(parquet.num_row_groups)]
            self._check(max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=0.0))
            return parquet.schema_arrow.remove_metadata(), parquet.metadata.num_rows

    def _check(self, n_bytes: float) -> None:
        """Refuse rows that take too much memory."""
        if self._most_bytes is not None and n_bytes > self._most_bytes:
            raise DataError(
                f"a row, or some that are stored together, takes {in_words(n_bytes)}, more than a quarter of the "
                "memory; give it more, or leave out the column of long cells"
            )

    def _partition_type(self, name: str) -> pa.DataType:
        values = [file.partitions.get(name, "") for file in self.files]
        return pa.int64() if all(value.lstrip("-").isdigit() for value in values) else pa.string()

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        with file.seekable() as handle, pq.ParquetFile(handle, **OPTIONS) as parquet:
            stored = [name for name in columns if name in parquet.schema_arrow.names]
            groups = range(*(file.span or (0, parquet.num_row_groups)))
            for batch in parquet.iter_batches(batch_size=rows, columns=stored, row_groups=groups):
                self._check(batch.nbytes)
                yield self._complete(file, validated(batch), columns)

    def rows_before(self, file: File) -> int:
        with file.seekable() as handle, pq.ParquetFile(handle) as parquet:
            return sum(parquet.metadata.row_group(i).num_rows for i in range(file.span[0] if file.span else 0))

    def _complete(self, file: File, batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
        """The batch in the types of the common schema, with the partitions of the file as columns."""
        arrays = []
        for name in columns:
            kind = self.schema.field(name).type
            if name in batch.schema.names:
                array = batch.column(name)
                arrays.append(array if array.type == kind else array.cast(kind))
            else:
                value = pa.scalar(file.partitions.get(name)).cast(kind)
                arrays.append(pa.repeat(value, batch.num_rows))
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))
