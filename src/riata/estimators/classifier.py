"""Classification."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from riata.arrays import to_host
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.engines.open import is_distributed, lazily
from riata.errors import DataError
from riata.estimators.base import Predictions, SparseLinear, learns_online
from riata.estimators.columns import plain_target
from riata.estimators.input_checks import check_no_offset, check_values
from riata.losses import AUTO, Link, Loss, in_this_order, known_loss, ordinal_link, probabilities
from riata.model.decisions import decide
from riata.penalties import Penalty
from riata.training.spec import Spec
from riata.training.streaming.streams import Learner


def gives_probabilities(estimator: "SparseClassifier") -> bool:
    """Whether the chosen loss does; an unknown name of a loss is refused by fit, not here."""
    if estimator.loss == AUTO:
        return True
    loss = known_loss(estimator.loss) if isinstance(estimator.loss, str) else estimator.loss
    return isinstance(loss, Loss) and loss.link.probabilities


class SparseClassifier(ClassifierMixin, SparseLinear):
    """Linear classification with few non-zero coefficients, for two classes or more.

    More than two classes have one model together (softmax), or each has a model against the rest. The parameters are
    those of `SparseRegressor`, except for these:

    Parameters
    ----------
    loss : {"auto", "logistic", "probit", "cloglog", "softmax", "ordinal", "squared", "squared-hinge"} or Loss
        "auto" is "logistic" for two classes. For more it is "softmax", one model of all classes; but with ``k``, with
        offsets and for solvers that learn row by row it is "logistic". "ordinal" is one model of classes in an order
        (proportional odds): the order of numbers or of ordered categories, or the one you name, as in
        "ordinal:low<medium<high". With all other losses, each of more than two classes has a model against the rest.
        "cloglog" models whether an event happens that has the rate exp(margin). "squared" (least squares on labels -1
        and +1, as in the paper) and "squared-hinge" have no probabilities.
    shared_support : bool, optional
        With loss "softmax": whether a feature is in the model for all classes or for none. With ``alpha`` it is a
        group Lasso over the classes, which a ``group_ratio`` below 1 mixes with L1.
    class_weight : dict, "balanced" or None
        Weights of the classes, on top of the weights of the rows.
    threshold : float, optional
        For two classes: ``predict`` gives ``classes_[1]`` if its probability is at least this; by default 0.5.

    Attributes
    ----------
    classes_, class_count_ : the labels, and the number of rows of each.
    coef_, intercept_ : one row per class; for two classes a single one, in which positive coefficients favour
        ``classes_[1]``.
    solver_, n_iter_, n_passes_, objective_, gap_, converged_, stopped_because_ : as in `SparseRegressor`.
    how_much_better_, scale_, profile_, n_features_in_, feature_names_in_, trained_ : as in `SparseRegressor`.
    alpha_, history_, stop_, proof_, bound_, path_, selection_ : as in `SparseRegressor`; lists if each class has a fit
        of its own.
    cutpoints_ : with loss "ordinal", the cutpoints on the margin between neighbouring classes, in the order of
        ``classes_``.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> y = np.where(X[:, 4] - X[:, 7] > 0, "yes", "no")
    >>> model = riata.SparseClassifier(alpha=0.05).fit(X, y)
    >>> [int(j) for j in model.get_support(indices=True)]
    [4, 7]
    """

    _task = "classification"

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
        loss: str | Loss = "auto",
        class_weight: dict[Any, float] | str | None = None,
        threshold: float | None = None,
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
        parameters = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        self.class_weight = parameters.pop("class_weight")
        self.threshold = parameters.pop("threshold")
        super().__init__(**parameters)

    def _coded(self, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if weight is not None and (counts := to_host(weight) > 0).any() and not counts.all():
            # a label that only rows of weight zero have is no class, and what stands for it does not matter
            there = np.unique(codes[counts])
            classes, codes = classes[there], np.minimum(np.searchsorted(there, codes), len(there) - 1)
        return codes, classes

    def _in_order(self, spec: Spec, y: Any) -> Spec:
        kind: Any = getattr(y, "dtype", None)
        if not getattr(kind, "ordered", False) or not spec.loss_function.ordered or spec.loss_function.order:
            return spec
        there = set(plain_target(y))
        return replace(spec, loss=in_this_order([label for label in kind.categories if label in there]))

    def _of_task(self, data: Dataset) -> Dataset:
        if data.classes is None:
            raise DataError("the target holds numbers, not classes: use SparseRegressor, or task 'classification'")
        return data

    @available_if(learns_online)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
    ) -> "SparseClassifier":
        """Update the model with these rows, in their order.

        The first call may name all `classes`, and must with loss "softmax"; otherwise labels may be new in any call.
        Later calls may name the same classes, or none. Give `offset` and `exposure` in every call or in none.
        """
        first = self._begin_stream(X)
        check_values(plain_target(y), numeric=False)
        X, y = self._validated(X, plain_target(y), reset=first)
        if first:
            known = np.array([], dtype=np.asarray(y).dtype) if classes is None else np.unique(classes)
            self._learner = Learner(self._spec_of_task, known, all_classes_known=classes is not None)
        elif classes is not None:
            self._learner.check_classes(np.unique(classes))
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        offsets = self._offsets(offset, exposure, len(weight))
        self._learner.note_offset(offset is not None, exposure is not None)
        self._learner.learn_labelled(Chunk(self._seen(X), np.zeros(len(weight)), weight, offsets), np.asarray(y))
        self._go_on(X.shape[1])
        return self

    def decision_function(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Predictions:
        """Margins, with the offset of the row: one per row for two classes or classes in an order, else one per class.

        X may also be a data frame, a `Dataset` or a path, whose columns the model encodes as in the fit. If the model
        was fitted with an offset, a `Dataset` or a path needs the column of that name; an array without one gets the
        margins of an offset of 0.
        """
        if is_distributed(X):
            check_no_offset(offset, exposure)
            return lazily(
                self.decision_function, X, np.float64, None if len(self.intercept_) == 1 else len(self.classes_)
            )
        z = self._margins(X, offset, exposure)
        return z.ravel() if len(self.intercept_) == 1 else z

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Predictions:
        """The most likely class of each row; with a `threshold`, the second of two if its probability reaches it."""
        if is_distributed(X):
            check_no_offset(offset, exposure)
            return lazily(self.predict, X, self.classes_.dtype)
        z = self.decision_function(X, offset=offset, exposure=exposure)
        return self.classes_[decide(z, self._link, self.threshold)]

    @available_if(gives_probabilities)
    def predict_proba(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Predictions:
        """Probabilities of the classes, rows x classes; those of one-against-rest models are scaled to sum to one."""
        if is_distributed(X):
            check_no_offset(offset, exposure)
            return lazily(self.predict_proba, X, np.float64, len(self.classes_))
        z = self.decision_function(X, offset=offset, exposure=exposure)
        return probabilities(self._link, z)

    @property
    def _link(self) -> Link:
        """The link of the loss that was fitted: for two classes that is the logistic one in place of softmax."""
        cutpoints, link = self.trained_.cutpoints, self.trained_.spec.loss_function.link
        return link if cutpoints is None else ordinal_link(cutpoints)

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Accuracy for X and y, or in one pass for a path, a table or a `Dataset`, which have their own target."""
        if y is not None and not isinstance(X, Dataset | str | Path):
            predicted = self.predict(X, offset=offset, exposure=exposure)
            return float(accuracy_score(plain_target(y), predicted, sample_weight=plain_target(sample_weight)))
        return self.to_model().score(X, y, sample_weight, offset=offset, exposure=exposure)
