"""What the user asked for, in plain values: the one form that Python and the command line both end in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from riata.losses import Loss, loss_of
from riata.penalties import Cardinality, ElasticNet, GroupCardinality, Numbers, Penalty
from riata.solvers.registry import choose_solver


@dataclass(frozen=True)
class Spec:
    """What the user asked for, by the names of the estimators' parameters."""

    k: int | None = None
    alpha: float | None = None
    alpha_ratio: float | None = None
    l1_ratio: float = 1.0
    ridge: float = 0.0
    penalty: Penalty | str | None = None  # an object with a strength alpha; by default what k, alpha and the rest say
    loss: str | Loss = "squared"
    solver: str = "auto"
    penalty_factors: Any = None  # one number per feature; 0 is always in
    groups: np.ndarray | None = None  # the group of every feature, numbered from 0; k then counts groups
    nonnegative: bool = False
    fit_intercept: bool = True
    standardize: bool = True
    tol: float = 1e-6
    max_passes: int | None = None
    max_steps: int | None = None
    batch: int | str | None = None
    rounds: bool = False
    step: str | float | None = None
    order: str | None = None
    memory: int | None = None
    seed: int | None = None
    half_life: float | None = None
    checkpoint: str | Path | None = None
    every: str | float = "60s"
    resume: bool = False

    @property
    def loss_function(self) -> Loss:
        """The loss itself, where `loss` is its name."""
        return loss_of(self.loss)

    @property
    def counted(self) -> str:
        """What k counts."""
        return "features" if self.groups is None else "groups of features"

    @property
    def takes(self) -> str:
        return "alpha" if self.k is None else "k"

    def n_choices(self, n_features: int) -> int:
        """How many features there are for k to count, or groups of them."""
        return n_features if self.groups is None else int(np.max(self.groups)) + 1

    @property
    def family(self) -> Penalty:
        """The penalty before it has a strength and the units of the data."""
        if isinstance(self.penalty, Penalty):
            return self.penalty
        if self.k is None:
            return ElasticNet(self.l1_ratio, 1.0 - self.l1_ratio, self.nonnegative)
        return (
            Cardinality(self.k, self.ridge)
            if self.groups is None
            else GroupCardinality(self.k, self.groups, self.ridge)
        )

    def penalty_at(self, alpha: float, scale: Numbers) -> Penalty:
        """The penalty of strength alpha on columns of these scales."""
        return self.family.at(alpha).scaled(scale, self.factors)

    @property
    def factors(self) -> Numbers:
        """What the penalty of each feature is multiplied by."""
        return 1.0 if self.penalty_factors is None else np.asarray(self.penalty_factors, dtype=np.float64)

    @property
    def solver_name(self) -> str:
        return choose_solver(self.solver, self.takes)
