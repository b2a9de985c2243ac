"""All formats of cells: by name, as plain values of JSON."""

from typing import Any

from riata.data.cells.booleans import BooleanFormat
from riata.data.cells.cell_format import CellFormat
from riata.data.cells.dates import DateFormat, EpochFormat, is_pattern
from riata.data.cells.numbers import MARKS, NEGATIVES, THOUSANDS, NumberFormat, is_unit
from riata.schema import SchemaError, build

KINDS: dict[str, Any] = {one.kind: one for one in (NumberFormat, BooleanFormat, DateFormat, EpochFormat)}


def from_json(plain: dict[str, Any]) -> CellFormat:
    """A format from what `CellFormat.to_json` gave."""
    kind = plain.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"there is no kind of cells {kind!r}")
    made: CellFormat = build(KINDS[kind], {key: value for key, value in plain.items() if key != "kind"}, "cells")
    if not _is_one(made):
        raise SchemaError(f"there is no format of cells {plain}")
    return made


def _is_one(made: CellFormat) -> bool:
    """Whether there is such a format: a file that was changed may say anything."""
    if isinstance(made, NumberFormat):
        signs = (made.mark in ("", *MARKS) or is_unit(made.mark)) and made.negative in NEGATIVES
        return made.decimal in (".", ",") and made.thousands in THOUSANDS and signs
    if isinstance(made, DateFormat):
        return is_pattern(made.pattern)
    return not isinstance(made, EpochFormat) or made.unit in ("s", "ms")
