"""A ridge fit of many features, whose curvature is never made: Newton steps by conjugate gradients, a pass for each.

Columns are counted from their means, in units of their deviations, so that with a ridge that is a share of the
curvature of a column dozens of passes do, or hundreds where columns are alike, however many features there are.
"""

from collections.abc import Callable

import numpy as np

from riata.arrays import Array, at_least, namespace
from riata.data.chunk import Chunk
from riata.losses import Loss
from riata.objective import Problem, empty_start, first_order
from riata.penalties import ElasticNet

STEPS = 50  # of Newton's method, of which a few are taken
PRODUCTS = 300  # of the curvature with a direction, in one step
CLOSE = 1e-9  # of the first slopes: where it ends
FORCING = 0.01  # of the slopes at hand: what one step leaves, where the loss is not quadratic
HALVINGS = 30  # of a step that does not lower the objective


def ridge_by_passes(problem: Problem, ridge: float) -> np.ndarray:
    """Coefficients of columns of unit deviation at the minimum of mean loss + ridge / 2 |v|^2, from the empty model."""
    plain = Problem(problem.data, problem.loss, ElasticNet(0.0), problem.fit_intercept)
    mean, scale = _mean_and_scale(plain)
    start = empty_start(plain)
    v, b, at = np.zeros(len(mean)), float(start.b), start.at  # b is the margin where columns have their means
    enough = 0.0
    for number in range(STEPS):
        slopes = np.append((at.by_w - mean * at.by_b) / scale + ridge * v, at.by_b * problem.fit_intercept)
        size = float(np.linalg.norm(slopes))
        if number == 0:
            enough = CLOSE * size
        if size <= enough:
            break
        times = _curvature_times(plain, v / scale, b - mean @ (v / scale), ridge)
        step = _solved(times, -slopes, enough if problem.loss.quadratic else max(FORCING * size, enough))
        F = at.loss + 0.5 * ridge * v @ v
        for _ in range(HALVINGS):
            v_new, b_new = v + step[:-1], b + step[-1]
            at = first_order(plain, v_new / scale, b_new - mean @ (v_new / scale))
            if at.loss + 0.5 * ridge * v_new @ v_new <= F:
                break
            step = 0.5 * step
        else:
            break  # rounding hides what a further step would gain
        v, b = v_new, b_new
    return v


def _mean_and_scale(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """What columns are counted from, and in units of what: without an intercept from zero."""
    moments = problem.data.moments
    return moments.mean if problem.fit_intercept else np.zeros_like(moments.mean), moments.scale


def _curvature_times(problem: Problem, w: np.ndarray, b: float, ridge: float) -> Callable[[np.ndarray], np.ndarray]:
    """The product of the curvature at (w, b) and a direction, of scaled columns and, last, the intercept."""
    data, loss, total = problem.data, problem.loss, problem.data.total_weight
    mean, scale = _mean_and_scale(problem)

    def times(p: np.ndarray) -> np.ndarray:
        along = p[:-1] / scale
        by_w, by_b = data.sum(_product_part(loss, (w, b), (along, float(p[-1] - mean @ along))))
        of_columns = (by_w - mean * by_b) / (scale * total) + ridge * p[:-1]
        return np.append(of_columns, by_b / total if problem.fit_intercept else 0.0)

    return times


def _product_part(
    loss: Loss, at: tuple[np.ndarray, float], along: tuple[np.ndarray, float]
) -> Callable[[Chunk], tuple[np.ndarray, float]]:
    """What a chunk adds to the product: workers may make it, so it knows no problem."""

    def part(chunk: Chunk) -> tuple[np.ndarray, float]:
        X, y, weight, _ = chunk
        bent: Array = 1.0
        if not loss.quadratic:
            bent = at_least(loss.second_derivative(y, X.margins(*at)), loss.least_curvature)
        u = weight * bent * X.margins(*along)
        return X.slopes(u), float(namespace(u).sum(u))

    return part


def _solved(times: Callable[[np.ndarray], np.ndarray], right: np.ndarray, enough: float) -> np.ndarray:
    """The x with times(x) = right, but for `enough`: conjugate gradients."""
    from scipy.sparse.linalg import LinearOperator, cg  # slow to import

    curvature = LinearOperator((len(right), len(right)), matvec=times, dtype=np.float64)
    return cg(curvature, right, rtol=0.0, atol=enough, maxiter=PRODUCTS)[0]
