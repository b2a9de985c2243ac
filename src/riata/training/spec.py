"""What the user asked for, in plain values: the one form that Python and the command line both end in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from riata.losses import Loss, loss_of
from riata.penalties import Cardinality, ElasticNet, GroupCardinality, GroupLasso, Numbers, Penalty, concave_penalty
from riata.solvers.registry import SOLVERS, choose_solver
from riata.training.two_stages import UNILASSO, Adaptive, adaptive_lasso
from riata.units import parse_bytes

OVER_FEATURES = "sum over features |w_j|_2"


@dataclass(frozen=True)
class Spec:
    """What the user asked for, as it was said; `riata.training.parameters` says what each of them means."""

    k: Any = None  # a number, or "auto"
    alpha: Any = None  # a number, or "auto"
    alpha_ratio: float | None = None
    l1_ratio: float = 1.0
    ridge: float | None = None  # beside k="auto" None is chosen, too; elsewhere it is 0
    penalty: Penalty | str | None = None  # a name, or an object with a strength alpha; else what k and alpha say
    penalty_factors: Any = None  # one number per feature, 0 is always in; or {feature or column: number}
    groups: Any = None  # a label for every feature, or "columns"; k then counts groups, and alpha is of a group Lasso
    group_ratio: float = 1.0
    heredity: str | None = None  # "strong" or "weak": interactions only beside the features that they are of
    shared_support: bool | None = None  # None: of several targets it is, of softmax it is not
    nonnegative: bool = False
    bounds: Any = None  # {feature or column: (least, most)}, or such a pair for every feature; None is no bound
    loss: str | Loss = "squared"
    class_weight: Mapping[Any, float] | str | None = None
    threshold: float | None = None
    solver: str = "auto"
    fit_intercept: bool = True
    standardize: bool = True
    normalize: str | None = None
    select: str = "cv-1se"
    cv: Any = 5  # a number of folds, a splitter of scikit-learn, a fold number for each row, or pairs of rows
    gap: float | str = 0
    n_alphas: int = 100
    alpha_reach: float | None = None
    k_max: int | None = None
    debias: Any = False  # True, a share of the way to the refit, or "auto"
    certify: Any = None  # True, or the gap to stop at
    certify_time: str | float = "600s"
    coef_limit: float | None = None
    tol: float = 1e-6
    max_passes: int | None = None
    max_steps: int | None = None
    batch: int | str | None = None
    rounds: bool = False
    step: str | float | None = None
    order: str | None = None
    memory: int | str | None = None
    device: str | None = None
    half_life: float | None = None
    polish: bool = False
    checkpoint: str | Path | None = None
    every: str | float = "60s"
    resume: bool = False
    seed: int | None = None
    verbose: bool = False

    @property
    def memory_bytes(self) -> int | None:
        """The budget as a number."""
        return parse_bytes(self.memory)

    @property
    def learns_online(self) -> bool:
        """Whether the solver can take rows as they come."""
        return self.solver in SOLVERS and SOLVERS[self.solver].method is not None

    @property
    def loss_function(self) -> Loss:
        """The loss itself, where `loss` is its name."""
        return loss_of(self.loss)

    @property
    def one_by_one(self) -> bool:
        """Whether the loss is one number for each row's one margin."""
        return self.loss_function.n_outputs == 1 and not self.loss_function.couples_rows

    @property
    def counted(self) -> str:
        """What k counts."""
        of = "features" if self.groups is None else "groups of features"
        return of if self.k is None or self.always_in is None else f"further {of}"

    @property
    def always_in(self) -> np.ndarray | None:
        """The features whose penalty factor is 0, if there are any."""
        if self.penalty_factors is None or isinstance(self.penalty_factors, Mapping):
            return None
        always = np.flatnonzero(np.asarray(self.penalty_factors, dtype=np.float64) == 0.0)
        return always if len(always) else None

    @property
    def takes(self) -> str:
        """What says how sparse the model is to be."""
        return "alpha" if self.k is None else "k"

    def n_choices(self, n_features: int) -> int:
        """How many features there are for k to count, or groups of them: those that are always in do not count."""
        always = np.empty(0, dtype=np.int64) if self.always_in is None else self.always_in
        if self.groups is None:
            return n_features - len(always)
        return int(np.max(self.groups)) + 1 - len(np.unique(np.asarray(self.groups)[always]))

    @property
    def own_penalty(self) -> Penalty | None:
        """The penalty that was given, as an object or by a name that says all of it."""
        if isinstance(self.penalty, str):
            return concave_penalty(self.penalty)
        return self.penalty if isinstance(self.penalty, Penalty) else None

    @property
    def adaptive(self) -> Adaptive | None:
        """The first fit that the penalty takes its factors from, if it is to."""
        return adaptive_lasso(self.penalty) if isinstance(self.penalty, str) else None

    @property
    def unilasso(self) -> bool:
        """Whether the Lasso is one over the predictions of single features."""
        return isinstance(self.penalty, str) and self.penalty == UNILASSO

    @property
    def family(self) -> Penalty:
        """The penalty before it has a strength and the units of the data."""
        if self.own_penalty is not None:
            return self.own_penalty
        if self.k is None and self.groups is not None:
            return self._group_lasso
        if self.k is None:
            return ElasticNet(self.l1_ratio, 1.0 - self.l1_ratio)
        ridge = self.ridge or 0.0
        if self.groups is None:
            return Cardinality(self.k, ridge, self.always_in)
        return GroupCardinality(self.k, self.groups, ridge, self.always_in, self._groups_are_features)

    @property
    def _groups_are_features(self) -> bool:
        """Whether groups are the coefficients of single features, one for each of several margins."""
        n_outputs = self.loss_function.n_outputs
        return n_outputs > 1 and (int(np.max(self.groups)) + 1) * n_outputs == len(self.groups)

    @property
    def _group_lasso(self) -> GroupLasso:
        """Over groups of features or, where a model has several margins, of the coefficients of a feature."""
        lasso = GroupLasso(self.groups, self.group_ratio)
        if (n_outputs := self.loss_function.n_outputs) == 1:
            return lasso
        weights = lasso.roots / np.sqrt(n_outputs)  # so that alpha is that of the lengths of features' coefficients
        alone = bool(np.all(weights == 1.0))
        return replace(lasso, weights=weights, words=OVER_FEATURES) if alone else replace(lasso, weights=weights)

    def penalty_at(self, alpha: float, scale: Numbers) -> Penalty:
        """The penalty of strength alpha on columns of these scales."""
        penalty = self.family.at(alpha).scaled(scale, self.factors)
        return penalty if self.own_penalty is not None else penalty.within(*self.limits)

    @property
    def limits(self) -> tuple[Numbers, Numbers]:
        """Between which each coefficient lies, in the units of the data; bounds by name are looked up before."""
        least = 0.0 if self.nonnegative else -np.inf
        if self.bounds is None:
            return least, np.inf
        lower, upper = np.asarray(self.bounds, dtype=np.float64).T
        return np.maximum(lower, least), upper

    @property
    def factors(self) -> Numbers:
        """What the penalty of each feature is multiplied by."""
        return 1.0 if self.penalty_factors is None else np.asarray(self.penalty_factors, dtype=np.float64)

    @property
    def solver_name(self) -> str:
        """The solver, once "auto" is decided."""
        return choose_solver(self.solver, self.takes)
