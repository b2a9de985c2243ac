"""The objective, once:

    F(w, b) = (1 / sum_i s_i) sum_i s_i loss(y_i, x_i . w + b) + penalty(w)

A mean, never a sum; the intercept b is never penalised. Coefficients are in the units of the data: with
standardisation the penalty is that of the coefficients `scale * w` of columns of unit standard deviation, and
`elastic_net` puts the scales into the penalty, so that nothing here or below has to know.

Certificate. Let u_i = loss'(y_i, z_i) and g = X'(s u) / sum(s). Every u for which |g_j| <= l1_j (and sum s u = 0,
where there is an intercept) bounds the minimum from below by
    D(u) = -mean conjugate(y, u) - sum_j max(|g_j| - l1_j, 0)^2 / (2 l2_j).
A bound of a coefficient limits what its slope can gain, and so takes the place of |g_j| <= l1_j on its side.
The u of the current model is made feasible by shrinking: its positive and its negative part each by a factor that
balances their sums, then all of it until every |g_j| <= l1_j. A conjugate is convex and at most 0 at 0 (`Loss`: no
value is negative), so that conjugate(t u) <= t conjugate(u) for 0 <= t <= 1: one pass, which sums over the two parts
separately, gives a valid bound whatever the factors turn out to be.

Several margins. With `loss.n_outputs` = K > 1, w is features x K, as one long vector, b has K entries, and z_i = x_i .
w + b is a row of K margins, for each of which the loss has a derivative. Slopes come in the shape of w. To make the
sums of u over the rows 0 the loss knows a way of its own, from the empty model (`SeveralMargins.balanced`).

There `FirstOrder` does not separate the two signs of u: everything is on its positive side.

Rows that go together. With `loss.couples_rows` the loss is f(z) of all margins and no sum over rows, and u_i is its
slope in z_i. All that was said holds for it: u is shrunk as a whole, and f is convex and never negative. Two passes
give its means, see `riata.losses.coupled`. An intercept changes nothing, so that sum s u = 0 everywhere.

A kink. With `loss.smoothed` the slopes are those of a smoothed loss, which are slopes of the loss itself, too. The
bound is made with the conjugate of the loss itself, and so holds for it, however far it was smoothed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.coupled_passes import Slopes, by_output, by_rows, coupled_losses, margins_at, mean_targets, outputs_part
from riata.data.chunk import Chunk, targets_alone
from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.kernels.certificate import CANCELLED, MOVING, cost_of_bounded, slope_checks
from riata.losses import CoupledLoss, Loss, SeveralMargins
from riata.matrices.moments import VARIES
from riata.penalties import (
    Cardinality,
    ElasticNet,
    GroupCardinality,
    Numbers,
    Penalty,
    Strengths,
)
from riata.penalties.penalty import FEASIBLE, largest_ratio

SUM_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # relative error of the sums of conjugates
EQUAL_STRENGTHS = 1e-12  # strengths that differ by less, relative to the largest, count as equal
NARROWINGS = 4  # passes that locate the best constant margin, each within a hundredth of the last interval
KINK_NARROWINGS = 7  # where the loss has a kink, whose slopes change within the first width
FIRST_WIDTH = 1e-9  # of the deviation of the targets: how far the kink of a loss is smoothed for the empty model
WIDTHS = 0.3 ** np.arange(24)  # of the loss of the empty model, that are tried where it is not known which is best
WIDENINGS = 20  # how often at most the interval is extended until it contains the best constant margin
FREE_REACH = 10.0  # coefficients without any penalty are certified against all that are at most so many times as large


@dataclass(frozen=True)
class Problem:
    """What is minimised, over which data."""

    data: Dataset
    loss: Loss
    penalty: Penalty  # in the units of the data
    fit_intercept: bool = True
    scale: np.ndarray | float = 1.0  # of the columns, where the user asked to standardise
    start: "Start | None" = None  # the model of the largest alpha, where it has been found already
    empty: "Start | None" = None  # the model without features, where it has been found already
    limit: float | None = None  # of coefficients of scaled columns: bounds on models of k features are for those within

    @property
    def n_coefficients(self) -> int:
        """One for each feature and output."""
        return self.data.n_features * self.loss.n_outputs

    @property
    def standardised_strengths(self) -> tuple[float, float]:
        """l1 and l2 for the weights `scale * w` of the scaled columns, on which every feature is penalised alike."""
        strengths = self.strengths
        return (
            _only(strengths.l1 / self.scale, "l1 strength"),
            _only(strengths.l2 / np.square(self.scale), "l2 strength"),
        )

    @cached_property
    def strengths(self) -> Strengths:
        """Of all features, for solvers that need an elastic net."""
        strengths = self.penalty.strengths(self.n_coefficients)
        if strengths is None:
            raise OptionError(f"this solver needs an elastic net, not {self.penalty!r}")
        return strengths

    @property
    def cardinality(self) -> Cardinality | GroupCardinality:
        """The penalty, for solvers that need a number k of features, or of groups of them."""
        if not isinstance(self.penalty, Cardinality | GroupCardinality):
            raise OptionError(f"this solver needs a number k of features, not {self.penalty!r}")
        return self.penalty


def _only(strengths: np.ndarray, name: str) -> float:
    """The one value of these strengths, which must be equal up to rounding."""
    largest = float(np.max(strengths))
    if largest - float(np.min(strengths)) > EQUAL_STRENGTHS * largest:
        raise OptionError(f"this solver penalises all features alike, and here the {name} differs: take solver 'exact'")
    return largest


class Side(NamedTuple):
    """What one sign of u = loss' adds to X'(s u), to sum s u and to sum s conjugate(y, u)."""

    by_w: np.ndarray
    by_b: Any  # a number, or one for each output
    conjugate: float


@dataclass(frozen=True)
class FirstOrder:
    """Means over the rows at one (w, b): all that a gradient step, a screening or a certificate needs."""

    loss: float
    positive: Side
    negative: Side

    @cached_property
    def by_w(self) -> np.ndarray:
        slopes: np.ndarray = self.positive.by_w + self.negative.by_w
        return slopes

    @property
    def by_b(self) -> Any:
        return self.positive.by_b + self.negative.by_b


class Start(NamedTuple):
    """A model, and the first-order pass there."""

    w: np.ndarray
    b: Any  # a number, or one for each output
    at: FirstOrder


def elastic_net(
    alpha: float, l1_ratio: float = 1.0, scale: Numbers = 1.0, factors: Numbers = 1.0, lower: Numbers = -np.inf
) -> ElasticNet:
    """alpha sum_j factor_j (l1_ratio |v_j| + (1 - l1_ratio) / 2 v_j^2) at v = scale * w, over w >= lower."""
    return ElasticNet(l1_ratio, 1.0 - l1_ratio).at(alpha).scaled(scale, factors).within(lower, np.inf)


def mean_loss(problem: Problem, w: np.ndarray | None, b: Any) -> float:
    """The mean loss: one pass. w = None stands for w = 0."""
    value = problem.loss.value  # `part` may be sent to workers: it must not refer to the problem, which has the data
    if isinstance(problem.loss, CoupledLoss):
        return float(coupled_losses(problem.data, problem.loss, [(w, b)])[0])
    W = None if w is None else by_output(problem.loss, w)

    def part(chunk: Chunk) -> tuple[float, float]:
        z = margins_at(chunk, W, b)
        return float(chunk.weight @ value(chunk.y, z)), float(namespace(z).sum(chunk.weight))

    loss, weight = problem.data.sum(part)
    return float(loss / weight)


def objective(problem: Problem, w: np.ndarray, b: Any) -> float:
    """F(w, b): one pass."""
    return mean_loss(problem, w, b) + problem.penalty.value(w)


def first_order(problem: Problem, w: np.ndarray, b: Any) -> FirstOrder:
    """Loss, gradient and what the certificate needs at (w, b): one pass."""
    data, loss = problem.data, problem.loss
    [of_rows] = by_rows(data, loss, [(w, b)])
    return summarise(data.sum(first_order_part(of_rows, w, b)), w, b)


class SmoothedAndOwn(NamedTuple):
    """The first-order means of a loss with a kink by the slopes that it has smoothed: as the two losses see them."""

    smoothed: FirstOrder
    own: FirstOrder


def smoothed_part(loss: Loss, width: float, w: np.ndarray, b: float) -> Callable[[Chunk], tuple[Any, ...]]:
    """What a chunk adds to the first-order pass of a loss with a kink that is smoothed by a width."""
    smooth = loss.smoothed(width)
    slopes = first_order_part(smooth, w, b)

    def part(chunk: Chunk) -> tuple[Any, ...]:
        z = chunk.X.margins(w, b)
        own = _conjugates(loss, chunk, smooth.derivative(chunk.y, z))
        return slopes(chunk), float(chunk.weight @ loss.value(chunk.y, z)), own

    return part


def summarise_smoothed(sums: tuple[Any, ...], weight: float, w: np.ndarray, b: float) -> SmoothedAndOwn:
    """Means from the sums of `smoothed_part` over all chunks."""
    of_smoothed, value, (up, down) = sums
    at = summarise(of_smoothed, w, b)
    sides = at.positive._replace(conjugate=up / weight), at.negative._replace(conjugate=down / weight)
    return SmoothedAndOwn(at, FirstOrder(value / weight, *sides))


def _by_widths(problem: Problem, widths: Sequence[float], w: np.ndarray, b: float) -> list[FirstOrder]:
    """The first-order means of a loss with a kink by the slopes of each width: one pass."""
    parts = [smoothed_part(problem.loss, width, w, b) for width in widths]
    sums = problem.data.sum(lambda chunk: tuple(part(chunk) for part in parts))
    return [summarise_smoothed(one, problem.data.total_weight, w, b).own for one in sums]


def _conjugates(loss: Loss, chunk: Chunk, u: Array) -> np.ndarray:
    """The sums of the conjugates at these slopes, over those above 0 and the others."""
    xp = namespace(u)
    conjugates, nothing = chunk.weight * loss.conjugate(chunk.y, u), xp.zeros_like(u)
    return np.array([float(xp.sum(xp.where(side, conjugates, nothing))) for side in (u > 0.0, u <= 0.0)])


def best_slopes(problem: Problem, w: np.ndarray, b: float) -> FirstOrder:
    """The first-order pass at (w, b) whose slopes certify most: where the loss has a kink, there is a choice."""
    if not problem.loss.kinked:
        return first_order(problem, w, b)
    tried = _by_widths(problem, [float(width) for width in gap_unit(problem) * WIDTHS], w, b)
    return min(tried, key=lambda at: duality_gap(problem, w, at))


def _on_one_side(sums: Slopes, w: np.ndarray, b: Any) -> FirstOrder:
    """Means from sums that do not separate the two signs of slopes; the conjugate is u . z - loss (Fenchel, Young)."""
    weight, loss, by_w, by_b = sums
    conjugate = float(np.sum(by_w * w) + np.sum(by_b * b)) - loss
    everything = Side(by_w / weight, by_b / weight, conjugate / weight)
    return FirstOrder(loss / weight, everything, Side(np.zeros_like(by_w), np.zeros_like(by_b), 0.0))


FirstOrderSums = tuple[np.ndarray, np.ndarray] | Slopes  # totals and slopes, as `Matrix.first_order` returns them


def first_order_part(loss: Loss, w: np.ndarray, b: Any) -> Callable[[Chunk], FirstOrderSums]:
    """What one chunk adds to the first-order pass at (w, b)."""
    if loss.n_outputs > 1:
        return outputs_part(loss, w, b)
    w, b = np.asarray(w, dtype=np.float64), float(b)
    return lambda chunk: chunk.X.first_order(loss, chunk.y, chunk.weight, w, b)


def summarise(sums: FirstOrderSums, w: np.ndarray, b: Any) -> FirstOrder:
    """Means from the sums of `first_order_part` at (w, b) over all chunks."""
    if isinstance(sums, Slopes):
        return _on_one_side(sums, w, b)
    (weight, loss, *sides), slopes = sums
    by_b, conjugates = sides[0::2], sides[1::2]
    return FirstOrder(
        loss / weight, *(Side(slopes[i] / weight, by_b[i] / weight, conjugates[i] / weight) for i in (0, 1))
    )


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
    if by.shift.any():
        by_w += np.outer(problem.data.moments.mean, by.shift).reshape(by_w.shape)
    return FirstOrder(at.loss, Side(by_w, np.zeros_like(at.by_b), by.rise), at.negative)


def _share(part: float, whole: float) -> float:
    """part / whole, but at most 1; both are 0 or more."""
    return float(part / whole) if part < whole else float(part > 0.0)


def has_dual_bound(problem: Problem) -> bool:
    """Whether a duality gap can be certified. Otherwise a point is judged by its optimality conditions."""
    return bool({"strengths", "dual bound"} & problem.penalty.has)


def stationarity(problem: Problem, w: np.ndarray, at: FirstOrder) -> float:
    """The largest violation of an optimality condition at (w, b), each slope in the units of the scaled columns."""
    violations = problem.penalty.violation(w, at.by_w) / problem.scale
    return max(float(np.max(violations)), float(np.max(np.abs(at.by_b))) if problem.fit_intercept else 0.0)


def slope_unit(problem: Problem, start: Start) -> float:
    """The largest slope at the start: `stationarity` is reported relative to it."""
    return max(float(np.max(np.abs(start.at.by_w) / problem.scale)), 1e-300)


def empty_intercept(problem: Problem) -> Any:
    """The intercept of the model without features, or that of each output."""
    if problem.empty is not None:
        return problem.empty.b
    if isinstance(problem.loss, SeveralMargins):
        loss = problem.loss
        return loss.constant(mean_targets(problem.data, loss)) if problem.fit_intercept else np.zeros(loss.n_outputs)
    if not problem.fit_intercept:
        return 0.0
    y_mean = _target_mean(problem.data)
    constant = problem.loss.constant(y_mean)
    if constant is None:
        constant = _balanced_constant(problem)
    return float(_best_constant(problem, y_mean) if constant is None else constant)


def empty_loss(problem: Problem) -> float:
    """The mean loss of the model without features."""
    if problem.empty is not None:
        return problem.empty.at.loss
    return _constant_loss(problem, empty_intercept(problem))


def gap_unit(problem: Problem) -> float:
    """The unit of relative gaps: the empty model's loss, unless that is mere rounding, as for a constant target."""
    if problem.loss.relative:  # residuals y - z have the rounding of the target
        rounding = float(np.sum(problem.loss.value(0.0, VARIES * abs(empty_intercept(problem)))))
    elif problem.loss.n_outputs > 1:
        rounding = 0.0  # there are two classes at least
    else:
        rounding = 1e-9 * _constant_loss(problem, 0.0)
    return max(empty_loss(problem), rounding, 1e-300)


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
    spread = (
        np.sqrt(moments.y_squares / moments.weight) if loss.relative else 1.0
    )  # else y is in other units than margins
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


def empty_start(problem: Problem) -> Start:
    """The model without features: from the moments, with a first-order pass where they are not enough."""
    if problem.empty is not None:
        return problem.empty
    data, loss = problem.data, problem.loss
    w, b = np.zeros(problem.n_coefficients), empty_intercept(problem)
    if loss.kinked:
        return Start(w, b, _by_widths(problem, [_first_width(problem)], w, b)[0])
    from_moments = loss.moments_tell_slopes and not data.cheap_passes and not data.wide
    return Start(w, b, _constant_first_order(problem, b) if from_moments else first_order(problem, w, b))


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


def alpha_max(problem: Problem) -> float:
    """The smallest alpha at which no penalised feature enters the problem's start, or the empty model (then a pass).

    The problem is that of alpha = 1; thresholds are proportional to alpha.
    """
    pull, threshold = pulls(problem.penalty, (problem.start or empty_start(problem)).at.by_w)
    return largest_ratio(np.where(threshold == 0.0, 0.0, pull), threshold)


def pulls(penalty: Penalty, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(pulls, thresholds): a coefficient of 0, or a group, stays 0 while its pull is at most its threshold."""
    return penalty.pull(slope), penalty.threshold(len(slope))
