"""Sizes, names and origin of a dataset, in one frozen object: a view shares it, or has a changed copy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riata.visible_text import visible

if TYPE_CHECKING:
    from riata.data.encoding import Encoding
    from riata.data.offset import Offset
    from riata.data.opened import Opened
    from riata.data.opening.profile import Profile
    from riata.data.row_marks import Marks


@dataclass(frozen=True)
class Facts:
    """Sizes, names and origin of some rows."""

    n_rows: int
    n_features: int
    feature_names: Sequence[str] | None = None
    classes: np.ndarray | None = None  # labels; the target of a row is then the position of its label
    encoding: "Encoding | None" = None  # how the rows of a file or frame became features
    profile: "Profile | None" = None  # what the first pass over them found
    opened: "Opened | None" = None  # how to read them again, where that is possible
    memory: int | None = None  # the budget they were opened with, in bytes, which solvers respect as well
    single_pass: bool = False  # whether they can be read only once
    n_summarised: int | None = None  # how many rows these summarise, where they are summary rows
    marks: "Marks | None" = None  # which rows belong together in folds, where columns say so

    targets: tuple[str, ...] | None = None  # the names of several targets at once; the target of a row is then as many
    trials: bool = False  # whether targets are shares of successes, and weights count trials (`riata.data.trials`)
    survival: bool = False  # whether targets are times to an event, negative without one (`riata.data.survival`)
    copies: np.ndarray | None = None  # the feature that each column is a copy of, where some are in several groups
    offset: "Offset | None" = None  # where the offsets of rows come from; None: they have none

    def in_words(self) -> str:
        """How many rows and features, what the target is, and where they are from."""
        rows = "rows that come once" if self.single_pass else f"{self.n_rows:,} row{'' if self.n_rows == 1 else 's'}"
        wide = f"{self.n_features:,} feature{'' if self.n_features == 1 else 's'}"
        target = None if self.encoding is None else self.encoding.target
        named = "target" if target is None else f"target {', '.join(map(repr, target.numbers))}"
        if self.classes is not None:
            named += f" of {len(self.classes)} classes"
        source = None if self.opened is None else self.opened.source
        origin = [f"from {source}"] if isinstance(source, str | Path) else []
        return visible(", ".join([rows, wide, named, *origin]))

    def of_view(self, **changes: Any) -> "Facts":
        """The facts of a view, whose rows opening the source again would not give."""
        return replace(self, opened=None, marks=None, **changes)

    def but(self, **changes: Any) -> "Facts":
        """The same facts with some changes."""
        return replace(self, **changes)
