"""How good a classifier is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.losses import against_rest, probabilities
from riata.model.quality.calibration import Calibration, CalibrationTable
from riata.model.quality.curves import ScoreTable
from riata.model.quality.unlimited import Undecided

if TYPE_CHECKING:
    from riata.model.model import Model

MOST_CURVES = 10  # classes that get curves of their own
UNEVEN = 0.5  # of an equal share: a class with less makes classes uneven


class ClassScore(NamedTuple):
    """How well one class is found."""

    label: Any
    weight: float  # of its rows
    recall: float | None  # the share of its rows that are found; None where it has none
    precision: float | None  # the share of what is taken for it that is right; None where nothing is
    f1: float | None  # the harmonic mean of both


@dataclass(frozen=True)
class ClassQuality:
    """Scores, the confusion matrix, and curves of classes against the rest."""

    n_rows: int
    scores: dict[str, float | None]
    labels: list[Any]
    confusion: np.ndarray  # weights: a row per true class, a column per predicted one
    curves: dict[str, ScoreTable]  # of two classes only the second; none where there are many
    calibration: Calibration | None  # of several classes, that of the likeliest
    baseline: dict[str, float | None] = field(default_factory=dict)  # scores of the shares of the classes alone
    separated: Sequence[Any] = ()  # classes that the model tells from the rest without one mistake
    unlimited: Sequence[str] = ()  # features whose coefficients no row limits, of classes that are not separated

    @property
    def by_class(self) -> list[ClassScore]:
        """Recall, precision and F1 of every class."""
        found = np.diag(self.confusion)
        there, said = self.confusion.sum(axis=1), self.confusion.sum(axis=0)
        return [
            ClassScore(label, float(n), _share(hit, n), _share(hit, m), _share(2 * hit, n + m))
            for label, hit, n, m in zip(self.labels, found, there, said, strict=True)
        ]

    @property
    def is_weighted(self) -> bool:
        """Whether the numbers of the confusion matrix are weights, which do not count rows."""
        return float(self.confusion.sum()) != self.n_rows

    @property
    def uneven(self) -> bool:
        """Whether some class is so rare that accuracy says little about it."""
        there = self.confusion.sum(axis=1)
        return bool(there.min() < UNEVEN * there.sum() / len(there))


def _share(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None


def class_quality(model: "Model", data: Dataset) -> ClassQuality:
    """Accuracy, AUC, log loss, confusion and curves: one pass."""
    sums = ClassSums(model, data)
    for z, chunk in model.visit(data):
        sums.add(z, chunk)
    return sums.quality()


class ClassSums:
    """What the quality of a classifier is made of, added up over rows."""

    def __init__(self, model: "Model", data: Dataset) -> None:
        self._n_rows, self._model, self._places = 0, model, positions(model, data)
        self._labels: list[Any] = list(model.classes or [])
        self._first = 1 if len(self._labels) == 2 else 0  # class with a margin: of two only the second has one
        with_margins = self._labels[self._first :]
        few = len(self._labels) <= MOST_CURVES
        self._curves = {str(label): ScoreTable() for label in with_margins} if few else {}
        self._confusion = np.zeros((len(self._labels), len(self._labels)))
        self._calibration, self._surprise = CalibrationTable(), 0.0
        self._ends, self._undecided = Ends(len(with_margins)), Undecided.of(model, data)

    def add(self, z: np.ndarray, chunk: Chunk) -> None:
        """Add rows with these margins."""
        model, truth, weight = self._model, self._places[chunk.y.astype(np.intp)], chunk.weight
        self._n_rows += len(truth)
        np.add.at(self._confusion, (truth, model.decide(z)), weight)
        scores_of = against_rest(model.link_function, z)
        self._ends.add(scores_of, truth - self._first)
        if self._undecided is not None:
            self._undecided.add(z, chunk)
        for i, table in enumerate(self._curves.values()):
            table.add(scores_of if scores_of.ndim == 1 else scores_of[:, i], truth == self._first + i, weight)
        if model.link_function.probabilities:
            p, rows = probabilities(model.link_function, z), np.arange(len(truth))
            chosen = np.ones(len(p), dtype=int) if len(self._labels) == 2 else p.argmax(axis=1)
            self._calibration.add(p[rows, chosen], truth == chosen, weight)
            self._surprise -= weight @ np.log(np.maximum(p[rows, truth], np.finfo(float).eps))

    def quality(self) -> ClassQuality:
        """How good predictions are, over all rows."""
        if self._n_rows == 0:
            raise DataError("there are no rows to score the model on")
        has_probabilities = self._model.link_function.probabilities
        curves = {label: table for label, table in self._curves.items() if table.both}
        baseline = _of_shares(self._confusion.sum(axis=1), self._model.training.baseline) | {"auc": 0.5}
        total = self._confusion.sum()
        scores: dict[str, float | None] = {"accuracy": float(np.trace(self._confusion) / total)}
        if len(self._labels) == 2 and curves:
            scores["auc"] = curves[str(self._labels[1])].auc
        if has_probabilities:
            scores["log_loss"] = log_loss = float(self._surprise / total)
            if (of_shares := baseline["log_loss"]) is not None and of_shares > 0:
                scores["deviance_explained"] = 1.0 - log_loss / of_shares
        apart = self._ends.apart()
        return ClassQuality(
            n_rows=self._n_rows,
            scores=scores,
            labels=self._labels,
            confusion=self._confusion,
            curves=curves,
            calibration=self._calibration.groups() if has_probabilities else None,
            baseline={name: baseline[name] for name in scores},
            separated=[self._labels[self._first + i] for i in apart],
            unlimited=[] if self._undecided is None else self._undecided.unlimited(apart),
        )


def _of_shares(weights: np.ndarray, known: list[float] | None) -> dict[str, float | None]:
    """Scores of a model that knows the shares of the classes among the training rows, or here, and nothing else."""
    shares = weights / weights.sum() if known is None else np.asarray(known, dtype=np.float64)
    surprise = -(weights @ np.log(np.maximum(shares, np.finfo(float).eps))) / weights.sum()
    return {
        "accuracy": float(weights[shares.argmax()] / weights.sum()),
        "log_loss": float(surprise),
        "deviance_explained": 0.0,
    }


class Ends:
    """The lowest margin of the rows of each class, and the highest of the others."""

    def __init__(self, n_margins: int) -> None:
        self._lowest, self._highest = np.full(n_margins, np.inf), np.full(n_margins, -np.inf)

    def add(self, z: np.ndarray, truth: np.ndarray) -> None:
        """Add some rows; `truth` counts margins."""
        for i, margin in enumerate(z.reshape(len(truth), -1).T):
            mine = truth == i
            self._lowest[i] = margin[mine].min(initial=self._lowest[i])
            self._highest[i] = margin[~mine].max(initial=self._highest[i])

    def apart(self) -> list[int]:
        """The margins whose classes lie above all other rows."""
        there = np.isfinite(self._lowest) & np.isfinite(self._highest)
        return np.flatnonzero(there & (self._lowest > self._highest)).tolist()


def positions(model: "Model", data: Dataset) -> np.ndarray:
    """For every label of the data, its place among the model's classes."""
    if data.classes is None:
        raise DataError("the model predicts classes, but the target of the data holds numbers")
    places = {label: i for i, label in enumerate(model.classes or [])}
    unknown = [label for label in data.classes.tolist() if label not in places]
    if unknown:
        raise DataError(f"the data holds the label {unknown[0]!r}, the model knows {list(places)}")
    return np.array([places[label] for label in data.classes.tolist()])
