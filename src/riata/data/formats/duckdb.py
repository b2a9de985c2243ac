"""Answers of DuckDB: relations, and queries such as "duckdb:SELECT * FROM 'a/*.parquet'". Every pass runs them again.

Rows come in the order that DuckDB gives them; a query that sorts nothing may give another one each time. Where rows
must be told by their places in several passes, for folds by a column, they are stored in the first one.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from riata.data.formats.source import Source
from riata.data.formats.tables import flat, flat_schema, owners
from riata.errors import DataError, MissingPackageError

SCHEME = "duckdb:"
QUERY = re.compile(r"\s*(select|from|with|values|pivot|table|\()\b", re.IGNORECASE)


def is_relation(source: Any) -> bool:
    """Whether it is a relation of DuckDB, told without importing that."""
    return type(source).__name__ == "DuckDBPyRelation"


class Relation(Source):
    """Rows of a relation of DuckDB; fields of structs are columns with dotted names."""

    unordered = True

    def __init__(self, relation: Any) -> None:
        self._relation = relation
        try:
            self._nested = _reader(relation.limit(0), 1).schema
        except _errors() as error:
            raise _as_data_error(error) from error
        self.schema = flat_schema(self._nested).remove_metadata()

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
        try:
            with _reader(self._chosen(columns), rows) as reader:  # closed, it lets go of the connection
                for batch in reader:
                    table = flat(pa.Table.from_batches([batch])).select(list(columns))
                    yield from table.combine_chunks().to_batches(max_chunksize=rows)
        except _errors() as error:
            raise _as_data_error(error) from error

    def _chosen(self, columns: Sequence[str]) -> Any:
        names = [field.name.replace('"', '""') for field in owners(self._nested, columns)]
        return self._relation.project(", ".join(f'"{name}"' for name in names))


class Query(Relation):
    """Rows of a query, each pass of which has a connection of its own."""

    def __init__(self, text: str) -> None:
        self._text = text.removeprefix(SCHEME)
        super().__init__(self._fresh())

    def _chosen(self, columns: Sequence[str]) -> Any:
        self._relation = self._fresh()
        return super()._chosen(columns)

    def _fresh(self) -> Any:
        """The relation of the query, on a connection that nobody else reads from."""
        database, query = _parts(self._text)
        try:
            import duckdb
        except ImportError:
            raise MissingPackageError("queries of DuckDB need duckdb: pip install 'riata[duckdb]'") from None
        try:
            connection = duckdb.connect(database or ":memory:", read_only=database is not None)
            relation = connection.sql(query)
        except duckdb.Error as error:
            raise _as_data_error(error) from error
        if relation is None:
            raise DataError(f"the query {query!r} has no rows to give: let it SELECT some")
        return relation


def _parts(text: str) -> tuple[str | None, str]:
    """(the file of a database, if there is one, the query) of what stands behind "duckdb:"."""
    if QUERY.match(text):
        return None, text
    database, colon, query = text.partition(":")
    if not colon or not QUERY.match(query):
        raise DataError(
            f"{SCHEME}{text} is no query: write duckdb:SELECT ... or, for a database, duckdb:sales.duckdb:SELECT ..."
        )
    return database, query


def _reader(relation: Any, rows: int) -> pa.RecordBatchReader:
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # its name before version 2
    return read(rows)


def _errors() -> tuple[type[Exception], ...]:
    """What DuckDB raises; it has been imported by whoever made the relation."""
    import duckdb

    return (duckdb.Error, pa.ArrowException)


def _as_data_error(error: Exception) -> DataError:
    first = " ".join(str(error).split("\n\n")[0].split())
    return DataError(f"DuckDB cannot answer: {first}")
