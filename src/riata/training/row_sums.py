"""A few sums over all rows, by which a checkpoint knows them again: of moments that are known, so without a pass."""

from typing import Any

import numpy as np

from riata.data.dataset import Dataset
from riata.data.remote import Remote
from riata.engines.cuda.on_device import OnDevice
from riata.matrices.moments import varies

SUMS_AGREE = 1e-9


def sums_of_rows(data: Dataset) -> list[float] | None:
    """A few numbers that change where any row does, as where a file of later chunks has become another.

    They are made of moments that are known. None where no pass has found any so far, and on a cluster or a GPU.
    """
    moments = None if isinstance(data, Remote | OnDevice) else data.known_moments
    if moments is None:
        return None
    weight, mean = float(moments.weight), moments.mean
    y_size, sizes = _deviation(moments.y_squares, weight), _deviation(moments.squares, weight)
    of_target = [_share(moments.y_mean, y_size), _share(y_size, moments.y_mean)]
    cross = np.where(varies(sizes, mean), moments.cross / weight, 0.0)  # of a constant, rounding is all there is
    return [weight, *of_target, _share(mean, sizes), _share(sizes, mean), _share(cross, sizes * y_size)]


def _deviation(squares: Any, weight: float) -> np.ndarray:
    return np.sqrt(np.maximum(np.asarray(squares, dtype=float), 0.0) / weight)


def _share(part: Any, rest: Any) -> float:
    """The mean of part / (|part| + |rest|) over columns, each with a factor of its own: columns may change places."""
    part, rest = np.ravel(part), np.ravel(rest)
    factors = 1.0 + np.arange(len(part)) * 0.6180339887498949 % 1.0
    whole = np.abs(part) + np.abs(rest)
    shares = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0.0)
    return float((shares * factors).mean()) if len(part) else 0.0


def same_sums(mine: list[float] | None, there: object) -> bool:
    """Whether these may be sums of the same rows, rounded by other numbers of threads; None, not known, may be any."""
    if mine is None or there is None:
        return True
    if not isinstance(there, list) or len(there) != len(mine) or not all(type(x) in (int, float) for x in there):
        return False
    return all(abs(a - b) <= SUMS_AGREE * max(abs(a), 1.0) for a, b in zip(mine, there, strict=True))
