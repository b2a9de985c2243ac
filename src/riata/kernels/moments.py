"""Weighted means, centred squares and products with the target of dense columns, in float64 whatever the data's type.

A few rows at a time, which are read once, about the first of them: a column of one value has that mean to the last bit.
Then Chan's merge.
"""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST, LONG_ROW

ROWS = 256  # so few that squares about the first row lose at most two digits to those about the mean


@compiled(interpretable=True, fastmath=FAST, nogil=True)
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
            sy = weight[i] * (y[i] - y[start])
            total += weight[i]
            y_off += sy
        i = start
        while i < stop:
            if d >= LONG_ROW and i + 4 <= stop:  # so that the sums are loaded and stored a quarter as often
                x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
                s0, s1, s2, s3 = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
                y0, y1, y2, y3 = y[i] - y[start], y[i + 1] - y[start], y[i + 2] - y[start], y[i + 3] - y[start]
                for j in range(d):
                    a0, a1, a2, a3 = x0[j] - first[j], x1[j] - first[j], x2[j] - first[j], x3[j] - first[j]
                    s0a, s1a, s2a, s3a = s0 * a0, s1 * a1, s2 * a2, s3 * a3
                    off[j] += s0a + s1a + s2a + s3a
                    part[j] += s0a * a0 + s1a * a1 + s2a * a2 + s3a * a3
                    by_y[j] += s0a * y0 + s1a * y1 + s2a * y2 + s3a * y3
                i += 4
            else:
                x, s, yi = X[i], weight[i], y[i] - y[start]
                for j in range(d):
                    a = x[j] - first[j]
                    off[j] += s * a
                    part[j] += s * a * a
                    by_y[j] += s * a * yi
                i += 1
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
