"""uniLasso (Chatterjee, Hastie & Tibshirani, 2025): a Lasso over the predictions of single features.

First, every feature is fitted alone, beside an intercept. Then the features of a Lasso without negative coefficients
are what these models say of each row when that row is left out: theta_j >= 0 of them make the coefficients theta_j b_j.
So no feature has another sign than it has alone, and those that say little alone are left out.

For the squared loss the first fits are in the moments of the columns. For others they are Newton's, of all features in
the same passes. A row is left out by a step of its influence h, exactly for the squared loss and nearly for others:
    z_-i = z_i + s_i loss'_i q_i / (1 - h_i),    q_i = 1 / A + (t_i - m)^2 / S,    h_i = s_i loss''_i q_i
with t = (x - mean) / deviation, and A, m and S the sum, mean and squares of t weighted by s loss''.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riata.arrays import Array, at_least, namespace, to_host
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import Loss
from riata.objective import Problem, empty_intercept
from riata.solvers.subset.memory_untold import budget_for
from riata.training.spec import Spec

STEPS = 30  # of Newton's method, each of them a pass
CLOSE = 1e-9  # change of coefficients of columns of unit deviation at which it ends
LONGEST_STEP, LARGEST = 1.0, 30.0  # of such coefficients: a feature that separates classes has none
DECISIVE = 1e-6  # 1 - h of a row without which its column does not vary


@dataclass(frozen=True)
class SingleFits:
    """The model b0_j + b_j t_j of every feature alone, t = (x - mean) / scale, and what their curvatures sum up to."""

    loss: Loss
    empty: float  # the best constant margin
    mean: np.ndarray
    scale: np.ndarray  # 1 for columns that do not vary
    varies: np.ndarray
    intercept: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray  # A, and the two below
    centre: np.ndarray
    squares: np.ndarray

    def without_each_row(self, most_bytes: int) -> Callable[[Chunk], Chunk]:
        """What becomes of a chunk: its features are predictions of single features, made without the row itself."""

        def part(chunk: Chunk) -> Chunk:
            n, d = chunk.X.shape
            if 8 * n * d > most_bytes:
                raise OptionError(
                    f"unilasso makes numbers of all entries, and {n:,} x {d:,} of them need {8e-6 * n * d:,.0f} MB: "
                    "give it more memory, or take penalty 'adaptive:marginal'"
                )
            xp = namespace(chunk.weight)
            blocks = [self._predictions(chunk.rows(rows)) for rows in chunk.X.blocks(8 * d)]
            return chunk._replace(X=chunk.X.dense(xp.concat(blocks) if len(blocks) > 1 else blocks[0]))

        return part

    def _predictions(self, chunk: Chunk) -> Array:
        t, z, slope, curvature = _derivatives(self, chunk)
        xp, s = namespace(t), chunk.weight[:, None]
        squares = xp.asarray(np.where(self.squares > 0.0, self.squares, 1.0))
        q = s * (1.0 / xp.asarray(self.curvature) + (t - xp.asarray(self.centre)) ** 2 / squares)
        left = 1.0 - curvature * q
        kept = left > DECISIVE
        without = xp.where(kept, z + slope * q / xp.where(kept, left, xp.ones_like(left)), z * 0.0 + self.empty)
        return xp.where(xp.asarray(self.varies)[None, :], without, xp.zeros_like(without))

    def of_features(self, theta: np.ndarray, intercept: Any) -> tuple[np.ndarray, Any]:
        """Coefficients and intercept of the features themselves, of one model or of one in every row."""
        coef = theta * (self.slope / self.scale) + 0.0  # no -0.0
        return coef, intercept + theta @ np.where(self.varies, self.intercept, 0.0) - coef @ self.mean


def single_fits(data: Dataset, spec: Spec) -> SingleFits:
    """Every feature alone."""
    loss, moments = spec.loss_function, data.moments
    empty = float(empty_intercept(Problem(data, loss, spec.family.at(0.0))))
    scale, varies = moments.scale, moments.squares > 0.0
    ones, zeros = np.ones(data.n_features), np.zeros(data.n_features)
    fits = SingleFits(
        loss=loss,
        empty=empty,
        mean=moments.mean,
        scale=scale,
        varies=varies,
        intercept=empty * ones,
        slope=zeros,
        curvature=ones,
        centre=zeros,
        squares=ones,
    )
    if loss.quadratic:
        slope = np.where(varies, moments.cross / np.where(varies, moments.squares, 1.0) * scale, 0.0)
        total = moments.weight
        return replace(fits, slope=slope, curvature=total * ones, squares=total * ones)
    for _ in range(STEPS):
        fits, move = _stepped(fits, data)
        if move <= CLOSE:
            break
    return fits


def second_stage(data: Dataset, fits: SingleFits, spec: Spec) -> tuple[Dataset, Spec]:
    """The rows and the problem of the Lasso over the predictions of single features."""
    need = 8 * data.n_rows * data.n_features
    most = budget_for(need, spec.memory_bytes) if data.cheap_passes else budget_for(0, spec.memory_bytes) // 2
    return data.map(fits.without_each_row(most)), replace(spec, penalty=None, nonnegative=True, standardize=False)


def _derivatives(fits: SingleFits, chunk: Chunk) -> tuple[Array, Array, Array, Array]:
    """t of the rows, and the margins of single features with the slopes and curvatures of the loss: rows x features."""
    xp = namespace(chunk.weight)
    x = chunk.X.columns(np.arange(chunk.X.shape[1]))
    t = (x - xp.asarray(fits.mean)) / xp.asarray(fits.scale)
    z = t * xp.asarray(fits.slope) + xp.asarray(fits.intercept)
    y = chunk.y[:, None, ...]
    curvature = at_least(fits.loss.second_derivative(y, z), fits.loss.least_curvature)
    return t, z, fits.loss.derivative(y, z), curvature


def _stepped(fits: SingleFits, data: Dataset) -> tuple[SingleFits, float]:
    """A Newton step of every feature, and the length of the longest: one pass. Curvatures are those before it."""

    def part(chunk: Chunk) -> np.ndarray:
        sums = np.zeros((5, chunk.X.shape[1]))
        for rows in chunk.X.blocks(8 * chunk.X.shape[1]):
            some = chunk.rows(rows)
            t, _, slope, curvature = _derivatives(fits, some)
            u, D = slope * some.weight[:, None], curvature * some.weight[:, None]
            xp = namespace(t)
            sums += to_host(xp.stack([xp.sum(term, axis=0) for term in (u, u * t, D, D * t, D * t * t)]))
        return sums

    by_b0, by_b, A, first, second = data.sum(part)
    A = np.maximum(A, 1e-300)
    centre = first / A
    squares = np.maximum(second - first * centre, 0.0)
    moves = fits.varies & (squares > 1e-12 * A)
    step = np.where(moves, -(by_b - centre * by_b0) / np.where(moves, squares, 1.0), 0.0)
    step = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
    slope = np.clip(fits.slope + step, -LARGEST, LARGEST)
    step = slope - fits.slope
    shift = np.clip(-by_b0 / A - centre * step, -LONGEST_STEP, LONGEST_STEP)
    move = float(np.max(np.abs(np.stack([step, shift])), initial=0.0))
    moved = replace(fits, slope=slope, intercept=fits.intercept + shift, curvature=A, centre=centre, squares=squares)
    return moved, move
