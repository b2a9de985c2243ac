"""Features that differ by too little for a search of k to put them together, and what that may have cost.

A search on products of columns does not take two features of which one leaves less than COLLINEAR of the other: there
are no digits for that. Large coefficients of opposite signs might still explain more by what they differ by. Here this
difference is made from the rows, where it has all its digits, and takes part in one step from the model that was found.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from riata.arrays import to_host
from riata.data.chunk import Chunk, added
from riata.objective import Problem, gap_unit
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.local_rows import LocalRows
from riata.solvers.subset.search.subset import COLLINEAR
from riata.solvers.subset.search.swap_outlook import Outlook

MOST = 64  # that are looked at
NO_OTHER = -1
NONE_CLOSE = np.empty((0, 2), dtype=np.int64)
CHEAP = 1e8  # multiplications: where all products of columns take no more, all pairs are compared
MANY_PAIRS = 20  # members: of more, those that cost least leave together
ROUNDING = 1e-13  # of a column's numbers: what is less is no difference
WORTH = 1e-6  # of the empty model's loss: what gains less is not told
HAS_A_PART = 1e-2  # of a column's spread: what has less of it is not named


class Apart(NamedTuple):
    """A feature that would have lowered the objective beside others that are nearly the same."""

    feature: int
    others: tuple[int, ...]  # that explain it
    distance: float  # what they leave of it, as a share of its spread
    gain: float  # of the objective


def close_features(model: LocalQuadratic, support: np.ndarray, outlook: Outlook) -> np.ndarray:
    """Pairs: a feature that the support explains and NO_OTHER, or two candidates outside it that explain each other."""
    by_support = np.column_stack([outlook.close, np.full(len(outlook.close), NO_OTHER)])
    places = np.flatnonzero(~np.isin(model.candidates, np.append(support, outlook.close)))
    H, varies = model.products[np.ix_(places, places)], model.diagonal[model.candidates[places]] > 0.0
    first, second = np.nonzero(np.triu((H**2 >= 1.0 - COLLINEAR) & varies[:, None] & varies[None, :], 1))
    pairs = model.candidates[places[np.column_stack([second, first])]]
    return np.vstack([by_support, pairs])


def kept_apart(problem: Problem, w: np.ndarray, b: float, close: np.ndarray | None) -> list[Apart]:
    """The features among the `close` ones that would have lowered the objective, the best first: two passes.

    Where `close` is None, two more passes find out which features are close.
    """
    support = np.setdiff1d(np.flatnonzero(w), problem.always_in)
    if close is None:
        n, d = problem.data.n_rows, problem.data.n_features
        model = LocalQuadratic.at(problem, w, b, np.arange(d if n * d**2 <= CHEAP else 0))
        close = close_features(model, support, model.outlook(support, problem.cardinality.k))
    if len(close) == 0:
        return []
    found = list(_Differences(problem, w, b, close[:MOST]).worth_telling())
    return sorted(found, key=lambda one: -one.gain)


@dataclass(frozen=True)
class _Rows:
    """What rows add up of columns and of what others leave of them."""

    at: LocalRows
    base: np.ndarray  # the columns that explain
    columns: np.ndarray  # those that are explained,
    share: np.ndarray  # by so much of each column of the base and of a constant, a column each

    def sums(self, chunk: Chunk) -> tuple[np.ndarray, ...]:
        """Products of the base, with what is left and of that itself; slopes of both; squares of the columns."""
        _, u, D = (to_host(values) for values in self.at.at(chunk))
        blocks = chunk.X.blocks(len(self.base) + 2 * len(self.columns) + 1)
        return added(self._of(chunk, rows, u[rows], D[rows]) for rows in blocks)

    def _of(self, chunk: Chunk, rows: slice, u: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, ...]:
        shift, whole = self.at.shift, to_host(chunk.X.columns(self.columns, rows))
        base = np.column_stack([np.ones(len(D)), to_host(chunk.X.columns(self.base, rows)) - shift[self.base]])
        left = whole - shift[self.columns] - base @ self.share
        weighted = D[:, None] * base
        return (
            weighted.T @ base, weighted.T @ left, D @ left**2, u @ base, u @ left, D @ whole**2,
        )  # fmt: skip


class _Differences:
    """What the features of a model, or one more, leave of others, and what that gains."""

    def __init__(self, problem: Problem, w: np.ndarray, b: float, close: np.ndarray) -> None:
        self._problem, self._w, self._close = problem, w, close
        self._members = np.flatnonzero(w)
        self.base = np.append(self._members, np.setdiff1d(close[:, 1], [NO_OTHER]))
        d, data = problem.data.n_features, problem.data
        at = LocalRows(problem.loss, w, b, data.moments.mean if problem.fit_intercept else np.zeros(d))
        none = np.zeros((len(self.base) + 1, len(close)))
        self._G, products, squares, *_ = data.sum(_Rows(at, self.base, close[:, 0], none).sums)
        self.spread = np.sqrt(np.maximum(squares - self._of_constant(products[0]), 0.0))
        self._share = np.column_stack([self._explained(j, products[:, j]) for j in range(len(close))])
        sums = data.sum(_Rows(at, self.base, close[:, 0], self._share).sums)
        _, self._left, self._square, self._by_base, self._by_left, self._numbers = sums

    def _of_constant(self, sums: np.ndarray) -> np.ndarray:
        """What the constant explains of squares."""
        return sums**2 / self._G[0, 0] if self._problem.fit_intercept else np.zeros(len(sums))

    def _own(self, j: int) -> np.ndarray:
        """The places in the base of what explains a feature."""
        constant = [0] if self._problem.fit_intercept else []
        other = np.flatnonzero(self.base == self._close[j, 1]) + 1  # none for NO_OTHER
        return np.array([*constant, *range(1, len(self._members) + 1), *other], dtype=np.int64)

    def _explained(self, j: int, products: np.ndarray) -> np.ndarray:
        share, own = np.zeros(len(products)), self._own(j)
        unit = np.sqrt(np.maximum(self._G.diagonal()[own], 1e-300))
        G = self._G[np.ix_(own, own)] / unit / unit[:, None]
        share[own] = np.linalg.lstsq(G, products[own] / unit, rcond=None)[0] / unit
        return share

    def worth_telling(self) -> Iterator[Apart]:
        """The features whose gain is worth telling."""
        enough = WORTH * gap_unit(self._problem)
        for j, (feature, _) in enumerate(self._close):
            if self._square[j] <= ROUNDING**2 * self._numbers[j] or self.spread[j] == 0.0:
                continue
            if (gain := self._gain(j)) > enough:
                distance = float(np.sqrt(self._square[j]) / self.spread[j])
                yield Apart(int(feature), self._others(j), distance, gain)

    def _others(self, j: int) -> tuple[int, ...]:
        """The features that have a part in this one, the largest first."""
        part = np.abs(self._share[1:, j]) * np.sqrt(self._G.diagonal()[1:])
        there = np.flatnonzero(part > HAS_A_PART * self.spread[j])
        return tuple(int(one) for one in self.base[there[np.argsort(-part[there], kind="stable")]])

    def _gain(self, j: int) -> float:
        """What a step with this difference gains, to second order, as many members leaving as have to."""
        own, n = self._own(j), self._problem.data.total_weight
        columns = np.append(-1, self.base)[own]  # -1: the constant
        ridge, w = np.where(columns < 0, 0.0, self._ridge[columns]), np.where(columns < 0, 0.0, self._w[columns])
        own_ridge = self._ridge[self._close[j, 0]] * (1.0 + np.sum(self._share[1:, j] ** 2))
        H = np.block([
            [self._G[np.ix_(own, own)] / n + np.diag(ridge), self._left[own, j][:, None] / n],
            [self._left[own, j][None, :] / n, np.array([[self._square[j] / n + own_ridge]])],
        ])  # fmt: skip
        slope = np.append(self._by_base[own] / n + ridge * w, self._by_left[j] / n)
        unit = np.sqrt(H.diagonal())
        try:
            A = np.linalg.inv(H / unit / unit[:, None])
        except np.linalg.LinAlgError:
            return 0.0
        step = -A @ (slope / unit)
        gain = -0.5 * float(slope / unit @ step)
        ends = np.append(w, 0.0) * unit + step
        # a member has left when the difference has taken its coefficient away, too
        leaving = np.eye(len(ends))[:-1]
        leaving[:, -1] = -self._share[own, j] * unit[:-1] / unit[-1]
        return gain - self._least_cost(A, ends, leaving, columns, 1 if self._close[j, 1] == NO_OTHER else 2)

    def _least_cost(
        self, A: np.ndarray, ends: np.ndarray, leaving: np.ndarray, columns: np.ndarray, n_new: int
    ) -> float:
        """What it costs that members leave: as many as new features have no room for."""
        may_leave = np.flatnonzero(np.isin(columns, np.setdiff1d(self._members, self._problem.always_in)))
        n_leaving = len(may_leave) + n_new - self._problem.cardinality.k
        if n_leaving <= 0:
            return 0.0
        if n_leaving > len(may_leave):
            return np.inf
        single = [_cost(A, ends, leaving[[one]]) for one in may_leave]
        cheapest = may_leave[np.argsort(single, kind="stable")][:MANY_PAIRS]
        return min(_cost(A, ends, leaving[list(some)]) for some in combinations(cheapest, n_leaving))

    @property
    def _ridge(self) -> np.ndarray:
        return np.broadcast_to(np.asarray(self._problem.cardinality.l2, dtype=np.float64), self._w.shape)


def _cost(A: np.ndarray, ends: np.ndarray, leaving: np.ndarray) -> float:
    """What it costs to make some combinations of the ends of a step 0."""
    missed = leaving @ ends
    return 0.5 * float(missed @ np.linalg.lstsq(leaving @ A @ leaving.T, missed, rcond=None)[0])
