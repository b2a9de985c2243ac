"""The rows of a path along columns (`column_path`): their margins, slopes and curvatures at a model."""

from typing import NamedTuple

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.coordinate import add_columns
from riata.kernels.losses import LOGISTIC, Coded, is_logistic, value_and_both_derivatives
from riata.kernels.rows import FAST, Rows

FURTHEST = 10.0  # as in `solvers.convex.row_curvature`


class Terms(NamedTuple):
    """Targets and weights of the rows, which sum to 1, whether there is an intercept, and whether curvatures are the
    same everywhere, as those of a squared loss."""

    y: np.ndarray
    weight: np.ndarray
    least_curvature: float
    centred: bool
    constant: bool


class OfRows(NamedTuple):
    """What there is for each row: margins, a step of them, slopes, curvatures, and slopes of the quadratic. Then slopes
    that sum to 0, as a certificate takes them: those now, and those when all columns were last gone along. In the end
    a few sums."""

    z: np.ndarray
    step: np.ndarray
    u: np.ndarray
    D: np.ndarray
    t: np.ndarray
    balanced: np.ndarray
    reference: np.ndarray
    totals: np.ndarray  # of losses and curvatures; of slopes and of conjugates, upwards and downwards


@compiled(nogil=True)
def make_margins(columns: Rows, v: np.ndarray, b: float, rows: OfRows) -> None:
    """Those at a model."""
    for i in range(rows.z.shape[0]):
        rows.z[i], rows.step[i] = b, 0.0
    add_columns(columns, v, rows.z)


@compiled(nogil=True)
def look_at_rows(loss: Coded, terms: Terms, rows: OfRows, share: float) -> None:
    """Weighted slopes and curvatures of all rows after this share of the step, and their totals."""
    if is_logistic(loss):
        _look_at_rows_of(LOGISTIC, terms, rows, share)
    else:
        _look_at_rows_of(loss, terms, rows, share)


@compiled(nogil=True, forceinline=True, error_model="numpy", fastmath=FAST)
def _look_at_rows_of(loss: Coded, terms: Terms, rows: OfRows, share: float) -> None:
    y, weight, least, _, _ = terms
    u, D, totals = rows.u, rows.D, rows.totals
    cost_of_all = curvatures = up = rise_up = down = rise_down = 0.0
    for i in range(u.shape[0]):
        z = rows.z[i] + share * rows.step[i]
        cost, slope, curvature = value_and_both_derivatives(loss, y[i], z)
        curvature = max(curvature, least)
        if cost > 0.0:  # no row goes much further than to where its loss is gone
            curvature = max(curvature, slope * slope / (2.0 * cost * FURTHEST))
        s = weight[i]
        conjugate = s * (slope * z - cost)
        u[i], D[i] = s * slope, s * curvature
        cost_of_all += s * cost
        curvatures += s * curvature
        up += s * slope if slope > 0.0 else 0.0
        rise_up += conjugate if slope > 0.0 else 0.0
        down += 0.0 if slope > 0.0 else s * slope
        rise_down += 0.0 if slope > 0.0 else conjugate
    totals[0], totals[1], totals[2], totals[3], totals[4], totals[5] = (
        cost_of_all, curvatures, up, rise_up, down, rise_down
    )  # fmt: skip


@compiled(nogil=True)
def balance(terms: Terms, rows: OfRows) -> float:
    """Slopes of rows that sum to 0 where there is an intercept, and the mean of their conjugates."""
    _, _, up, rise_up, down, rise_down = rows.totals
    down = -down
    keep_up = keep_down = 1.0
    if terms.centred:
        keep_up = min(down / up, 1.0) if up > 0.0 else 1.0
        keep_down = min(up / down, 1.0) if down > 0.0 else 1.0
    for i in range(rows.u.shape[0]):
        rows.balanced[i] = rows.u[i] * (keep_up if rows.u[i] > 0.0 else keep_down)
    return keep_up * rise_up + keep_down * rise_down
