"""Links: from a margin to what is predicted there. A model's file names its link, and predicting needs nothing else."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit


@dataclass(frozen=True)
class Link:
    """What is predicted at a margin z, and how a report reads z itself."""

    name: str
    mean: Callable[[Any], Any]  # the expected target at z
    of_number: str  # what z is, where a number is predicted
    of_class: str  # what z is, where a class is predicted: of which one follows
    probabilities: bool = False  # whether the mean is the probability of the label +1

    def reading(self, of: str | None = None) -> str:
        """What z is, in words: of a number, or of this class."""
        return self.of_number if of is None else f"{self.of_class} of {of}"


IDENTITY = Link("identity", np.asarray, "the prediction", "the score")
EXP = Link("exp", np.exp, "the logarithm of the prediction", "the score")
LOGISTIC = Link("logistic", expit, "the logarithm of the odds", "the logarithm of the odds", probabilities=True)
LINKS: dict[str, Link] = {link.name: link for link in (IDENTITY, EXP, LOGISTIC)}


def probabilities(link: Link, z: np.ndarray) -> np.ndarray:
    """Class probabilities by a link that gives them; one-against-rest ones are scaled to sum to one."""
    p = link.mean(z)
    if p.ndim == 1:
        return np.column_stack([1.0 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])
