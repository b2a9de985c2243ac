"""Models of at most k columns for losses that are not quadratic, for `branch_and_bound`: their rows are in memory.

The relaxation of a node is found by Newton steps: each is the relaxation of the local quadratic on the columns that
matter there, as far towards it as the bound gets better. The bound is that of the plane of the true loss (`planes`).
Where columns are not too many, several nodes are relaxed at once (`true_together`), hundreds of them on a device.
"""

from collections.abc import Callable, Sequence

import numpy as np

from riata.arrays import Array, at_least, to_host
from riata.data.dataset import Dataset
from riata.objective import Problem, empty_intercept
from riata.solvers.subset.local.refit import CAREFUL_STEPS, Refits, least_curvature, solved
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.planes import ROUNDING, SLOPE_ROUNDING, Costs, balancing_shares
from riata.solvers.subset.proof.relaxation import Node, Quadratic, Relaxed
from riata.solvers.subset.proof.relaxed_together import relax_together
from riata.solvers.subset.proof.true_together import PATIENCE, Rows
from riata.threads import one_blas_thread

STEPS = 5  # of Newton;
STEPS_ALONE = 50  # of a single model, whose last digits count
SHARES_OF_STEP = (1.0, 0.5, 0.125)
INTERCEPT_STEPS = 1000  # of Newton: by exp from far out each is one unit long
PRICES, SWEEPS = 8, 15  # of a step
MATTERS = 0.3  # of the price: columns of less relief are left out of a step
ENOUGH = 1e-7  # of the loss: a step that raises the bound by less is the last
AT_ONCE = 4  # nodes,
TOGETHER_AT_ONCE, BATCH = 16, 8  # and children of them, by BLAS
ON_DEVICE_AT_ONCE = 256
LARGEST_TOGETHER = 500  # columns, by BLAS: their products are made anew for each batch
LARGEST_ON_DEVICE = 3000
WORSE = 0.02  # of the gap at the root: by more the bound of nodes together must not be worse
NUMBERS_ON_DEVICE = 1 << 25  # margins of all nodes that are relaxed at once
LEAST_PRICE = 1e-12

Send = Callable[[np.ndarray], Array]


class TrueSubsets:
    """Columns of unit deviation, in memory, with their targets and weights."""

    exact = False  # a refit ends early where classes are separated
    at_once, batch = AT_ONCE, 1

    def __init__(self, problem: Problem, k: int, deadline: Deadline = FOREVER):
        data, loss = problem.data, problem.loss
        self.k, self._loss, self._deadline = k, loss, deadline
        self.n_columns = self.n_weights = data.n_features
        X, self._y, weight = _host_arrays(data)
        self._weight = weight / weight.sum()
        self.scale, self._fit_intercept = data.moments.scale, problem.fit_intercept
        self._mean = data.moments.mean if problem.fit_intercept else np.zeros(data.n_features)
        self._X = (X - self._mean) / self.scale
        costs = Costs.of(problem)
        self.costs = Costs(costs.ridge / self.scale**2, costs.limit * self.scale, costs.groups)
        self._b = float(empty_intercept(problem))
        self._refits = Refits(problem, np.arange(data.n_features))
        self._rows: Rows | None = None  # for relaxations together

    @classmethod
    def of(
        cls, problem: Problem, k: int, objective: float, send: Send | None, deadline: Deadline = FOREVER
    ) -> "TrueSubsets":
        """Relaxed together where that can be done, and pays: on the device that `send` takes arrays to, or by BLAS."""
        subsets = cls(problem, k, deadline)
        costs, loss, n = subsets.costs, problem.loss, subsets.n_columns
        if n > (LARGEST_TOGETHER if send is None else LARGEST_ON_DEVICE) or n <= k + 1 or costs.groups is not None:
            return subsets
        if np.isfinite(costs.limit).any() or not (costs.ridge > 0.0).all():
            return subsets
        b = subsets._b if problem.fit_intercept else None
        X, y, weight = subsets._X, subsets._y, subsets._weight
        rows = Rows.of(loss, X, y, weight, costs.ridge, b, send or np.asarray)
        subsets.at_once, subsets.batch = TOGETHER_AT_ONCE, BATCH
        if send is not None:
            subsets.at_once = int(np.clip(NUMBERS_ON_DEVICE // (2 * len(X)), AT_ONCE, ON_DEVICE_AT_ONCE))
            subsets.batch = 2 * subsets.at_once
        subsets._rows = rows
        start = Node(np.zeros(n, dtype=np.int8), np.zeros(n))
        with one_blas_thread():
            alone = subsets.relaxed(start, k, objective)
            [other] = subsets.relaxed_together([start._replace(w=alone.w, price=alone.price)], [k], objective)
        if other.bound < alone.bound - WORSE * (objective - alone.bound):
            subsets._rows, subsets.at_once = None, AT_ONCE
        return subsets

    @property
    def together(self) -> "TrueSubsets | None":
        return None if self._rows is None else self

    def relaxed_together(self, nodes: Sequence[Node], k: Sequence[int], target: float) -> list[Relaxed]:
        assert self._rows is not None
        rows, states = self._rows, np.array([node.state for node in nodes])
        prices = np.maximum([node.price for node in nodes], LEAST_PRICE)
        with np.errstate(over="ignore", invalid="ignore"):  # a step may be too long
            w = rows.started(np.where(states < 0, 0.0, np.array([node.w for node in nodes])))
            found = relax_together(
                rows.about(w), states, np.array(k), w * rows.unit, prices, target, rows.send, PATIENCE, self._deadline
            )
        return [
            Relaxed(float(bound), w / rows.unit, r * rows.unit, shares, float(price))
            for bound, w, r, shares, price in zip(*found, strict=True)
        ]

    def refitted(
        self, members: np.ndarray, start: np.ndarray | None = None, below: float = np.inf
    ) -> tuple[float, np.ndarray]:
        w = np.zeros(self.n_weights)
        coef = (w if start is None else start)[members] / self.scale[members]
        fit = self._refits.fit([members], [(coef, self._b - float(self._mean[members] @ coef))], below)[0]
        w[members] = fit.coef * self.scale[members]
        return float(fit.objective), w

    def reliefs(self, relaxed: Relaxed) -> np.ndarray:
        return self.costs.reliefs(relaxed.r)

    def relaxed(self, node: Node, k: int, target: float) -> Relaxed:
        w, price = np.where(self._of_columns(node.state) < 0, 0.0, node.w), node.price
        best = self._at(node.state, k, w, price, np.zeros(len(node.state)))
        if best.bound < 0.0:  # coefficients that made up for each other, some of which are out by now
            anew = self._at(node.state, k, np.zeros_like(w), 0.0, best.shares)
            best = max(best, anew, key=lambda start: start.bound)
        careful = False
        for n_steps in range(STEPS if k > 0 else STEPS_ALONE):
            if best.bound >= target:
                break
            if k > 0:  # a single model takes a moment, and all of it is to be known
                self._deadline.check()
            aim = self._step(node.state, k, best, 0 if careful else n_steps)
            gained = best.bound
            for share in SHARES_OF_STEP:
                trial = self._at(node.state, k, best.w + share * (aim.w - best.w), aim.price, aim.shares)
                if trial.bound > best.bound:
                    best = trial
                    break
            enough = ENOUGH * abs(gained) if k > 0 else 0.0  # of single models the last digit counts
            if best.bound <= gained + enough:
                if careful or n_steps <= CAREFUL_STEPS:
                    break
                careful = True  # the least curvature was too little
        return best if best.shares.any() else best._replace(shares=self._step(node.state, k, best).shares)

    def _of_columns(self, state: np.ndarray) -> np.ndarray:
        """Whether columns are in, out or free."""
        return state

    def _at(self, state: np.ndarray, k: int, w: np.ndarray, price: float, shares: np.ndarray) -> Relaxed:
        """The relaxation that the plane at w gives, with the intercept at which slopes sum to zero."""
        with np.errstate(over="ignore", invalid="ignore"):  # a step may be too long
            found = self._plane_at(state, k, w)
        bound, slopes = found if np.isfinite(found[0]) else (-np.inf, np.zeros(len(w)))
        return Relaxed(bound, w, -slopes, shares, price)

    def _plane_at(self, state: np.ndarray, k: int, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The bound of the plane at w, and its slopes."""
        z, loss, y = self._centred(self._X @ w), self._loss, self._y
        u = self._weight * loss.derivative(y, z)
        conjugate = u * z - self._weight * loss.value(y, z)
        positive, negative = 1.0, 1.0
        if self._fit_intercept:
            positive, negative = balancing_shares(float(u[u > 0.0].sum()), float(-u[u < 0.0].sum()))
        part = np.where(u > 0.0, positive, negative)
        level = -float(part @ conjugate) - ROUNDING * float(np.abs(conjugate).sum())
        slopes = (part * u) @ self._X
        slopes += np.sign(slopes) * SLOPE_ROUNDING * np.sqrt(len(y)) * np.linalg.norm(u)
        reliefs = self.costs.reliefs(slopes)
        free = np.sort(reliefs[state == 0])[::-1][: max(k, 0)]
        spent = float(reliefs[state == 1].sum() + free.sum())
        return level - spent * (1.0 + ROUNDING), slopes

    def _centred(self, z: np.ndarray) -> np.ndarray:
        """Margins with the intercept at which slopes sum to zero."""
        if not self._fit_intercept:
            return z
        b, low, high, reach = self._b, -np.inf, np.inf, 1.0 + float(np.std(z))
        for _ in range(INTERCEPT_STEPS):
            slope = float(self._weight @ self._loss.derivative(self._y, z + b))
            curvature = self._loss.second_derivative(self._y, z + b)
            low, high = (low, b) if slope > 0.0 else (b, high)
            step = -slope / max(float(self._weight @ at_least(curvature, self._loss.least_curvature)), 1e-300)
            inside = abs(step) <= reach and low < b + step < high
            if not inside:  # a loss of changing curvature: halve the interval, or go and find its end
                step = 0.5 * (low + high) - b if np.isfinite(high - low) else -np.sign(slope) * reach
                reach *= 2.0
            if abs(step) <= 1e-15 * (1.0 + abs(b)):
                break
            b += step
        return z + b

    def _step(self, state: np.ndarray, k: int, at: Relaxed, n_steps: int = 0) -> Relaxed:
        """The relaxation of the local quadratic there, on the columns that matter."""
        reliefs = self.costs.reliefs(at.r)
        price = at.price or _following(reliefs[state == 0], k)  # that of the first step is not known
        matters = (state == 1) | (at.w != 0.0) | ((state == 0) & (reliefs > MATTERS * price))
        columns = np.flatnonzero(matters)
        quadratic = self._local(columns, at, n_steps)
        if k <= 0 and np.all(state[columns] == 1) and np.isinf(quadratic.costs.limit).all():  # a single model
            w = np.zeros(self.n_weights)
            w[columns] = solved(quadratic.G + np.diag(quadratic.costs.ridge), quadratic.c)
            return Relaxed(at.bound, w, at.r, (state == 1).astype(float), at.price)
        start = Node(state[columns], at.w[columns], at.price)
        found = quadratic.relaxed(start, k, np.inf, PRICES, SWEEPS, many=True)
        whole, shares = np.zeros(self.n_weights), np.where(state == 1, 1.0, 0.0)
        whole[columns], shares[columns] = found.w, found.shares
        return Relaxed(found.bound, whole, at.r, shares, found.price)

    def _local(self, columns: np.ndarray, at: Relaxed, n_steps: int) -> Quadratic:
        """The local quadratic of some columns at a point, after so many steps."""
        with np.errstate(over="ignore", invalid="ignore"):  # on the way to the intercept a step may be too long
            z = self._centred(self._X @ at.w)
        A = self._X[:, columns]
        D = self._weight * at_least(self._loss.second_derivative(self._y, z), least_curvature(self._loss, n_steps))
        G = A.T @ (D[:, None] * A)
        if self._fit_intercept:
            by_d = D @ A
            G -= np.outer(by_d, by_d) / max(D.sum(), 1e-300)
        G[np.diag_indices_from(G)] += 1e-10 * G.diagonal().max(initial=0.0)
        w = at.w[columns]
        c = G @ w + at.r[columns]
        value = float(self._weight @ self._loss.value(self._y, z)) + 0.5 * float(w @ G @ w) + float(w @ at.r[columns])
        return Quadratic(G, c, max(value, 1e-12), self.costs.among(columns))


def _following(reliefs: np.ndarray, k: int) -> float:
    """The largest of them after the first k; 0 where there is none."""
    return float(np.partition(reliefs, -k - 1)[-k - 1]) if 0 <= k < len(reliefs) else 0.0


def _host_arrays(data: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y and the weights of all rows, in the memory of this machine: one pass."""
    if data.cheap_passes:  # perhaps on a GPU, whose rows are not visited
        X, (y, weight) = data.gather(np.arange(data.n_features)).toarray(), data.targets()
        return np.asarray(X, dtype=np.float64), y, weight
    chunks = list(data.visit())
    X = np.concatenate([np.asarray(to_host(chunk.X.toarray()), dtype=np.float64) for chunk in chunks])
    y, weight = (np.concatenate([to_host(getattr(chunk, name)) for chunk in chunks]) for name in ("y", "weight"))
    return X, y, weight
