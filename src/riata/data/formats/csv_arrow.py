"""The options of Arrow's CSV reader for a dialect."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from riata.data.formats.dialect import Dialect

# Arrow keeps all words for missing values and for yes and no once per column: some 14 kB, where numbers alone need 2
MANY_COLUMNS = 1000
VALUE = re.compile(r"In CSV column #(\d+).*conversion error to (\S+): invalid value '(.*)'", re.S)


@dataclass
class ArrowOptions:
    """What all files have in common: the decimal mark that Arrow knows, and the words for missing values."""

    decimal: str
    null_words: list[str]

    def of(
        self,
        dialect: Dialect,
        block_bytes: int,
        columns: Sequence[str] = (),
        kinds: dict[str, pa.DataType] | None = None,
        bad_row: Callable[[Any], str] | None = None,
        threads: bool = True,
        null_words: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """The arguments of `pyarrow.csv.open_csv` for rows without a header; `null_words` may be fewer than all."""
        columns = list(columns or dialect.columns)
        yes_and_no = kinds is None or any(kinds.get(name, pa.bool_()) == pa.bool_() for name in columns)
        return {
            "read_options": pacsv.ReadOptions(
                block_size=block_bytes, use_threads=threads, column_names=list(dialect.names)
            ),
            "parse_options": pacsv.ParseOptions(
                delimiter=dialect.separator, quote_char=dialect.quote or False, newlines_in_values=True,
                invalid_row_handler=bad_row,
            ),
            "convert_options": pacsv.ConvertOptions(
                column_types=kinds, include_columns=columns, strings_can_be_null=True, decimal_point=self.decimal,
                null_values=self.null_words if null_words is None else list(null_words),
                **({} if yes_and_no else {"true_values": [], "false_values": []}),
            ),
        }  # fmt: skip

    def first_words(self, n_columns: int) -> list[str] | None:
        """The words that rows of so many columns are read with, until others are met; None: all of them."""
        return None if n_columns <= MANY_COLUMNS else [""]

    def word_met(self, error: Exception, words: Sequence[str] | None) -> str | None:
        """The word for a missing value over which Arrow stumbled, for it was not among these."""
        found = None if words is None else VALUE.search(str(error))
        known = found is not None and found[3] in self.null_words and found[3] not in (words or ())
        return found[3] if found is not None and known else None

    def without_words(self, batch: pa.RecordBatch, words: Sequence[str] | None) -> pa.RecordBatch:
        """The batch with nothing where text is one of the words that Arrow was not told."""
        if words is None:
            return batch
        rest = pa.array([word for word in self.null_words if word not in words], pa.string())
        columns = [
            pc.if_else(pc.is_in(column, value_set=rest), pa.scalar(None, pa.string()), column)
            if pa.types.is_string(column.type)
            else column
            for column in batch.columns
        ]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
