"""The two estimators: scikit-learn's conventions around `riata.fitting`."""

import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from riata.data.chunk import Chunk, unit_rows
from riata.data.dataset import Dataset
from riata.data.memory import InMemory
from riata.errors import DataError, OptionError
from riata.fitting import Fit, Spec, describe, fit, open_stream
from riata.losses import BY_TASK, mean_target
from riata.model import Model, probabilities
from riata.progress import pass_progress, path_progress
from riata.selection.fits import SelectedFit, debiased, fit_selected
from riata.selection.search import Search
from riata.solvers.registry import SOLVERS
from riata.units import parse_bytes


def _learns_online(estimator) -> bool:
    """Whether the chosen solver can take rows as they come."""
    return estimator.solver in SOLVERS and SOLVERS[estimator.solver].method is not None


class _SparseLinear(SelectorMixin, BaseEstimator):
    """What the two estimators share: the parameters, fitting one margin, the selected features."""

    def __init__(
        self,
        k: int | str | None = None,
        alpha: float | str | None = None,
        *,
        alpha_ratio: float | None = None,
        l1_ratio: float = 1.0,
        ridge: float = 0.0,
        penalty_factors=None,
        nonnegative: bool = False,
        loss: str = "squared",
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = True,
        normalize: str | None = None,
        select: str = "cv-1se",
        cv: int = 5,
        n_alphas: int = 100,
        alpha_reach: float = 0.01,
        k_max: int | None = None,
        debias: bool = False,
        tol: float = 1e-6,
        max_passes: int | None = None,
        max_steps: int | None = None,
        batch: int | str | None = None,
        rounds: bool = False,
        step: float | str | None = None,
        order: str | None = None,
        memory: str | int | None = None,
        half_life: float | None = None,
        checkpoint: str | None = None,
        every: str | float = "60s",
        resume: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        self.k = k
        self.alpha = alpha
        self.alpha_ratio = alpha_ratio
        self.l1_ratio = l1_ratio
        self.ridge = ridge
        self.penalty_factors = penalty_factors
        self.nonnegative = nonnegative
        self.loss = loss
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.normalize = normalize
        self.select = select
        self.cv = cv
        self.n_alphas = n_alphas
        self.alpha_reach = alpha_reach
        self.k_max = k_max
        self.debias = debias
        self.tol = tol
        self.max_passes = max_passes
        self.max_steps = max_steps
        self.batch = batch
        self.rounds = rounds
        self.step = step
        self.order = order
        self.memory = memory
        self.half_life = half_life
        self.checkpoint = checkpoint
        self.every = every
        self.resume = resume
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _get_support_mask(self):
        check_is_fitted(self)
        return (np.atleast_2d(self.coef_) != 0).any(axis=0)

    def _spec(self) -> Spec:
        own = {field.name: getattr(self, field.name) for field in fields(Spec) if hasattr(self, field.name)}
        seed = self.random_state
        if seed is not None and not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        return Spec(**{**own, "memory": parse_bytes(self.memory), "seed": seed})

    def _search(self) -> Search | None:
        """What k="auto" or alpha="auto" asks for; None where neither is given."""
        if "auto" not in (self.k, self.alpha):
            return None
        by = "k" if self.k == "auto" else "alpha"
        if self.alpha_ratio is not None or (by == "k" and self.alpha is not None):
            raise OptionError(f"{by}='auto' chooses {by} itself: give it no other strength beside it")
        target_k: Any = self.k if by == "alpha" else None
        return Search(by, self.select, self.cv, self.n_alphas, self.alpha_reach, self.k_max, target_k)

    def _validated(self, X, y="no_validation", reset=True, **checks):
        """X as float64 or float32, dense or canonical CSR, and y unless there is none to check."""
        if self.normalize not in (None, "rows"):
            raise OptionError(f"normalize must be None or 'rows', not {self.normalize!r}")
        if self.loss not in self._losses:
            raise OptionError(f"loss must be one of {', '.join(self._losses)} here, not {self.loss!r}")
        checked = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32), **checks)
        X, *rest = checked if isinstance(checked, tuple) else (checked,)
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()  # the caller's matrix stays as it was
            X.sum_duplicates()
        return (X, *rest)

    def _seen(self, X):
        """X as the model sees it, at fit and at predict alike."""
        return unit_rows(X) if self.normalize == "rows" else X

    def _rows_seen(self, data: Dataset) -> Dataset:
        """The data as the model sees it."""
        return data.map(_unit_rows_of) if self.normalize == "rows" else data

    def _fit_margin(self, data: Dataset, label="", validation: Dataset | None = None) -> Fit:
        """Fit one linear function, with a bar if asked for and a warning if it did not get there."""
        spec, search = self._spec(), self._search()
        if label and spec.checkpoint is not None:
            spec = replace(spec, checkpoint=Path(spec.checkpoint) / label)
        fitted: Fit
        if search is not None:
            with path_progress(self.verbose, label) as progress:
                fitted = fit_selected(data, replace(spec, k=None, alpha=None), search, validation, progress)
        elif validation is not None:
            raise OptionError("a validation set chooses k or alpha: give one of them as 'auto', select='validation'")
        else:
            with pass_progress(self.verbose, label, spec) as progress:
                fitted = fit(data, spec, progress)
        if self.debias:
            fitted = debiased(fitted)
        if not fitted.result.converged and not SOLVERS[fitted.solver].stochastic:
            warnings.warn(
                f"solver {fitted.solver!r} stopped before the tolerance: {fitted.result.reason}",
                ConvergenceWarning,
                stacklevel=4,
            )
        return fitted

    def _remember(self, fits: list[Fit], data: Dataset):
        """What every fit leaves behind; lists where there are several margins."""
        results = [f.result for f in fits]
        one = len(fits) == 1
        gaps = [result.gap for result in results]
        self.n_features_in_ = data.n_features
        if data.feature_names is not None and not hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        self.solver_ = fits[0].solver
        self.alpha_ = fits[0].alpha if one else [f.alpha for f in fits]
        self.n_iter_ = max(len(result.history) for result in results)
        self.n_passes_ = sum(result.passes for result in results)
        self.gap_ = None if None in gaps else max(gap for gap in gaps if gap is not None)
        self.objective_ = sum(result.objective for result in results)
        self.converged_ = all(result.converged for result in results)
        self.stopped_because_ = "; ".join(sorted({result.reason for result in results}))
        self.history_ = results[0].history if one else [result.history for result in results]
        chosen = [f for f in fits if isinstance(f, SelectedFit)]
        if chosen:
            self.path_ = chosen[0].path if one else [f.path for f in chosen]
            self.selection_ = chosen[0].selection if one else [f.selection for f in chosen]
        debiased = ", then the mean loss alone over the chosen features" if self.debias else ""
        self._made = {
            "objective": describe(fits[0]) + debiased,
            "deviations": data.moments.scale[self.get_support()],
            "encoding": data.encoding,
            "training": {
                "solver": self.solver_,
                "k": fits[0].spec.k if one else [f.spec.k for f in fits],
                "selection": "; ".join(f.selection.reason for f in chosen) or None,
                "alpha": self.alpha_,
                "n_rows": data.n_rows,
                "objective_value": self.objective_,
                "gap": self.gap_,
                "converged": self.converged_,
                "stopped_because": self.stopped_because_,
                "passes": round(self.n_passes_, 2),
                "seconds": round(sum(result.seconds for result in results), 3),
                "parameters": {name: value for name, value in self.get_params().items() if _plain(value)},
            },
        }

    def to_model(self) -> Model:
        """The fitted model on its own, to save as a readable file and to predict without scikit-learn."""
        check_is_fitted(self)
        chosen = self.get_support(indices=True)
        classes = getattr(self, "classes_", None)
        made = getattr(self, "_made", {})
        names = [str(name) for name in self._all_names()[chosen]]
        encoding = made.get("encoding")
        if encoding is not None and self.normalize is None:  # the norm of a row needs every column
            encoding = encoding.of_features(names)
        return Model(
            task="regression" if classes is None else "classification",
            loss=self.loss,
            objective=made.get("objective", f"mean {self.loss} loss, learnt from a stream by {self.solver_}"),
            classes=None if classes is None else classes.tolist(),
            n_features=self.n_features_in_,
            names=names,
            indices=chosen.tolist(),
            coef=np.atleast_2d(self.coef_)[:, chosen],
            deviations=np.broadcast_to(made.get("deviations", 1.0), len(chosen)).tolist(),
            intercept=np.atleast_1d(self.intercept_).astype(float),
            normalize=self.normalize,
            encoding=encoding and encoding.to_json(),
            training=made.get("training", {"solver": self.solver_}),
        )

    def _all_names(self) -> np.ndarray:
        named = getattr(self, "feature_names_in_", None)
        return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object) if named is None else named

    def _streamed(self, margins, X, y, sample_weight):
        """Advance one stream per target in `margins(y)`, opening them at the first call."""
        if self.standardize and not SOLVERS[self.solver].own_alpha:
            raise OptionError("partial_fit cannot standardise by columns it has not seen: set standardize=False")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        targets = margins(y)
        if not hasattr(self, "_streams"):
            self._streams = [open_stream(self._spec(), X.shape[1]) for _ in targets]
        for stream, target in zip(self._streams, targets, strict=True):
            stream.learn(Chunk(self._seen(X), target, weight))
        self.solver_ = self.solver
        self.n_iter_ = self._streams[0].state.steps
        return np.vstack([s.coef for s in self._streams]), np.array([s.intercept for s in self._streams])


class SparseRegressor(RegressorMixin, _SparseLinear):
    """Linear regression with few non-zero coefficients.

    Minimises ``mean(loss(y, X @ w + b)) + alpha * (l1_ratio * |w|_1 + (1 - l1_ratio) / 2 * |w|_2^2)``, or the mean loss
    alone with at most ``k`` non-zero ``w``. With ``standardize=False`` the first is scikit-learn's ``Lasso`` and
    ``ElasticNet``.

    Parameters
    ----------
    k : int or "auto", optional
        Number of features to choose, or "auto" to let ``select`` choose it. Give one of ``k``, ``alpha`` and
        ``alpha_ratio``.
    alpha : float or "auto", optional
        Strength of the penalty, or "auto" to let ``select`` choose it; with a number ``k`` beside it, the smallest
        of the path whose model has at most ``k`` features.
    alpha_ratio : float, optional
        Strength as a share of the smallest alpha that gives the empty model; 0.1 if nothing is given.
    l1_ratio : float, default=1.0
        Share of the L1 part in the penalty, in (0, 1].
    ridge : float, default=0.0
        Strength of ``ridge / 2 * |w|_2^2`` beside ``k``.
    penalty_factors : array of n_features numbers, optional
        What ``alpha`` is multiplied by for each feature; a feature with 0 is always in.
    nonnegative : bool, default=False
        Whether only models without negative coefficients are looked at.
    loss : {"squared", "huber", "poisson"}
        Least squares, its robust cousin (bent at 1.35), or half the deviance of counts of mean exp(X @ w + b).
    solver : str, default="auto"
        A key of ``riata.SOLVERS``: "cd", "subgradient", "fobos", "l0-sgd", ...
    fit_intercept : bool, default=True
        Whether there is an intercept; it is never penalised.
    standardize : bool, default=True
        Whether the penalty acts on coefficients of columns of unit standard deviation. ``coef_`` is in the units of X
        either way.
    normalize : {None, "rows"}
        "rows" divides every row by its norm, when fitting and when predicting.
    select : {"cv-1se", "cv", "validation", "aic", "bic", "ebic"}
        How "auto" chooses: by ``cv``-fold cross-validation, the sparsest model within one standard error of the best
        ("cv-1se") or the best; by the rows that ``fit`` gets as ``validation``; or by an information criterion.
    cv : int, default=5
        Number of folds. A row's fold depends on its position and on ``random_state``.
    n_alphas, alpha_reach : int, default=100, and float, default=0.01
        The path of ``alpha="auto"``: how many, down to which share of the alpha of the empty model.
    k_max : int, optional
        The path of ``k="auto"`` ends there; by default at 50, or at half as many features as rows.
    debias : bool, default=False
        Whether the chosen features are fitted once more, without the penalty.
    tol : float, default=1e-6
        Where to stop: the duality gap (or the change of the objective) relative to the empty model's loss.
    max_passes, max_steps : int, optional
        Limits on the work; each solver has its own default.
    batch : int or "full", optional
        Rows per step of a stochastic solver: 1, or what the solver says.
    rounds : bool, default=False
        Half the penalty in the first half of the steps (fobos).
    step : float or str, optional
        First step, or a schedule "c/t" or "c/sqrt(t)". By default steps adapt to the scale of the rows.
    order : {"uniform", "shuffled", "sequential"}, optional
        In which order a stochastic solver visits rows; each has its own default.
    memory : str or int, optional
        Budget such as "512MB" for what a solver allocates.
    half_life : float, optional
        Rows after which a row counts half, for a world that changes (online); by default all rows count alike.
    checkpoint : str, optional
        A folder in which a stochastic solver saves where it is, so that a killed fit can go on.
    every : str or float, default="60s"
        Time between two checkpoints.
    resume : bool, default=False
        Go on from the checkpoint, if there is one; the result is that of a fit never interrupted, bit for bit.
    random_state : int, RandomState or None
        Seed of the stochastic solvers.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    coef_, intercept_ : the model, in the units of X.
    n_passes_ : passes over the data.
    gap_ : certified relative duality gap, None where the solver has none.
    history_ : one record per pass.
    converged_, stopped_because_ : whether and why it stopped.
    path_, selection_ : with "auto", all models, their scores, which one was chosen and why.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = riata.SparseRegressor(alpha=0.1).fit(X, 3 * X[:, 4] - X[:, 7])
    >>> [int(j) for j in model.get_support(indices=True)]
    [4, 7]
    """

    _losses = BY_TASK["regression"]

    def fit(self, X, y=None, sample_weight=None, *, validation=None) -> "SparseRegressor":
        """Fit to arrays, or to a `Dataset` that brings its own target; `validation` is another one, or (X, y)."""
        data = self._dataset(X, y, sample_weight)
        if not data.moments.y_varies:
            raise DataError(
                f"the target has the same value, {data.moments.y_mean:g}, in every row (n_samples={data.n_rows}): "
                "there is nothing to learn"
            )
        others = None if validation is None else self._rows_seen(self._dataset(*_parts(validation), reset=False))
        data = self._rows_seen(data)
        fitted = self._fit_margin(data, validation=others)
        self.coef_, self.intercept_ = fitted.result.coef, fitted.result.intercept
        self._remember([fitted], data)
        return self

    def _dataset(self, X, y=None, sample_weight=None, reset=True) -> Dataset:
        """The rows as they come: arrays checked, numbers as the target."""
        if isinstance(X, Dataset):
            data = X
        else:
            X, y = self._validated(X, y, reset=reset, y_numeric=True)
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            data = InMemory(X, y, weight, getattr(self, "feature_names_in_", None))
        if data.classes is not None:
            raise DataError("the target holds classes, not numbers: use SparseClassifier, or task 'regression'")
        return data

    @available_if(_learns_online)
    def partial_fit(self, X, y, sample_weight=None) -> "SparseRegressor":
        """Learn from these rows, in order, keeping what was learnt before."""
        X, y = self._validated(X, y, reset=not hasattr(self, "_streams"), y_numeric=True)
        coef, intercept = self._streamed(lambda y: [y.astype(float)], X, y, sample_weight)
        self.coef_, self.intercept_ = coef[0], float(intercept[0])
        return self

    def predict(self, X) -> np.ndarray:
        """X @ coef_ + intercept_, or its exponential with the Poisson loss."""
        check_is_fitted(self)
        (X,) = self._validated(X, reset=False)
        return mean_target(self.loss, self._seen(X) @ self.coef_ + self.intercept_)


class SparseClassifier(ClassifierMixin, _SparseLinear):
    """Linear classification with few non-zero coefficients; several classes one against the rest.

    Takes the parameters of `SparseRegressor`, with labels in place of numbers, and one of its own.

    Parameters
    ----------
    loss : {"logistic", "squared", "squared-hinge"}
        "squared" fits labels -1 and +1 by least squares, as the paper does. Probabilities need "logistic".
    class_weight : dict, "balanced" or None
        Weights of the classes, on top of the weights of the rows.

    Attributes
    ----------
    classes_ : the labels.
    coef_, intercept_ : one row per class, or a single one for two classes, whose positive side is ``classes_[1]``.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> y = np.where(X[:, 4] - X[:, 7] > 0, "yes", "no")
    >>> model = riata.SparseClassifier(alpha=0.05).fit(X, y)
    >>> [int(j) for j in model.get_support(indices=True)]
    [4, 7]
    """

    _losses = BY_TASK["classification"]

    def __init__(
        self,
        k: int | str | None = None,
        alpha: float | str | None = None,
        *,
        alpha_ratio: float | None = None,
        l1_ratio: float = 1.0,
        ridge: float = 0.0,
        penalty_factors=None,
        nonnegative: bool = False,
        loss: str = "logistic",
        class_weight: dict | str | None = None,
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = True,
        normalize: str | None = None,
        select: str = "cv-1se",
        cv: int = 5,
        n_alphas: int = 100,
        alpha_reach: float = 0.01,
        k_max: int | None = None,
        debias: bool = False,
        tol: float = 1e-6,
        max_passes: int | None = None,
        max_steps: int | None = None,
        batch: int | str | None = None,
        rounds: bool = False,
        step: float | str | None = None,
        order: str | None = None,
        memory: str | int | None = None,
        half_life: float | None = None,
        checkpoint: str | None = None,
        every: str | float = "60s",
        resume: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ):
        parameters = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        self.class_weight = parameters.pop("class_weight")
        super().__init__(**parameters)

    def fit(self, X, y=None, sample_weight=None, *, validation=None) -> "SparseClassifier":
        """Fit to arrays, or to a `Dataset` that brings its own target; `validation` is another one, or (X, y)."""
        data = self._dataset(X, y, sample_weight)
        self.classes_ = np.asarray(data.classes)
        n_classes = len(self.classes_)
        counts = data.sum(lambda chunk: np.bincount(chunk.y.astype(np.intp), minlength=n_classes))
        if np.count_nonzero(counts) < 2:
            raise DataError("the target has one class only: there is nothing to tell apart")
        if not counts.all():
            raise DataError(f"class {self.classes_[counts == 0][0]!r} has no row of positive weight")
        others = None
        if validation is not None:
            others = self._rows_seen(with_classes(self._dataset(*_parts(validation), reset=False), self.classes_))
        data = self._rows_seen(data)
        weights = self._class_weights(counts)
        positives = [1] if n_classes == 2 else range(n_classes)
        fits = [
            self._fit_margin(
                one_against_rest(data, c, weights),
                str(self.classes_[c]),
                None if others is None else one_against_rest(others, c, weights),
            )
            for c in positives
        ]
        self.coef_ = np.vstack([f.result.coef for f in fits])
        self.intercept_ = np.array([f.result.intercept for f in fits])
        self._remember(fits, data)
        return self

    def _dataset(self, X, y=None, sample_weight=None, reset=True) -> Dataset:
        """The rows as they come: arrays checked, the place of its label as the target of a row."""
        if isinstance(X, Dataset):
            data = X
        else:
            X, y = self._validated(X, y, reset=reset)
            check_classification_targets(y)
            classes, codes = np.unique(y, return_inverse=True)
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            data = InMemory(X, codes, weight, getattr(self, "feature_names_in_", None), classes)
        if data.classes is None:
            raise DataError("the target holds numbers, not classes: use SparseRegressor, or task 'classification'")
        return data

    def _class_weights(self, counts) -> np.ndarray:
        if self.class_weight == "balanced":
            return counts.sum() / (len(counts) * counts)
        return compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)

    @available_if(_learns_online)
    def partial_fit(self, X, y, classes=None, sample_weight=None) -> "SparseClassifier":
        """Learn from these rows, in order, keeping what was learnt before; the first call names all classes."""
        first = not hasattr(self, "_streams")
        if first and classes is None:
            raise OptionError("the first call of partial_fit needs classes=, all labels that will ever come")
        X, y = self._validated(X, y, reset=first)
        if first:
            self.classes_ = np.unique(classes)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise DataError(f"y holds {unknown[0]!r}, which is not among the classes {list(self.classes_)}")
        if self.class_weight == "balanced":
            raise OptionError("class_weight='balanced' needs all rows; give partial_fit a dict of weights")
        codes = np.searchsorted(self.classes_, y)
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_)
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64) * by_class[codes]
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        self.coef_, self.intercept_ = self._streamed(
            lambda codes: [np.where(codes == c, 1.0, -1.0) for c in positives], X, codes, sample_weight
        )
        return self

    def decision_function(self, X) -> np.ndarray:
        """Margins: one per row for two classes, one per class otherwise."""
        check_is_fitted(self)
        (X,) = self._validated(X, reset=False)
        z = self._seen(X) @ self.coef_.T + self.intercept_
        return z.ravel() if len(self.classes_) == 2 else z

    def predict(self, X) -> np.ndarray:
        """The label of the largest margin."""
        z = self.decision_function(X)
        return self.classes_[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)]

    @available_if(lambda estimator: estimator.loss == "logistic")
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes; one-against-rest ones are scaled to sum to one."""
        return probabilities(self.decision_function(X))


def one_against_rest(data: Dataset, position: int, class_weights) -> Dataset:
    """The data with target +1 for one class and -1 for all others."""

    def relabel(chunk):
        codes = chunk.y.astype(np.intp)
        y = np.where(codes == position, 1.0, -1.0)
        return Chunk(chunk.X, y, chunk.weight * class_weights[codes])

    return data.map(relabel)


def with_classes(data: Dataset, classes) -> Dataset:
    """The data with places among these classes for its target."""
    places = {label: i for i, label in enumerate(np.asarray(classes).tolist())}
    labels = np.asarray(data.classes).tolist()
    unknown = [label for label in labels if label not in places]
    if unknown:
        raise DataError(f"the validation set holds the label {unknown[0]!r}, the rows to learn from {list(places)}")
    recode = np.array([places[label] for label in labels])
    return data.map(lambda chunk: chunk._replace(y=recode[chunk.y.astype(np.intp)].astype(np.float64)))


def _parts(validation) -> tuple[Any, Any, Any]:
    """X, y and weights of a validation set."""
    if isinstance(validation, Dataset):
        return validation, None, None
    if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
        raise OptionError("validation must be a Dataset, or (X, y), or (X, y, sample_weight)")
    X, y, *weight = validation
    return X, y, weight[0] if weight else None


def _unit_rows_of(chunk):
    return chunk._replace(X=unit_rows(chunk.X))


def _plain(value) -> bool:
    """Whether JSON can say it."""
    return value is None or isinstance(value, str | bool | int | float)
