"""Weighted means, centred squares and products with the target of dense columns, in float64 whatever the data's type.

A few rows at a time, which are read once, about the first of them: a column of one value has that mean to the last bit.
Then Chan's merge.
"""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST

ROWS = 256  # so few that squares about the first row lose at most two digits to those about the mean


@compiled(fastmath=FAST, nogil=True)
def dense_moments(
    X: np.ndarray, d: int, y: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean, squares about it, products with y about both means) of the first d columns; X is as `in_rows` gives it."""
    mean, squares, cross = np.zeros(d), np.zeros(d), np.zeros(d)
    first, off, part, by_y = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    seen = y_mean = 0.0
    for start in range(0, X.shape[0], ROWS):
        stop = min(start + ROWS, X.shape[0])
        for j in range(d):
            first[j] = X[start, j]
            off[j] = part[j] = by_y[j] = 0.0
        total = y_off = 0.0
        for i in range(start, stop):
            x = X[i]
            s, yi = weight[i], y[i] - y[start]
            sy = s * yi
            total += s
            y_off += sy
            for j in range(d):
                a = x[j] - first[j]
                off[j] += s * a
                part[j] += s * a * a
                by_y[j] += sy * a
        y_off /= total
        share = total / (seen + total)
        y_shift = y[start] + y_off - y_mean
        for j in range(d):
            aside = off[j] / total
            shift = first[j] + aside - mean[j]
            mean[j] += share * shift
            squares[j] += max(part[j] - off[j] * aside, 0.0) + seen * share * shift * shift
            cross[j] += by_y[j] - off[j] * y_off + seen * share * shift * y_shift
        y_mean += share * y_shift
        seen += total
    return mean, squares, cross
