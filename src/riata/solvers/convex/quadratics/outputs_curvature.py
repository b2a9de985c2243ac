"""The curvature of a loss of several margins over a working set, and the minimum of the quadratic that it makes.

A coefficient belongs to a feature j and an output k. The second derivatives of a row are diag(d) - r r' over its
outputs (`SeveralMargins.row_curvature`), so that with columns a_jk = (x_j - c_j) r_k, weighted by s,

    H = [ sum_i s_i d_ik (x_ij - c_j)(x_il - c_l) where both outputs are k, 0 elsewhere ] - sum_i s_i a_i a_i'.

The intercepts are coefficients of a column of ones. They are eliminated: what is left for the others is their Schur
complement. To all margins of softmax the same may be added, which makes the curvature of its intercepts singular.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.coupled_passes import by_output, in_pieces
from riata.data.chunk import Chunk
from riata.losses import SeveralMargins
from riata.objective import FirstOrder, Problem
from riata.solvers.convex.quadratics.curvature import Point, penalised_minimum

FLAT = 1e-13  # of the largest curvature of an intercept: less is none


@dataclass(frozen=True)
class OutputsCurvature:
    """H of some coefficients, the intercepts eliminated, and how these follow the coefficients."""

    is_local = True  # it is that of one point
    starts_anywhere = False  # it steps from the point at which slopes were read
    lets_features_go = False  # they stay in the working set

    features: np.ndarray  # the numbers of the coefficients among all
    H: np.ndarray
    centre: np.ndarray  # what columns are counted from, of each coefficient
    inverse: np.ndarray  # of the curvature of the intercepts
    follow: np.ndarray  # by how much intercepts fall as a coefficient rises: outputs x coefficients

    @classmethod
    def of(
        cls,
        problem: Problem,
        features: np.ndarray,
        sums: tuple[float, np.ndarray],
        diagonal: np.ndarray | None = None,
    ) -> "OutputsCurvature":
        """From what `outputs_products_part` adds up over these rows; of a sample, with the diagonal of all rows.

        A sample says much about how columns go together, and little about the squares of those that few rows have.
        """
        K = problem.loss.n_outputs
        weight, both = sums
        both = both / weight
        m = len(features)
        if diagonal is not None:
            known = both.diagonal()
            there = known > 0.0
            scale = np.sqrt(np.where(there, diagonal / np.where(there, known, 1.0), 0.0))
            both = scale[:, None] * both * scale
            both[np.diag_indices(m + K)] = diagonal
        centre = problem.data.moments.mean[features // K] if problem.fit_intercept else np.zeros(m)
        if not problem.fit_intercept:
            return cls(features, both[:m, :m], centre, np.zeros((K, K)), np.zeros((K, m)))
        values, vectors = np.linalg.eigh(both[m:, m:])
        curved = values > FLAT * values[-1]
        inverse = (vectors[:, curved] / values[curved]) @ vectors[:, curved].T
        follow = inverse @ both[m:, :m]
        return cls(features, both[:m, :m] - both[:m, m:] @ follow, centre, inverse, follow)

    def only(self, kept: np.ndarray) -> "OutputsCurvature":
        """The curvature of some of the coefficients, by a mask."""
        parts = self.H[np.ix_(kept, kept)], self.centre[kept], self.inverse, self.follow[:, kept]
        return OutputsCurvature(self.features[kept], *parts)

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of the penalised quadratic about the point `here`, whose slopes are `at`, from a first guess."""
        w, W = here[0], self.features
        F = at.loss + problem.penalty.value(w)
        H, slope = self.quadratic(problem, at)
        v = penalised_minimum(
            problem.penalty, W, H, slope, w, guess[0], precision, enough, 2.0 * F, send=problem.data.send
        )
        return self.moved(problem, at, here, v)

    def quadratic(self, problem: Problem, at: FirstOrder) -> tuple[np.ndarray, np.ndarray]:
        """H and the slopes of its coefficients, where the best intercepts follow them."""
        W, K = self.features, problem.loss.n_outputs
        slope = at.by_w[W]
        if problem.fit_intercept:
            slope = slope - self.centre * at.by_b[W % K] - at.by_b @ self.follow
        return self.H, slope

    def moved(self, problem: Problem, at: FirstOrder, here: Point, v: np.ndarray) -> Point:
        """The point with these values of its coefficients, and the intercepts that follow them."""
        (w, b), W, K = here, self.features, problem.loss.n_outputs
        step = v - w[W]
        if problem.fit_intercept:
            shift = np.bincount(W % K, self.centre * step, minlength=K)
            b = b - self.inverse @ at.by_b - self.follow @ step - shift
        w = w.copy()
        w[W] = v
        return w, b


def outputs_products_part(
    problem: Problem, loss: SeveralMargins, w: np.ndarray, b: np.ndarray, coefficients: np.ndarray
) -> Callable[[Chunk], tuple[float, np.ndarray]]:
    """What a chunk adds to the weight of all rows and to H over these coefficients and, behind them, the intercepts."""
    K, W = loss.n_outputs, by_output(loss, w)
    features, place = np.unique(coefficients // K, return_inverse=True)
    output = coefficients % K
    centre = problem.data.moments.mean[features] if problem.fit_intercept else np.zeros(len(features))
    with_ones = problem.fit_intercept
    of_output = [np.flatnonzero(output == k) for k in range(K)]
    m = len(coefficients)

    def part(chunk: Chunk) -> tuple[float, np.ndarray]:
        X, y, weight, _ = chunk
        total = np.zeros((m + K, m + K))
        xp = namespace(weight)
        d, r = loss.newton_curvature(y, X.margins(W, b))
        d = weight[:, None] * d
        r = None if r is None else xp.sqrt(weight)[:, None] * r
        for rows in X.blocks(m + K + len(features)):
            A = X.columns(features, rows) - xp.asarray(centre)
            if r is not None:
                _subtract_products(total, A, r[rows, :], place, output, with_ones)
            for k, mine in enumerate(of_output):
                _add_block(total, A, d[rows, :][:, k], mine, place, m + k, with_ones)
        return float(xp.sum(weight)), total

    return in_pieces(K, part)


def diagonal_part(
    loss: SeveralMargins, w: np.ndarray, b: np.ndarray, coefficients: np.ndarray, centre: np.ndarray
) -> Callable[[Chunk], tuple[float, np.ndarray]]:
    """What a chunk adds to the weight of all rows and to the diagonal of H, about a centre of every feature, with the
    intercepts behind."""
    K, W = loss.n_outputs, by_output(loss, w)
    features, place = np.unique(coefficients // K, return_inverse=True)
    output, shift = coefficients % K, centre[features]

    def part(chunk: Chunk) -> tuple[float, np.ndarray]:
        X, y, weight, _ = chunk
        xp = namespace(weight)
        d, r = loss.newton_curvature(y, X.margins(W, b))
        d = weight[:, None] * (d if r is None else d - r * r)
        narrow, nothing = X.narrowed(features), xp.zeros_like(weight)
        squares = np.stack([narrow.sums(shift, nothing, d[:, k])[2] for k in range(K)], axis=1)
        return float(xp.sum(weight)), np.concatenate([squares[place, output], to_host(xp.sum(d, axis=0))])

    return in_pieces(K, part)


def _subtract_products(
    total: np.ndarray, A: Array, r: Array, place: np.ndarray, output: np.ndarray, with_ones: bool
) -> None:
    """Subtract the products of the columns A r of all coefficients, and of r for the intercepts."""
    xp, m = namespace(r), len(place)
    of_each = xp.take(A, xp.asarray(place), axis=1) * xp.take(r, xp.asarray(output), axis=1)
    of_each = xp.concat([of_each, r], axis=1) if with_ones else of_each
    size = of_each.shape[1]
    total[:size, :size] -= to_host(of_each.T @ of_each)
    assert size in (m, len(total))


def _add_block(
    total: np.ndarray, A: Array, d: Array, mine: np.ndarray, place: np.ndarray, intercept: int, with_ones: bool
) -> None:
    """Add the products of the columns of one output, and of its intercept, weighted by d."""
    xp = namespace(d)
    if len(mine):
        root = xp.sqrt(d)[:, None]
        its = root * xp.take(A, xp.asarray(place[mine]), axis=1)
        total[np.ix_(mine, mine)] += to_host(its.T @ its)
    if with_ones:
        total[intercept, intercept] += float(xp.sum(d))
        if len(mine):
            crossed = to_host(xp.sum(root * its, axis=0))
            total[intercept, mine] += crossed
            total[mine, intercept] += crossed
