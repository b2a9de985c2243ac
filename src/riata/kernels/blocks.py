"""Coordinate descent over blocks of coordinates: the quadratic of `kernels.quadratic` with a group Lasso."""

import math

import numpy as np

from riata.kernels.best_block import best_block
from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST

INNER_STEPS = 10  # on a block before the next
STILL = 1e-3  # of the block: a change that is less ends them


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def descend_blocks(
    H: np.ndarray,
    starts: np.ndarray,
    steepness: np.ndarray,
    by_group: np.ndarray,
    by_feature: np.ndarray,
    scale: np.ndarray,
    v: np.ndarray,
    slope: np.ndarray,
    sweeps: int,
) -> None:
    """Sweeps over the blocks starts[g]:starts[g + 1], updating v and slope in place: proximal steps on each of them.

    `steepness` bounds the curvature of each block in units of scaled coordinates; a block without any stays.
    """
    m = v.shape[0]
    before, local, now = np.empty(m), np.empty(m), np.empty(m)
    for _ in range(sweeps):
        for g in range(steepness.shape[0]):
            first, last, steep = starts[g], starts[g + 1], steepness[g]
            if steep <= 0.0:
                continue
            for j in range(first, last):
                before[j] = v[j]
                local[j] = slope[j]
            for _step in range(INNER_STEPS if last > first + 1 else 1):
                squares = 0.0
                for j in range(first, last):
                    x = scale[j] * v[j] - local[j] / (scale[j] * steep)
                    size = max(abs(x) - by_feature[j] / steep, 0.0)
                    now[j] = math.copysign(size, x)
                    squares += size * size
                length = math.sqrt(squares)
                kept = max(1.0 - by_group[g] / (steep * length), 0.0) if length > 0.0 else 0.0
                moved = 0.0
                for j in range(first, last):
                    now[j] = kept * now[j] / scale[j]
                    moved = max(moved, abs(now[j] - v[j]) * scale[j])
                for j in range(first, last):
                    change = now[j] - v[j]
                    if change != 0.0:
                        for k in range(first, last):
                            local[k] += change * H[j, k]
                        v[j] = now[j]
                if moved <= STILL * kept * length:
                    break
            for j in range(first, last):
                change = v[j] - before[j]
                if change != 0.0:
                    for k in range(m):
                        slope[k] += change * H[j, k]


@compiled(interpretable=True, nogil=True, fastmath=FAST)
def descend_best_blocks(
    H: np.ndarray,
    starts: np.ndarray,
    vectors: np.ndarray,
    values: np.ndarray,
    by_group: np.ndarray,
    scale: np.ndarray,
    v: np.ndarray,
    slope: np.ndarray,
    sweeps: int,
) -> None:
    """The same where single coefficients have no penalty of their own: each block goes to its best values.

    `vectors` has the eigenvectors of all blocks, `values` their eigenvalues (`kernels.best_block`).
    """
    m = v.shape[0]
    before, room = np.empty(m), np.empty((2, m))
    for _ in range(sweeps):
        place = 0
        for g in range(by_group.shape[0]):
            first, last = starts[g], starts[g + 1]
            size = last - first
            for j in range(first, last):
                before[j] = v[j]
            own = vectors[place : place + size * size]
            place += size * size
            if values[last - 1] > 0.0 and best_block(first, last, own, values, by_group[g], scale, slope, v, room):
                for j in range(first, last):
                    change = v[j] - before[j]
                    if change != 0.0:
                        for k in range(m):
                            slope[k] += change * H[j, k]
