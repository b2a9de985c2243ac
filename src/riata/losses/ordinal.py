"""Proportional odds: classes in an order, one margin a row, and cutpoints between neighbours (McCullagh, 1980).

With cutpoints t_0 < t_1 < ... the odds of class k or a lower one are exp(t_k - z), whatever k: features move all odds
alike. The loss of a row of class k is minus the logarithm of its probability, which is a sum of two logistic losses:

    softplus(z - t_k) + softplus(t_{k-1} - z) - log(1 - exp(t_{k-1} - t_k)),    softplus(u) = log(1 + exp(u)),

without the first term for the highest class, the second for the lowest, and the third for both. It is convex in z and
the cutpoints together. These have no penalty, and take part as intercepts do: f(z) is the least sum over all rows, at
the best cutpoints for their margins. So f is convex, never negative, and a constant added to all margins changes
nothing: the certificates are those of any loss of rows that go together.

Where rows have an offset, y has it beside the class, in its last axis.

One pass keeps the margins of all rows by their classes (`on_grid`), which tell the best cutpoints. The slopes of f are
those at these cutpoints. Its curvature is that of the rows, less what the cutpoints follow: a term for each of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.losses.coupled import CoupledLoss, SettledLoss
from riata.losses.functions import expit
from riata.losses.link import ORDINAL
from riata.losses.logistic import Logistic
from riata.losses.loss import Loss
from riata.losses.on_grid import N_NODES, MarginsOfClasses, Rows

BETWEEN = "<"  # classes in their order, in the name of a loss: "ordinal:low<medium<high"
NEWTON_STEPS = 100  # to the best cutpoints, at most
PRECISION = 1e-15  # of the rows' weight: a Newton step that gains less is the last one
SHORTEST = 2.0**-40  # share of a step to the best cutpoints
LOGISTIC_VARIANCE = np.pi**2 / 3.0
NO_ROWS = 1e-9  # of all weights: what a class weighs that has no rows, at the mean of the others


class Ordinal(CoupledLoss):
    """Minus the log-likelihood of classes in an order, at the best cutpoints between them."""

    name = "ordinal"
    link = ORDINAL
    tasks = ("classification",)
    ordered = True
    settles_for_others = True
    score = "log_loss"
    half_deviance = True
    words = "ordinal loss (minus the logarithm of the probability given to the true class, by proportional odds)"
    formula = (
        "<mo>−</mo><mi>log</mi><mo>(</mo><mi>&#963;</mi><mo>(</mo><msub><mi>t</mi><mi>y</mi></msub><mo>−</mo><mi>z</mi>"
        "<mo>)</mo><mo>−</mo><mi>&#963;</mi><mo>(</mo><msub><mi>t</mi><mrow><mi>y</mi><mo>−</mo><mn>1</mn></mrow></msub>"
        "<mo>−</mo><mi>z</mi><mo>)</mo><mo>)</mo>"
    )

    def __init__(self, n_classes: int = 3, order: tuple[str, ...] = ()) -> None:
        self.n_classes = n_classes  # known once the rows are
        self.order = order
        if order:
            self.name = f"{Ordinal.name}:{BETWEEN.join(order)}"

    @property
    def n_sums(self) -> int:  # type: ignore[override]
        return self.n_classes * N_NODES

    def reading(self, of: str | None = None) -> str:
        return self.link.of_number

    def of_classes(self, n_classes: int) -> Loss:
        """The loss of so many classes: of two it is the logistic one."""
        return Logistic() if n_classes == 2 else Ordinal(n_classes, self.order)

    def sums(self, y: Array, z: Array, weight: Array) -> MarginsOfClasses:
        y, z = _moved(y, z)
        rows = Rows(to_host(z), to_host(weight), to_host(y).astype(np.int64))
        return MarginsOfClasses.of(rows, self.n_classes)

    def total(self, sums: MarginsOfClasses) -> float:
        return _Profile(sums.entries, self.n_classes).least()[1] + sums.beyond

    def settled(self, sums: MarginsOfClasses) -> "GivenCutpoints":
        return GivenCutpoints(self.name, _Profile(sums.entries, self.n_classes).least()[0])


class GivenCutpoints(SettledLoss):
    """Proportional odds with known cutpoints: a loss of single rows."""

    tasks = Ordinal.tasks

    def __init__(self, name: str, cutpoints: np.ndarray) -> None:
        self.name, self.cutpoints = name, cutpoints
        self._above = np.append(cutpoints, np.inf)  # by class
        self._below = np.concatenate([[-np.inf], cutpoints])
        apart = np.diff(cutpoints)
        self._rise = np.concatenate([[0.0], _barrier(apart), [0.0]])
        self._stiffness = np.concatenate([[0.0], _barrier_curvature(apart), [0.0]])

    def value(self, y: Array, z: Array) -> Array:
        over, under = self._distances(y, z)
        return _softplus(over) + _softplus(under) + _of_class(self._rise, _moved(y, z)[0], z)

    def derivative(self, y: Array, z: Array) -> Array:
        over, under = self._distances(y, z)
        return expit(over) - expit(under)

    def second_derivative(self, y: Array, z: Array) -> Array:
        over, under = self._distances(y, z)
        return _bell(over) + _bell(under)

    def shares(self, y: Array, z: Array) -> Array:
        """A term for each cutpoint."""
        xp = namespace(z)
        over, under = self._distances(y, z)
        y, z = _moved(y, z)
        k, terms = y[:, None], xp.arange(len(self.cutpoints), dtype=y.dtype)[None, :]
        return _bell(over)[:, None] * xp.astype(k == terms, z.dtype) + _bell(under)[:, None] * xp.astype(
            k == terms + 1, z.dtype
        )

    def ties(self, y: Array, weight: Array) -> np.ndarray:
        """How stiffly each cutpoint is tied to the next, by the rows between them."""
        k = to_host(_moved(y, weight)[0]).astype(np.int64)
        stiffness: np.ndarray = np.bincount(k, to_host(weight), len(self._stiffness)) * self._stiffness
        return stiffness[1:-1]

    def _distances(self, y: Array, z: Array) -> tuple[Array, Array]:
        """How far the margin is above the cutpoint over its class, and how far below the one under it."""
        y, z = _moved(y, z)
        return z - _of_class(self._above, y, z), _of_class(self._below, y, z) - z


class _Profile:
    """The loss as a function of the cutpoints, at the margins of some rows."""

    def __init__(self, rows: Rows, n_classes: int) -> None:
        z, weight, k = rows
        by_class = np.bincount(k, weight, n_classes)
        total = float(by_class.sum())
        lacking = np.flatnonzero(by_class <= 0.0)  # as in a fold
        if len(lacking):
            z = np.append(z, np.full(len(lacking), float(weight @ z) / total))
            weight, k = np.append(weight, np.full(len(lacking), NO_ROWS * total)), np.append(k, lacking)
            by_class = np.bincount(k, weight, n_classes)
        below, above = k < n_classes - 1, k > 0  # rows with a cutpoint over their class, and with one under it
        self._z = np.concatenate([z[below], z[above]])
        self._weight = np.concatenate([weight[below], weight[above]])
        self._cut = np.concatenate([k[below], k[above] - 1])
        self._sign = np.repeat([1.0, -1.0], [np.count_nonzero(below), np.count_nonzero(above)])
        self._between, self._total, self._n = by_class[1:-1], total, n_classes - 1
        self._start = _first_guess(z, weight, np.cumsum(by_class)[:-1] / by_class.sum())

    def least(self) -> tuple[np.ndarray, float]:
        """The best cutpoints, and the loss there: Newton steps, cut short where they would put them out of order."""
        t, value = self._start, self._value(self._start)
        for _ in range(NEWTON_STEPS):
            slope, curvature = self._derivatives(t)
            step = -np.linalg.solve(curvature, slope)
            gain, size = -float(slope @ step), 1.0
            if not gain > PRECISION * self._total:
                return t + step if np.all(np.diff(t + step) > 0.0) else t, value
            while size > SHORTEST:
                to = t + size * step
                if np.all(np.diff(to) > 0.0) and (lower := self._value(to)) <= value - 1e-4 * size * gain:
                    t, value = to, lower
                    break
                size *= 0.5
            else:
                break
        return t, value

    def _value(self, t: np.ndarray) -> float:
        rows = self._weight @ _softplus(self._sign * (self._z - t[self._cut]))
        return float(rows + self._between @ _barrier(np.diff(t)))

    def _derivatives(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        over, apart = self._sign * (self._z - t[self._cut]), np.diff(t)
        slope = -np.bincount(self._cut, self._weight * self._sign * expit(over), self._n)
        pull = self._between * _barrier_slope(apart)
        slope[1:] += pull
        slope[:-1] -= pull
        curvature = np.bincount(self._cut, self._weight * _bell(over), self._n)
        return slope, with_ties(curvature, self._between * _barrier_curvature(apart))


def _first_guess(z: np.ndarray, weight: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Cutpoints that leave these shares of the rows below: those of the margins where these tell most of it, and
    otherwise those of the logistic distribution about them."""
    order = np.argsort(z)
    so_far = np.cumsum(weight[order])
    at = np.searchsorted(so_far, share * so_far[-1]).clip(max=len(z) - 1)
    mean = float(weight @ z) / float(weight.sum())
    variance = max(float(weight @ (z - mean) ** 2) / float(weight.sum()), 0.0)
    told = variance / (variance + LOGISTIC_VARIANCE)
    odds: np.ndarray = np.log(share) - np.log1p(-share)
    return (1.0 - told) * (mean + odds) + told * np.maximum.accumulate(z[order][at])


def with_ties(diagonal: np.ndarray, ties: np.ndarray) -> np.ndarray:
    """The matrix of this diagonal, where each entry is tied to the next by a spring of this strength."""
    H = np.diag(diagonal)
    i = np.arange(len(ties))
    H[i, i] += ties
    H[i + 1, i + 1] += ties
    H[i, i + 1] -= ties
    H[i + 1, i] -= ties
    return H


def _moved(y: Array, z: Array) -> tuple[Array, Array]:
    """The classes of rows, and their margins with the offsets, where they have any."""
    return (y, z) if y.ndim == 1 else (y[..., 0], z + y[..., 1])


def _of_class(each: np.ndarray, y: Array, z: Array) -> Array:
    """The number of the class of every row, in arrays like z."""
    xp = namespace(z)
    return xp.take(xp.asarray(each, dtype=z.dtype), xp.astype(y, xp.int64), axis=0)


def _softplus(u: Array) -> Array:
    xp = namespace(u)
    return xp.where(u > 0.0, u, xp.zeros_like(u)) + xp.log1p(xp.exp(-abs(u)))


def _bell(u: Array) -> Array:
    """The derivative of 1 / (1 + exp(-u))."""
    tail = namespace(u).exp(-abs(u))
    return tail / (1.0 + tail) ** 2


def _barrier(apart: np.ndarray) -> np.ndarray:
    """-log(1 - exp(-d)) for neighbouring cutpoints that are d apart."""
    return -np.log(-np.expm1(-apart))


def _barrier_slope(apart: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        slope: np.ndarray = -1.0 / np.expm1(apart)
    return slope


def _barrier_curvature(apart: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        curvature: np.ndarray = 0.25 / np.sinh(0.5 * apart) ** 2
    return curvature


def in_this_order(labels: Sequence[Any]) -> Ordinal:
    """The loss of these classes, the lowest first."""
    return Ordinal(len(labels), tuple(map(str, labels)))


def ordinal_of(parameter: str) -> Ordinal | None:
    """The loss of classes in this order, as "low<medium<high" names it; None where it does not."""
    order: Any = tuple(label.strip() for label in parameter.split(BETWEEN))
    fine = len(order) > 1 and all(order) and len(set(order)) == len(order)
    return Ordinal(len(order), order) if fine else None
