"""All formats of cells: by name, as plain values of JSON."""

from typing import Any

from riata.data.cells.booleans import BooleanFormat
from riata.data.cells.cell_format import CellFormat
from riata.data.cells.dates import DateFormat, EpochFormat
from riata.data.cells.numbers import NumberFormat

KINDS: dict[str, Any] = {one.kind: one for one in (NumberFormat, BooleanFormat, DateFormat, EpochFormat)}


def from_json(plain: dict[str, Any]) -> CellFormat:
    """A format from what `CellFormat.to_json` gave."""
    made: CellFormat = KINDS[plain["kind"]](**{key: value for key, value in plain.items() if key != "kind"})
    return made
