"""How good a regression is."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riata.data.columns.histogram import Histogram, histogram_of
from riata.data.dataset import Dataset
from riata.errors import DataError

if TYPE_CHECKING:
    from riata.model.model import Model

SAMPLE = 1000  # rows that pictures show
RESIDUAL_BINS = 2048  # many, so that the middle is fine enough where tails are long


@dataclass(frozen=True)
class NumberQuality:
    """Scores, all residuals by size, and the target and prediction of some rows."""

    n_rows: int
    scores: dict[str, float | None]
    residuals: Histogram  # target minus prediction
    sample: np.ndarray  # rows x (target, prediction)


def number_quality(model: "Model", data: Dataset) -> NumberQuality:
    """R2, mean squared error and residuals: one pass."""
    if data.classes is not None:
        raise DataError("the model predicts numbers, but the target of the data holds classes")
    sample, sums, residuals, origin = Sample(), np.zeros(4), None, None
    for z, chunk in model.visit(data):
        predicted = model.link_function.mean(z)
        if not np.isfinite(predicted).all():
            raise DataError("some predictions are too large to be numbers: these rows are unlike those learnt from")
        origin = chunk.y[0] if origin is None else origin  # sums about a target lose no digits
        d, r = chunk.y - origin, chunk.y - predicted
        sums += chunk.weight @ np.column_stack([np.ones_like(d), d, d**2, r**2])
        seen = histogram_of(r, chunk.weight, RESIDUAL_BINS)
        residuals = seen if residuals is None else residuals + seen
        sample.add(np.column_stack([chunk.y, predicted]))
    if residuals is None:
        raise DataError("there are no rows to score the model on")
    weight, shift, squares, error = sums
    varies = squares - shift**2 / weight
    r2 = None if sample.n_seen < 2 or varies <= 0 else float(1.0 - error / varies)
    return NumberQuality(sample.n_seen, {"r2": r2, "mse": float(error / weight)}, residuals, sample.rows)


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
