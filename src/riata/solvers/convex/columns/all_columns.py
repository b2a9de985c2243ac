"""All dense columns in memory: a Lasso is followed along them to its minimum, with all its features at once.

Where a model may have about as many features as there are rows, a working set says little of the features that are not
in it, and who is in a minimum over it changes by hundreds with the next one.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem, pulls
from riata.penalties import Penalty, Strengths
from riata.positive import Factor
from riata.solvers.convex.columns.copies import without_copies
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.convex.quadratics.homotopy import Place, follow_minimum
from riata.solvers.convex.quadratics.known_products import KnownProducts
from riata.solvers.convex.quadratics.quadratic import quadratic_gap
from riata.threads import one_blas_thread

TRIES = 2  # at one minimum, the second of which is as exact as can be
FAR = 2.0  # times its threshold: where a feature is pulled by more, the way from the empty model is shorter
FLAT = 1e-13  # of the squares of a column: a curvature about its mean that is no more is rounding


class Past(NamedTuple):
    """How often the same minimum was asked for, and whether the way to it was lost: what a checkpoint keeps."""

    tries: int = 0
    lost: bool = False


NO_PAST = Past()


@dataclass
class AllColumns:
    """The columns of all features: `scaled` has a row for each, whose products are the curvature of the mean loss."""

    is_local = False  # it gives the loss itself at every point
    starts_anywhere = False  # it steps from the point at which slopes were read
    lets_features_go = True  # those that come to nothing in its minimum leave the working set

    scaled: np.ndarray
    mean: np.ndarray  # of each column, which is taken off where there is an intercept
    weight: float  # the curvature of the mean loss by the intercept
    curvatures: np.ndarray
    known: KnownProducts
    tries: list[Penalty] = field(default_factory=list)  # whose minimum was asked for, each time
    lost: bool = False  # whether one of them was not found

    def serves(self, penalty: Penalty) -> bool:
        """Whether it can find the minimum: not where it did not, or rounding left it short of what was asked for."""
        return not self.lost and sum(tried is penalty for tried in self.tries) < TRIES

    @property
    def past(self) -> Past:
        """Of the minimum that was asked for last."""
        return Past(sum(tried is self.tries[-1] for tried in self.tries), self.lost)

    @classmethod
    def of(cls, problem: Problem, data: InMemory, past: Past = NO_PAST) -> "AllColumns":
        """The columns of a problem with a quadratic loss, with the past of a fit that goes on."""
        y, weight = data.targets()
        D = weight / weight.sum() * problem.loss.second_derivative(y, np.zeros(len(weight)))
        columns = np.array(data.chunk.X.toarray().T, dtype=np.float64, order="C")
        squares = np.einsum("ij,j,ij->i", columns, D, columns)
        mean = columns @ D / D.sum() if problem.fit_intercept else np.zeros(len(columns))
        columns -= mean[:, None]
        columns *= np.sqrt(D)
        curvatures = np.einsum("ij,ij->i", columns, columns)
        curvatures[curvatures <= FLAT * squares] = 0.0
        known = KnownProducts(lambda new: columns[new], len(columns))
        tries = [problem.penalty] * min(past.tries, TRIES)
        return cls(columns, mean, float(D.sum()), curvatures, known, tries, past.lost)

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of F, up to a gap of `enough`, from a guess; `at` are the slopes at the point `here`."""
        (w, b), strengths = here, problem.strengths
        if self.tries and self.tries[-1] is problem.penalty:
            enough = 0.0  # which was not enough
        self.tries.append(problem.penalty)
        q = _Quadratic(self, strengths)
        slopes, value = at.by_w + strengths.l2 * w, at.loss + 0.5 * float(strengths.l2 @ (w * w))
        if problem.fit_intercept:
            slopes -= at.by_b * self.mean
            value -= 0.5 * at.by_b**2 / self.weight

        def smooth(place: Place) -> float:
            return value + 0.5 * float((place.v - w) @ (slopes + place.slopes))

        def good(place: Place) -> bool:
            return quadratic_gap(place.v, place.slopes, strengths, q.curvatures, 2.0 * smooth(place)) <= enough

        with one_blas_thread():
            first = q.at(guess[0], Place(w, slopes))
            pull, threshold = pulls(problem.penalty, first.slopes)
            far = np.any(pull[threshold > 0.0] > FAR * threshold[threshold > 0.0])
            start = q.at(np.zeros(len(w)), first) if far else first
            last, arrived = follow_minimum(q, strengths, start, good)
        if not arrived:
            self.lost = True
            last = min(first, last, key=lambda place: smooth(place) + float(strengths.l1 @ np.abs(place.v)))
        found = last.v
        if problem.fit_intercept:
            b = b - at.by_b / self.weight - float(self.mean @ (found - w))
        return found, b


class _Quadratic:
    """The loss and a ridge, as `homotopy` asks for them."""

    def __init__(self, columns: AllColumns, strengths: Strengths) -> None:
        self._columns, self._strengths, self._l2 = columns, strengths, strengths.l2
        self.n_rows = columns.scaled.shape[1]
        self.curvatures = np.where(columns.curvatures > 0.0, columns.curvatures + self._l2, 0.0)

    def at(self, v: np.ndarray, known: Place) -> Place:
        """The place of these coefficients, from a known one."""
        moves = v - known.v
        moved = np.flatnonzero(moves)
        return Place(v, known.slopes + self.rise(moved, moves[moved]))

    def without_copies(self, v: np.ndarray) -> np.ndarray:
        return without_copies(self._columns.scaled, self._strengths, v)

    def learn(self, coordinates: np.ndarray) -> None:
        self._columns.known.learn(coordinates)

    def products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        products = self._columns.known.between(left, right)
        if np.array_equal(left, right):  # others have nothing in common
            products.ravel()[:: len(left) + 1] += self._l2[left]
        return products

    def factor(self, coordinates: np.ndarray) -> Factor | None:
        return Factor.of(self.products(coordinates, coordinates))

    def rise(self, coordinates: np.ndarray, moves: np.ndarray) -> np.ndarray:
        scaled = self._columns.scaled
        rise: np.ndarray = scaled @ (moves @ scaled[coordinates])
        rise[coordinates] += self._l2[coordinates] * moves
        return rise
