"""What an estimator searched, in one shape for one margin and for several."""

from typing import NamedTuple

from riata.training.path import ModelPath
from riata.training.selection.search import Selection


class Searched(NamedTuple):
    """A path, which of its models was chosen, and of which class it is where there are several."""

    path: ModelPath
    selection: Selection
    label: str | None = None


def searched(estimator) -> list[Searched]:
    """What a fitted estimator searched: one path, or one per class."""
    if isinstance(estimator.path_, ModelPath):
        return [Searched(estimator.path_, estimator.selection_)]
    labels = [str(label) for label in estimator.classes_]
    return [Searched(*parts) for parts in zip(estimator.path_, estimator.selection_, labels, strict=True)]
