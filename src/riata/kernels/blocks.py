"""Coordinate descent over blocks of coordinates: the quadratic of `kernels.quadratic` with a group Lasso."""

import math

import numpy as np

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
