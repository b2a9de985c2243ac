"""Several quantiles of a target: in how many of the training rows they cross."""

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.model.crossing import crossing_rows


def n_crossing(data: Dataset, coef: np.ndarray, intercept: np.ndarray) -> int:
    """In how many rows quantiles cross whose margins these coefficients (levels x features) give: one pass."""
    across = np.ascontiguousarray(coef.T)

    def crossing(chunk: Chunk) -> int:
        return crossing_rows(chunk.X.margins(across, intercept))

    return int(data.sum(crossing))


def about_crossing(n_rows: int, crossing: int) -> str:
    """A sentence on rows in which quantiles cross."""
    return (
        f"quantiles cross in {crossing:,} of {n_rows:,} training rows: predictions of a higher level are below those "
        "of a lower one there; levels that lie farther apart, a larger alpha or more rows make that rarer"
    )
