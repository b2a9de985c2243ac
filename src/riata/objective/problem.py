"""What is minimised over which data, and what a pass tells of a point."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import Loss
from riata.penalties import Cardinality, ElasticNet, GroupCardinality, Numbers, Penalty, Strengths

EQUAL_STRENGTHS = 1e-12  # strengths that differ by less, relative to the largest, count as equal


@dataclass(frozen=True)
class Problem:
    """What is minimised, over which data."""

    data: Dataset
    loss: Loss
    penalty: Penalty  # in the units of the data
    fit_intercept: bool = True
    scale: np.ndarray | float = 1.0  # of the columns, where the user asked to standardise
    start: "Start | None" = None  # the model of the largest alpha, where it has been found already
    empty: "Start | None" = None  # the model without features, where it has been found already
    limit: float | None = None  # of coefficients of scaled columns: bounds on models of k features are for those within
    kept: dict[str, float] = field(default_factory=dict, init=False, repr=False, compare=False)  # what passes have told

    @property
    def n_coefficients(self) -> int:
        """One for each feature and output."""
        return self.data.n_features * self.loss.n_outputs

    @property
    def standardised_strengths(self) -> tuple[float, float]:
        """l1 and l2 for the weights `scale * w` of the scaled columns, on which every feature is penalised alike."""
        strengths = self.strengths
        return (
            _only(strengths.l1 / self.scale, "l1 strength"),
            _only(strengths.l2 / np.square(self.scale), "l2 strength"),
        )

    @cached_property
    def strengths(self) -> Strengths:
        """The strengths of all features, for solvers that need an elastic net."""
        strengths = self.penalty.strengths(self.n_coefficients)
        if strengths is None:
            raise OptionError(f"this solver needs an elastic net, not {self.penalty!r}")
        return strengths

    @property
    def cardinality(self) -> Cardinality | GroupCardinality:
        """The penalty, for solvers that need a number k of features, or of groups of them."""
        if not isinstance(self.penalty, Cardinality | GroupCardinality):
            raise OptionError(f"this solver needs a number k of features, not {self.penalty!r}")
        return self.penalty

    @property
    def n_choices(self) -> int:
        """How many features, or groups of them, k chooses among."""
        return self.cardinality.n_choices(self.data.n_features)

    @property
    def always_in(self) -> np.ndarray:
        """The features that every model has, beside those that k counts."""
        always = self.cardinality.always_in
        return np.empty(0, dtype=np.int64) if always is None else always

    @property
    def counted(self) -> str:
        """What k counts: features, or groups of them, or those beside others that are always in."""
        return self.cardinality.counted


def _only(strengths: np.ndarray, name: str) -> float:
    """The one value of these strengths, which must be equal up to rounding."""
    largest = float(np.max(strengths))
    if largest - float(np.min(strengths)) > EQUAL_STRENGTHS * largest:
        raise OptionError(f"this solver penalises all features alike, and here the {name} differs: take solver 'exact'")
    return largest


class Side(NamedTuple):
    """What one sign of u = loss' adds to X'(s u), to sum s u and to sum s conjugate(y, u)."""

    by_w: np.ndarray
    by_b: Any  # a number, or one for each output
    conjugate: float


@dataclass(frozen=True)
class FirstOrder:
    """Means over the rows at one (w, b): all that a gradient step, a screening or a certificate needs."""

    loss: float
    positive: Side
    negative: Side

    @cached_property
    def by_w(self) -> np.ndarray:
        return self.positive.by_w + self.negative.by_w

    @property
    def by_b(self) -> Any:
        return self.positive.by_b + self.negative.by_b


class Start(NamedTuple):
    """A model, and the first-order pass there."""

    w: np.ndarray
    b: Any  # a number, or one for each output
    at: FirstOrder


def elastic_net(
    alpha: float, l1_ratio: float = 1.0, scale: Numbers = 1.0, factors: Numbers = 1.0, lower: Numbers = -np.inf
) -> ElasticNet:
    """alpha sum_j factor_j (l1_ratio |v_j| + (1 - l1_ratio) / 2 v_j^2) at v = scale * w, over w >= lower."""
    return ElasticNet(l1_ratio, 1.0 - l1_ratio).at(alpha).scaled(scale, factors).within(lower, np.inf)
