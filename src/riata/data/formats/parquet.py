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
DICTIONARY_BYTES = 1.2 * 2**20  # of a column in a row group: beyond some 1 MB, writers go on with plain strings
CODE_BYTES = 2.5  # of a row: a plain string takes 4 and its letters
GROUPS_THAT_TELL = 16


class Parquet(FileSource):
    """Rows of Parquet files, decoded a batch at a time: a row group may be larger than memory."""

    def __init__(self, files: Sequence[File], most_bytes: int | None = None) -> None:
        """`most_bytes` limits what rows may take that have to be decoded at once."""
        super().__init__(files)
        self._most_bytes, self._as_codes = most_bytes, False
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

    def as_codes(self) -> None:
        self._as_codes = True

    def _codes(self, file: File, columns: Sequence[str], rows: int) -> list[str]:
        """The columns of strings that are stored as codes: as few levels as a dictionary has room for.

        None of them where row groups are small: each has codes of its own, and batches would end with it.
        """
        with file.seekable() as handle, pq.ParquetFile(handle) as parquet:
            metadata, schema = parquet.metadata, parquet.schema_arrow
        small = 2 * metadata.num_rows < rows * metadata.num_row_groups
        if small or any(field.type.num_fields for field in schema):  # the file has the parts of those as columns
            return []
        step = -(-metadata.num_row_groups // GROUPS_THAT_TELL)
        groups = [metadata.row_group(i) for i in range(0, metadata.num_row_groups, max(step, 1))]

        def all_codes(place: int) -> bool:
            parts = (group.column(place) for group in groups)
            return all(
                part.has_dictionary_page
                and part.total_uncompressed_size < DICTIONARY_BYTES + CODE_BYTES * part.num_values
                for part in parts
            )

        strings = (i for i, field in enumerate(schema) if pa.types.is_string(field.type) and field.name in columns)
        return [schema.field(i).name for i in strings if all_codes(i)]

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        codes = self._codes(file, columns, rows) if self._as_codes else None
        with file.seekable() as handle, pq.ParquetFile(handle, read_dictionary=codes, **OPTIONS) as parquet:
            there = set(parquet.schema_arrow.names)
            stored = [name for name in columns if name in there]
            groups = range(*(file.span or (0, parquet.num_row_groups)))
            for batch in parquet.iter_batches(batch_size=rows, columns=stored, row_groups=groups):
                self._check(batch.nbytes)
                yield self._complete(file, validated(batch), columns)

    def rows_before(self, file: File) -> int:
        with file.seekable() as handle, pq.ParquetFile(handle) as parquet:
            return sum(parquet.metadata.row_group(i).num_rows for i in range(file.span[0] if file.span else 0))

    def _complete(self, file: File, batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
        """The batch in the types of the common schema, with the partitions of the file as columns."""
        arrays, there = [], dict(zip(batch.schema.names, batch.columns, strict=True))
        for name in columns:
            kind = self.schema.field(name).type
            if name in there:
                array = there[name]
                coded = self._as_codes and pa.types.is_dictionary(array.type) and array.type.value_type == kind
                arrays.append(array if coded or array.type == kind else array.cast(kind))
            else:
                value = pa.scalar(file.partitions.get(name)).cast(kind)
                arrays.append(pa.repeat(value, batch.num_rows))
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))
