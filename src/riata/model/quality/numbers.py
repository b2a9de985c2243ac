"""How good a regression is."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riata.data.chunk import Chunk
from riata.data.columns.histogram import Histogram, histogram_of
from riata.data.dataset import Dataset
from riata.data.gram import Gram
from riata.errors import DataError
from riata.losses import Link, Loss
from riata.model.decisions import finite_means
from riata.model.quality.means import MeansTable

if TYPE_CHECKING:
    from riata.model.model import Model

SAMPLE = 1000  # rows that pictures show
RESIDUAL_BINS = 2048  # many, so that the middle is fine enough where tails are long

TOUCHES = 1e-5  # of the mean residual: a quantile goes through as many rows as it has features, up to its tolerance
ROUNDING = 1e-12  # a share of no more is none


@dataclass(frozen=True)
class NumberQuality:
    """Scores, all residuals by size, and the target and prediction of some rows."""

    n_rows: int
    scores: dict[str, float | None]
    residuals: Histogram  # target minus prediction
    sample: np.ndarray  # rows x (target, prediction)
    baseline: dict[str, float | None] = field(default_factory=dict)  # scores of a constant prediction
    means: MeansTable | None = None  # of counts and amounts


def number_quality(model: "Model", data: Dataset) -> NumberQuality:
    """R2, errors, residuals and the same of the mean of the training rows alone: one pass."""
    check_numbers(data)
    known = model.training.baseline
    sums = NumberSums(model, None if known is None else known[0])
    for z, chunk in model.visit(data):
        sums.add(z, chunk)
    return sums.quality()


def check_numbers(data: Dataset) -> None:
    """Refuse classes where numbers are predicted."""
    if data.classes is not None:
        raise DataError("the model predicts numbers, but the target of the data holds classes")


class NumberSums:
    """What adds up over rows whose one target is predicted, beside a model that predicts a mean."""

    def __init__(self, model: "Model", mean: float | None) -> None:
        self._model, self._mean, self._sample = model, mean, Sample()
        self._pinballs = Pinballs(model.loss_function) if model.loss_function.level is not None else None
        self._means = MeansTable() if model.loss_function.logarithms else None
        self._residuals: Histogram | None = None
        self._origin = 0.0
        self._sums, self._of_mean, self._deviances = np.zeros(5), np.zeros(2), np.zeros(2)

    def add(self, z: np.ndarray, chunk: Chunk) -> None:
        """Add rows of these margins."""
        link, mean = self._model.link_function, self._mean
        predicted = finite_means(link.mean, z)
        self._origin = chunk.y[0] if self._residuals is None else self._origin  # sums about a target lose no digits
        d, r = chunk.y - self._origin, chunk.y - predicted
        self._sums += chunk.weight @ np.column_stack([np.ones_like(d), d, d**2, r**2, np.abs(r)])
        if self._pinballs is not None:
            self._pinballs.add(chunk, predicted, mean)
        if mean is not None:
            alone = _margins_of_mean(link, mean, chunk)
            without = chunk.y - link.mean(alone)
            self._of_mean += chunk.weight @ np.column_stack([without**2, np.abs(without)])
            self._deviances += _deviances(self._model.loss_function, chunk.y, z, alone, chunk.weight)
        if self._means is not None:
            exposure = 1.0 if chunk.offset is None else np.exp(chunk.offset)
            self._means.add(chunk.y, predicted, chunk.weight, exposure)
        seen = histogram_of(r, chunk.weight, RESIDUAL_BINS)
        self._residuals = seen if self._residuals is None else self._residuals + seen
        self._sample.add(np.column_stack([chunk.y, predicted]))

    def quality(self) -> NumberQuality:
        """How good predictions are, over all rows."""
        if self._residuals is None:
            raise DataError("there are no rows to score the model on")
        weight, shift, squares, error, distance = self._sums
        varies = squares - shift**2 / weight if self._sample.n_seen > 1 else 0.0
        scores = _errors(error / weight, distance / weight, varies / weight)
        if self._mean is None:  # of an older model file: the mean of these rows stands in
            baseline = _errors(varies / weight, None, varies / weight)
        else:
            baseline = _errors(self._of_mean[0] / weight, self._of_mean[1] / weight, varies / weight)
        if self._deviances[1] > 0 and np.isfinite(self._deviances).all():
            explained = 1.0 - self._deviances[0] / self._deviances[1]
            scores["deviance_explained"], baseline["deviance_explained"] = explained, 0.0
        if self._pinballs is not None:
            scores, baseline = (
                {**own, "mae": its["mae"]} for own, its in zip(self._pinballs.scores(), (scores, baseline), strict=True)
            )
        means = self._means if self._sums[1] + weight * self._origin > 0 else None  # nothing to share out
        return NumberQuality(self._sample.n_seen, scores, self._residuals, self._sample.rows, baseline, means)


def of_statistics(model: "Model", rows: Gram) -> NumberQuality:
    """R2 and the mean squared error from products of columns: no residual of a row is known."""
    w, at = model.coef[0], model.indices
    bias = rows.y_mean - float(rows.mean[at] @ w) - float(model.intercept[0])
    squares = float(rows.yy - 2.0 * rows.xy[at] @ w + w @ rows.xx[np.ix_(at, at)] @ w)
    variance = rows.yy / rows.weight
    scores = _errors(max(squares / rows.weight, 0.0) + bias**2, None, variance)
    nothing = Histogram(0, 0, np.zeros(0))
    return NumberQuality(rows.rows, scores, nothing, np.zeros((0, 2)), _errors(variance, None, variance))


def _errors(mse: float, mae: float | None, variance: float) -> dict[str, float | None]:
    """The scores of predictions with these mean errors, of targets of this variance."""
    return {
        "r2": _without_rounding(1.0 - mse / variance) if variance > 0 else None,
        "rmse": float(np.sqrt(mse)),
        "mae": None if mae is None else float(mae),
        "mse": float(mse),
    }


def _without_rounding(r2: float) -> float:
    """R2, or 0 where it differs from 0 by rounding alone, as for the mean."""
    return 0.0 if abs(r2) < ROUNDING else float(r2)


def _margins_of_mean(link: Link, mean: float, chunk: Chunk) -> np.ndarray:
    """The margins of rows by the mean of the training rows alone, and by their own offsets."""
    return np.full(chunk.n_rows, float(link.inverse(mean))) + (0.0 if chunk.offset is None else chunk.offset)


def _deviances(loss: Loss, y: np.ndarray, z: np.ndarray, of_mean: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Half the deviance of some rows, and that of the mean alone; zeros where the loss is none, or is the squared."""
    is_deviance = loss.half_deviance or loss.power is not None  # those of amounts up to a dispersion, which cancels
    if not is_deviance or loss.labels or not bool(loss.takes(y).all()):
        return np.zeros(2)
    return np.array([weight @ loss.value(y, at) for at in (z, of_mean)])


class Pinballs:
    """Sums of the pinball losses of predictions, and of the rows at or below them; those of a constant, too."""

    def __init__(self, loss: Loss) -> None:
        self._loss, self._sums, self._weight = loss, np.zeros((2, 2)), 0.0

    def add(self, chunk: Chunk, predicted: np.ndarray, constant: float | None) -> None:
        """Add some rows, of which the baseline predicts a constant, and their own offsets."""
        alone = np.nan if constant is None else constant
        without = np.full(chunk.n_rows, alone) + (0.0 if chunk.offset is None else chunk.offset)
        for sums, at in zip(self._sums, (predicted, without), strict=True):
            r = chunk.y - at
            sums += [chunk.weight @ self._loss.value(chunk.y, at), chunk.weight @ (r <= TOUCHES * np.mean(np.abs(r)))]
        self._weight += float(chunk.weight.sum())

    def scores(self) -> list[dict[str, float | None]]:
        """The scores of the model, and those of the constant."""
        means = self._sums / self._weight
        known = bool(np.isfinite(means[1, 0]))
        of_constant = float(means[1, 0])
        return [
            {
                "d2_pinball": 1.0 - float(loss) / of_constant if known and of_constant > 0.0 else None,
                "pinball_loss": float(loss) if np.isfinite(loss) else None,
                "coverage": float(below) if np.isfinite(loss) else None,
            }
            for loss, below in means
        ]


class Sample:
    """A uniform sample of rows that are seen once: each draws a random number, and the smallest are kept."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._marked = np.empty((0, 3))
        self.n_seen = 0

    def add(self, rows: np.ndarray) -> None:
        self.n_seen += len(rows)
        marked = np.vstack([self._marked, np.column_stack([self._rng.random(len(rows)), rows])])
        self._marked = marked[np.argsort(marked[:, 0], kind="stable")[:SAMPLE]]

    @property
    def rows(self) -> np.ndarray:
        return self._marked[:, 1:]
