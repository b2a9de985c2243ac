"""What was searched, in one shape for one margin and for several."""

from typing import NamedTuple

from riata.training.path import ModelPath
from riata.training.selection.search import Selection


class Searched(NamedTuple):
    """A path, which of its models was chosen, and of which class it is where there are several."""

    path: ModelPath
    selection: Selection
    label: str | None = None
