"""A path with the model that was chosen from it: one for every margin of a fit."""

from typing import NamedTuple

from riata.training.path import ModelPath
from riata.training.selection.search import Selection


class PathChoice(NamedTuple):
    """A path, which of its models was chosen, and of which class it is where there are several."""

    path: ModelPath
    selection: Selection
    label: str | None = None

    @property
    def chosen(self) -> float:
        """The alpha or k of the chosen model."""
        value: float = self.path.values[self.selection.index].item()
        return value
