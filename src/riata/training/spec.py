"""The parameters of a fit in plain values, into which Python and the command line both translate."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from riata.losses import Loss, loss_of
from riata.penalties import Cardinality, ElasticNet, GroupCardinality, GroupLasso, Numbers, Penalty, concave_penalty
from riata.solvers.registry import SOLVERS, choose_solver
from riata.training.stages.two_stages import UNILASSO, Adaptive, adaptive_lasso
from riata.units import parse_bytes

OVER_FEATURES = "sum over features |w_j|_2"


@dataclass(frozen=True)
class Spec:
    """The parameters of a fit, for `riata.train`, `riata.path` and `riata.k_path`.

    They have the names, defaults and meaning of the parameters of `riata.SparseRegressor` and `riata.SparseClassifier`,
    which say more about each; only `random_state` is `seed` here.

    Parameters
    ----------
    k : int or "auto", optional
        The largest number of features (or groups of them). Give one of ``k``, ``alpha`` and ``alpha_ratio``.
    alpha : float or "auto", optional
        Strength of the penalty.
    alpha_ratio : float, optional
        Strength as a share of the smallest alpha whose model is empty.
    l1_ratio : float, default=1.0
        Share of the L1 part in the penalty.
    ridge : float, optional
        Strength of an L2 penalty, with ``k``: by default 0; with ``k="auto"`` it is chosen together with k.
    penalty : str or Penalty, optional
        Another penalty in place of the elastic net: a name such as "mcp", or an object of your own.
    penalty_factors : array of n_features numbers, or dict, optional
        Factors on the strength, for each feature or for those named; a feature with factor 0 is always in the model.
    groups : array of n_features labels, lists of names, or "columns", optional
        Features that enter or leave the model together; ``k`` counts groups, ``alpha`` is that of a group Lasso.
    group_ratio : float, default=1.0
        Share of the group Lasso, with ``groups`` and ``alpha``; the rest is L1.
    heredity : {"strong", "weak"}, optional
        Interactions enter the model only together with both ("strong") or one ("weak") of their features.
    shared_support : bool, optional
        Whether a feature is in the model for all targets, or all classes, or for none. By default yes for several
        targets, and no for classes.
    nonnegative : bool, default=False
        Whether to allow no negative coefficients.
    bounds : dict or sequence of n_features pairs, optional
        Bounds on coefficients: {feature or column: (lower, upper)}, or one pair per feature.
    loss : str or Loss, default="squared"
        A key of ``riata.losses.LOSSES``, with its parameter if it has one ("quantile:0.9"), or a loss of your own.
        "auto" depends on the target: "squared" for numbers, "cox" for times to events, "logistic" for two classes, and
        "softmax" for more, if the other parameters allow it.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    threshold : float, optional
        For two classes: the probability of the second from which on it is predicted.
    solver : str, default="auto"
        A key of ``riata.SOLVERS``; "auto" is "exact", or "best-k" with ``k``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    standardize : bool, default=True
        Whether to penalise as if all columns had unit standard deviation.
    normalize : {"rows"}, optional
        Divide every row by its norm.
    select : {"cv-1se", "cv", "validation", "aic", "bic", "ebic"}, default="cv-1se"
        How "auto" chooses.
    cv : int, splitter, array or iterable, default=5
        Number of folds, a splitter of scikit-learn, a fold number for each row, or pairs of rows.
    gap : float or str, default=0
        Time between training rows and scored rows, if folds go forward in time.
    n_alphas : int, default=100
        Number of alphas on the path of ``alpha="auto"``.
    alpha_reach : float, optional
        Its smallest alpha as a share of its largest; by default 0.0001 with more rows than features, 0.01 otherwise.
    k_max : int, optional
        The largest k of the path of ``k="auto"``.
    debias : bool, float or "auto", default=False
        Whether to refit the chosen features without the penalty, or the share of the way to such coefficients.
    certify : bool or float, optional
        With ``k``: whether to search all models until none can be better, or none by more than this share.
    certify_time : str or float, default="600s"
        Time limit of that search.
    coef_limit : float, optional
        With ``k``: let bounds consider only models whose coefficients are at most this large.
    tol : float, default=1e-6
        Tolerance, relative to the loss of the empty model.
    max_passes, max_steps : int, optional
        Limits on passes over the data and on steps.
    batch : int or "full", optional
        Rows per step of a stochastic solver.
    rounds : bool, default=False
        Whether to halve the penalty in the first half of the steps (solver "fobos").
    step : float or str, optional
        First step, or a schedule such as "2/t".
    order : {"uniform", "shuffled", "sequential"}, optional
        The order in which a stochastic solver visits rows.
    memory : str or int, optional
        Memory budget of the solver, such as "512MB".
    device : {"cpu", "cuda"}, optional
        Where passes run.
    half_life : float, optional
        Number of rows after which a row counts half (solver "online").
    polish : bool, default=False
        Whether to follow an online solver with an exact fit of the features that it found.
    checkpoint : str or Path, optional
        A folder in which the fit saves its state.
    every : str or float, default="60s"
        Time between two checkpoints.
    resume : bool, default=False
        Whether to continue from the checkpoint, if there is one.
    seed : int, optional
        Seed of all that is random in a fit: the order of rows, and folds.
    verbose : bool, default=False
        Whether to show a progress bar.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> spec = riata.Spec(alpha_ratio=0.2, nonnegative=True)
    >>> riata.train(riata.open(X, 3 * X[:, 4] - X[:, 7]), spec).to_model().names
    ['x4']
    """

    k: Any = None
    alpha: Any = None
    alpha_ratio: float | None = None
    l1_ratio: float = 1.0
    ridge: float | None = None
    penalty: Penalty | str | None = None
    penalty_factors: Any = None
    groups: Any = None
    group_ratio: float = 1.0
    heredity: str | None = None
    shared_support: bool | None = None
    nonnegative: bool = False
    bounds: Any = None
    loss: str | Loss = "squared"
    class_weight: Mapping[Any, float] | str | None = None
    threshold: float | None = None
    solver: str = "auto"
    fit_intercept: bool = True
    standardize: bool = True
    normalize: str | None = None
    select: str = "cv-1se"
    cv: Any = 5
    gap: float | str = 0
    n_alphas: int = 100
    alpha_reach: float | None = None
    k_max: int | None = None
    debias: Any = False
    certify: Any = None
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
    def certifies(self) -> bool:
        """Whether a certificate of the best k is asked for; a gap of 0 asks for one, too."""
        return self.certify is not None and self.certify is not False

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
        """The group Lasso over groups of features or, of several margins, over the coefficients of a feature."""
        lasso = GroupLasso(self.groups, self.group_ratio)
        if (n_outputs := self.loss_function.n_outputs) == 1:
            return lasso
        weights = lasso.roots / np.sqrt(n_outputs)  # so that alpha is that of the lengths of features' coefficients
        alone = bool(np.all(weights == 1.0))
        return replace(lasso, weights=weights, words=OVER_FEATURES) if alone else replace(lasso, weights=weights)

    def penalty_at(self, alpha: float, scale: Numbers) -> Penalty:
        """The penalty of strength alpha on columns of these scales."""
        [penalty] = self.penalties_at([alpha], scale)
        return penalty

    def penalties_at(self, alphas: Iterable[float], scale: Numbers) -> list[Penalty]:
        """The penalties of many strengths, see `penalty_at`."""
        family, factors, limits = self.family, self.factors, self.limits
        penalties = [family.at(alpha).scaled(scale, factors) for alpha in alphas]
        return penalties if self.own_penalty is not None else [penalty.within(*limits) for penalty in penalties]

    @property
    def limits(self) -> tuple[Numbers, Numbers]:
        """The bounds of each coefficient, in the units of the data; those given by name are looked up before."""
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
