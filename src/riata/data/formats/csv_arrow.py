"""The options of Arrow's CSV reader for a dialect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from riata.data.formats.dialect import Dialect


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
    ) -> dict[str, Any]:
        """The arguments of `pyarrow.csv.open_csv` for rows without a header."""
        return {
            "read_options": pacsv.ReadOptions(
                block_size=block_bytes, use_threads=threads, column_names=list(dialect.names)
            ),
            "parse_options": pacsv.ParseOptions(
                delimiter=dialect.separator, quote_char=dialect.quote or False, newlines_in_values=True,
                invalid_row_handler=bad_row,
            ),
            "convert_options": pacsv.ConvertOptions(
                column_types=kinds, include_columns=list(columns or dialect.columns), null_values=self.null_words,
                strings_can_be_null=True, decimal_point=self.decimal,
            ),
        }  # fmt: skip
