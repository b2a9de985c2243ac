"""How rows were divided to score models on rows that they have not seen."""

from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import Any

from riata.schema import build


class FoldKind(Enum):
    """What decides the fold of a row."""

    POSITION = "position"  # a hash of its position
    CLASSES = "classes"  # the same among the rows of its class
    GROUPS = "groups"  # its group: rows of one group stay together
    TIME = "time"  # its time: blocks are scored by models of earlier rows
    COLUMN = "column"  # a column of fold numbers
    SPLITTER = "splitter"  # a splitter of scikit-learn, or pairs of rows to learn from and to score


@dataclass(frozen=True)
class FoldsUsed:
    """How many folds there were, and what decided the fold of a row."""

    kind: FoldKind
    count: int
    by: str | None = None  # the column, or the name of the splitter, where there is one
    stratified: bool = False  # whether folds have about the same share of every class
    gap: str | None = None  # between rows learnt from and rows scored, of folds in time
    seed: int | None = None  # where there is some chance in it

    def to_json(self) -> dict[str, Any]:
        """Plain values, for files and `--json`."""
        return {name: value for name, value in asdict(self).items() if value is not None} | {"kind": self.kind.value}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "FoldsUsed | None":
        """The folds that `to_json` wrote; None for a kind that a later version may have written."""
        if plain.get("kind") not in [kind.value for kind in FoldKind]:
            return None
        known = {one.name: plain[one.name] for one in fields(cls) if one.name in plain}
        return build(cls, known | {"kind": FoldKind(plain["kind"])}, "its folds")


def folds_in_words(used: FoldsUsed) -> str:
    """The folds in words, such as "5 folds by customer"."""
    n = f"{used.count} folds"
    alike = ", stratified by class" if used.stratified else ""
    match used.kind:
        case FoldKind.POSITION:
            return n
        case FoldKind.CLASSES:
            return f"{n} stratified by class"
        case FoldKind.GROUPS:
            return f"{n} by {used.by}{alike}"
        case FoldKind.TIME:
            by = "" if used.by in (None, "time") else f" by {used.by}"
            return f"{n} forward in time{by}" + (f" with a gap of {used.gap}" if used.gap else "")
        case FoldKind.COLUMN:
            return f"{n} numbered in {used.by}"
        case FoldKind.SPLITTER:
            return f"{n} of {used.by}" if used.by else f"{n} as given"
