"""The parameters of the estimators, spelled out in a constructor as scikit-learn wants them."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from riata.losses import Loss
from riata.penalties import Penalty
from riata.training.spec import Spec


class Parameters(BaseEstimator):
    """What is asked of a fit; `riata.SparseRegressor` explains each."""

    def __init__(
        self,
        k: int | str | None = None,
        alpha: float | str | None = None,
        *,
        alpha_ratio: float | None = None,
        l1_ratio: float = 1.0,
        ridge: float | None = None,
        penalty: Penalty | str | None = None,
        penalty_factors: Sequence[float] | np.ndarray | None = None,
        groups: Sequence[Any] | np.ndarray | None = None,
        group_ratio: float = 1.0,
        heredity: str | None = None,
        shared_support: bool | None = None,
        nonnegative: bool = False,
        bounds: Mapping[str, tuple[float | None, float | None]] | Sequence[Any] | np.ndarray | None = None,
        loss: str | Loss = "squared",
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = True,
        normalize: str | None = None,
        select: str = "cv-1se",
        cv: Any = 5,
        gap: float | str = 0,
        n_alphas: int = 100,
        alpha_reach: float | None = None,
        k_max: int | None = None,
        debias: bool | float | str = False,
        certify: bool | float | None = None,
        certify_time: str | float = "600s",
        coef_limit: float | None = None,
        tol: float = 1e-6,
        max_passes: int | None = None,
        max_steps: int | None = None,
        batch: int | str | None = None,
        rounds: bool = False,
        step: float | str | None = None,
        order: str | None = None,
        memory: str | int | None = None,
        device: str | None = None,
        half_life: float | None = None,
        polish: bool = False,
        checkpoint: str | None = None,
        every: str | float = "60s",
        resume: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.alpha = alpha
        self.alpha_ratio = alpha_ratio
        self.l1_ratio = l1_ratio
        self.ridge = ridge
        self.penalty = penalty
        self.penalty_factors = penalty_factors
        self.groups = groups
        self.group_ratio = group_ratio
        self.heredity = heredity
        self.shared_support = shared_support
        self.nonnegative = nonnegative
        self.bounds = bounds
        self.loss = loss
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.normalize = normalize
        self.select = select
        self.cv = cv
        self.gap = gap
        self.n_alphas = n_alphas
        self.alpha_reach = alpha_reach
        self.k_max = k_max
        self.debias = debias
        self.certify = certify
        self.certify_time = certify_time
        self.coef_limit = coef_limit
        self.tol = tol
        self.max_passes = max_passes
        self.max_steps = max_steps
        self.batch = batch
        self.rounds = rounds
        self.step = step
        self.order = order
        self.memory = memory
        self.device = device
        self.half_life = half_life
        self.polish = polish
        self.checkpoint = checkpoint
        self.every = every
        self.resume = resume
        self.random_state = random_state
        self.verbose = verbose

    def _spec(self) -> Spec:
        """The parameters as training takes them."""
        seed = self.random_state
        if seed is not None and not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        names = {one.name for one in fields(Spec)} - {"seed"}
        return Spec(**{name: getattr(self, name) for name in names if hasattr(self, name)}, seed=seed)
