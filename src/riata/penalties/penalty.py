"""The interface of penalties, on which solvers, paths and reports rely.

A penalty is a function of the coefficients w in units of its own; `scaled` converts it to those of the user. Most are
sums over the features. These derive from `SeparablePenalty` and need three functions of arrays.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from riata.errors import OptionError

Numbers = np.ndarray | float  # one number, or one for every feature


FEASIBLE = 1.0 - 1e-14  # slopes are shrunk until they are feasible by more than rounding
TINY_FACTOR = 1e-100  # stands for a factor of 0 where it divides: no sum notices the difference


class Strengths(NamedTuple):
    """sum_j l1_j |w_j| + l2_j / 2 w_j^2 over lower_j <= w_j <= upper_j, perhaps infinite: what compiled loops take."""

    l1: np.ndarray
    l2: np.ndarray
    lower: np.ndarray  # 0 or below
    upper: np.ndarray  # 0 or above

    def of(self, features: np.ndarray) -> "Strengths":
        """The strengths of some features."""
        return Strengths(*(strength[features] for strength in self))


class Penalty(ABC):
    """The base class of all penalties: a function of the coefficients, or a constraint, which is 0 or infinite.

    To write a penalty, derive from `riata.penalties.SeparablePenalty`, which needs three functions of arrays; the page
    "A loss and a penalty of your own" shows how. `has` names the properties of a penalty, and every solver names those
    it needs; `riata.solvers.capabilities` lists them.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np, riata
    >>> from riata.penalties import SeparablePenalty
    >>> @dataclass(frozen=True)
    ... class Absolute(SeparablePenalty):
    ...     alpha: float = 1.0
    ...     convex = True
    ...     def values(self, w):
    ...         return self.alpha * np.abs(w)
    ...     def best_value(self, centre, curvature):
    ...         return np.sign(centre) * np.maximum(np.abs(centre) - self.alpha, 0) / curvature
    ...     def subdifferential(self, w):
    ...         return np.where(w > 0, self.alpha, -self.alpha), np.where(w < 0, -self.alpha, self.alpha)
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> own, lasso = (riata.SparseRegressor(alpha=0.1, penalty=one).fit(X, X[:, 4]) for one in (Absolute(), None))
    >>> isinstance(Absolute(), riata.Penalty), bool(np.allclose(own.coef_, lasso.coef_, atol=1e-4))
    (True, True)
    """

    convex: bool = False  # whether every stationary point of F is a minimum
    lower: Numbers = -np.inf  # it is infinite below,
    upper: Numbers = np.inf  # and above; 0 is always within

    @cached_property
    def unbounded(self) -> bool:
        """Whether no coefficient has a bound."""
        if isinstance(self.lower, float) and isinstance(self.upper, float):  # asked for by every model of a path
            return self.lower == -np.inf and self.upper == np.inf
        return bool(np.all(np.isneginf(self.lower)) and np.all(np.isposinf(self.upper)))

    @cached_property
    def boxed(self) -> bool:
        """Whether some coefficient has a bound other than 0."""
        if self.unbounded:
            return False
        bounds = np.concatenate([np.ravel(self.lower), np.ravel(self.upper)])
        return bool(np.any(np.isfinite(bounds) & (bounds != 0.0)))

    @abstractmethod
    def value(self, w: np.ndarray) -> float:
        """The penalty of these coefficients."""

    @abstractmethod
    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        """The u that minimises ``|u - v|^2 / 2 + step * value(u)``."""

    @property
    @abstractmethod
    def has(self) -> frozenset[str]:
        """Its properties, by the names of `riata.solvers.capabilities`."""

    def strengths(self, n_features: int) -> Strengths | None:
        """l1, l2 and bounds of all features, where the penalty is an elastic net; otherwise None."""
        return None

    def whole(self, features: np.ndarray) -> np.ndarray:
        """These features, and behind them those that enter with them: here none."""
        return features

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """How strongly the slopes of the loss pull coefficients away from 0, to be compared with `threshold`."""
        raise OptionError(f"{self!r} is no sum over features or groups, and a working set needs one")

    def threshold(self, n_features: int) -> np.ndarray:
        """The largest pull at which each coefficient stays 0."""
        raise OptionError(f"{self!r} is no sum over features or groups, and a working set needs one")

    def violation(self, w: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """How far each coefficient is from its optimality condition, where the loss has this slope."""
        raise OptionError(f"{self!r} has no optimality condition for single features")

    def dual_bound(self, w: np.ndarray, slope: np.ndarray, moving: np.ndarray, rise: float) -> tuple[float, float]:
        """(a bound on the least F from below, sum |slope w| of features without a penalty).

        It is for penalties that have a "dual bound". `moving` are the slopes that are more than rounding, `rise` is the
        mean conjugate of the loss, which shrinks at least as the slopes do. Features without a penalty that move from 0
        make the sum infinite.
        """
        raise OptionError(f"{self!r} has no dual bound")

    def tangent(self, w: np.ndarray) -> "Penalty":
        """A convex penalty with the same slopes at w: a step that lowers F with it lowers F, if it is short enough."""
        return self

    def at(self, alpha: float) -> Self:
        """The same penalty with strength alpha, for paths; by default it sets the field `alpha`."""
        if is_dataclass(self) and hasattr(self, "alpha"):
            return replace(self, alpha=alpha)
        raise OptionError(f"{type(self).__name__} has no strength alpha to set: give it a field alpha, or a method at")

    def within(self, lower: Numbers, upper: Numbers) -> "Penalty":
        """The penalty between these bounds of each coefficient, infinite elsewhere; most penalties take none."""
        if np.all(np.isneginf(lower)) and np.all(np.isposinf(upper)):
            return self
        raise OptionError(f"{type(self).__name__} has no bounds on coefficients")

    def scaled(self, scale: Numbers = 1.0, factors: Numbers = 1.0) -> "Penalty":
        """The penalty in the user's units: this one at scale * w, times the factor of each feature."""
        raise OptionError(f"{type(self).__name__} cannot act on scaled columns: take standardize=False")

    def formula(self, alpha: float | None, unit: str = "") -> str:
        """The penalty as part of the formula of the objective; `unit` says how columns are scaled."""
        return f" + {self if alpha is None else self.at(alpha)!r}{unit}"


class SeparablePenalty(Penalty):
    """A penalty that is a sum over the features of p(w_j), with p(0) = 0: derive from it to write your own.

    Define `values`, `best_value` and `subdifferential`, elementwise on arrays, and a field `alpha` to which the largest
    slope at which a coefficient stays 0 is proportional. The rest follows from these.
    """

    @abstractmethod
    def values(self, w: np.ndarray) -> np.ndarray:
        """p of every coefficient."""

    @abstractmethod
    def best_value(self, centre: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """The v that minimises curvature / 2 v^2 - centre v + p(v); the global minimum, not a local one."""

    @abstractmethod
    def subdifferential(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), the ends of the subdifferential of p at each coefficient; equal where p has a derivative."""

    def conjugates(self, u: np.ndarray) -> np.ndarray:
        """sup_v u v - p(v) of every coefficient, perhaps infinite. With it, convex penalties get a duality gap."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate")

    def dual_bound(self, w: np.ndarray, slope: np.ndarray, moving: np.ndarray, rise: float) -> tuple[float, float]:
        """The better bound of slopes as they are and of slopes shrunk to the thresholds; all features are penalised."""
        shares = (1.0, FEASIBLE / max(1.0, largest_ratio(self.pull(slope), self.threshold(len(slope)))))
        return max(float(-share * rise - np.sum(self.conjugates(-share * slope))) for share in shares), 0.0

    def of(self, features: np.ndarray) -> "SeparablePenalty":
        """The penalty of some features alone; override it if p differs from feature to feature."""
        return self

    def tangent(self, w: np.ndarray) -> Penalty:
        if self.convex:
            return self
        low, high = self.subdifferential(w)
        slope = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        low, high = (np.where(np.isfinite(end), end, 0.0) for end in self.subdifferential(np.zeros(len(w))))
        low = np.where(w < 0.0, slope, np.where(w > 0.0, np.minimum(low, slope), low))
        high = np.where(w > 0.0, slope, np.where(w < 0.0, np.maximum(high, slope), high))
        ends = (np.broadcast_to(np.asarray(end, dtype=np.float64), len(w)) for end in (self.lower, self.upper))
        return Tangent(low, high, *ends)

    @property
    def has(self) -> frozenset[str]:
        low, high = self.subdifferential(np.zeros(1))
        known = type(self).conjugates is not SeparablePenalty.conjugates
        # a side without a penalty bounds F only where its slope is 0 to the last bit
        bound = {"dual bound"} if known and bool(np.all((low < 0.0) & (high > 0.0))) else set()
        return frozenset({"separable step", "uniform", "no bounds", "no groups", "no l2 part"} | bound)

    def value(self, w: np.ndarray) -> float:
        return float(np.sum(self.values(w)))

    def prox(self, v: np.ndarray, step: float) -> np.ndarray:
        return self.best_value(v / step, np.full(len(v), 1.0 / step))

    def violation(self, w: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """How far each coefficient is from its optimality condition, where the loss has this slope."""
        low, high = self.subdifferential(w)
        return np.maximum(0.0, np.maximum(slope + low, -slope - high))

    def threshold(self, n_features: int) -> np.ndarray:
        """The largest pull at which a coefficient stays 0."""
        return self.subdifferential(np.zeros(n_features))[1]

    def pull(self, slope: np.ndarray) -> np.ndarray:
        """How strongly the slopes of the loss pull coefficients away from 0, to be compared with `threshold`."""
        low, high = self.subdifferential(np.zeros(len(slope)))
        with np.errstate(divide="ignore", invalid="ignore"):
            down = np.where(low < 0.0, high / -low, 1.0) * slope  # downwards, in units of the threshold upwards
        one_sided = (low == 0.0) != (high == 0.0)  # no unit turns 0 into the other threshold: count from it instead
        down = np.where(one_sided, np.where(slope > 0.0, slope + low + high, -np.inf), down)
        return np.maximum(-slope, down)

    def scaled(self, scale: Numbers = 1.0, factors: Numbers = 1.0) -> "SeparablePenalty":
        if np.ndim(scale) == 0 and np.ndim(factors) == 0 and scale == factors == 1.0:
            return self
        return Scaled(self, scale, factors)


@dataclass(frozen=True)
class Tangent(SeparablePenalty):
    """A slope on either side of 0 for each coefficient, low_j w_j below and high_j w_j above it, within bounds."""

    low: np.ndarray
    high: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    convex = True

    def values(self, w: np.ndarray) -> np.ndarray:
        values = np.where(w < 0.0, self.low, self.high) * w
        return np.where((w < self.lower) | (w > self.upper), np.inf, values)

    def best_value(self, centre: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        return np.clip((centre - np.clip(centre, self.low, self.high)) / curvature, self.lower, self.upper)

    def subdifferential(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.where(w > 0.0, self.high, self.low), np.where(w < 0.0, self.low, self.high)
        return np.where(w <= self.lower, -np.inf, low), np.where(w >= self.upper, np.inf, high)

    def of(self, features: np.ndarray) -> "Tangent":
        return Tangent(*(end[features] for end in (self.low, self.high, self.lower, self.upper)))


class Scaled(SeparablePenalty):
    """sum_j factor_j p(scale_j w_j): a penalty of coefficients in other units."""

    def __init__(self, base: SeparablePenalty, scale: Numbers, factors: Numbers):
        self.base, self.convex = base, base.convex
        self.scale, self.factors = np.broadcast_arrays(np.asarray(scale, float), np.asarray(factors, float))
        self.lower, self.upper = base.lower / self.scale, base.upper / self.scale

    @property
    def has(self) -> frozenset[str]:
        uneven = set() if np.all(self.factors == self.factors.flat[0]) else {"uniform"}
        unbounded = set() if np.all(self.factors > 0.0) else {"dual bound"}  # a feature without a penalty has none
        return self.base.has - uneven - unbounded

    def tangent(self, w: np.ndarray) -> Penalty:
        return self if self.convex else self.base.tangent(self.scale * w).scaled(self.scale, self.factors)

    def at(self, alpha: float) -> "Scaled":
        return Scaled(self.base.at(alpha), self.scale, self.factors)

    def of(self, features: np.ndarray) -> "SeparablePenalty":
        scale, factors = (x[features] if x.ndim else x for x in (self.scale, self.factors))
        return Scaled(self.base.of(features), scale, factors)

    def values(self, w: np.ndarray) -> np.ndarray:
        return _times(self.factors, self.base.values(self.scale * w))

    def best_value(self, centre: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        """In terms of u = scale * v, and divided by the factor, this is the problem of the base penalty."""
        unit = np.where(self.factors == 0.0, TINY_FACTOR, self.factors) * self.scale
        return self.base.best_value(centre / unit, curvature / (unit * self.scale)) / self.scale

    def subdifferential(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.base.subdifferential(self.scale * w)
        return _times(self.factors * self.scale, low), _times(self.factors * self.scale, high)

    def conjugates(self, u: np.ndarray) -> np.ndarray:
        return _times(self.factors, self.base.conjugates(u / (self.factors * self.scale)))

    def formula(self, alpha: float | None, unit: str = "") -> str:
        return self.base.formula(alpha, unit)

    def __repr__(self) -> str:
        return f"Scaled({self.base!r})"


def largest_ratio(a: np.ndarray, b: np.ndarray) -> float:
    """The largest a / b, with 0 / 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.divide(a, b)
    return float(np.max(np.where(np.isnan(ratio), 0.0, ratio), initial=0.0))


def _times(factor: np.ndarray, x: np.ndarray) -> np.ndarray:
    """factor * x; an infinite x, as outside a constraint, stays infinite with a factor of 0."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x), x, factor * x)
