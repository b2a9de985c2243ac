"""From margins to classes and numbers."""

from collections.abc import Callable

import numpy as np

from riata.errors import DataError, OptionError
from riata.losses import Link


def decide(z: np.ndarray, link: Link, threshold: float | None = None) -> np.ndarray:
    """The position of the predicted class of every row.

    Of several classes it is that of the largest margin, or of the largest probability where they share one margin; of
    two the second where its margin is positive or, with a threshold, where its probability is at least so large.
    """
    if z.ndim == 1 and link.sums_to_one:  # classes in an order
        return link.mean(z).argmax(axis=1)
    if z.ndim > 1:
        if threshold is not None:
            raise OptionError(f"a threshold decides between two classes, and there are {z.shape[1]}: leave it out")
        return z.argmax(axis=1)
    second: np.ndarray = z > link.even if threshold is None else link.mean(z) >= threshold
    return second.astype(int)


def finite_means(mean: Callable[[np.ndarray], np.ndarray], z: np.ndarray) -> np.ndarray:
    """What is predicted for these margins, all of it finite: the exponential of a margin of 710 is no number."""
    with np.errstate(over="ignore"):
        found = mean(z)
    if not np.isfinite(found).all():
        raise DataError("some predictions are too large to be numbers: these rows are unlike those learnt from")
    return found
