"""Newton steps over a working set: the curvature of its features, and the step that it and the slopes give.

    H = sum_i s_i loss''(y_i, z_i) (x_i - mean)(x_i - mean)' / sum(s)

about means weighted by s loss'' is the curvature once the best intercept follows the coefficients. The squared loss
has the same H everywhere, so what is known of it stays and only products with new features are read.
"""

from dataclasses import dataclass, field

import numpy as np

from riata.arrays import at_least
from riata.errors import OptionError
from riata.matrices.moments import Products
from riata.objective import FirstOrder, Problem, first_order_part, summarise
from riata.penalties import Penalty, SeparablePenalty
from riata.solvers.convex.quadratic import minimise_quadratic
from riata.solvers.convex.separable_quadratic import minimise_separable
from riata.solvers.iterate import Saved
from riata.threads import one_blas_thread

FRACTIONS = 0.5 ** np.arange(1, 16)
DAMPED = 10.0  # times the curvature, after a step of which no fraction was of use
CUTS = 3  # of one step: they leave less of it than rounding does
ROUNDING = 1e-14  # of F: a rise by less is none


@dataclass(frozen=True)
class Curvature:
    """H about the means of the features it knows, and the mean weight sum_i s_i loss'' / sum(s)."""

    features: np.ndarray
    weight: float
    mean: np.ndarray
    H: np.ndarray

    def grown(self, features, new: Products, total) -> "Curvature":
        """With the products of new features with all features, the known ones first."""
        known = len(self.features)
        H = np.empty((len(features), len(features)))
        H[:known, :known] = self.H
        H[known:] = new.about_means / total
        H[:known, known:] = H[known:, :known].T
        return Curvature(features, new.weight / total, new.right_mean, H)

    def times(self, factor: float) -> "Curvature":
        """So many times as curved: steps are shorter, in a way that lowers F for any penalty once they are short."""
        return self if factor == 1.0 else Curvature(self.features, factor * self.weight, self.mean, factor * self.H)


NOTHING = Curvature(np.empty(0, dtype=np.int64), 0.0, np.empty(0), np.empty((0, 0)))


@dataclass
class State:
    """Where a method is: the point, its working set, and the curvature last read."""

    w: np.ndarray
    b: float
    features: np.ndarray = field(default_factory=lambda: NOTHING.features)
    curvature: Curvature = NOTHING
    damping: float = 1.0  # steps are made on so many times the curvature

    def saved(self, known, last_gap, idle, steps, slope_unit) -> Saved:
        """All of it, with how the steps so far went: the point before, (F, w, b), its gap, and idle steps."""
        H = self.curvature
        arrays = {"w": self.w, "features": self.features, "known": known[1],
                  "H.features": H.features, "H.mean": H.mean, "H": H.H}  # fmt: skip
        facts = {"b": float(self.b), "H.weight": float(H.weight), "known_F": float(known[0]),
                 "known_b": float(known[2]), "last_gap": float(last_gap), "idle": idle, "steps": steps,
                 "slope_unit": slope_unit}  # fmt: skip
        return Saved(arrays, facts)

    @classmethod
    def resumed(cls, saved: Saved) -> "State":
        arrays, facts = saved
        curvature = Curvature(arrays["H.features"], facts["H.weight"], arrays["H.mean"], arrays["H"])
        return cls(arrays["w"], facts["b"], arrays["features"], curvature)


def read(problem: Problem, state: State, *, first: bool, second: bool, memory: int | None = None):
    """One pass for the first-order means, for the curvature of the working set (None if it is known), or for both."""
    loss, features, known = problem.loss, state.features, state.curvature
    if not loss.quadratic:
        known = NOTHING
    left = features[len(known.features) :]
    second = second and len(left) > 0
    if not (first or second):
        return None, None
    if second:
        _check_memory(len(features), memory)
    part = pass_part(loss, state.w, state.b, left if second else None, features)
    sums = problem.data.sum(part if first else lambda chunk: part(chunk, first=False))
    at = summarise(sums[:2]) if first else None
    return at, known.grown(features, sums[-1], problem.data.total_weight) if second else None


def pass_part(loss, w, b, left, features):
    """What a chunk adds: first-order sums, then (unless left is None) the products of `left` with all `features`."""
    slopes = first_order_part(loss, w, b)
    products = None if left is None else _products_part(loss, w, b, left, features)

    def part(chunk, first=True):
        return *(slopes(chunk) if first else ()), *((products(chunk),) if products else ())

    return part


def _products_part(loss, w, b, left, features):
    """What a chunk adds to the products of some features with all features of the working set."""
    right = left if len(left) == len(features) else features

    def part(chunk):
        X, y, weight = chunk
        if not loss.quadratic:
            weight = weight * at_least(loss.second_derivative(y, X.margins(w, b)), loss.least_curvature)
        return X.products(weight, left, right)

    return part


def _check_memory(size, memory):
    need = 4 * 8 * size**2  # H, a sum of it in the making, and two copies in a factorisation
    if memory is not None and need > memory:
        raise OptionError(
            f"{size} features want to be in the model at this alpha, and their curvature needs {need / 1e6:.0f} MB, "
            f"more than the budget of {memory / 1e6:.0f} MB: take a larger alpha, or give it more memory"
        )


def newton_step(problem: Problem, curvature: Curvature, at: FirstOrder, w, b, precision, guess=None):
    """The minimum (w, b) of the quadratic at a point, over the working set and the intercept, searched from a guess."""
    W = curvature.features
    slope, H = at.by_w[W], curvature.H
    if problem.fit_intercept:
        slope = slope - at.by_b * curvature.mean
    else:
        H = H + curvature.weight * np.outer(curvature.mean, curvature.mean)
    v = _penalised_minimum(problem.penalty, W, H, slope, w, w if guess is None else guess, precision)
    if problem.fit_intercept and curvature.weight > 0:
        b = b - at.by_b / curvature.weight - curvature.mean @ (v - w[W])
    w = w.copy()
    w[W] = v
    return w, b


def _penalised_minimum(
    penalty: Penalty,
    W: np.ndarray,
    H: np.ndarray,
    slope: np.ndarray,
    w: np.ndarray,
    guess: np.ndarray,
    precision: float,
) -> np.ndarray:
    """The minimum, searched from a guess, of a quadratic at w over the features W and the penalty: compiled or not."""
    v, strengths = guess[W], penalty.strengths(len(w))
    if strengths is None:
        assert isinstance(penalty, SeparablePenalty)  # what `capabilities` has made sure of
        with one_blas_thread():
            return minimise_separable(H, slope + H @ (v - w[W]), penalty.of(W), v, precision)
    l1, l2, lower = (strength[W] for strength in strengths)
    H = H + np.diag(l2)
    return minimise_quadratic(H, slope + l2 * w[W] + H @ (v - w[W]), l1, lower, v, precision)


def worse(F, known) -> bool:
    """Whether F is above the known value by more than rounding, or no number at all."""
    return not F <= known + ROUNDING * abs(known)


def cut_back(problem: Problem, good, bad):
    """The best of some fractions of a step from `good` that went too far: one pass."""
    (w, b), (w_far, b_far) = good, bad
    loss = problem.loss  # what a part holds may have to travel to the rows: not the problem with its data

    def part(chunk):
        z, z_far = chunk.X.margins(w, b), chunk.X.margins(w_far, b_far)
        with np.errstate(over="ignore", invalid="ignore"):
            values = (loss.value(chunk.y, z + float(t) * (z_far - z)) for t in FRACTIONS)
            return np.array([float(chunk.weight @ value) for value in values])

    losses = problem.data.sum(part) / problem.data.total_weight
    values = [loss + problem.penalty.value(w + t * (w_far - w)) for loss, t in zip(losses, FRACTIONS, strict=True)]
    t = FRACTIONS[np.argmin(np.nan_to_num(values, nan=np.inf))]
    return w + t * (w_far - w), b + t * (b_far - b)
