"""The model without features: its intercept, its loss, and slopes that tell which features enter first."""

from collections.abc import Callable
from typing import Any

import numpy as np

from riata.arrays import namespace, to_host
from riata.coupled_passes import mean_targets
from riata.data.chunk import Chunk, targets_alone
from riata.data.dataset import Dataset
from riata.losses import Loss, SeveralMargins
from riata.matrices.moments import VARIES
from riata.objective.passes import first_order, mean_loss
from riata.objective.problem import FirstOrder, Problem, Side, Start
from riata.objective.smoothed_passes import by_widths

NARROWINGS = 4  # passes that locate the best constant margin, each within a hundredth of the last interval
KINK_NARROWINGS = 7  # where the loss has a kink, whose slopes change within the first width
FIRST_WIDTH = 1e-9  # of the deviation of the targets: how far the kink of a loss is smoothed for the empty model
GAP_UNIT, EMPTY_INTERCEPT = "gap unit", "empty intercept"  # the names that they are kept under
WIDENINGS = 20  # how often at most the interval is extended until it contains the best constant margin


def empty_intercept(problem: Problem) -> Any:
    """The intercept of the model without features, or that of each output."""
    if problem.empty is not None:
        return problem.empty.b
    if isinstance(problem.loss, SeveralMargins):
        loss = problem.loss
        return loss.constant(mean_targets(problem.data, loss)) if problem.fit_intercept else np.zeros(loss.n_outputs)
    if not problem.fit_intercept:
        return 0.0
    if EMPTY_INTERCEPT not in problem.kept:  # it may take passes
        y_mean = _target_mean(problem.data)
        constant = problem.loss.constant(y_mean)
        if constant is None:
            constant = _balanced_constant(problem)
        problem.kept[EMPTY_INTERCEPT] = float(_best_constant(problem, y_mean) if constant is None else constant)
    return problem.kept[EMPTY_INTERCEPT]


def empty_loss(problem: Problem) -> float:
    """The mean loss of the model without features."""
    if problem.empty is not None:
        return problem.empty.at.loss
    return _constant_loss(problem, empty_intercept(problem))


def gap_unit(problem: Problem) -> float:
    """The unit of relative gaps: the empty model's loss, unless that is mere rounding, as for a constant target."""
    if GAP_UNIT not in problem.kept:  # it takes passes, and is asked for at every step
        problem.kept[GAP_UNIT] = _gap_unit(problem)
    return problem.kept[GAP_UNIT]


def _gap_unit(problem: Problem) -> float:
    if problem.loss.relative:  # residuals y - z have the rounding of the target
        rounding = float(np.sum(problem.loss.value(0.0, VARIES * abs(empty_intercept(problem)))))
    elif problem.loss.n_outputs > 1:
        rounding = 0.0  # there are two classes at least
    else:
        rounding = 1e-9 * _constant_loss(problem, 0.0)
    return max(empty_loss(problem), rounding, 1e-300)


def empty_start(problem: Problem) -> Start:
    """The model without features: from the moments, with a first-order pass where they are not enough."""
    if problem.empty is not None:
        return problem.empty
    data, loss = problem.data, problem.loss
    w, b = np.zeros(problem.n_coefficients), empty_intercept(problem)
    if loss.kinked:
        return Start(w, b, by_widths(problem, [_first_width(problem)], w, b)[0])
    from_moments = loss.moments_tell_slopes and not data.cheap_passes and not data.wide
    return Start(w, b, _constant_first_order(problem, b) if from_moments else first_order(problem, w, b))


def _constant_loss(problem: Problem, b: Any) -> float:
    """The mean loss of a constant margin."""
    data = problem.data
    if problem.loss.n_outputs > 1:
        return mean_loss(problem, None, b)
    if problem.loss.labels and problem.loss.moments_tell_slopes:
        # the targets are -1 and +1, and their mean says how many are +1
        share = 0.5 * (1.0 + _target_mean(data))
        return float(share * problem.loss.value(1.0, b) + (1.0 - share) * problem.loss.value(-1.0, b))
    if problem.loss.quadratic and not data.cheap_passes:
        moments = data.target_moments
        return float(0.5 * (moments.y_squares / moments.weight + (moments.y_mean - b) ** 2))
    if data.cheap_passes and not problem.loss.couples_rows and (of_rows := data.targets())[0].ndim == 1:
        y, weight = of_rows  # without offsets they are all that counts
        return float(weight @ problem.loss.value(y, b) / weight.sum())
    return mean_loss(problem, None, b)


def _target_mean(data: Dataset) -> float:
    """The weighted mean of the target, without the moments of X where that is cheaper."""
    if not data.cheap_passes:
        return float(data.target_moments.y_mean)
    y, weight = data.targets()
    return float(weight @ targets_alone(y) / weight.sum())


def _balanced_constant(problem: Problem) -> Any:
    """The best constant margin where two sums over the rows tell it, in one pass; None where they do not."""
    loss = problem.loss

    def part(chunk: Chunk) -> tuple[float, float]:
        up, down = loss.balance(chunk.y)
        return float(chunk.weight @ up), float(chunk.weight @ down)

    if loss.power is None:
        return None
    up, down = problem.data.sum(part)
    return loss.link.inverse(up / down)


def _best_constant(problem: Problem, mean_y: float) -> float:
    """Where the mean slope of the loss is zero: a few passes, each of which evaluates it on a grid of margins."""
    data, loss, moments = problem.data, problem.loss, problem.data.target_moments
    kinked = loss.kinked
    if kinked:
        loss = loss.smoothed(_first_width(problem))
    # targets are in the units of margins only where the loss is one of their difference
    spread = np.sqrt(moments.y_squares / moments.weight) if loss.relative else 1.0
    guess = float(loss.link.inverse(mean_y))
    low, high = guess - 2.0 * spread, guess + 2.0 * spread  # a median is within one deviation of the mean
    grid, slopes = _slopes_on_grid(data, loss, low, high)
    for _ in range(WIDENINGS):
        if slopes[0] <= 0.0 <= slopes[-1]:
            break
        step = 2.0 * (high - low)
        low, high = low - step * (slopes[0] > 0.0), high + step * (slopes[-1] < 0.0)
        grid, slopes = _slopes_on_grid(data, loss, low, high)
    for narrowing in range(KINK_NARROWINGS if kinked else NARROWINGS):
        if narrowing:
            grid, slopes = _slopes_on_grid(data, loss, low, high)
        above = int(np.clip(np.searchsorted(slopes, 0.0), 1, len(grid) - 1))
        low, high = grid[above - 1], grid[above]
    rise = slopes[above] - slopes[above - 1]
    return float(low if not 0.0 < rise < np.inf else low - slopes[above - 1] * (high - low) / rise)


def _first_width(problem: Problem) -> float:
    """How far the kink of a loss is smoothed for the empty model."""
    moments = problem.data.target_moments
    return max(FIRST_WIDTH * float(np.sqrt(moments.y_squares / moments.weight)), 1e-300)


def _slopes_on_grid(data: Dataset, loss: Loss, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """A grid of constant margins from `low` to `high`, and the slope of the loss at each: one pass."""
    grid = np.linspace(low, high, 100)
    return grid, data.sum(_slopes_at(loss, grid))


def _slopes_at(loss: Loss, grid: np.ndarray) -> Callable[[Chunk], np.ndarray]:
    """What a chunk adds to the slope of the loss at each of these margins."""

    def part(chunk: Chunk) -> np.ndarray:
        z = namespace(chunk.y).asarray(grid)
        with np.errstate(over="ignore"):  # at margins far from the best one
            return to_host(chunk.weight @ loss.derivative(chunk.y[:, None, ...], z[None, :]))

    return part


def _constant_first_order(problem: Problem, b: float) -> FirstOrder:
    """The first-order means of a constant margin b from the moments alone, where its slopes are u = p + q y.

    Moments do not separate the two signs of u. Two halves that differ by as much as the signs may differ serve as well:
    where there is an intercept, sum s u = 0 and neither is shrunk.
    """
    moments, ends = problem.data.moments, problem.loss.derivative(np.array([1.0, -1.0]), b)
    p, q = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[0] - ends[1])
    mean = p + q * moments.y_mean
    by_w = mean * moments.mean + q * moments.cross / moments.weight
    spread = abs(q) * np.sqrt(moments.y_squares / moments.weight)
    largest = np.sqrt(moments.squares / moments.weight) * spread  # by Cauchy and Schwarz
    loss = _constant_loss(problem, b)
    halves = [
        Side(0.5 * (by_w + sign * largest), 0.5 * (mean + sign * spread), 0.5 * (mean * b - loss)) for sign in (1, -1)
    ]
    return FirstOrder(loss, *halves)
