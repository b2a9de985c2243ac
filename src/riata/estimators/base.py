"""What the two estimators share: parameters, fitting one margin, what a fit leaves behind."""

import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from riata.arrays import is_device_array, to_host
from riata.data.csr import canonical
from riata.data.dataset import Dataset
from riata.data.features import factors_of, groups_of
from riata.data.opened import is_stream
from riata.data.remote import Remote
from riata.data.statistics import statistics_of
from riata.engines.cuda.on_device import OnDevice, check_device, check_finite, on_device
from riata.engines.cuda.transfers import place_named
from riata.engines.known_rows import has_columns
from riata.errors import DataError, OptionError
from riata.estimators.from_streams import FromStreams
from riata.estimators.hashed_coefficients import dense_part, known_features, margins, support_of
from riata.estimators.input_checks import check_same_features, encoded_like, parts_of
from riata.losses import Loss, loss_for, loss_of
from riata.matrices.cuda import rows_on_gpu
from riata.matrices.host import as_matrix
from riata.matrices.matrix import Matrix
from riata.model.model import Model
from riata.penalties import Penalty
from riata.reporting.notebook import summary_html
from riata.solvers.registry import SOLVERS
from riata.training.checkpoint import check_folder
from riata.training.checks import WIDEST
from riata.training.fitting import Fit, describe, fit
from riata.training.origin import far_origin
from riata.training.progress import pass_progress, path_progress
from riata.training.selection.fits import SelectedFit, debiased, fit_selected
from riata.training.selection.search import Search
from riata.training.spec import Spec
from riata.units import parse_bytes

# What a fit leaves behind, beside names that end in _.
LEARNT = ("_streams", "_made", "_known", "_numbered_names", "_all_classes_named")


def learns_online(estimator) -> bool:
    """Whether the chosen solver can take rows as they come."""
    return estimator.solver in SOLVERS and SOLVERS[estimator.solver].method is not None


class SparseLinear(FromStreams, SelectorMixin, BaseEstimator):
    """What the two estimators share: the parameters, fitting one margin, the selected features."""

    def __init__(
        self,
        k: int | str | None = None,
        alpha: float | str | None = None,
        *,
        alpha_ratio: float | None = None,
        l1_ratio: float = 1.0,
        ridge: float = 0.0,
        penalty: Penalty | str | None = None,
        penalty_factors=None,
        groups=None,
        nonnegative: bool = False,
        loss: str | Loss = "squared",
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
        device: str | None = None,
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
        self.penalty = penalty
        self.penalty_factors = penalty_factors
        self.groups = groups
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
        self.device = device
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

    def get_support(self, indices=False):
        """The selected features: their numbers, or a mask over all features."""
        check_is_fitted(self)
        return support_of(self.coef_) if indices else self._get_support_mask()

    def _get_support_mask(self):
        check_is_fitted(self)
        if self.n_features_in_ > WIDEST:
            raise OptionError("a mask over so many features does not fit in memory: ask for get_support(indices=True)")
        return np.isin(np.arange(self.n_features_in_), support_of(self.coef_))

    def get_feature_names_out(self, input_features=None):
        """The names of the selected features."""
        if sp.issparse(getattr(self, "coef_", None)):
            return np.array(self._names_of(support_of(self.coef_)), dtype=object)
        return super().get_feature_names_out(input_features)

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

    def _begin(self) -> None:
        """Check the options that depend on no data, and forget what an earlier fit left behind."""
        if self.normalize not in (None, "rows"):
            raise OptionError(f"normalize must be None or 'rows', not {self.normalize!r}")
        loss_for(self._task, self.loss)
        if self.checkpoint is not None:
            check_folder(self.checkpoint)
        for name in [name for name in vars(self) if name in LEARNT or (name.endswith("_") and name[0] != "_")]:
            delattr(self, name)

    def _validated(self, X, y="no_validation", reset=True, **checks):
        """X as float64 or float32, dense or canonical CSR, and y unless there is none to check."""
        X = canonical(X) if sp.issparse(X) and X.ndim == 2 else X
        checked = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32), **checks)
        return checked if isinstance(checked, tuple) else (checked,)

    def _seen(self, X) -> Matrix:
        """X as the model sees it, at fit and at predict alike."""
        return as_matrix(X).unit_rows() if self.normalize == "rows" else as_matrix(X)

    def _rows_seen(self, data: Dataset) -> Dataset:
        """The data as the model sees it, in the place where it is summed."""
        data = data.map(_unit_rows_of) if self.normalize == "rows" else data
        if self.device is None or isinstance(data, OnDevice):
            return data
        if isinstance(data, Remote):
            raise OptionError("a GPU takes rows of this machine, not those of a cluster: leave device or engine out")
        check_device(self._spec().solver_name)
        return on_device(data, place_named(self.device))

    def _on_device(self, X, y, weight, classes=None, reset=True) -> OnDevice:
        """Rows that are on a GPU already, with a target that was checked."""
        place = place_named(self.device or "cuda")
        check_device(self._spec().solver_name)
        if self.normalize is not None:
            raise OptionError("normalize='rows' is for arrays in memory: divide the rows by their norms yourself")
        return OnDevice(place, self._device_rows(X, reset), y, weight, classes=classes)

    def _device_rows(self, X, reset=False) -> Matrix:
        """X on a GPU, of the right width, every entry finite."""
        rows = rows_on_gpu(X)
        if reset:
            self.n_features_in_ = rows.shape[1]
        if rows.shape[1] != self.n_features_in_:
            raise DataError(f"X has {rows.shape[1]} features, and the model {self.n_features_in_}")
        check_finite(rows)
        return rows

    def _margins(self, X) -> np.ndarray:
        """X coef' + intercept, rows x margins, of X in memory or on a GPU, or of the rows of a dataset that count."""
        check_is_fitted(self)
        if self._encodes(X):
            model = self.to_model()
            return model.margins(X).reshape(-1, len(model.intercept))
        if is_device_array(X):
            return to_host(self._device_rows(X).margins(np.atleast_2d(self.coef_).T)) + self.intercept_
        (X,) = self._validated(X, reset=False)
        return margins(self._seen(X), self.coef_) + self.intercept_

    def _encodes(self, X) -> bool:
        """Whether the columns of X become features by the model's own encoding; otherwise X is features already."""
        known = getattr(self, "_made", {}).get("encoding") is not None
        return isinstance(X, Dataset | str | Path) or is_stream(X) or (known and has_columns(X))

    def _validation(self, rows, data: Dataset) -> Dataset | None:
        """The rows that choose among models of the data, with the same features; None where there are none."""
        if rows is None:
            return None
        others = self._dataset(*parts_of(encoded_like(data, rows)), reset=False)
        check_same_features(data, others)
        return others

    def _ready(self, data: Dataset) -> Dataset:
        """The rows as the model sees them, or statistics in their place where they can be read only once."""
        if data.is_summary:
            if self.normalize is not None or self.device is not None:
                wish = "normalise" if self.device is None else "send to a GPU"
                raise OptionError(f"there are statistics in place of rows, and no rows to {wish}")
            return data
        data, spec, search = self._rows_seen(data), self._spec(), self._search()
        if not data.single_pass or SOLVERS[spec.solver_name].stochastic:
            return data
        if not spec.loss_function.quadratic:
            raise OptionError(
                f"one reading is enough for the squared loss and not for {spec.loss_function.name!r}: keep the stream "
                "while it is read (cache=True), or take solver 'online'"
            )
        n_folds = 1 if search is None else search.n_folds
        statistics = statistics_of(data, n_folds, spec.seed or 0, spec.memory or data.memory)
        return statistics.as_data(data.ledger)

    def _fit_margin(self, data: Dataset, validation: Dataset | None = None, label="", number: int | None = None) -> Fit:
        """Fit one linear function, with a bar if asked for and a warning if it did not get there.

        One of several has a label to show, and a number for the name of its checkpoints' folder.
        """
        spec, search = self._spec(), self._search()
        self._check_target(data)
        origin = far_origin(data, spec)
        factors, groups = factors_of(self.penalty_factors, data), groups_of(self.groups, data)
        spec = replace(spec, penalty_factors=factors, groups=groups)
        if spec.memory is None:
            spec = replace(spec, memory=data.memory)
        if number is not None and spec.checkpoint is not None:
            spec = replace(spec, checkpoint=Path(spec.checkpoint) / str(number))
        if origin is not None:
            data, validation = origin.moved(data), validation and origin.moved(validation)
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
        if origin is not None:
            fitted = origin.moved_back(fitted)
        if not fitted.result.converged and not SOLVERS[fitted.solver].stochastic:
            warnings.warn(
                f"solver {fitted.solver!r} stopped before the tolerance: {fitted.result.reason}",
                ConvergenceWarning,
                stacklevel=4,
            )
        return fitted

    def _check_target(self, data: Dataset) -> None:
        """Refuse a target that there is nothing to learn from."""

    def _remember(self, fits: list[Fit], data: Dataset, passes_before: float):
        """What every fit leaves behind, lists where there are several margins; the ledger stood at `passes_before`."""
        results = [f.result for f in fits]
        one = len(fits) == 1
        gaps = [result.gap for result in results]
        self.n_features_in_ = data.n_features
        numbered = results[0].features is not None
        self._known = known_features(results) if numbered else {}
        if numbered:
            self._numbered_names = data.feature_names
        elif data.feature_names is not None:
            self.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        self.solver_ = fits[0].solver
        self.alpha_ = fits[0].alpha if one else [f.alpha for f in fits]
        self.n_iter_ = max(sum(record.whole for record in result.history) for result in results)
        self.gap_ = None if None in gaps else max(gap for gap in gaps if gap is not None)
        self.objective_ = sum(result.objective for result in results)
        self.converged_ = all(result.converged for result in results)
        self.stopped_because_ = "; ".join(sorted({result.reason for result in results}))
        self.history_ = results[0].history if one else [result.history for result in results]
        self.profile_ = data.profile
        if not numbered:
            self.scale_ = data.moments.scale
        self.n_passes_ = data.passes - passes_before
        chosen = [f for f in fits if isinstance(f, SelectedFit)]
        if chosen:
            self.path_ = chosen[0].path if one else [f.path for f in chosen]
            self.selection_ = chosen[0].selection if one else [f.selection for f in chosen]
        debiased = ", then the mean loss alone over the chosen features" if self.debias else ""
        alike = len({describe(f) for f in fits}) == 1
        self._made = {
            "objective": describe(fits[0])
            + debiased
            + ("" if alike else "; each class has an alpha or k of its own, and these are the first one's"),
            "encoding": data.encoding,
            "training": self._training(
                fits[0].spec.k if one else [f.spec.k for f in fits],
                "; ".join(f.selection.reason for f in chosen) or None,
                data.n_observed,
                sum(result.seconds for result in results),
            ),
        }

    def _training(self, k, selection, n_rows, seconds) -> dict[str, Any]:
        """How the model was made, in plain values."""
        parameters = {name: _as_plain(value) for name, value in self.get_params().items()}
        return {
            "solver": self.solver_,
            "k": _as_plain(k),
            "selection": selection,
            "alpha": _as_plain(self.alpha_),
            "n_rows": n_rows,
            "objective_value": self.objective_,
            "gap": self.gap_,
            "converged": self.converged_,
            "stopped_because": self.stopped_because_,
            "passes": round(self.n_passes_, 2),
            "seconds": round(seconds, 3),
            "parameters": {name: value for name, value in parameters.items() if _plain(value)},
        }

    def to_model(self) -> Model:
        """The fitted model on its own, to save as a readable file and to predict without scikit-learn."""
        check_is_fitted(self)
        chosen = self.get_support(indices=True)
        classes = getattr(self, "classes_", None)
        made, loss = getattr(self, "_made", {}), loss_of(self.loss)
        names = self._names_of(chosen)
        encoding = made.get("encoding")
        if encoding is not None and self.normalize is None:  # the norm of a row needs every column
            encoding = encoding.of_features(names)
        return Model(
            task="regression" if classes is None else "classification",
            loss=loss.name,
            link=loss.link.name,
            objective=made.get("objective", f"mean {loss.name} loss, learnt from a stream by {self.solver_}"),
            classes=None if classes is None else classes.tolist(),
            n_features=self.n_features_in_,
            names=names,
            indices=chosen.tolist(),
            coef=dense_part(self.coef_, chosen),
            deviations=self._deviations_of(chosen),
            intercept=np.atleast_1d(self.intercept_).astype(float),
            normalize=self.normalize,
            encoding=encoding and encoding.to_json(),
            training=made.get("training", {"solver": self.solver_}),
        )

    def _repr_html_inner(self):
        return self._with_summary(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        return {kind: self._with_summary(text) if kind == "text/html" else text for kind, text in bundle.items()}

    def _with_summary(self, diagram: str) -> str:
        """What a notebook shows: scikit-learn's diagram, under a summary of the model once there is one."""
        if not hasattr(self, "coef_"):
            return diagram
        return summary_html(type(self).__name__, self.to_model()) + diagram

    def _names_of(self, features: np.ndarray) -> list[str]:
        """The names of some features, by their numbers."""
        known, named = getattr(self, "_known", {}), getattr(self, "feature_names_in_", None)
        if named is None:
            named = getattr(self, "_numbered_names", None)
        return [known.get(j, (None,))[0] or (f"x{j}" if named is None else str(named[j])) for j in features.tolist()]

    def _all_names(self) -> np.ndarray:
        """The names of all features, or of the selected ones where nobody knows the others."""
        known = support_of(self.coef_) if sp.issparse(self.coef_) else np.arange(self.n_features_in_)
        return np.array(self._names_of(known), dtype=object)

    def _deviations_of(self, features) -> list[float]:
        """The deviations of some columns: those of the data, those a method has kept, or 1 where nobody knows."""
        if hasattr(self, "scale_"):
            return self.scale_[features].tolist()
        return [getattr(self, "_known", {}).get(j, (None, 1.0))[1] for j in features.tolist()]


def _unit_rows_of(chunk):
    return chunk._replace(X=chunk.X.unit_rows())


def _as_plain(value):
    """A number of NumPy's, or a list of them, as Python's own, which JSON can say; of a loss its name."""
    if isinstance(value, Loss):
        return value.name
    if isinstance(value, list):
        return [_as_plain(one) for one in value]
    if isinstance(value, Penalty):
        return repr(value)
    return value.item() if isinstance(value, np.generic) else value


def _plain(value) -> bool:
    """Whether JSON can say it."""
    return value is None or isinstance(value, str | bool | int | float)
