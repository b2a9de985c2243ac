"""Why a path ends before the last alpha that was asked for."""

from dataclasses import dataclass
from enum import Enum


class EndReason(Enum):
    """The value ends a sentence."""

    SATURATED = "the last one explains all but a thousandth of the loss of the empty model"
    FLAT = "the last one explains hardly more of the target than the one before"
    TURNED = "on held-out rows the last ones are clearly worse than one before them"
    UNCERTIFIED = "the next one did not get within the tolerance"
    FEATURES = "the last one has as many features as were asked for"


@dataclass(frozen=True)
class PathEnd:
    """How many of the alphas have models, and why the rest has none."""

    n_models: int
    n_asked: int
    reason: EndReason

    @property
    def sentence(self) -> str:
        return f"of {self.n_asked} alphas the first {self.n_models} have models: {self.reason.value}"
