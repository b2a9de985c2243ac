"""Weighted means and centred sums of squares of dense columns, in float64 whatever the data's type.

A few rows at a time, which stay in the cache: their means first, then their squares about them, then Chan's merge.
"""

import numpy as np
from numba import njit

from riata.kernels.rows import FAST

ROWS = 32


@njit(cache=True, fastmath=FAST, nogil=True)
def dense_moments(X, weight):
    """(mean, centred sum of squares) of every column."""
    n, d = X.shape
    mean, squares = np.zeros(d), np.zeros(d)
    part_mean, part_squares = np.empty(d), np.empty(d)
    seen = 0.0
    for start in range(0, n, ROWS):
        stop = min(start + ROWS, n)
        total = weight[start:stop].sum()
        part_mean[:] = 0.0
        part_squares[:] = 0.0
        for i in range(start, stop):
            for j in range(d):
                part_mean[j] += weight[i] * X[i, j]
        for j in range(d):
            part_mean[j] /= total  # last, so that a column of one value has that mean to the last bit
        for i in range(start, stop):
            for j in range(d):
                away = X[i, j] - part_mean[j]
                part_squares[j] += weight[i] * away * away
        share = total / (seen + total)
        for j in range(d):
            shift = part_mean[j] - mean[j]
            mean[j] += share * shift
            squares[j] += part_squares[j] + seen * share * shift * shift
        seen += total
    return mean, squares
