"""A path with the model that was chosen from it: one for every margin of a fit."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riata.training.paths.model_path import ModelPath
from riata.training.selection.choosing import Selection


class PathChoice(NamedTuple):
    """A path, which of its models was chosen, and of which class or level it is where there are several."""

    path: ModelPath
    selection: Selection
    label: str | None = None
    outputs: Sequence[str] = ()  # what the margins are of, where models have several
    label_is: str = "class"  # or a level, of several quantiles

    @property
    def title(self) -> str:
        """The class or level that the path is of, where there are several."""
        return f"{self.label_is} {self.label}" + (" against the rest" if self.label_is == "class" else "")

    def coefficient_names(self, names: Sequence[str], places: np.ndarray) -> list[str]:
        """What the coefficients at these places of the path are of, by the names of the features."""
        if not self.outputs:
            return [str(names[j]) for j in places.tolist()]
        pairs = (divmod(place, len(self.outputs)) for place in places.tolist())
        return [f"{names[j]} ({self.outputs[k]})" for j, k in pairs]

    def feature_of(self, places: np.ndarray) -> np.ndarray:
        """The features of the coefficients at these places."""
        return places // max(1, len(self.outputs))

    @property
    def chosen(self) -> float:
        """The alpha or k of the chosen model."""
        return self.path.values[self.selection.index].item()
