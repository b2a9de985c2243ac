"""The best values of one group of coefficients of a quadratic with a group Lasso, all others being as they are.

In coordinates t along the eigenvectors of the group's block, with eigenvalues e, the rest of the slope being -b,

    sum_k e_k t_k^2 / 2 - b_k t_k + by_group |t|

is least at zero if |b| is no more than by_group, and else at t_k = b_k r / (e_k r + by_group), where r is the length
of t: the root of |b / (e r + by_group)| = 1. The inverse of that length is concave in r, so that Newton's steps from
below end at the root without a safeguard.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import FAST

ROOT_STEPS = 50  # at most: five are usual
AT_ROOT = 1e-14  # of the length
NO_CURVATURE = 1e-13  # of the largest eigenvalue: a smaller one is rounding


@compiled(nogil=True, fastmath=FAST)
def best_block(
    first: int,
    last: int,
    vectors: np.ndarray,
    values: np.ndarray,
    by_group: float,
    scale: np.ndarray,
    slope: np.ndarray,
    v: np.ndarray,
    room: np.ndarray,
) -> bool:
    """Move v[first:last], where the slope is that given, to the best values; whether they changed.

    `vectors` has the eigenvectors of the block in units of scaled coefficients, one after the other, `values` the
    eigenvalues of all blocks; `room` has two rows for numbers of a group.
    """
    size = last - first
    here = pull = 0.0
    for j in range(first, last):
        here += abs(v[j])
        pull += (slope[j] / scale[j]) ** 2
    if here == 0.0 and pull <= by_group * by_group:
        return False
    b, t = room[0], room[1]
    flat = NO_CURVATURE * values[last - 1]
    length = 0.0
    for k in range(size):
        e, now, g = values[first + k], 0.0, 0.0
        for j in range(size):
            x = vectors[k * size + j]
            now += x * scale[first + j] * v[first + j]
            g += x * slope[first + j] / scale[first + j]
        t[k] = now
        b[k] = e * now - g if e > flat else 0.0
        length += b[k] * b[k]
    if length <= by_group * by_group:
        for j in range(first, last):
            v[j] = 0.0
        return here > 0.0
    r = 0.0
    if by_group > 0.0:
        for _ in range(ROOT_STEPS):
            squares = steep = 0.0
            for k in range(size):
                e = values[first + k]
                share = b[k] / (e * r + by_group)
                squares += share * share
                steep += share * share * e / (e * r + by_group)
            step = squares * (math.sqrt(squares) - 1.0) / steep if steep > 0.0 else 0.0
            r += step
            if step <= AT_ROOT * r:
                break
    for k in range(size):
        e = values[first + k]
        if by_group > 0.0:
            t[k] = b[k] * r / (e * r + by_group)
        elif e > flat:
            t[k] = b[k] / e
    for j in range(size):
        x = 0.0
        for k in range(size):
            x += vectors[k * size + j] * t[k]
        v[first + j] = x / scale[first + j]
    return True
