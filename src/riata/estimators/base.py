"""What the two estimators share: scikit-learn's conventions around `riata.training.train`."""

import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, check_is_fitted, validate_data

from riata.arrays import is_device_array, to_host
from riata.data.csr import canonical
from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.data.offset import Offset, given_offsets, moved
from riata.data.opened import is_stream
from riata.engines.cuda.on_device import OnDevice, check_device, check_finite
from riata.engines.cuda.transfers import place_named
from riata.engines.known_rows import has_columns
from riata.engines.open import is_distributed, open_data
from riata.errors import DataError, OptionError
from riata.estimators.columns import (
    checked_values,
    collected,
    has_gaps,
    is_frame,
    may_be_numbers,
    names_of,
    plain_target,
    table_of,
    with_roles,
)
from riata.estimators.input_checks import (
    check_alone,
    check_values,
    checked_target,
    encoded_like,
    parts_of,
    with_marks,
    with_origin,
)
from riata.losses import Loss
from riata.matrices.cuda import rows_on_gpu
from riata.matrices.host import as_matrix
from riata.matrices.matrix import Matrix
from riata.model.model import Model
from riata.penalties import Penalty
from riata.reporting.notebook import summary_html
from riata.training.checks import WIDEST, check_exposure, check_request
from riata.training.coefficients import margins, support_of
from riata.training.spec import Spec
from riata.training.train import train
from riata.training.trained import Trained, one_or_all

Predictions = np.ndarray | Any  # an array; of a Dask collection a Dask array, which is not computed yet


def learns_online(estimator: "SparseLinear") -> bool:
    """Whether the chosen solver can take rows as they come."""
    return Spec(solver=estimator.solver).learns_online


class SparseLinear(SelectorMixin, BaseEstimator):
    """What the two estimators share: the parameters, and what a fit leaves behind."""

    _task: str
    _fitted_to_columns = False  # whether fit got X, and not a dataset, whose features are those of the model
    coef_: Any
    intercept_: Any

    def __init__(
        self,
        k: int | str | None = None,
        alpha: float | str | None = None,
        *,
        alpha_ratio: float | None = None,
        l1_ratio: float = 1.0,
        ridge: float = 0.0,
        penalty: Penalty | str | None = None,
        penalty_factors: Sequence[float] | np.ndarray | None = None,
        groups: Sequence[Any] | np.ndarray | None = None,
        nonnegative: bool = False,
        loss: str | Loss = "squared",
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = True,
        normalize: str | None = None,
        select: str = "cv-1se",
        cv: Any = 5,
        gap: float | str = 0,
        n_alphas: int = 100,
        alpha_reach: float = 0.01,
        k_max: int | None = None,
        debias: bool = False,
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
        self.nonnegative = nonnegative
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
        self.checkpoint = checkpoint
        self.every = every
        self.resume = resume
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # in fit and after it, though not in partial_fit, nor in sparse rows
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def get_support(self, indices: bool = False) -> np.ndarray:
        """The selected features: their numbers, or a mask over all features."""
        check_is_fitted(self)
        return support_of(self.coef_) if indices else self._get_support_mask()

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        n_features = self.trained_.n_features  # more than columns of X, where a column is several features
        if n_features > WIDEST:
            raise OptionError("a mask over so many features does not fit in memory: ask for get_support(indices=True)")
        return np.isin(np.arange(n_features), support_of(self.coef_))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the selected features; those that an encoding has made have the names it gave them."""
        if sp.issparse(getattr(self, "coef_", None)) or self._makes_features:
            return np.array(self.trained_.names_of(self.trained_.support), dtype=object)
        names: np.ndarray = super().get_feature_names_out(input_features)
        return names

    def _spec(self) -> Spec:
        """The parameters as training takes them."""
        seed = self.random_state
        if seed is not None and not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31)
        names = {one.name for one in fields(Spec)} - {"seed"}
        return Spec(**{name: getattr(self, name) for name in names if hasattr(self, name)}, seed=seed)

    def _begin(self) -> Spec:
        """Check the options that depend on no data, and forget what an earlier fit left behind."""
        spec = self._spec()
        check_request(spec, self._task)
        for name in [name for name in vars(self) if name == "_learner" or (name.endswith("_") and name[0] != "_")]:
            delattr(self, name)
        return spec

    def transform(self, X: Any) -> Any:
        """The selected features of X, those that an encoding makes included."""
        check_is_fitted(self)
        if not self._encodes(X):
            return super().transform(X)
        rows = self.trained_.to_model().rows(self._with_names(X), need_target=False)
        chosen = self.get_support(indices=True)
        if rows.feature_names is not None:  # rows have the columns of chosen features only
            places = {str(name): j for j, name in enumerate(rows.feature_names)}
            chosen = np.array([places[name] for name in self.trained_.names_of(chosen)], dtype=np.intp)
        return rows.gather(chosen).toarray()

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
        groups: Any = None,
        time: Any = None,
        validation: Any = None,
    ) -> Self:
        """Fit to arrays, to a frame with columns of any kind, or to a `Dataset` that brings its own target.

        Columns of a frame that are no complete numbers become features as those of files do: see `riata.open`, which
        also takes choices about columns. So do those of an array with gaps or strings, called x0, x1, ...

        `offset` is a number for each row that is added to its margin, `exposure` one whose logarithm is (of a loss with
        a logarithmic link): the rows of a `Dataset` bring their own. To predict needs them, too.

        `groups` (a label for each row, such as its customer) and `time` (a number or a date for each row) say which
        rows folds keep together, or in order; the parameter `groups` is of features. `validation` is another dataset,
        or (X, y), or a path or a table beside a `Dataset`, whose encoding it then gets.
        """
        spec = self._begin()
        offsets = {"offset": offset, "exposure": exposure}
        data = self._dataset(X, y, sample_weight, **offsets)
        data = with_marks(data, X, sample_weight, groups=groups, time=time)
        self._fitted_to_columns = not (isinstance(X, Dataset) or is_distributed(X))
        sentences: list[str] = []
        trained = train(data, spec, validation=self._validation(validation, data), warn=sentences.append)
        for sentence in sentences:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=2)
        self._take_over(trained)
        if trained.learner is not None:
            self._learner = trained.learner
        return self

    def _dataset(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
        reset: bool = True,
    ) -> Dataset:
        """The rows as they come: arrays checked, columns that are no complete numbers encoded."""
        numeric = self._task == "regression"
        if isinstance(X, Dataset):
            check_alone(y, sample_weight, offset, exposure)
            return self._of_task(X)
        if is_distributed(X):
            beside = {"weight": sample_weight, "offset": offset, "exposure": exposure}
            return self._of_task(open_data(X, y, **beside, task=self._task, memory=self.memory))
        if is_device_array(X):
            y, weight = checked_target(y, sample_weight, X.shape[0], numeric)
            offsets = self._offsets(offset, exposure, len(y))
            rows = self._on_device(X, *self._coded(y), weight, offsets, reset)
            return with_origin(rows, exposure)
        if y is not None:
            check_values(plain_target(y), numeric)
        X = collected(X)
        beside = {"weight": sample_weight, "offset": offset, "exposure": exposure}
        if not may_be_numbers(X):
            return self._encoded(X, y, beside, reset)
        numbers, values = self._validated(X, plain_target(y), reset=reset, gaps=True, y_numeric=numeric)
        if has_gaps(numbers):
            return self._encoded(X, y, beside, reset)
        weight = _check_sample_weight(plain_target(sample_weight), numbers, dtype=np.float64, ensure_non_negative=True)
        target, classes = self._coded(values)
        offsets, names = self._offsets(offset, exposure, len(target)), getattr(self, "feature_names_in_", None)
        return with_origin(InMemory(numbers, target, weight, names, classes, offset=offsets), exposure)

    def _offsets(self, offset: Any, exposure: Any, n_rows: int) -> np.ndarray | None:
        """The offsets of rows, from what is given beside X; an exposure is for losses of a logarithmic link."""
        check_exposure(self._spec().loss_function, exposure is not None)
        return given_offsets(plain_target(offset), plain_target(exposure), n_rows)

    def _coded(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The target as numbers, and the classes that they stand for."""
        raise NotImplementedError

    def _of_task(self, data: Dataset) -> Dataset:
        """The rows, if their target is what is learnt here: classes or numbers."""
        raise NotImplementedError

    def _encoded(self, X: Any, y: Any, beside: dict[str, Any], reset: bool) -> Dataset:
        """Rows whose columns become features by an encoding, which is learnt of them."""
        table = table_of(X, None if reset else getattr(self, "feature_names_in_", None))
        if reset:
            self.n_features_in_ = table.num_columns
            if is_frame(X):
                self.feature_names_in_ = np.array(names_of(X), dtype=object)
                self.n_features_in_ = len(self.feature_names_in_)
        elif table.num_columns != self.n_features_in_:
            raise DataError(f"X has {table.num_columns} columns, and the model {self.n_features_in_}")
        values = checked_values(y, table.num_rows, numeric=self._task == "regression")
        _, labels = self._coded(values)
        table, target, roles = with_roles(table, values, getattr(y, "name", None), beside)
        data = open_data(table, target, **roles, task=self._task, memory=self.memory)
        if labels is not None and data.classes is not None and len(labels) == len(data.classes):
            data.facts = data.facts.but(classes=labels)  # of the type in which they were given
        return data

    def _validated(
        self, X: Any, y: Any = "no_validation", reset: bool = True, gaps: bool = False, **checks: Any
    ) -> tuple[Any, ...]:
        """X as float64 or float32, dense or canonical CSR, and y unless there is none to check.

        Dense X may have `gaps`, if that is said.
        """
        if gaps and not sp.issparse(X):
            checks["ensure_all_finite"] = "allow-nan"
        X = canonical(X) if sp.issparse(X) and X.ndim == 2 else X
        checked = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32), **checks)
        return checked if isinstance(checked, tuple) else (checked,)

    def _seen(self, X: Any) -> Matrix:
        """X as the model sees it, at fit and at predict alike."""
        return as_matrix(X).unit_rows() if self.normalize == "rows" else as_matrix(X)

    def _on_device(
        self,
        X: Any,
        y: np.ndarray,
        classes: np.ndarray | None,
        weight: np.ndarray,
        offset: np.ndarray | None = None,
        reset: bool = True,
    ) -> OnDevice:
        """Rows that are on a GPU already, with a target that was checked."""
        place = place_named(self.device or "cuda")
        check_device(self._spec().solver_name)
        if self.normalize is not None:
            raise OptionError("normalize='rows' is for arrays in memory: divide the rows by their norms yourself")
        return OnDevice(place, self._device_rows(X, reset), y, weight, classes=classes, offset=offset)

    def _device_rows(self, X: Any, reset: bool = False) -> Matrix:
        """X on a GPU, of the right width, every entry finite."""
        rows = rows_on_gpu(X)
        if reset:
            self.n_features_in_ = rows.shape[1]
        if rows.shape[1] != self.n_features_in_:
            raise DataError(f"X has {rows.shape[1]} features, and the model {self.n_features_in_}")
        check_finite(rows)
        return rows

    def _margins(self, X: Any, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """X coef' + intercept + offset, rows x margins, of X in memory or on a GPU, or of the usable rows of a dataset.

        Beside X that came with offsets beside it when the model was fitted, none is an offset of 0.
        """
        check_is_fitted(self)
        fitted_with = self.trained_.offset
        if self._encodes(X):
            model, X = self.to_model(), self._with_names(X)
            if fitted_with is not None and self._makes_features and offset is None and exposure is None:
                offset = np.zeros(table_of(X).num_rows)
            return model.margins(X, offset=offset, exposure=exposure).reshape(-1, len(model.intercept))
        if is_device_array(X):
            z = to_host(self._device_rows(X).margins(np.atleast_2d(self.coef_).T))
        else:
            (X,) = self._validated(collected(X), reset=False, gaps=True)
            z = margins(self._seen(self._filled(X)), self.coef_)
        offsets = given_offsets(plain_target(offset), plain_target(exposure), len(z), fitted_with is not None)
        return moved(z + self.intercept_, offsets)

    @property
    def _makes_features(self) -> bool:
        """Whether features were made of the columns of the X that fit got, by an encoding."""
        trained = getattr(self, "trained_", None)
        return trained is not None and trained.encoding is not None and self._fitted_to_columns

    def _encodes(self, X: Any) -> bool:
        """Whether the columns of X become features by the model's own encoding; otherwise X is features already."""
        if isinstance(X, Dataset | str | Path) or is_stream(X) or self._makes_features:
            return True
        return getattr(getattr(self, "trained_", None), "encoding", None) is not None and has_columns(X)

    def _with_names(self, X: Any) -> Any:
        """X for the model's encoding, which takes the columns of an array by position."""
        if isinstance(X, Dataset | str | Path) or is_stream(X) or has_columns(X):
            return X
        if sp.issparse(X):
            raise DataError("the model was fitted to columns of several kinds: give it a frame or an array of those")
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            _check_feature_names(self, X, reset=False)  # warns that an array has no names
        table = table_of(X, None if names is None or len(names) != np.shape(X)[-1] else names)
        if table.num_columns != self.n_features_in_:
            raise DataError(f"X has {table.num_columns} columns, and the model was fitted to {self.n_features_in_}")
        return table

    def _filled(self, X: Any) -> Any:
        """X with means in place of gaps, as in rows of files: the model was fitted to rows without any."""
        if not has_gaps(X):
            return X
        means = self.trained_.mean
        if means is None or self.normalize is not None:
            raise DataError(
                "X has gaps (NaN), and the rows that the model learnt from had none to learn from: fill them in"
            )
        return np.where(np.isnan(X), means.astype(X.dtype), X)

    def _validation(self, rows: Any, data: Dataset) -> Dataset | None:
        """The rows that choose among models of the data, with the same features; None where there are none."""
        if rows is None:
            return None
        if self._fitted_to_columns and data.encoding is not None and isinstance(rows, tuple | list):
            X, *others = parts_of(rows)
            rows = self._with_names(X), *map(plain_target, others)
        given = parts_of(encoded_like(data, rows))
        return self._dataset(given.X, given.y, given.weight, **given.offsets(data.facts.offset), reset=False)

    def _note_offset(self, offset: Any, exposure: Any) -> None:
        """Tell the learner where offsets come from."""
        if offset is not None or exposure is not None:
            self._learner.offset = Offset(exposure=exposure is not None)

    def _begin_stream(self, X: Any) -> bool:
        """Get ready for more rows X; whether they are the first."""
        if not may_be_numbers(X):
            raise OptionError(
                "partial_fit takes numbers: for columns of other kinds give riata.open a generator of chunks "
                "(cache=False), and fit its dataset"
            )
        if hasattr(self, "_learner"):
            return False
        if hasattr(self, "coef_"):
            raise OptionError(
                "partial_fit goes on from partial_fit, or from the fit of a stream: a fit that reads its rows several "
                "times leaves no state to go on from; start with partial_fit, or with a clone"
            )
        self._begin()
        return True

    def _go_on(self, n_features: int) -> None:
        """Take over the model of the rows that have come so far."""
        trained = self._learner.trained(n_features, getattr(self, "feature_names_in_", None))
        before = getattr(self, "trained_", None)  # of a stream, whose columns became features by its encoding
        if before is not None:
            trained = replace(trained, encoding=before.encoding, profile=before.profile)
        self._take_over(trained)

    def _take_over(self, trained: Trained) -> None:
        """What training left behind, under the names that scikit-learn's users expect."""
        self.trained_ = trained
        self.coef_, self.intercept_ = trained.coef, trained.intercept
        self.solver_, self.n_iter_ = trained.solver, trained.n_iter
        if not hasattr(self, "n_features_in_"):  # of a dataset: X in memory has told its columns
            self.n_features_in_ = trained.n_features
            if trained.feature_names is not None and not sp.issparse(trained.coef):
                self.feature_names_in_ = np.asarray(trained.feature_names, dtype=object)
        optional = {"classes_": trained.classes, "class_count_": trained.class_count, "scale_": trained.scale}
        for name, value in optional.items():
            if value is not None:
                setattr(self, name, value)
        course = trained.course
        if course is None:
            return
        self.alpha_, self.history_ = one_or_all(course.alphas), one_or_all(course.histories)
        self.n_passes_, self.gap_, self.objective_ = course.passes, course.gap, course.objective
        self.converged_, self.stopped_because_ = course.converged, course.reason
        self.stop_ = one_or_all([stop.reason for stop in course.stops])
        self.proof_ = one_or_all([stop.proof for stop in course.stops])
        if any(course.bounds):
            self.bound_, self.how_much_better_ = one_or_all(course.bounds), course.how_much_better
        self.profile_ = trained.profile
        if course.searched:
            self.path_ = one_or_all([one.path for one in course.searched])
            self.selection_ = one_or_all([one.selection for one in course.searched])

    def to_model(self) -> Model:
        """The fitted model on its own, to save as a readable file and to predict without scikit-learn."""
        check_is_fitted(self)
        return self.trained_.to_model()

    def _repr_html_inner(self) -> str:
        return self._with_summary(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return {kind: self._with_summary(text) if kind == "text/html" else text for kind, text in bundle.items()}

    def _with_summary(self, diagram: str) -> str:
        """What a notebook shows: scikit-learn's diagram, under a summary of the model once there is one."""
        if not hasattr(self, "coef_"):
            return diagram
        return summary_html(type(self).__name__, self.to_model()) + diagram
