"""How good a classifier is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.losses import probabilities
from riata.model.quality.curves import ScoreTable

if TYPE_CHECKING:
    from riata.model.model import Model

MOST_CURVES = 10  # classes that get curves of their own
TENTHS = 10


@dataclass(frozen=True)
class Calibration:
    """Predicted probabilities by tenths: their mean, the share that came true, and the weight of the rows."""

    predicted: np.ndarray
    observed: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class ClassQuality:
    """Scores, the confusion matrix, and curves of classes against the rest."""

    n_rows: int
    scores: dict[str, float | None]
    labels: list[Any]
    confusion: np.ndarray  # weights: a row per true class, a column per predicted one
    curves: dict[str, ScoreTable]  # of two classes only the second; none where there are many
    calibration: Calibration | None  # of several classes, that of the likeliest


def class_quality(model: "Model", data: Dataset) -> ClassQuality:
    """Accuracy, AUC, log loss, confusion and curves: one pass."""
    places, labels = positions(model, data), list(model.classes or [])
    first = 1 if len(labels) == 2 else 0
    curves = {str(label): ScoreTable() for label in labels[first:]} if len(labels) <= MOST_CURVES else {}
    n_rows, confusion, tenths, surprise = 0, np.zeros((len(labels), len(labels))), np.zeros((3, TENTHS)), 0.0
    for z, chunk in model.visit(data):
        truth, weight = places[chunk.y.astype(np.intp)], chunk.weight
        predicted = (z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)
        n_rows += len(truth)
        np.add.at(confusion, (truth, predicted), weight)
        for i, table in enumerate(curves.values()):
            table.add(z if z.ndim == 1 else z[:, i], truth == first + i, weight)
        if model.link_function.probabilities:
            p = probabilities(model.link_function, z)
            tenths += _by_tenth(p, truth, weight)
            surprise -= weight @ np.log(np.maximum(p[np.arange(len(p)), truth], np.finfo(float).eps))
    if n_rows == 0:
        raise DataError("there are no rows to score the model on")
    scores: dict[str, float | None] = {"accuracy": float(np.trace(confusion) / confusion.sum())}
    curves = {label: table for label, table in curves.items() if table.both}
    if len(labels) == 2 and curves:
        scores["auc"] = curves[str(labels[1])].auc
    if not model.link_function.probabilities:
        return ClassQuality(n_rows, scores, labels, confusion, curves, None)
    scores["log_loss"] = float(surprise / confusion.sum())
    weight, predicted, observed = tenths[:, tenths[0] > 0]
    calibration = Calibration(predicted / weight, observed / weight, weight)
    return ClassQuality(n_rows, scores, labels, confusion, curves, calibration)


def _by_tenth(p: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sums of weight, predicted probability and correct predictions over rows, by tenths of the probability."""
    chosen = np.ones(len(p), dtype=int) if p.shape[1] == 2 else p.argmax(axis=1)
    its = p[np.arange(len(p)), chosen]
    tenth = np.minimum((TENTHS * its).astype(int), TENTHS - 1)
    return np.array([np.bincount(tenth, w, TENTHS) for w in (weight, weight * its, weight * (truth == chosen))])


def positions(model: "Model", data: Dataset) -> np.ndarray:
    """For every label of the data, its place among the model's classes."""
    if data.classes is None:
        raise DataError("the model predicts classes, but the target of the data holds numbers")
    places = {label: i for i, label in enumerate(model.classes or [])}
    unknown = [label for label in data.classes.tolist() if label not in places]
    if unknown:
        raise DataError(f"the data holds the label {unknown[0]!r}, the model knows {list(places)}")
    return np.array([places[label] for label in data.classes.tolist()])
