"""The minimum of a penalised quadratic, by way of problems whose minimum is known.

    Q(v) = q(v) + sum_j l1_j |v_j|,   where a coordinate may be held to one side of zero

Every v is the minimum of Q(v) + off . v for some `off`. While `off` shrinks to nothing the minimum goes along straight
lines, with a corner wherever a coordinate becomes zero, or leaves it (Osborne, Presnell & Turlach, 2000, and LARS). To
go from corner to corner is exact, but costs a pass over all columns, and an update of a factor, for each of thousands.

Here a step goes past hundreds of corners. The coordinates in the model are eliminated by one factor of their curvature,
all but a few: those that would change their sign on the way straight ahead, and those at zero that would leave it. Over
these candidates there is a penalised quadratic of its own, which is small. Its minimum is that of all, unless others
turn out to change their sign, too: they become candidates, by the same factor. So all signs are right after every step,
and none are guessed over a curvature that is nearly singular, as it is where a model has nearly as many coordinates as
there are rows.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from riata.penalties import Strengths
from riata.positive import Factor
from riata.solvers.convex.quadratics.quadratic import minimise_quadratic

MOST_STEPS = 400
MORE_CANDIDATES, FEW = 3, 16  # times those foreseen, or this number: with more of them, a step is halved
MOST_ROUNDS = 12  # of candidates, before it is halved, too
SHORTEST = 1e-9  # share of the way: steps that are shorter lead nowhere
PRECISION = 1e-11  # of the minimum over the candidates
ROUNDING = 1e-9  # of l1: slopes that are beyond it by no more are not
NO_EFFECT = 1e-12  # of the largest: coefficients of a smaller effect are rounding
RIDGE = 1e-12  # of a curvature: more than what rounding takes off it
DEPENDENT = 1e-9  # of a curvature: what is left of it where the model can do the same
ROUNDS, FASTER = 3, 5.0  # guesses: rounds of candidates in a step; products of matrices are faster than passes
ROWS_AHEAD = 3  # of so many rows, one corner at most is foreseen in a step


class Columns(Protocol):
    """q, a quadratic in all coordinates."""

    n_rows: int
    curvatures: np.ndarray  # of every coordinate

    def learn(self, coordinates: np.ndarray) -> None:
        """These will be asked for."""

    def without_copies(self, v: np.ndarray) -> np.ndarray:
        """Coefficients for which q is the same, and the penalty no larger, with one of each column and its copies."""

    def products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The second derivatives of q by coordinates on the left and on the right, which were learnt."""

    def factor(self, coordinates: np.ndarray) -> Factor | None:
        """That of their second derivatives; None where they are singular."""

    def rise(self, coordinates: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """How the slopes of q change, by every coordinate, as some move."""


class Place(NamedTuple):
    """Coefficients, and the slopes of q there."""

    v: np.ndarray
    slopes: np.ndarray


def serves_bounds(strengths: Strengths) -> bool:
    """Whether coefficients are free, or held to one side of zero."""
    _, _, lower, upper = strengths
    return bool(np.all((lower == 0.0) | np.isinf(lower)) and np.all((upper == 0.0) | np.isinf(upper)))


def follow_minimum(q: Columns, strengths: Strengths, start: Place, good: Callable[[Place], bool]) -> tuple[Place, bool]:
    """The minimum of Q, or a place on the way that is `good`, and whether it got there: not where the curvature of the
    coordinates in a model is singular, and none is a copy of another; and not always where they are as many as rows.

    Bounds are 0 or infinite, and a ridge is in q.
    """
    l1, _, lower, upper = strengths
    here, room = start, _Room(np.where(upper > 0.0, -l1, -np.inf), np.where(lower < 0.0, l1, np.inf))
    off = _first_off(start, room)
    for _ in range(MOST_STEPS):
        S = np.flatnonzero(((here.v != 0.0) | room.free) & (q.curvatures > 0.0))
        off[S] = -here.slopes[S] - l1[S] * np.sign(here.v[S])
        step = _Step.of(q, strengths, room, here, off, S)
        if step is None:
            merged = q.without_copies(here.v)
            if np.array_equal(merged, here.v):
                break
            here = Place(merged, here.slopes)
            continue
        moved = step.taken()
        if moved is None:
            break
        here, share = _without_rounding(q, strengths, moved[0]), moved[1]
        off *= 1.0 - share
        if share == 1.0 or good(here):
            return here, True
    return here, False


class _Room(NamedTuple):
    """The slopes between which a coordinate stays at zero."""

    lowest: np.ndarray
    highest: np.ndarray

    @property
    def free(self) -> np.ndarray:
        """Those for which zero is a number as any other."""
        free: np.ndarray = (self.lowest == 0.0) & (self.highest == 0.0)
        return free

    def beyond(self, slopes: np.ndarray) -> np.ndarray:
        """How many times too large they are for that: 1 where they are not."""
        with np.errstate(divide="ignore", invalid="ignore"):
            times = slopes / np.where(slopes < 0.0, self.lowest, self.highest)
        return np.where(times > 1.0, times, 1.0)


def _first_off(start: Place, room: _Room) -> np.ndarray:
    """What makes the start a minimum. Of the coordinates at zero those that are pulled most leave it first."""
    slopes = np.where((start.v == 0.0) & ~room.free, start.slopes, 0.0)
    return slopes / float(room.beyond(slopes).max(initial=1.0)) - slopes


def _without_rounding(q: Columns, strengths: Strengths, place: Place) -> Place:
    """The place without coefficients that are rounding: of a column and its copy, one takes what both could."""
    effects = np.abs(place.v) * np.sqrt(q.curvatures)
    small = (place.v != 0.0) & (effects <= NO_EFFECT * effects.max(initial=0.0)) & (strengths.l1 > 0.0)
    if not small.any():
        return place
    gone = np.flatnonzero(small)
    return Place(np.where(small, 0.0, place.v), place.slopes - q.rise(gone, place.v[gone]))


class _Step:
    """A step from a minimum: the coordinates S in the model are eliminated by one factor, but for the candidates.

    `inside` are candidates in the model, as places in S, `outside` are those at zero. What is kept of each is a column:
    its own of L^-1, or L^-1 times its products with S. What elimination leaves follows from the products of these.
    """

    def __init__(
        self, q: Columns, strengths: Strengths, room: _Room, here: Place, off: np.ndarray, S: np.ndarray, factor: Factor
    ) -> None:
        self.q, self.strengths, self.room, self.here, self.off, self.S, self.factor = (
            q, strengths, room, here, off, S, factor,
        )  # fmt: skip
        self.signs = np.sign(here.v[S])
        self.may_change = ~room.free[S]
        self._ahead = factor.below(off[S])
        self.straight = factor.above(self._ahead)  # how S moves while no sign changes
        self.rise = q.rise(S, self.straight)
        self.inside, self.outside = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self._of_inside, self._of_outside = np.empty((len(S), 0)), np.empty((len(S), 0))

    @classmethod
    def of(
        cls, q: Columns, strengths: Strengths, room: _Room, here: Place, off: np.ndarray, S: np.ndarray
    ) -> "_Step | None":
        """None where the curvature is singular."""
        q.learn(S)
        factor = q.factor(S)
        return None if factor is None else cls(q, strengths, room, here, off, S, factor)

    def taken(self) -> tuple[Place, float] | None:
        """Where it leads to, and the share of the way that it is; None where it finds no minimum over candidates."""
        corners_in, corners_out = self._corners()
        foreseen = self._worth_foreseeing()
        corners = np.sort(np.concatenate([corners_in, corners_out]))
        corners = corners[corners <= 1.0]
        later = corners[foreseen:][corners[foreseen:] > SHORTEST]
        share = float(later[0]) if len(later) else 1.0
        inside, outside = np.flatnonzero(corners_in <= share), np.flatnonzero(corners_out <= share)
        rounds, room = 0, MORE_CANDIDATES * max(FEW, foreseen, len(inside) + len(outside))
        while share > SHORTEST:
            self._add(inside, outside, needed=rounds > 0)
            there, inside, outside = self._minimum(share)
            rounds += 1
            if not len(inside) + len(outside):
                return there, share
            known = len(self.inside) + len(self.outside)
            if known + len(inside) + len(outside) > room:  # once those in the model are right, others may be
                outside = outside[:0]
            if not len(inside) + len(outside) or known + len(inside) > room or rounds == MOST_ROUNDS:
                share, rounds = 0.5 * share, 0
                inside, outside = inside[:0], outside[:0]
        return None

    def _worth_foreseeing(self) -> int:
        """How many candidates make a step cost twice what it costs without any: per corner, that is the least."""
        k, n, d = len(self.S), self.q.n_rows, len(self.off)
        without = k**3 / 6.0 + ROUNDS * FASTER * n * d
        return max(1, min(int((without / (k + n)) ** 0.5), n // ROWS_AHEAD))

    def _corners(self) -> tuple[np.ndarray, np.ndarray]:
        """The share of the way straight ahead where each of S becomes zero, and where each coordinate leaves it."""
        (v, slopes), S, off = self.here, self.S, self.off
        at_zero = v == 0.0
        at_zero[S] = False
        turn, lowest, highest = self.rise - off, *self.room
        now = np.minimum(np.maximum(slopes + off, lowest), highest)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            leaving = np.where(self.straight * self.signs < 0.0, -v[S] / self.straight, np.inf)
            joining = np.where(turn > 0.0, highest - now, lowest - now) / turn
        joining[~at_zero | (turn == 0.0) | (self.q.curvatures <= 0.0)] = np.inf
        return np.where(self.may_change, leaving, np.inf), joining

    def _add(self, inside: np.ndarray, outside: np.ndarray, needed: bool) -> None:
        """More candidates. Of those outside that are foreseen, and not `needed`, copies of what is in the model, which
        only rounding would move, are left out."""
        q, S, k = self.q, self.S, len(self.S)
        if len(inside):
            units = np.zeros((k, len(inside)), order="F")
            units[inside, np.arange(len(inside))] = 1.0
            self._of_inside = np.hstack([self._of_inside, self.factor.below(units)])
            self.inside = np.concatenate([self.inside, inside])
        if len(outside):
            q.learn(np.concatenate([S, self.outside, outside]))
            below = self.factor.below(np.asfortranarray(q.products(S, outside)))
            left = q.curvatures[outside] - np.einsum("ij,ij->j", below, below)
            useful = (left > DEPENDENT * q.curvatures[outside]) | needed
            self._of_outside = np.hstack([self._of_outside, below[:, useful]])
            self.outside = np.concatenate([self.outside, outside[useful]])

    def _minimum(self, share: float) -> tuple[Place, np.ndarray, np.ndarray]:
        """The minimum after this share of the way, over candidates and what is eliminated, and who else would change
        sign on the way there: more candidates."""
        (v, slopes), S, inside, outside = self.here, self.S, self.inside, self.outside
        r, candidates = len(inside), np.concatenate([S[inside], outside])
        both = np.hstack([self._of_inside, self._of_outside])
        taken = both.T @ both
        stiff = np.linalg.inv(taken[:r, :r])  # what is left of the curvature of those inside
        stiff = 0.5 * (stiff + stiff.T)
        mixed = stiff @ taken[:r, r:]
        H = np.empty((len(candidates),) * 2)
        H[:r, :r], H[:r, r:], H[r:, :r] = stiff, mixed, mixed.T
        H[r:, r:] = self.q.products(outside, outside) - taken[r:, r:] + taken[:r, r:].T @ mixed
        H.ravel()[r * (len(H) + 1) :: len(H) + 1] += RIDGE * self.q.curvatures[outside]  # there may be more than rows
        l1, _, lower, upper = self.strengths.of(candidates)
        straight = share * self.straight[inside]
        slope = np.empty(len(candidates))
        slope[:r] = -(stiff @ straight) - l1[:r] * self.signs[inside]
        slope[r:] = slopes[outside] + (1.0 - share) * self.off[outside] + share * self.rise[outside]
        slope[r:] -= mixed.T @ straight
        x = minimise_quadratic(H, slope, l1, lower, upper, v[candidates], PRECISION)
        moves = x - v[candidates]
        pressed = stiff @ (moves[:r] - straight) + mixed @ moves[r:]  # candidates inside, beside the way of the others
        eliminated = share * self._ahead - self._of_outside @ moves[r:] + self._of_inside @ pressed
        there = v.copy()
        there[S] += self.factor.above(eliminated)
        there[candidates] = x
        moved = np.flatnonzero(there != v)
        place = Place(there, slopes + self.q.rise(moved, (there - v)[moved]))
        return place, *self._changed(place, share)

    def _changed(self, there: Place, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Those that are no candidates, and have changed their sign, or would leave zero."""
        crossed = self.may_change & (there.v[self.S] * self.signs < 0.0)
        crossed[self.inside] = False
        slopes = there.slopes + (1.0 - share) * self.off
        beyond = self.room.beyond(slopes) > 1.0 + ROUNDING
        beyond[self.S] = beyond[self.outside] = False
        beyond &= self.q.curvatures > 0.0
        return np.flatnonzero(crossed), np.flatnonzero(beyond)
