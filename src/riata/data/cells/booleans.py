"""Truths in words: yes and no, true and false in any case."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from riata.data.cells.cell_format import CellFormat


@dataclass(frozen=True)
class BooleanFormat(CellFormat):
    """The words for true and false, in lower case."""

    yes: str
    no: str
    kind = "boolean"
    type = pa.bool_()

    def valid(self, strings: pa.Array) -> pa.Array:
        words = _words(strings)
        known = pc.is_in(words, value_set=pa.array([self.yes, self.no], words.type))
        return pc.if_else(pc.is_valid(strings), known, None)

    def parse(self, strings: pa.Array) -> pa.Array:
        return pc.equal(_words(strings), self.yes)

    def said(self) -> str:
        return f"{self.yes} or {self.no}, as 1 and 0"


BOOLEAN_FORMATS = tuple(
    BooleanFormat(yes, no) for yes, no in (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"))
)


def _words(strings: pa.Array) -> pa.Array:
    return pc.utf8_lower(pc.utf8_trim_whitespace(strings))
