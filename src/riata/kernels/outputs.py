"""Coordinate descent along columns on a penalised quadratic of several margins per row.

Second derivatives of a row are diag(d) - r r' over its outputs, see `riata.losses.several_margins`. Arrays over rows
and outputs have a row for each output here, so that a column is followed along one of them.
"""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.quadratic import best_value
from riata.kernels.rows import FAST, Rows, entries


class Derivatives(NamedTuple):
    """Of the mean loss where nothing has moved: by every coefficient, features x outputs (here in one row), and
    intercept."""

    slopes: np.ndarray
    curvatures: np.ndarray
    slopes_b: np.ndarray
    curvatures_b: np.ndarray


class Moving(NamedTuple):
    """Coefficients and intercepts, and how far they have moved the margins from where derivatives were taken."""

    v: np.ndarray
    b: np.ndarray
    moved: np.ndarray  # A (v - v0) + b - b0, outputs x rows here
    along_r: np.ndarray  # r . moved of every row


class RowCurvatures(NamedTuple):
    """Of all rows: weighted d, weighted r and r itself, each outputs x rows here."""

    d: np.ndarray
    weighted_r: np.ndarray
    r: np.ndarray


@compiled(nogil=True, fastmath=FAST)
def _along(
    features: np.ndarray | None,
    values: np.ndarray,
    d: np.ndarray,
    weighted_r: np.ndarray,
    moved: np.ndarray,
    along_r: np.ndarray,
) -> float:
    """sum_i x_i (d_i moved_i - r_i along_r_i) of one column and output."""
    total = 0.0
    for p in range(values.shape[0]):
        i = p if features is None else features[p]
        total += values[p] * (d[i] * moved[i] - weighted_r[i] * along_r[i])
    return total


@compiled(nogil=True, fastmath=FAST)
def _move(
    features: np.ndarray | None,
    values: np.ndarray,
    change: float,
    r: np.ndarray,
    moved: np.ndarray,
    along_r: np.ndarray,
) -> None:
    """Add change x_i to the margins of one output, and to the sum over outputs of r and margins."""
    for p in range(values.shape[0]):
        i = p if features is None else features[p]
        step = change * values[p]
        moved[i] += step
        along_r[i] += r[i] * step


@compiled(nogil=True, fastmath=FAST)
def _squares(features: np.ndarray | None, values: np.ndarray, weight: np.ndarray) -> float:
    """sum_i weight_i x_i^2 of one column."""
    total = 0.0
    for p in range(values.shape[0]):
        total += values[p] * values[p] * weight[p if features is None else features[p]]
    return total


@compiled(nogil=True)
def output_curvatures(columns: Rows, rows: RowCurvatures, curvatures: np.ndarray) -> None:
    """Write sum_i x_ij^2 (d_ik - r_ik^2) of every column j and output k."""
    d, weighted_r, r = rows
    for k in range(d.shape[0]):
        alone = d[k] - weighted_r[k] * r[k]
        for j in range(curvatures.shape[0]):
            features, values = entries(columns, j)
            curvatures[j, k] = _squares(features, values, alone)


@compiled(nogil=True)
def sweep_intercepts(
    d: np.ndarray,
    weighted_r: np.ndarray,
    r: np.ndarray,
    slopes_b: np.ndarray,
    curvatures_b: np.ndarray,
    b: np.ndarray,
    moved: np.ndarray,
    along_r: np.ndarray,
) -> float:
    """Move the intercepts of positive curvature, one after the other; returns by how much Q has become less."""
    decrease = 0.0
    for k in range(len(b)):
        if curvatures_b[k] <= 0.0:
            continue
        slope = slopes_b[k]
        for i in range(along_r.shape[0]):
            slope += d[k, i] * moved[k, i] - weighted_r[k, i] * along_r[i]
        step = -slope / curvatures_b[k]
        decrease -= 0.5 * slope * step
        b[k] += step
        for i in range(along_r.shape[0]):
            moved[k, i] += step
            along_r[i] += r[k, i] * step
    return decrease


@compiled(nogil=True)
def sweep_outputs(
    columns: Rows,
    rows: RowCurvatures,
    active: np.ndarray,
    derivatives: Derivatives,
    l1: np.ndarray,
    l2: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    point: Moving,
) -> float:
    """One cyclic sweep over the active coefficients, then over the intercepts of positive curvature.

    `derivatives` are those where nothing has moved. Updates the point; returns by how much Q has become less.
    """
    d, weighted_r, r = rows
    slopes, curvatures, slopes_b, curvatures_b = derivatives
    v, b, moved, along_r = point
    n_outputs, decrease = d.shape[0], 0.0
    for c in active:
        j, k = c // n_outputs, c % n_outputs
        curvature = curvatures[c] + l2[c]
        if curvature <= 0.0:
            continue
        features, values = entries(columns, j)
        old = v[c]
        slope = slopes[c] + _along(features, values, d[k], weighted_r[k], moved[k], along_r) + l2[c] * old
        new = best_value(curvature * old - slope, l1[c], lower[c], upper[c], curvature)
        change = new - old
        if change != 0.0:
            _move(features, values, change, r[k], moved[k], along_r)
            decrease -= change * (slope + 0.5 * curvature * change) + l1[c] * (abs(new) - abs(old))
            v[c] = new
    return decrease + sweep_intercepts(d, weighted_r, r, slopes_b, curvatures_b, b, moved, along_r)
