"""The relaxations of many nodes of a search at once (`relaxation`), by operations on whole arrays: on a GPU or by BLAS.

Each row of an array is a node. Coefficients are split in two, w for the loss and z for what is paid, which multipliers
u make equal (ADMM): w = (G + t I)^-1 (c + t (z - u)) is a product with a matrix that all nodes share, and z is the prox
of the reverse Huber penalty at w + u, column by column. There the share of a column is a line in 1 / sqrt(price), cut
at 0 and 1, so that Newton steps in it, one for each step of ADMM, bring the sum of the shares to k. Columns that
explain each other, by which coordinate descent goes in small steps, cost no more steps than others. The bound of a node
is that of the plane at z, with c - G z made anew in float64, whatever led there.

Losses that are not quadratic (`true_together`) put a quadratic in their place between two bounds: c, a row for each
node then, is made anew of the slopes of the loss at z, and G is one for all.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from riata.arrays import Array, at_least, namespace, to_host
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.planes import ROUNDING, SLOPE_ROUNDING

PENALTY = 0.3  # t, of columns of unit norm: from .1 to 1 it does nearly as well
LONGER = 1.6  # steps than ADMM's own
CHECKED = 5  # steps between two bounds
LARGEST_STEP = 4.0  # of 1 / sqrt(price), as a factor, at first: less and less, so that it does not go to and fro


class Patience(NamedTuple):
    """After how many steps, or how little gain, a node is left."""

    steps: int = 60  # at most
    slow: float = 0.02  # of what is missing to the target: it gains less between two bounds, twice


class Evaluated(NamedTuple):
    """What is known at the points of nodes."""

    r: Array  # minus the slopes of the loss
    bounds: Array  # of the planes there
    loss: "SplitLoss"  # where the next steps begin


class SplitLoss(Protocol):
    """A loss whose relaxations are split in two."""

    @property
    def quadratic(self) -> "SplitQuadratic":
        """What steps are made by."""

    def at(self, points: "SplitPoints") -> Evaluated:
        """What is known at the points of these nodes."""

    def taken(self, rows: np.ndarray) -> "SplitLoss":
        """The loss of some of the nodes."""


@dataclass(frozen=True)
class SplitQuadratic:
    """loss - c'w + w'Gw / 2 with a ridge beside, which is nowhere 0, in arrays of one library."""

    G: Array
    inverse: Array  # of G + PENALTY I
    c: Array
    ridge: Array
    root: Array  # of the ridge
    loss: float

    @classmethod
    def of(cls, G: Array, c: Array, ridge: Array, loss: float, send: Any) -> "SplitQuadratic":
        """From arrays that lie where the work is done; `send` takes arrays of NumPy there."""
        xp = namespace(G)
        inverse = xp.linalg.inv(G + PENALTY * send(np.eye(G.shape[0])))
        return cls(G, inverse, c, ridge, xp.sqrt(ridge), float(loss))

    @property
    def quadratic(self) -> "SplitQuadratic":
        return self

    def at(self, points: "SplitPoints") -> Evaluated:
        r = self.c - points.z @ self.G
        xp, loss = namespace(r), self.loss
        square = 0.5 * xp.sum(points.z * (self.c - r), axis=1)
        spent = points.spent(self.ridge, xp.abs(r) + SLOPE_ROUNDING * float(np.sqrt(2.0 * loss)))
        return Evaluated(r, loss - square - ROUNDING * (loss + xp.abs(square)) - spent * (1.0 + ROUNDING), self)

    def taken(self, rows: np.ndarray) -> "SplitQuadratic":
        return self


class Relaxations(NamedTuple):
    """Relaxations: bounds, and the points of them; a row, or an entry, for each node."""

    bounds: np.ndarray
    w: np.ndarray
    r: np.ndarray  # c - G w
    shares: np.ndarray
    prices: np.ndarray


def relax_together(
    loss: SplitLoss,
    states: np.ndarray,
    k: np.ndarray,
    w: np.ndarray,
    prices: np.ndarray,
    target: float,
    send: Any = np.asarray,
    patience: Patience = Patience(),  # noqa: B008 (it does not change)
    deadline: Deadline = FOREVER,
) -> Relaxations:
    """Relaxations of nodes where k of the free columns may come in, which are more than k, from w and prices.

    A node ends early once its bound reaches the target, or hardly comes nearer to it.
    """
    found = Relaxations(np.full(len(k), -np.inf), w.copy(), np.zeros_like(w), np.zeros_like(w), prices.copy())
    rows, best, was_slow = np.arange(len(k)), found.bounds.copy(), np.zeros(len(k), dtype=bool)  # of those that go on
    there = SplitPoints.at(states, k, w, prices, send)
    r, _, loss = loss.at(there)
    there, known = replace(there, u=r / PENALTY), there.point(r)
    for n_steps in range(CHECKED, patience.steps + 1, CHECKED):
        deadline.check()
        for _ in range(CHECKED):
            there = there.after_step(loss.quadratic, LARGEST_STEP ** (CHECKED / n_steps))
        r, on_device, loss = loss.at(there)
        bounds = to_host(on_device)
        better, gain = bounds > best, bounds - best
        known = known.where(send(better.astype(np.float64)), there.point(r))
        best = np.where(better, bounds, best)
        slow = ~(gain > patience.slow * (target - best))
        ends, was_slow = (best >= target) | (slow & was_slow) | (n_steps == patience.steps), slow
        if ends.any():
            known.into(found, rows, np.flatnonzero(ends))
            found.bounds[rows[ends]] = best[ends]
            if ends.all():
                break
            on = np.flatnonzero(~ends)
            rows, best, was_slow, there, known = rows[on], best[on], slow[on], taken(there, on), taken(known, on)
            loss = loss.taken(on)
    return found


@dataclass(frozen=True)
class _Point:
    """What is kept of the best bound of each node."""

    z: Array
    r: Array
    shares: Array
    by_price: Array

    def where(self, other_is_better: Array, other: "_Point") -> "_Point":
        """The other point for nodes where that is better (1, or else 0)."""
        xp, better = namespace(self.z), other_is_better[:, None] > 0.0
        pairs = ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self))
        return _Point(*(xp.where(better, new, old) for old, new in pairs))

    def into(self, found: Relaxations, rows: np.ndarray, of: np.ndarray) -> None:
        """Put those of some nodes among what was found."""
        there = taken(self, of)
        for kept, values in zip(found[1:4], (there.z, there.r, there.shares), strict=True):
            kept[rows[of]] = to_host(values)
        found.prices[rows[of]] = 0.5 / to_host(there.by_price)[:, 0] ** 2


@dataclass(frozen=True)
class SplitPoints:
    """Where the relaxations of nodes are."""

    z: Array
    u: Array
    by_price: Array  # 1 / sqrt(2 price), a column
    shares: Array
    free: Array  # 1 for columns that are free, 0 for the others
    inside: Array  # for those that are in,
    outside: Array  # and for those that are in or free
    k: Array  # a column

    @classmethod
    def at(cls, states: np.ndarray, k: np.ndarray, w: np.ndarray, prices: np.ndarray, send: Any) -> "SplitPoints":
        """The points at the start, where multipliers are still to be made of the slopes."""
        free, inside = (send((states == number).astype(np.float64)) for number in (0, 1))
        z = send(np.where(states < 0, 0.0, w))
        by_price = send(1.0 / np.sqrt(2.0 * prices)[:, None])
        return cls(z, 0.0 * z, by_price, 0.0 * z, free, inside, free + inside, send(k.astype(np.float64)[:, None]))

    def after_step(self, quadratic: SplitQuadratic, most: float) -> "SplitPoints":
        """After a step of ADMM, and one of Newton for the prices, by a factor of no more than `most`."""
        xp, ridge, root = namespace(self.z), quadratic.ridge, quadratic.root
        w = (quadratic.c + PENALTY * (self.z - self.u)) @ quadratic.inverse
        v = LONGER * w + (1.0 - LONGER) * self.z + self.u
        size = xp.abs(v)
        pull, off = size * (root * self.free), ridge / PENALTY
        line = pull * self.by_price - off
        total = xp.sum(xp.clip(line, 0.0, 1.0), axis=1, keepdims=True)
        slope = xp.sum(xp.where((line > 0.0) & (line < 1.0), pull, 0.0 * pull), axis=1, keepdims=True)
        step = (self.k - total) / at_least(slope, 1e-300)
        factor = xp.clip(1.0 + step / self.by_price, 1.0 / most, most)
        by_price = self.by_price * factor
        shares = xp.clip(pull * by_price - off, 0.0, 1.0) + self.inside
        new = xp.where(shares < 1.0, shares / (by_price * root), size * (PENALTY / (PENALTY + ridge)))
        z = xp.where(v > 0.0, new, -new) * self.outside
        return replace(self, z=z, u=v - z, by_price=by_price, shares=shares * self.outside)

    def point(self, r: Array) -> _Point:
        return _Point(self.z, r, self.shares, self.by_price)

    def spent(self, ridge: Array, slopes: Array) -> Array:
        """What models of each node can lower planes of these slopes by."""
        reliefs = slopes * slopes / (2.0 * ridge)
        sums = namespace(slopes).sum(reliefs * self.inside, axis=1)
        return sums + _sum_of_largest(reliefs * self.free, self.k)


def _sum_of_largest(values: Array, k: Array) -> Array:
    """The sum of the k largest of each row."""
    xp, n = namespace(values), values.shape[1]
    most = int(np.max(to_host(k)))
    if hasattr(xp, "partition"):
        values = xp.partition(values, n - most, axis=1)[:, n - most :]
    largest = xp.sort(values, axis=1)[:, -most:]
    counts = xp.asarray(np.arange(most, 0, -1.0))[None, :] <= k
    return xp.sum(xp.where(counts, largest, 0.0 * largest), axis=1)


def taken(rows_of: Any, rows: np.ndarray) -> Any:
    """Some of the nodes."""
    names = [one.name for one in fields(rows_of)]
    xp = namespace(getattr(rows_of, names[0]))
    places = xp.asarray(rows)
    return type(rows_of)(*(xp.take(getattr(rows_of, name), places, axis=0) for name in names))
