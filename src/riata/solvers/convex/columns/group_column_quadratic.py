"""The minimum of a quadratic of the margins with a group Lasso, along the columns of a working set.

    Q(v) = sum_i u_i m_i + D_i m_i^2 / 2 + penalty(v),   m = A (v - v0) + c

for columns that are sorted by group. Where rows are fewer than columns this costs less than the matrix of all products
of columns (`group_quadratic`). Steps go from group to group, with extrapolations in between.
"""

import numpy as np

from riata.kernels.group_columns import GroupQuadratic, sweeps_over_groups
from riata.objective import Problem
from riata.penalties import GroupLasso
from riata.solvers.convex.columns.column_descent import FLAT
from riata.solvers.convex.columns.columns import Columns
from riata.solvers.convex.columns.row_quadratic import RowQuadratic
from riata.solvers.convex.quadratics.extrapolation import extrapolated
from riata.solvers.convex.quadratics.quadratic import PROGRESS

SWEEPS = 5  # between two extrapolations, of the points after each round of so many
ROUNDS = 6  # of sweeps, between two looks at the gap
MAX_LOOKS = 300
LOOKS_AT_BEST = 10  # with groups at their best values; then by proximal steps, of which extrapolations make more
INNER_STEPS = 20  # on a group before the next, where they cost less than the way along its columns
ROUNDING = 1e-15  # of Q: a smaller gain is none


def minimise_groups_along_columns(
    problem: Problem, columns: Columns, u: np.ndarray, D: np.ndarray, v0: np.ndarray, enough: float
) -> tuple[np.ndarray, float]:
    """(v, c) whose Q is within `enough` of the least, and nearer to it than that of v0, from there.

    Rows have slopes u and curvatures D at v0.
    """
    work = _GroupDescent(problem, columns, u, D, v0)
    enough = min(enough, PROGRESS * work.gap())
    for n_looks in range(MAX_LOOKS):
        if work.gap() <= enough or not work.descend():
            break
        if n_looks == LOOKS_AT_BEST:
            work.go_on_by_proximal_steps()
    return work.v, work.constant


class _GroupDescent:
    """A point v, with the slopes t of the rows and g of the columns there."""

    def __init__(self, problem: Problem, columns: Columns, u: np.ndarray, D: np.ndarray, v0: np.ndarray) -> None:
        penalty = problem.penalty
        assert isinstance(penalty, GroupLasso)
        self.penalty, self.columns = penalty, columns
        self.rows = RowQuadratic(columns, u, D, v0, problem.fit_intercept)
        sums, squares, means = self.rows.sums, self.rows.squares, self.rows.means
        scale = np.ascontiguousarray(np.broadcast_to(np.asarray(penalty.scale, dtype=np.float64), len(v0)))
        starts = np.searchsorted(penalty.groups, np.arange(penalty.n_groups + 1))
        sizes = np.diff(starts)
        places = np.concatenate([[0], np.cumsum(sizes**2)])
        along = np.add.reduceat(columns.stored, starts[:-1]) / sizes  # entries of a column
        steps = np.where(sizes == 1, 1, np.clip(along / (2 * sizes), 1, INNER_STEPS).astype(np.int64))
        self.curvatures = squares - sums * means
        most, largest = (np.maximum.reduceat(part, starts[:-1]) for part in (self.curvatures, squares))
        self.moves = (most > FLAT * largest)[penalty.groups]
        values = np.empty(0) if penalty.by_feature.any() else np.zeros(len(v0))
        self._prepared = np.zeros(len(sizes), dtype=bool)  # the groups whose blocks are there
        self.quadratic = GroupQuadratic(
            D, sums, means, starts, places, np.empty(places[-1]), values, np.zeros(len(sizes)), steps,
            penalty.by_group, penalty.by_feature, scale,
        )  # fmt: skip
        self._room = np.empty((4, len(v0)))
        self.v = v0.copy()
        self.Q, self.t, self.constant = self._at(self.v)
        self._look()

    def _at(self, v: np.ndarray) -> tuple[float, np.ndarray, float]:
        """Q, the slopes of the rows, and the constant."""
        value, t, c = self.rows.at(v)
        return value + self.penalty.value(v), t, c

    def _look(self) -> None:
        """The slopes of the columns, from those of the rows."""
        self.g = self.rows.slopes(self.t)

    def gap(self) -> float:
        """The duality gap of Q: slopes are shrunk until no group is pulled in."""
        D, pull, threshold = self.quadratic.D, self.penalty.pull(self.g), self.penalty.threshold(len(self.v))
        free = threshold == 0.0
        share = 1.0 / max(1.0, float(np.max(pull[~free] / threshold[~free], initial=0.0)))
        squares = float(np.sum(self.t**2 / np.where(D > 0.0, D, np.inf)))
        bend = self.curvatures[free]
        gains = self.g[free] ** 2 / np.where(bend > 0.0, bend, np.inf)  # what nothing is paid for gains alone
        loose = 0.5 * (1.0 - share) ** 2 * squares
        return loose + self.penalty.value(self.v) + share * float(self.v @ self.g) + float(gains.sum())

    def descend(self) -> bool:
        """Sweeps and an extrapolation; whether they gained anything."""
        active, before = self._active(), self.Q
        self._prepare(active[~self._prepared[active]])
        mine = np.flatnonzero(np.isin(self.penalty.groups, active))
        history = [self.v[mine]]
        for _ in range(ROUNDS):
            change = sweeps_over_groups(self.columns.rows, self.quadratic, active, self.v, self.t, self._room, SWEEPS)
            self.t += change * self.quadratic.D
            history.append(self.v[mine])
        self.Q, self.t, self.constant = self._at(self.v)
        far = extrapolated(np.array(history))
        if far is not None:
            v = self.v.copy()
            v[mine] = np.where(self.v[mine] == 0.0, 0.0, far)
            Q, t, constant = self._at(v)
            if Q < self.Q:
                self.v, self.Q, self.t, self.constant = v, Q, t, constant
        self._look()
        return self.Q < before - ROUNDING * abs(before)

    def go_on_by_proximal_steps(self) -> None:
        """Where groups pull at each other, each at its best value zigzags."""
        self.quadratic = self.quadratic._replace(values=np.empty(0))
        self._prepared[:] = False

    def _prepare(self, groups: np.ndarray) -> None:
        """Make the blocks of these groups, which have not moved before."""
        q = self.quadratic
        for g in groups:
            first, last, place = q.starts[g], q.starts[g + 1], q.places[g]
            block = _products(self.columns, q.D, q.sums, q.means, first, last)
            scaled = block / np.outer(q.scale[first:last], q.scale[first:last])
            if len(q.values):
                q.values[first:last], vectors = np.linalg.eigh(scaled)
                block, q.steepness[g] = vectors.T, q.values[last - 1]
            else:
                q.steepness[g] = 1.000001 * float(np.linalg.eigvalsh(scaled)[-1])
            q.blocks[place : q.places[g + 1]] = block.ravel()
        self._prepared[groups] = True

    def _active(self) -> np.ndarray:
        """The groups that are not zero, or pulled from it."""
        pulled = (self.penalty.pull(self.g) > self.penalty.threshold(len(self.v))) & self.moves
        return np.unique(self.penalty.groups[pulled | (self.v != 0.0)])


def _products(
    columns: Columns, D: np.ndarray, sums: np.ndarray, means: np.ndarray, first: int, last: int
) -> np.ndarray:
    """Those of the columns of a group, about their means."""
    products: np.ndarray = columns.products(np.arange(first, last), D) - np.outer(means[first:last], sums[first:last])
    return products
