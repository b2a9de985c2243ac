"""Truths in words: yes and no, true and false in any case."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.cell_format import CellFormat
from riata.data.columns.arrow_values import string_array, string_scalar


@dataclass(frozen=True)
class BooleanFormat(CellFormat):
    """The words for true and false, in lower case."""

    yes: str
    no: str
    kind = "boolean"
    type = pa.bool_()

    def valid(self, strings: pa.Array) -> pa.Array:
        words = _words(strings)
        known = pc.is_in(words, value_set=string_array([self.yes, self.no], words.type))
        return pc.and_(known, pc.equal(words, words))  # null where there is no word

    def parse(self, strings: pa.Array) -> pa.Array:
        return pc.equal(_words(strings), string_scalar(self.yes))

    def said(self) -> str:
        return f"{self.yes} or {self.no}, as 1 and 0"


BOOLEAN_FORMATS = tuple(
    BooleanFormat(yes, no) for yes, no in (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"))
)


def _words(strings: pa.Array) -> pa.Array:
    return pc.utf8_lower(pc.utf8_trim_whitespace(strings))
