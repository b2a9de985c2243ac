"""Classification."""

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from riata.arrays import is_device_array, namespace, to_host
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.engines.open import is_distributed, lazily, open_data
from riata.errors import DataError, OptionError
from riata.estimators.base import SparseLinear, learns_online
from riata.estimators.hashed_coefficients import coefficients
from riata.estimators.input_checks import check_alone, checked_target
from riata.losses import LOSSES, Loss, loss_of, probabilities
from riata.penalties import Penalty
from riata.training.streams import runs_of_known_labels, targets_of


def gives_probabilities(estimator: "SparseClassifier") -> bool:
    """Whether the chosen loss does; a name that is none is refused by fit, not here."""
    loss = LOSSES.get(estimator.loss) if isinstance(estimator.loss, str) else estimator.loss
    return isinstance(loss, Loss) and loss.link.probabilities


class SparseClassifier(ClassifierMixin, SparseLinear):
    """Linear classification with few non-zero coefficients; several classes one against the rest.

    Takes the parameters of `SparseRegressor`, with labels in place of numbers, and one of its own.

    Parameters
    ----------
    loss : {"logistic", "squared", "squared-hinge"} or riata.Loss
        "squared" fits labels -1 and +1 by least squares, as the paper does. Probabilities need "logistic".
    class_weight : dict, "balanced" or None
        Weights of the classes, on top of the weights of the rows.

    Attributes
    ----------
    classes_, class_count_ : the labels, and how many rows have each.
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

    _task = "classification"

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
        loss: str | Loss = "logistic",
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
        device: str | None = None,
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

    def _begin(self):
        super()._begin()
        if isinstance(self.class_weight, dict):
            for label, weight in self.class_weight.items():
                if not 0 <= weight < np.inf:
                    raise OptionError(f"class_weight must be zero or more, and of {label!r} it is {weight!r}")

    def fit(self, X, y=None, sample_weight=None, *, validation=None) -> "SparseClassifier":
        """Fit to arrays, or to a `Dataset` that brings its own target.

        `validation` is another one, or (X, y), or a path or a table beside a `Dataset`, whose encoding it then gets.
        """
        self._begin()
        data = self._dataset(X, y, sample_weight)
        if data.single_pass and learns_online(self):
            return self._fit_stream(data)
        if data.single_pass:
            raise OptionError(
                "classes are counted before they are learnt, and this stream can be read only once: keep it while it "
                "is read (cache=True), or learn the labels as numbers (task='regression', the squared loss)"
            )
        self.classes_ = np.asarray(data.classes)
        n_classes, passes_before = len(self.classes_), data.passes
        counts = class_counts(data, n_classes)
        if np.count_nonzero(counts) < 2:
            raise DataError("the target has one class only: there is nothing to tell apart")
        if not counts.all():
            raise DataError(f"class {self.classes_[counts == 0][0]!r} has no row of positive weight")
        others = self._validation(validation, data)
        if others is not None:
            others = self._rows_seen(with_classes(others, self.classes_))
        data = self._rows_seen(data)
        self.class_count_ = counts
        weights = self._class_weights(counts)
        positives = [1] if n_classes == 2 else range(n_classes)
        fits = [
            self._fit_margin(
                one_against_rest(data, c, weights),
                None if others is None else one_against_rest(others, c, weights),
                str(self.classes_[c]),
                c,
            )
            for c in positives
        ]
        self.coef_ = coefficients([f.result for f in fits], data.n_features)
        self.intercept_ = np.array([f.result.intercept for f in fits])
        self._remember(fits, data, passes_before)
        return self

    def _dataset(self, X, y=None, sample_weight=None, reset=True) -> Dataset:
        """The rows as they come: arrays checked, the place of its label as the target of a row."""
        if isinstance(X, Dataset):
            check_alone(y, sample_weight)
            data = X
        elif is_distributed(X):
            data = open_data(X, y, weight=sample_weight, task="classification", memory=self.memory)
        elif is_device_array(X):
            y, weight = checked_target(y, sample_weight, X.shape[0], numeric=False)
            check_classification_targets(y)
            classes, codes = np.unique(y, return_inverse=True)
            data = self._on_device(X, codes, weight, classes, reset)
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

    @available_if(learns_online)
    def partial_fit(self, X, y, classes=None, sample_weight=None) -> "SparseClassifier":
        """Learn from these rows, in order, keeping what was learnt before.

        The first call may name all classes; otherwise they are learnt, too, in the order in which they appear.
        """
        first = self._begin_stream()
        X, y = self._validated(X, y, reset=first)
        if first:
            self._open_margins()
            self.classes_ = np.array([], dtype=np.asarray(y).dtype) if classes is None else np.unique(classes)
            self._all_classes_named = classes is not None
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown) and self._all_classes_named:
            raise DataError(f"y holds {unknown[0]!r}, which is not among the classes {list(self.classes_)}")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self._learn_labelled(Chunk(self._seen(X), np.zeros(len(weight)), weight), np.asarray(y))
        self._take_over(X.shape[1])
        return self

    def _learn_labelled(self, chunk: Chunk, labels: np.ndarray) -> None:
        """Learn rows with labels, of which some may be new."""
        if self.class_weight == "balanced":
            raise OptionError("class_weight='balanced' needs all rows; rows as they come take a dict of weights")
        by_label = self.class_weight or {}
        for rows, known in runs_of_known_labels(labels, self.classes_.tolist()):
            self.classes_ = np.array(known)
            self._streams.for_classes(len(known))
            places = {label: i for i, label in enumerate(known)}
            codes = np.array([places[label] for label in labels[rows].tolist()])
            weights = np.array([by_label.get(label, 1.0) for label in known])[codes]
            part = chunk.rows(rows)
            self._streams.learn(part._replace(weight=part.weight * weights), targets_of(codes, len(known)))

    def _learn_chunk(self, chunk, data):
        if not self._streams.streams:
            self.classes_ = np.array([], dtype=np.asarray(data.classes).dtype)
        labels = np.asarray(data.encoding.target.labels)
        self._learn_labelled(chunk, labels[chunk.y.astype(np.intp)])

    def decision_function(self, X) -> np.ndarray:
        """Margins: one per row for two classes, one per class otherwise.

        X may also be a `Dataset` or a path, and a table after a fit to a `Dataset`: the model's own encoding makes
        features of their columns.
        """
        if is_distributed(X):
            return lazily(
                self.decision_function, X, np.float64, None if len(self.classes_) == 2 else len(self.classes_)
            )
        z = self._margins(X)
        return z.ravel() if len(self.classes_) == 2 else z

    def predict(self, X) -> np.ndarray:
        """The label of the largest margin."""
        if is_distributed(X):
            return lazily(self.predict, X, self.classes_.dtype)
        z = self.decision_function(X)
        return self.classes_[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)]

    @available_if(gives_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes; one-against-rest ones are scaled to sum to one."""
        if is_distributed(X):
            return lazily(self.predict_proba, X, np.float64, len(self.classes_))
        return probabilities(loss_of(self.loss).link, self.decision_function(X))

    def score(self, X, y=None, sample_weight=None) -> float:
        """Accuracy, on arrays, or in one pass on a path, a table or a `Dataset`, which bring their own target."""
        if not self._encodes(X):
            return super().score(X, y, sample_weight)
        return self.to_model().score(X, y, sample_weight)


def class_counts(data: Dataset, n_classes: int) -> np.ndarray:
    """How many rows each class has: a pass, unless the targets are at hand."""

    def counts(y) -> np.ndarray:
        return np.bincount(to_host(y).astype(np.intp), minlength=n_classes)

    return counts(data.targets()[0]) if data.cheap_passes else data.sum(lambda chunk: counts(chunk.y))


def one_against_rest(data: Dataset, position: int, class_weights) -> Dataset:
    """The data with target +1 for one class and -1 for all others."""

    def relabel(chunk):
        xp = namespace(chunk.y)
        mine = xp.where(chunk.y == position, xp.ones_like(chunk.y), -xp.ones_like(chunk.y))
        codes = xp.astype(chunk.y, xp.int64)
        weight = chunk.weight * xp.take(xp.asarray(class_weights), codes, axis=0)
        return chunk._replace(y=mine, weight=weight)

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
