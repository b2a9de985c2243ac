"""What the estimators share: scikit-learn's conventions around `riata.training.train`."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from riata.arrays import is_device_array, to_host, unmasked
from riata.data.dataset import Dataset
from riata.data.offset import given_offsets, moved
from riata.engines.open import is_distributed
from riata.errors import NotConvergedWarning, OptionError, RiataWarning
from riata.estimators.attributes import attributes_of
from riata.estimators.columns import collected, may_be_numbers, plain_target
from riata.estimators.input_checks import with_marks
from riata.estimators.rows import TakesRows
from riata.model.model import Model
from riata.reporting.notebook import summary_html
from riata.small_work import IN_PYTHON
from riata.training.checks import WIDEST, check_request
from riata.training.coefficients import margins, support_of
from riata.training.small_fits import interpreting_if_small
from riata.training.spec import Spec
from riata.training.train import train
from riata.training.trained import Trained
from riata.user_warnings import warn_user

Predictions = np.ndarray | Any  # an array; of a Dask collection a Dask array, which is not computed yet


def learns_online(estimator: "SparseLinear") -> bool:
    """Whether the chosen solver can take rows as they come; the reason where it cannot."""
    if not Spec(solver=estimator.solver).learns_online:
        raise AttributeError(
            f"partial_fit needs a solver that learns row by row, such as solver='online', not {estimator.solver!r}"
        )
    return True


class EstimatorNotConverged(NotConvergedWarning, ConvergenceWarning):
    """A fit stopped before its tolerance, as scikit-learn says it."""


class SparseLinear(SelectorMixin, TakesRows):
    """What the estimators share."""

    coef_: Any
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # in fit and after it, though not in partial_fit, nor in sparse rows
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def get_support(self, indices: bool = False) -> np.ndarray:
        """The selected features: a mask over all features, or their numbers with `indices=True`."""
        check_is_fitted(self)
        return support_of(self.coef_) if indices else self._get_support_mask()

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        n_features = self.trained_.n_features  # more than columns of X, where a column is several features
        if n_features > WIDEST:
            raise OptionError("a mask over so many features does not fit in memory: ask for get_support(indices=True)")
        return np.isin(np.arange(n_features), support_of(self.coef_))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the selected features, such as `carrier=UA` for a level of a column."""
        if sp.issparse(getattr(self, "coef_", None)) or self._makes_features:
            return np.array(self.trained_.names_of(self.trained_.support), dtype=object)
        return super().get_feature_names_out(input_features)

    def transform(self, X: Any) -> Any:
        """The selected features of X, after the encoding of its columns if the model has one."""
        check_is_fitted(self)
        if not self._encodes(X):
            return super().transform(X)
        X = self._with_names(X)
        rows = self.trained_.to_model().rows(X, need_target=False, offset=self._no_offset(X))
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
        """Fit to arrays, to a data frame with columns of any kind, or to a `Dataset`, which has its own target.

        Data frames may have text, dates and missing values: their columns become features as those of files do, see
        `riata.open`, which also has options for columns. The same holds for arrays with missing values or strings,
        whose columns are called x0, x1, ...

        `offset` is a number per row that is added to the margin. `exposure` is one whose logarithm is added, for losses
        with a logarithmic link. A `Dataset` has its own. Predictions need them, too.

        `groups` (a label per row, such as its customer) keeps rows together in folds, and `time` (a number or a date
        per row) puts folds in order; the parameter `groups` of the estimator is about features. `validation` is another
        dataset, or (X, y); beside a `Dataset` also a path or a table, which gets the encoding of the dataset.
        """
        offsets, marks = {"offset": offset, "exposure": exposure}, {"groups": groups, "time": time}
        return self._fit(X, y, sample_weight, offsets, marks, validation)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, offsets: dict[str, Any], marks: dict[str, Any], validation: Any
    ) -> Self:
        """Fit to rows with these offsets and marks."""
        spec = self._in_order(self._begin(), y)
        data = self._dataset(X, y, sample_weight, **offsets)
        data = with_marks(data, X, sample_weight, **marks)
        self._fitted_to_columns = not (isinstance(X, Dataset) or is_distributed(X))
        notes: list[RiataWarning] = []
        others = self._validation(validation, data)
        with interpreting_if_small(data, spec, IN_PYTHON):
            trained = train(data, spec, validation=others, warn=notes.append)
        for note in notes:
            warn_user(EstimatorNotConverged(*note.args) if isinstance(note, NotConvergedWarning) else note)
        self._take_over(trained)
        if trained.learner is not None:
            self._learner = trained.learner
        return self

    def _in_order(self, spec: Spec, y: Any) -> Spec:
        """What is asked for, with the order of the classes where the target brings it."""
        return spec

    def _begin(self) -> Spec:
        """Check the options that depend on no data, and forget what an earlier fit left behind."""
        spec = self._spec()
        check_request(self._spec_of_task, self._task)
        for name in [name for name in vars(self) if name == "_learner" or (name.endswith("_") and name[0] != "_")]:
            delattr(self, name)
        return spec

    def _margins(self, X: Any, offset: Any = None, exposure: Any = None) -> np.ndarray:
        """X coef' + intercept + offset, rows x margins, of X in memory or on a GPU, or of the usable rows of a dataset.

        Beside X that came with offsets beside it when the model was fitted, none is an offset of 0.
        """
        check_is_fitted(self)
        X = unmasked(X)
        if self._encodes(X):
            model, X = self.to_model(), self._with_names(X)
            if offset is None and exposure is None:
                offset = self._no_offset(X)
            return model.margins(X, offset=offset, exposure=exposure).reshape(-1, len(model.intercept))
        if is_device_array(X):
            z = to_host(self._device_rows(X).margins(np.atleast_2d(self.coef_).T))
        else:
            (X,) = self._validated(collected(X), reset=False, gaps=True)
            z = margins(self._seen(self._filled(X)), self.coef_)
        expected = self.trained_.offset is not None
        return moved(z + self.intercept_, given_offsets(plain_target(offset), plain_target(exposure), len(z), expected))

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
        """Have what training left behind."""
        for name, value in attributes_of(trained).items():
            setattr(self, name, value)
        if not hasattr(self, "n_features_in_"):  # of a dataset: X in memory has told its columns
            self.n_features_in_ = trained.n_features
            if trained.feature_names is not None and not sp.issparse(trained.coef):
                self.feature_names_in_ = np.asarray(trained.feature_names, dtype=object)

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
