"""Avro files, some records at a time, through fastavro. Fields of nested records are columns with dotted names."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from riata.data.formats.files import File
from riata.data.formats.filesource import FileSource, one_schema
from riata.data.formats.frame_columns import NoFeature
from riata.data.formats.tables import flat, flat_schema, owners
from riata.errors import DataError, MissingPackageError

TYPES = {
    "null": pa.null(), "boolean": pa.bool_(), "int": pa.int32(), "long": pa.int64(), "float": pa.float32(),
    "double": pa.float64(), "string": pa.string(), "bytes": pa.binary(),
}  # fmt: skip
LOGICAL = {
    "date": pa.date32(), "time-millis": pa.time64("us"), "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("us", "UTC"), "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"), "local-timestamp-micros": pa.timestamp("us"),
}  # fmt: skip
NUMBERS = {"int", "long", "float", "double"}


class Avro(FileSource):
    """Rows of Avro files."""

    damage = (Exception,)  # fastavro raises whatever the bytes lead to: KeyError, IndexError, struct.error, ...

    def __init__(self, files: Sequence[File]) -> None:
        super().__init__(files)
        self._nested = {file.path: self._schema(file) for file in files}
        with self.door(files[0]):
            self.schema = one_schema(files, [flat_schema(nested) for nested in self._nested.values()])

    def _schema(self, file: File) -> pa.Schema:
        with self.door(file), file.stream() as stream:
            found = as_type(_reader(stream).writer_schema, {})
        if not pa.types.is_struct(found):
            raise DataError(f"{file.path} holds {found}, and no records with named fields")
        return pa.schema(list(found))

    def read(self, file: File, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        nested = pa.schema(owners(self._nested[file.path], columns))
        wanted = pa.schema([self.schema.field(name) for name in columns])
        with file.stream() as stream:
            records = iter(_reader(stream))
            while some := list(islice(records, rows)):
                arrays = [_column([one[field.name] for one in some], field.type) for field in nested]
                table = flat(pa.table(arrays, schema=nested)).select(list(columns)).cast(wanted)
                yield from table.combine_chunks().to_batches()


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if isinstance(kind, NoFeature):
        return pa.ExtensionArray.from_storage(kind, pa.nulls(len(values)))
    return pa.array(values, kind)


def _reader(stream: Any) -> Any:
    try:
        import fastavro
    except ImportError:
        raise MissingPackageError("Avro files need fastavro: pip install 'riata[avro]'") from None
    return fastavro.reader(stream)


def as_type(schema: Any, named: dict[str, pa.DataType]) -> pa.DataType:
    """The Arrow type of an Avro schema; `named` are the types defined so far."""
    if isinstance(schema, list):
        return _of_union(schema, named)
    if isinstance(schema, str):
        return TYPES.get(schema) or named.get(schema) or NoFeature(f"of type {schema}")
    kind, logical = schema["type"], schema.get("logicalType")
    if logical in LOGICAL:
        return LOGICAL[logical]
    if logical == "decimal":
        return pa.decimal128(schema["precision"], schema.get("scale", 0))
    if logical is not None:
        return NoFeature(f"of type {logical}")
    if kind == "array":
        inner = as_type(schema["items"], named)
        return NoFeature("a list of what is no number") if isinstance(inner, NoFeature) else pa.list_(inner)
    if kind in ("record", "error"):
        return _named(schema, named, pa.struct([(f["name"], as_type(f["type"], named)) for f in schema["fields"]]))
    if kind == "enum":
        return _named(schema, named, pa.string())
    if kind in ("map", "fixed"):
        return _named(schema, named, NoFeature(f"of type {kind}"))
    return as_type(kind, named)


def _of_union(branches: list[Any], named: dict[str, pa.DataType]) -> pa.DataType:
    """The type of a field that may be of several: of one of them or null, or any number."""
    others = [branch for branch in branches if branch != "null"]
    if len(others) == 1:
        return as_type(others[0], named)
    if others and all(isinstance(one, str) and one in NUMBERS for one in others):
        return pa.float64()
    return NoFeature("of several types") if others else pa.null()


def _named(schema: dict[str, Any], named: dict[str, pa.DataType], found: pa.DataType) -> pa.DataType:
    if "name" in schema:
        full = schema["name"] if "." in schema["name"] else f"{schema.get('namespace', '')}.{schema['name']}"
        named[full.lstrip(".")] = named[re.sub(r".*\.", "", full)] = found
    return found
