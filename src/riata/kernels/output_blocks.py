"""Descent along columns on a penalised quadratic of several margins per row, all coefficients of a feature at a time.

It is that of `riata.kernels.outputs`, but arrays are rows x outputs, so that the outputs of a row lie side by side, and
those over coefficients features x outputs; curvatures are at least those of a block.
"""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.outputs import Derivatives, Moving, RowCurvatures, sweep_intercepts
from riata.kernels.rows import FAST, Rows, entries

LENGTH_STEPS = 50  # of Newton's method on the length of a block, of which a few are taken
LENGTH_PRECISION = 1e-14


@compiled(nogil=True, fastmath=FAST)
def _add_slopes(
    features: np.ndarray | None,
    values: np.ndarray,
    d: np.ndarray,
    weighted_r: np.ndarray,
    moved: np.ndarray,
    along_r: np.ndarray,
    slope: np.ndarray,
) -> None:
    """Add sum_i x_i (d_ik moved_ik - r_ik along_r_i) of one column, for every output k."""
    for p in range(values.shape[0]):
        i = p if features is None else features[p]
        x, along = values[p], along_r[i]
        for k in range(slope.shape[0]):
            slope[k] += x * (d[i, k] * moved[i, k] - weighted_r[i, k] * along)


@compiled(nogil=True, fastmath=FAST)
def _move_block(
    features: np.ndarray | None,
    values: np.ndarray,
    change: np.ndarray,
    r: np.ndarray,
    moved: np.ndarray,
    along_r: np.ndarray,
) -> None:
    """Add x_i change to the margins of every row, and what follows to the sums of r and margins."""
    for p in range(values.shape[0]):
        i = p if features is None else features[p]
        x, along = values[p], 0.0
        for k in range(change.shape[0]):
            step = x * change[k]
            moved[i, k] += step
            along += r[i, k] * step
        along_r[i] += along


@compiled(nogil=True, fastmath=FAST)
def _write_squares(features: np.ndarray | None, values: np.ndarray, weights: np.ndarray, squares: np.ndarray) -> None:
    """Write sum_i x_i^2 weights_ik of one column, for every output k."""
    for k in range(squares.shape[0]):
        squares[k] = 0.0
    for p in range(values.shape[0]):
        i = p if features is None else features[p]
        square = values[p] * values[p]
        for k in range(squares.shape[0]):
            squares[k] += square * weights[i, k]


@compiled(nogil=True)
def block_curvatures(columns: Rows, at_most: np.ndarray, curvatures: np.ndarray) -> None:
    """Write sum_i x_ij^2 m_ik of every column j and output k, for a diagonal m of every row."""
    for j in range(curvatures.shape[0]):
        features, values = entries(columns, j)
        _write_squares(features, values, at_most, curvatures[j])


@compiled(nogil=True)
def _shrunk_block(pulls: np.ndarray, curvature: np.ndarray, inner: float, outer: float, new: np.ndarray) -> None:
    """Write the v that minimises sum_k h_k v_k^2 / 2 - c_k v_k + inner |v_k|, plus outer |v|, for pulls c.

    Its length is the root of |s / (h length + outer)| = 1, with c that is shrunk by `inner` for s: of the reciprocal of
    the left side, less 1, Newton's method finds it from below.
    """
    squares = 0.0
    for k in range(new.shape[0]):
        size = max(abs(pulls[k]) - inner, 0.0) if curvature[k] > 0.0 else 0.0
        new[k] = math.copysign(size, pulls[k])
        squares += size * size
    if squares <= outer * outer:
        for k in range(new.shape[0]):
            new[k] = 0.0
        return
    length = 0.0
    if outer > 0.0:
        for _ in range(LENGTH_STEPS):
            total, fall = 0.0, 0.0
            for k in range(new.shape[0]):
                if new[k] != 0.0:
                    below = curvature[k] * length + outer
                    share = new[k] / below
                    total += share * share
                    fall += share * share * curvature[k] / below
            move = (math.sqrt(total) - 1.0) * total / fall
            length = max(length + move, 0.0)
            if abs(move) <= LENGTH_PRECISION * length:
                break
    for k in range(new.shape[0]):
        if new[k] != 0.0:
            new[k] /= curvature[k] + (outer / length if outer > 0.0 else 0.0)


@compiled(nogil=True)
def sweep_blocks(
    columns: Rows,
    rows: RowCurvatures,
    active: np.ndarray,
    derivatives: Derivatives,
    inner: np.ndarray,
    outer: np.ndarray,
    point: Moving,
    work: np.ndarray,
) -> float:
    """One cyclic sweep over the active features, then over the intercepts of positive curvature.

    `inner` is the penalty of each coefficient of a feature, `outer` that of their length; `work` has three rows of as
    many numbers as outputs. Updates the point; returns by how much Q has become less, at least.
    """
    d, weighted_r, r = rows
    slopes, curvatures, slopes_b, curvatures_b = derivatives
    v, b, moved, along_r = point
    slope, pulls, new = work[0], work[1], work[2]
    n_outputs, decrease = d.shape[1], 0.0
    for j in active:
        features, values = entries(columns, j)
        for k in range(n_outputs):
            slope[k] = slopes[j, k]
        _add_slopes(features, values, d, weighted_r, moved, along_r, slope)
        for k in range(n_outputs):
            pulls[k] = curvatures[j, k] * v[j, k] - slope[k]
        _shrunk_block(pulls, curvatures[j], inner[j], outer[j], new)
        changed, before, after = False, 0.0, 0.0
        for k in range(n_outputs):
            change, old = new[k] - v[j, k], v[j, k]
            changed = changed or change != 0.0
            before += old * old
            after += new[k] * new[k]
            decrease -= change * (slope[k] + 0.5 * curvatures[j, k] * change) + inner[j] * (abs(new[k]) - abs(old))
            v[j, k] = new[k]
            new[k] = change
        if changed:
            decrease -= outer[j] * (math.sqrt(after) - math.sqrt(before))
            _move_block(features, values, new, r, moved, along_r)
    return decrease + sweep_intercepts(d.T, weighted_r.T, r.T, slopes_b, curvatures_b, b, moved.T, along_r)
