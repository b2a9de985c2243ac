"""How good predictions are: the numbers that `evaluate` and `--test` report."""

import numpy as np
from sklearn import metrics

from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.losses import mean_target
from riata.model import Model, probabilities


def scores(model: Model, data: Dataset) -> dict[str, float | None]:
    """Accuracy, AUC and log loss of a classifier, R2 and mean squared error of a regression: one pass."""
    parts = [(z, chunk.y, chunk.weight) for z, chunk in model.visit(data)]
    z, y, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    if model.task == "regression":
        if data.classes is not None:
            raise DataError("the model predicts numbers, but the target of the data holds classes")
        predicted = mean_target(model.loss, z)
        mse = metrics.mean_squared_error(y, predicted, sample_weight=weight)
        r2 = metrics.r2_score(y, predicted, sample_weight=weight) if len(y) > 1 else None
        return {"r2": r2, "mse": float(mse)}
    truth = positions(model, data)[y.astype(np.intp)]
    predicted = (z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)
    result: dict[str, float | None] = {"accuracy": float(np.average(predicted == truth, weights=weight))}
    if z.ndim == 1 and len(np.unique(truth)) == 2:
        result["auc"] = float(metrics.roc_auc_score(truth, z, sample_weight=weight))
    if model.loss == "logistic":
        p = probabilities(z)
        result["log_loss"] = float(metrics.log_loss(truth, p, sample_weight=weight, labels=range(p.shape[1])))
    return result


def positions(model: Model, data: Dataset) -> np.ndarray:
    """For every label of the data, its place among the model's classes."""
    if data.classes is None:
        raise DataError("the model predicts classes, but the target of the data holds numbers")
    places = {label: i for i, label in enumerate(model.classes or [])}
    unknown = [label for label in data.classes.tolist() if label not in places]
    if unknown:
        raise DataError(f"the data holds the label {unknown[0]!r}, the model knows {list(places)}")
    return np.array([places[label] for label in data.classes.tolist()])
