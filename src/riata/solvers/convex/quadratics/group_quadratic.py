"""The minimum of a quadratic whose matrix is in memory, with a group Lasso or a sparse-group Lasso.

    Q(v) = slope . (v - w) + (v - w)'H(v - w) / 2 + penalty(v)

Block coordinate descent finds the groups and the signs (each block at its best at once, or by proximal steps where
single coefficients have a penalty of their own), Newton steps on the coordinates that are not zero, where the
penalty has a curvature of its own, find the values.
"""

import math
from itertools import pairwise

import numpy as np

from riata.kernels.blocks import descend_best_blocks, descend_blocks
from riata.penalties import GroupLasso
from riata.solvers.convex.quadratics.quadratic import IN_A_ROW, PROGRESS, solve_nearly

SWEEPS = 5  # between two Newton steps
MAX_ROUNDS = 300
SHARES = 0.5 ** np.arange(12)  # that are tried of a Newton step
ROUNDING = 1e-15  # of Q: a smaller gain is none
PAST_ZERO = 1.0 + 1e-12  # of the way to where the first group of a step turns round
NEGATIVE = 4.0 * float(np.finfo(np.float64).eps)  # of the sum of all eigenvalues of H: how negative rounding makes one
MANY_COORDINATES = 512  # from which on a Newton step costs more than another pass after a rough minimum
NEWTON_SPEED = 60  # how much faster than sweeps a factorisation is, for as many multiplications, times its own 6
LARGE_BLOCK = 200  # coordinates, from which on the largest row sum stands for the largest eigenvalue


def minimise_groups(
    H: np.ndarray,
    slope: np.ndarray,
    penalty: GroupLasso,
    w: np.ndarray,
    precision: float,
    enough: float = 0.0,
    squares: float = np.inf,
) -> np.ndarray:
    """The best v from the start w, where the smooth part has this slope. H is m x m, symmetric, not negative.

    `precision` is that of the optimality conditions of the groups, relative to the largest slope; `enough` and
    `squares` are those of `minimise_quadratic`.
    """
    if not len(w):
        return w
    order = np.argsort(penalty.groups, kind="stable")
    sorted_H = H[np.ix_(order, order)]
    # of a singular H rounding makes one with directions along which Q falls without end
    sorted_H.ravel()[:: len(w) + 1] += NEGATIVE * np.trace(H)
    blocks = _Blocks(sorted_H, slope[order], penalty.of(order), w[order])
    v = np.empty_like(w)
    v[order] = blocks.minimum(precision, enough, squares)
    return v


class _Blocks:
    """Q over coordinates that are sorted by group."""

    def __init__(self, H: np.ndarray, slope: np.ndarray, penalty: GroupLasso, w: np.ndarray) -> None:
        self.H, self.slope, self.penalty, self.w = H, slope, penalty, w
        self.starts = np.searchsorted(penalty.groups, np.arange(penalty.n_groups + 1))
        self.scale = np.ascontiguousarray(np.broadcast_to(np.asarray(penalty.scale, dtype=np.float64), len(w)))
        self.by_group, self.by_feature = penalty.by_group, penalty.by_feature
        blocks = list(pairwise(self.starts))
        self.best = not self.by_feature.any() and max(last - first for first, last in blocks) <= LARGE_BLOCK
        if self.best:
            found = [np.linalg.eigh(self._block(*ends)) for ends in blocks]
            self.values = np.concatenate([values for values, _ in found])
            self.vectors = np.concatenate([vectors.T.ravel() for _, vectors in found])
            self.steepness = self.values[self.starts[1:] - 1]
        else:
            self.steepness = np.array([self._steepness(*ends) for ends in blocks])
        self.moves = (self.steepness > 0.0)[penalty.groups]

    def _block(self, first: int, last: int) -> np.ndarray:
        """H of a group, in units of scaled coordinates."""
        block: np.ndarray = self.H[first:last, first:last] / np.outer(self.scale[first:last], self.scale[first:last])
        return block

    def _steepness(self, first: int, last: int) -> float:
        """At least the largest eigenvalue of a block of H, in units of scaled coordinates."""
        block = self._block(first, last)
        if last - first == 1:
            return float(block[0, 0])
        most = float(np.abs(block).sum(axis=1).max())
        return most if last - first > LARGE_BLOCK else min(most, 1.000001 * float(np.linalg.eigvalsh(block)[-1]))

    def minimum(self, precision: float, enough: float, squares: float) -> np.ndarray:
        v, now = self.w.copy(), self.slope.copy()
        unit = max(float(np.max(self.penalty.lengths(now / self.scale))), float(np.max(self.by_group)), 1e-300)
        least, gap_before = np.inf, np.inf
        if enough > 0.0 and len(v) > MANY_COORDINATES:
            enough = min(enough, PROGRESS * self._gap(v, now, squares))
        for _ in range(MAX_ROUNDS):
            self._descend(v, now)
            now = self._slope_at(v)
            if self._violation(v, now) <= precision * unit:
                break
            if enough > 0.0 and len(v) > MANY_COORDINATES:
                gap = self._gap(v, now, squares)
                if gap <= enough:
                    break
                if self._sweeps_pay(v, gap, gap_before, enough):
                    gap_before = gap
                    continue
                gap_before = np.inf
            for _ in range(IN_A_ROW):
                n_before = np.count_nonzero(v)
                v, now = self._newton(v, now)
                if np.count_nonzero(v) == n_before:
                    break
            violation, Q = self._violation(v, now), self._Q(v, now)
            if violation <= precision * unit or (Q >= least - ROUNDING * abs(least) and violation <= 1e-9 * unit):
                break
            least = min(least, Q)
        return v

    def _descend(self, v: np.ndarray, now: np.ndarray) -> None:
        """Sweeps over the blocks."""
        H, starts, by_group, scale = self.H, self.starts, self.by_group, self.scale
        if self.best:
            descend_best_blocks(H, starts, self.vectors, self.values, by_group, scale, v, now, SWEEPS)
        else:
            descend_blocks(H, starts, self.steepness, by_group, self.by_feature, scale, v, now, SWEEPS)

    @staticmethod
    def _sweeps_pay(v: np.ndarray, gap: float, gap_before: float, enough: float) -> bool:
        """Whether further sweeps are likely to get there in less time than a Newton step takes."""
        rounds = float(np.count_nonzero(v)) ** 2 / (NEWTON_SPEED * SWEEPS * len(v))  # that take as long
        if gap_before == np.inf:
            return math.isfinite(gap) and rounds >= 2.0  # whose progress will tell
        return gap < gap_before and math.log(enough / gap) >= rounds * math.log(gap / gap_before)

    def _slope_at(self, v: np.ndarray) -> np.ndarray:
        slopes: np.ndarray = self.slope + self.H @ (v - self.w)
        return slopes

    def _Q(self, v: np.ndarray, now: np.ndarray) -> float:
        return float(0.5 * (v - self.w) @ (self.slope + now) + self.penalty.value(v))

    def _violation(self, v: np.ndarray, now: np.ndarray) -> float:
        """The largest length over a group of what is left of the slopes after the penalty's own."""
        u, g = self.scale * v, now / self.scale
        lengths = self.penalty.lengths(u)
        inside = np.maximum(np.abs(g) - self.by_feature, 0.0)  # of coordinates that are 0
        outward = (self.by_group / np.where(lengths > 0.0, lengths, 1.0))[self.penalty.groups] * u
        left = np.where(u != 0.0, g + outward + np.copysign(self.by_feature, u), inside) * self.moves
        of_groups = self.penalty.lengths(left)
        return float(
            np.max(np.where(lengths > 0.0, of_groups, np.maximum(of_groups - self.by_group, 0.0)), initial=0.0)
        )

    def _gap(self, v: np.ndarray, now: np.ndarray, squares: float) -> float:
        """The duality gap of Q at v, see `quadratic._gap`: slopes are shrunk until no group is pulled in."""
        pull, threshold = self.penalty.pull(now), self.penalty.threshold(len(v))
        free, curvature = threshold == 0.0, self.H.diagonal()
        share = 1.0 / max(1.0, float(np.max(pull[~free] / threshold[~free], initial=0.0)))
        loose = 0.5 * (1.0 - share) ** 2 * squares if share < 1.0 else 0.0
        gains = now[free] ** 2 / np.where(curvature[free] > 0.0, curvature[free], np.inf)
        return float(loose + self.penalty.value(v) + share * (v @ now) + gains.sum())

    def _newton(self, v: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A step to zero slopes of the coordinates that are not zero, of which groups stop at zero that would turn,
        and single ones if they have a penalty of their own; (v, now) unchanged where no share of it lowers Q."""
        S = np.flatnonzero((v != 0.0) & self.moves)
        if not len(S):
            return v, now
        u, groups, s = (self.scale * v)[S], self.penalty.groups[S], self.scale[S]
        lengths = self.penalty.lengths(self.scale * v)[groups]
        bend = self.by_group[groups] / lengths
        direction = u / lengths
        slopes = now[S] + s * (bend * u + np.copysign(self.by_feature[S], u))
        curvature = self.H[np.ix_(S, S)]
        along, firsts = s * direction, np.flatnonzero(np.diff(groups, prepend=-1))
        for first, last in zip(firsts, [*firsts[1:], len(S)], strict=True):
            own = along[first:last]
            curvature[first:last, first:last] -= bend[first] * own[:, None] * own
        curvature.ravel()[:: len(S) + 1] += bend * s * s
        step = solve_nearly(curvature, -slopes)
        Q, size = self._Q(v, now), np.bincount(groups, u * u)
        ahead = np.bincount(groups, u * s * step) / np.where(size > 0.0, size, 1.0)  # of its length, for each group
        first_turns = PAST_ZERO / max(-float(ahead.min(initial=0.0)), 1.0)
        for share in (1.0, first_turns, *SHARES[1:]):
            moved = v[S] + share * step
            new = v.copy()
            turned = (self.by_group[groups] > 0.0) & (share * ahead[groups] <= -1.0)
            new[S] = np.where(turned | (self.by_feature[S] > 0.0) & (moved * v[S] < 0.0), 0.0, moved)
            new_now = self._slope_at(new)
            if self._Q(new, new_now) < Q:
                return new, new_now
        return v, now
