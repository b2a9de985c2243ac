"""How far a point can be from the minimum: a duality gap, or how far its optimality conditions are violated."""

import numpy as np

from riata.kernels.certificate import CANCELLED, MOVING, cost_of_bounded, slope_checks
from riata.losses import SeveralMargins
from riata.matrices.moments import varies
from riata.objective.empty_model import empty_start, gap_unit
from riata.objective.passes import first_order
from riata.objective.problem import FirstOrder, Problem, Side, Start
from riata.objective.smoothed_passes import by_widths
from riata.penalties import Penalty
from riata.penalties.penalty import FEASIBLE, largest_ratio

SUM_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # relative error of the sums of conjugates
FREE_REACH = 10.0  # coefficients without any penalty are certified against all that are at most so many times as large
WIDTHS = 0.3 ** np.arange(24)  # of the loss of the empty model, that are tried where it is not known which is best


def duality_gap(problem: Problem, w: np.ndarray, at: FirstOrder) -> float:
    """F(w, b) minus a lower bound on the minimum, from the pass at (w, b)."""
    penalty = problem.penalty
    shrink_positive = shrink_negative = 1.0
    F = at.loss + penalty.value(w)
    if isinstance(problem.loss, SeveralMargins):
        at = _balanced(problem, problem.loss, at) if problem.fit_intercept else at
    elif problem.fit_intercept and not problem.loss.couples_rows:
        up, down = at.positive.by_b, abs(at.negative.by_b)
        shrink_positive, shrink_negative = _share(down, up), _share(up, down)
    rise = shrink_positive * at.positive.conjugate + shrink_negative * at.negative.conjugate
    free = 0.0
    if "strengths" not in penalty.has:
        slope = shrink_positive * at.positive.by_w + shrink_negative * at.negative.by_w
        size = np.abs(at.positive.by_w) + np.abs(at.negative.by_w)
        slope = np.where(np.abs(slope) <= CANCELLED * size, 0.0, slope)
        bound, free = penalty.dual_bound(w, slope, np.abs(slope) > MOVING * size, rise)
    else:
        sides, strengths = (at.positive.by_w, at.negative.by_w), problem.strengths
        largest, cost, free = slope_checks(*sides, shrink_positive, shrink_negative, *strengths, w)
        feasible = FEASIBLE / max(1.0, largest)
        shrunk_cost = 0.0
        if penalty.boxed:
            slope = shrink_positive * at.positive.by_w + shrink_negative * at.negative.by_w
            shrunk_cost = cost_of_bounded(slope, feasible, *strengths)
        # slopes shrunk until |g_j| <= l1_j but for bounded coefficients, or the excess paid by l2
        bound = max(-feasible * rise - shrunk_cost, -rise - cost)
    rounded = SUM_ROUNDING * (abs(at.positive.conjugate) + abs(at.negative.conjugate))  # the two may nearly cancel
    return float(F - bound + FREE_REACH * free + rounded)


def _balanced(problem: Problem, loss: SeveralMargins, at: FirstOrder) -> FirstOrder:
    """Slopes u that are near those of this pass, and whose sums over the rows are 0."""
    empty = problem.empty or empty_start(problem)
    by = loss.balanced(at.by_b, empty.b, at.positive.conjugate)
    by_w = by.keep * at.by_w
    if by.empty:
        by_w += by.empty * empty.at.by_w.reshape(by_w.shape)
    moments = problem.data.moments
    if by.shift.any():
        by_w += np.outer(moments.mean, by.shift).reshape(by_w.shape)
    constant = ~varies(np.sqrt(moments.squares / moments.weight), moments.mean)
    if constant.any():  # what is left of the slope of a constant column is rounding: the sum of u is 0
        by_w = np.where(np.repeat(constant, loss.n_outputs), 0.0, by_w)
    return FirstOrder(at.loss, Side(by_w, np.zeros_like(at.by_b), by.rise), at.negative)


def _share(part: float, whole: float) -> float:
    """part / whole, but at most 1; both are 0 or more."""
    return float(part / whole) if part < whole else float(part > 0.0)


def has_dual_bound(problem: Problem) -> bool:
    """Whether a duality gap can be certified. Otherwise a point is judged by its optimality conditions."""
    return bool({"strengths", "dual bound"} & problem.penalty.has)


def stationarity(problem: Problem, w: np.ndarray, at: FirstOrder) -> float:
    """The largest violation of an optimality condition at (w, b), each slope in the units of the scaled columns."""
    violations = problem.penalty.violation(w, at_best_intercept(problem, at)) / problem.scale
    return max(float(np.max(violations)), float(np.max(np.abs(at.by_b))) if problem.fit_intercept else 0.0)


def at_best_intercept(problem: Problem, at: FirstOrder) -> np.ndarray:
    """The slopes of the loss once the intercept has followed, to first order.

    Of a column that is far from zero the slope itself is mostly what is left to do about the intercept.
    """
    if not problem.fit_intercept or problem.loss.couples_rows or not np.any(at.by_b):
        return at.by_w
    return at.by_w - np.multiply.outer(problem.data.moments.mean, at.by_b).reshape(at.by_w.shape)


def slope_unit(problem: Problem, start: Start) -> float:
    """The largest slope at the start: `stationarity` is reported relative to it."""
    return max(float(np.max(np.abs(start.at.by_w) / problem.scale)), 1e-300)


def best_slopes(problem: Problem, w: np.ndarray, b: float) -> FirstOrder:
    """The first-order pass at (w, b) whose slopes certify most: where the loss has a kink, there is a choice."""
    if not problem.loss.kinked:
        return first_order(problem, w, b)
    tried = by_widths(problem, [float(width) for width in gap_unit(problem) * WIDTHS], w, b)
    return min(tried, key=lambda at: duality_gap(problem, w, at))


def alpha_max(problem: Problem) -> float:
    """The smallest alpha at which no penalised feature enters the problem's start, or the empty model (then a pass).

    The problem is that of alpha = 1; thresholds are proportional to alpha.
    """
    pull, threshold = pulls(problem.penalty, (problem.start or empty_start(problem)).at.by_w)
    return largest_ratio(np.where(threshold == 0.0, 0.0, pull), threshold)


def pulls(penalty: Penalty, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(pulls, thresholds): a coefficient of 0, or a group, stays 0 while its pull is at most its threshold."""
    return penalty.pull(slope), penalty.threshold(len(slope))
