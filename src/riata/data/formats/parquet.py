"""Parquet files, with the folders of hive partitions (year=2013/...) as columns."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from riata.data.budget import in_words
from riata.data.formats.damage import validated
from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, is_text, one_schema
from riata.data.formats.tables import flat, flat_batch, flat_schema
from riata.errors import DataError
from riata.threads import n_cores

OPTIONS = {
    "pre_buffer": False,
    "buffer_size": 1 << 16,  # bytes of a column read at a time: column chunks are streamed, not loaded
    "page_checksum_verification": True,  # where the file has checksums
}
DICTIONARY_BYTES = 1.2 * 2**20  # of a column in a row group: beyond some 1 MB, writers go on with plain strings
SHARED_BYTES = 12  # of a row: with more, hardly any two rows share a string, and a dictionary is one more copy of them
CODE_BYTES = 2.5  # of a row: a plain string takes 4 and its letters
GROUPS_THAT_TELL = 16
STAGES = 3  # threads that rows go through as they come: they are decoded, made features of, and learnt
MANY_COLUMNS = 1000  # from so many on, a row group is decoded
AT_ONCE = 250  # columns at a time
STREAMED_COLUMN, DECODED_COLUMN = 36_000, 14_000  # bytes that a fit takes for each column, whatever it holds


class Parquet(FileSource):
    """Rows of Parquet files, decoded a batch at a time: a row group may be larger than memory."""

    def __init__(self, files: Sequence[File], most_bytes: int | None = None) -> None:
        """`most_bytes` limits what rows may take that have to be decoded at once."""
        super().__init__(files)
        self._most_bytes, self._as_codes, self._in_threads = most_bytes, False, True
        self._largest_group = 0.0  # bytes of a row group, once it is decoded
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
            decoded = (max(group.total_byte_size, 8 * group.num_rows * group.num_columns) for group in groups)
            self._largest_group = max(self._largest_group, *decoded, 0.0)
            return flat_schema(parquet.schema_arrow.remove_metadata()), parquet.metadata.num_rows

    def _check(self, n_bytes: float) -> None:
        """Refuse rows that take too much memory."""
        if self._most_bytes is not None and n_bytes > self._most_bytes:
            raise DataError(
                f"a row, or some that are stored together, takes {in_words(n_bytes)}, more than a quarter of the "
                "memory; give it more, or leave out the column of long cells"
            )

    def needs(self, n_columns: int) -> float:
        """About how much memory a fit of thousands of columns needs, as measured with 10,000; 0 for fewer.

        A reader of all columns at once keeps a page of each. Row groups that fit into a quarter of the memory are
        decoded as a whole: their numbers are there twice.
        """
        if n_columns < MANY_COLUMNS:
            return 0.0
        decoded = max(4 * self._largest_group, DECODED_COLUMN * n_columns + 2 * self._largest_group)
        return min(STREAMED_COLUMN * n_columns, decoded)

    def _fits(self) -> bool:
        """Whether row groups may be decoded as a whole."""
        return self._most_bytes is not None and self._largest_group <= self._most_bytes

    def _partition_type(self, name: str) -> pa.DataType:
        values = [file.partitions.get(name, "") for file in self.files]
        return pa.int64() if all(value.lstrip("-").isdigit() for value in values) else pa.string()

    def as_codes(self) -> None:
        self._as_codes = True

    def read_beside_others(self) -> None:
        self._in_threads = n_cores() > STAGES

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
                and part.total_uncompressed_size < SHARED_BYTES * part.num_values
                for part in parts
            )

        strings = (i for i, field in enumerate(schema) if is_text(field.type) and field.name in columns)
        return [schema.field(i).name for i in strings if all_codes(i)]

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        codes = self._codes(file, columns, rows) if self._as_codes else None
        with file.seekable() as handle, pq.ParquetFile(handle, read_dictionary=codes, **OPTIONS) as parquet:
            there = set(flat_schema(parquet.schema_arrow).names)
            stored = [name for name in columns if name in there]  # fields of structs: Parquet has dotted names, too
            groups = range(*(file.span or (0, parquet.num_row_groups)))
            if len(stored) >= MANY_COLUMNS and self._fits() and not codes:
                batches = _some_columns_at_a_time(parquet, stored, groups, rows)
            else:
                batches = parquet.iter_batches(rows, groups, stored, use_threads=self._in_threads)
            for batch in batches:
                self._check(batch.nbytes)
                yield self._complete(file, flat_batch(validated(batch), stored), columns)

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
                coded = self._as_codes and pa.types.is_dictionary(array.type) and is_text(array.type) and is_text(kind)
                arrays.append(array if coded or array.type == kind else array.cast(kind))
            else:
                value = pa.scalar(file.partitions.get(name)).cast(kind)
                arrays.append(pa.repeat(value, batch.num_rows))
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _some_columns_at_a_time(
    parquet: pq.ParquetFile, columns: Sequence[str], groups: Sequence[int], rows: int
) -> Iterator[pa.RecordBatch]:
    """The rows of row groups, each decoded as a whole: readers of all columns at once take more than that."""
    for group in groups:
        arrays: list[pa.Array] = []
        for i in range(0, len(columns), AT_ONCE):
            part = parquet.read_row_group(group, columns=list(columns[i : i + AT_ONCE]), use_threads=False)
            wanted = map(flat(part).column, columns[i : i + AT_ONCE])
            arrays += [one.chunk(0) if one.num_chunks == 1 else one.combine_chunks() for one in wanted]
        whole = pa.RecordBatch.from_arrays(arrays, names=list(columns))
        del arrays
        for start in range(0, whole.num_rows, rows):
            yield whole.slice(start, rows)
