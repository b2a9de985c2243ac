"""The minimum of a penalised quadratic of many coordinates, whose matrix is sent to a GPU.

The way is that of `quadratic`: coordinate descent finds the signs, and Newton steps the values. What is large is done
there: products with the matrix, and systems of equations. Sweeps go block by block: within one the host descends over a
small matrix, and the device then tells all slopes what the block did to them. Coordinates are in the order of their
columns, since neighbours are often alike, and those of one block are settled together.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.kernels.quadratic import descend, largest_slope
from riata.penalties import Strengths
from riata.solvers.convex.quadratics.quadratic import (
    LEAST_RIDGE,
    MAX_ROUNDS,
    MOST_RIDGE,
    PROGRESS,
    SWEEPS,
    movable,
    quadratic_gap,
)

FEWEST, MOST = 512, 12_000  # coordinates for which it pays; of more, copies of the matrix take gigabytes of the device
BLOCK = 256  # coordinates
WITHIN_BLOCK = 4  # more sweeps over a block, before its effect on the others is told
SHARES = 0.5 ** np.arange(12)  # of a Newton step that are tried

Send = Callable[[np.ndarray], Array]  # takes arrays to the device


def minimise_on_device(
    H: np.ndarray,
    slope: np.ndarray,
    strengths: Strengths,
    w: np.ndarray,
    precision: float,
    enough: float,
    squares: float,
    columns: np.ndarray,
    send: Send,
) -> np.ndarray:
    """The best v from the start w, as `minimise_quadratic` has it. The coordinates are those of these columns."""
    tol = precision * largest_slope(H, slope, strengths.l1, w)
    order = np.argsort(columns)
    there, slope, w = _There.of(H, strengths, order, send), slope[order], w[order]
    v, now = w.copy(), slope.copy()
    enough = min(enough, PROGRESS * there.gap(v, now, squares))
    for _ in range(MAX_ROUNDS):
        worst, now = there.sweeps(v, now, tol)
        if worst <= tol or (enough > 0.0 and there.gap(v, now, squares) <= enough):
            break
        v = there.newton_step(v, now)
        now = slope + there.times(v - w)
    found = np.empty(len(v))
    found[order] = v
    return found


class _There(NamedTuple):
    """The matrix on the device; on the host its blocks along the diagonal, and the penalty."""

    H: Array
    send: Send
    blocks: list[tuple[slice, np.ndarray]]
    curvatures: np.ndarray
    strengths: Strengths

    @classmethod
    def of(cls, H: np.ndarray, strengths: Strengths, order: np.ndarray, send: Send) -> "_There":
        places = [slice(start, min(start + BLOCK, len(H))) for start in range(0, len(H), BLOCK)]
        blocks = [(place, H[np.ix_(order[place], order[place])]) for place in places]
        return cls(_block(send(H), order), send, blocks, H.diagonal()[order], strengths.of(order))

    def times(self, x: np.ndarray) -> np.ndarray:
        """The product of H with a vector, or with each column of a matrix."""
        return to_host(self.H @ self.send(x))

    def gap(self, v: np.ndarray, now: np.ndarray, squares: float) -> float:
        """The duality gap at v, whose slopes are `now`."""
        return quadratic_gap(v, now, self.strengths, self.curvatures, squares)

    def sweeps(self, v: np.ndarray, now: np.ndarray, tol: float) -> tuple[float, np.ndarray]:
        """Sweeps over all blocks, which update v: the largest violation that the last one met, and the slopes then."""
        slopes = self.send(now)
        for _ in range(SWEEPS):
            worst = 0.0
            for place, H in self.blocks:
                l1, _, lower, upper = (part[place] for part in self.strengths)
                u, within = v[place].copy(), to_host(slopes[place]).copy()
                worst = max(worst, descend(H, l1, lower, upper, u, within, 1, tol))
                if np.array_equal(u, v[place]):
                    continue
                descend(H, l1, lower, upper, u, within, WITHIN_BLOCK, tol)
                slopes = slopes + self.H[:, place] @ self.send(u - v[place])
                v[place] = u
            if worst <= tol:
                break
        return worst, to_host(slopes)

    def newton_step(self, v: np.ndarray, now: np.ndarray) -> np.ndarray:
        """Where the best share of a Newton step leads to; coordinates that would change sign become zero, and stop at
        their bounds. It is v itself, if all shares lead up."""
        l1, _, lower, upper = self.strengths
        S = movable(v, lower, upper)
        step = np.zeros(len(v))
        step[S] = self._solve(S, -now[S] - np.copysign(l1[S], v[S]))
        straight = v + SHARES[:, None] * step
        ends = np.clip(straight, lower, upper)
        ends[(ends * v < 0.0) & (l1 > 0.0)] = 0.0
        best: np.ndarray = ends[0]
        if np.array_equal(best, straight[0]):  # as a rule, in the end
            return best
        moves = ends - v
        rises = self.times(np.ascontiguousarray(moves.T)).T
        change = np.sum(moves * (now + 0.5 * rises), axis=1) + (np.abs(ends) - np.abs(v)) @ l1
        best = ends[np.argmin(change)]
        return best if change.min() < 0.0 else v

    def _solve(self, S: np.ndarray, right: np.ndarray) -> np.ndarray:
        """H_SS^-1 right, with as small a ridge as makes H_SS regular."""
        xp = namespace(self.H)
        block = _block(self.H, S)
        units = self.send(np.where(self.curvatures[S] > 0.0, self.curvatures[S], 1.0))
        ridge, regular = 0.0, block
        while ridge <= MOST_RIDGE and len(S):
            x = _solved(xp, regular, self.send(right))
            if x is not None and float(x @ right) > 0.0:  # or rounding gave it a direction of negative curvature
                return x
            ridge = max(10.0 * ridge, LEAST_RIDGE)
            regular = block + ridge * xp.eye(len(S)) * units
        return right


def _block(H: Array, S: np.ndarray) -> Array:
    xp = namespace(H)
    places = xp.asarray(S)
    return xp.take(xp.take(H, places, axis=0), places, axis=1)


def _solved(xp: Any, H: Array, right: Array) -> np.ndarray | None:
    """None where H is singular, which NumPy says and CuPy does not."""
    try:
        x = to_host(xp.linalg.solve(H, right))
    except np.linalg.LinAlgError:
        return None
    return x if np.isfinite(x).all() else None
