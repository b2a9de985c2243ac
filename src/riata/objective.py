"""The objective, once:

    F(w, b) = (1 / sum_i s_i) sum_i s_i loss(y_i, x_i . w + b) + penalty(w)

A mean, never a sum; the intercept b is never penalised. Coefficients are in the units of the data: with
standardisation the penalty is that of the coefficients `scale * w` of columns of unit standard deviation, and
`elastic_net` puts the scales into the penalty, so that nothing here or below has to know.

Certificate. Let u_i = loss'(y_i, z_i) and g = X'(s u) / sum(s). Every u for which |g_j| <= l1_j (and sum s u = 0,
where there is an intercept) bounds the minimum from below by
    D(u) = -mean conjugate(y, u) - sum_j max(|g_j| - l1_j, 0)^2 / (2 l2_j).
The u at hand is made feasible by shrinking: its positive and its negative part each by a factor that balances their
sums, then all of it until g fits. A conjugate is convex, so on the way from 0 to u it lies below the straight line:
one pass, which keeps the two parts apart, gives a valid bound whatever the factors turn out to be.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from riata.data.dataset import Dataset
from riata.losses import Loss
from riata.penalties import ElasticNet


@dataclass(frozen=True)
class Problem:
    """What is minimised, over which data."""

    data: Dataset
    loss: Loss
    penalty: Any  # ElasticNet or Cardinality; each solver says which it takes
    fit_intercept: bool = True
    scale: np.ndarray | float = 1.0  # of the columns, where the user asked to standardise

    @property
    def standardised_strengths(self) -> tuple[float, float]:
        """l1 and l2 for the weights `scale * w` of the scaled columns, on which every feature is penalised alike."""
        l1, l2 = self.penalty.l1 / self.scale, self.penalty.l2 / np.square(self.scale)
        return float(np.max(l1)), float(np.max(l2))


class Side(NamedTuple):
    """What one sign of u = loss' adds to X'(s u), to sum s u and to sum s (conjugate(y, u) - conjugate(y, 0))."""

    by_w: np.ndarray
    by_b: float
    conjugate: float


class FirstOrder(NamedTuple):
    """Means over the rows at one (w, b): all that a gradient step, a screening or a certificate needs."""

    loss: float
    conjugate_at_zero: float
    positive: Side
    negative: Side

    @property
    def by_w(self):
        return self.positive.by_w + self.negative.by_w

    @property
    def by_b(self):
        return self.positive.by_b + self.negative.by_b


def elastic_net(alpha, l1_ratio=1.0, scale=1.0) -> ElasticNet:
    """alpha (l1_ratio |v|_1 + (1 - l1_ratio) / 2 |v|_2^2) at v = scale * w."""
    return ElasticNet(alpha * l1_ratio * scale, alpha * (1.0 - l1_ratio) * scale**2)


def mean_loss(problem: Problem, w, b) -> float:
    """The mean loss: one pass. No w stands for w = 0."""

    def part(chunk):
        z = np.full(chunk.n_rows, b) if w is None else chunk.X @ w + b
        return chunk.weight @ problem.loss.value(chunk.y, z), chunk.weight.sum()

    loss, weight = problem.data.sum(part)
    return float(loss / weight)


def objective(problem: Problem, w, b) -> float:
    """F(w, b): one pass."""
    return mean_loss(problem, w, b) + problem.penalty.value(w)


def first_order(problem: Problem, w, b) -> FirstOrder:
    """Loss, gradient and what the certificate needs at (w, b): one pass."""

    def part(chunk):
        X, y, weight = chunk
        z = X @ w + b
        u = problem.loss.derivative(y, z)
        at_zero = problem.loss.conjugate(y, np.zeros_like(u))
        rise = weight * (problem.loss.conjugate(y, u) - at_zero)
        signs = np.stack([u > 0, u <= 0], axis=1)
        by_sign = signs * (weight * u)[:, None]
        return (
            np.array([weight.sum(), weight @ problem.loss.value(y, z), weight @ at_zero]),
            X.T @ by_sign,
            by_sign.sum(axis=0),
            rise @ signs,
        )

    (weight, loss, at_zero), by_w, by_b, rise = problem.data.sum(part)
    sides = [Side(by_w[:, i] / weight, by_b[i] / weight, rise[i] / weight) for i in (0, 1)]
    return FirstOrder(loss / weight, at_zero / weight, *sides)


def duality_gap(problem: Problem, w, at: FirstOrder) -> float:
    """F(w, b) minus a lower bound on the minimum, from the pass at (w, b)."""
    l1, l2 = problem.penalty.l1, problem.penalty.l2
    shrink_positive = shrink_negative = 1.0
    if problem.fit_intercept:
        up, down = at.positive.by_b, -at.negative.by_b
        shrink_positive, shrink_negative = min(1.0, _ratio(down, up)), min(1.0, _ratio(up, down))
    g = np.abs(shrink_positive * at.positive.by_w + shrink_negative * at.negative.by_w)
    rise = shrink_positive * at.positive.conjugate + shrink_negative * at.negative.conjugate

    def bound(shrink):
        excess = np.maximum(shrink * g - l1, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ridge = np.where(excess > 0, excess**2 / (2.0 * l2), 0.0).sum()
        return -at.conjugate_at_zero - shrink * rise - ridge

    feasible = (1.0 - 1e-14) / max(1.0, np.max(_ratio(g, l1), initial=0.0))  # inside by more than rounding
    primal = at.loss + problem.penalty.value(w)
    return float(primal - max(bound(feasible), bound(1.0)))


def _ratio(a, b):
    """a / b, with 0 / 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(np.divide(a, b), nan=0.0, posinf=np.inf)


def empty_intercept(problem: Problem) -> float:
    """The intercept of the model without features."""
    if not problem.fit_intercept:
        return 0.0
    return float(problem.loss.constant(problem.data.moments.y_mean))


def empty_loss(problem: Problem) -> float:
    """The mean loss of the model without features, against which gaps are measured: one pass over the target."""
    return mean_loss(problem, None, empty_intercept(problem))


def alpha_max(problem: Problem, l1_ratio=1.0) -> float:
    """The smallest alpha whose best model is empty: one pass (and the moments)."""
    at_zero = first_order(problem, np.zeros(problem.data.n_features), empty_intercept(problem))
    return float(np.max(np.abs(at_zero.by_w) / problem.scale)) / l1_ratio
