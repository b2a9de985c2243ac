"""The batch answer with a certificate, in a few passes over data of any size: Newton steps on a working set.

A first-order pass at (w, b) gives the slopes g of all d features, F and a certified gap. Features whose |g_j| exceeds
l1_j join the working set W, as many again as there are in the model. A second-order pass gives
    H = sum_i s_i loss''(y_i, z_i) (x_i - mean)(x_i - mean)' / sum(s)
over W alone, about means weighted alike, which is the curvature once the best intercept follows the coefficients. The
next point minimises the penalised quadratic with slope g and curvature H. The squared loss is this quadratic: its H
never changes, so only products with new features are ever read. For other losses H is kept while it serves, and a step
that does not lower F is cut back to the best of some fractions.

Many rows are first solved on a sample of them: its answer, its W and its H are near those of all rows. Out of core a
single pass does both orders, the second for features that wanted in after the pass before.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice

import numpy as np

from riata.data.products import Products, chunk_products
from riata.data.sample import sample_rows
from riata.losses import Squared
from riata.objective import (
    FirstOrder,
    Problem,
    at_empty,
    duality_gap,
    empty_intercept,
    first_order_part,
    summarise,
)
from riata.solvers.iterate import Iterate, Options
from riata.solvers.quadratic import minimise_quadratic

FIRST = 64  # features that join an empty working set
KEEPS = 0.1  # H is kept while a step cuts the gap to this share
FINE, ROUGH = 1e-13, 1e-3  # precision of a step, while no feature has to wait and while some do
ROUNDING = 1e-14  # of F: a rise by less is none
FRACTIONS = 0.5 ** np.arange(1, 16)
SAMPLE_GAP, SAMPLE_STEPS = 1e-3, 20  # a sample is not worth more precision, nor more time


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


NOTHING = Curvature(np.empty(0, dtype=np.int64), 0.0, np.empty(0), np.empty((0, 0)))


@dataclass
class State:
    """Where the method is: the point, its working set, and the curvature last read."""

    w: np.ndarray
    b: float
    features: np.ndarray = field(default_factory=lambda: NOTHING.features)
    curvature: Curvature = NOTHING


def exact(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate after every first-order pass, each with its certified gap."""
    w, b = np.zeros(problem.data.n_features), empty_intercept(problem)
    at = at_empty(problem) if problem.at_empty is None else problem.at_empty
    yield Iterate(w, b, 1, float(at.loss), duality_gap(problem, w, at))
    state = State(w, b)
    sample = sample_rows(problem.data, options.memory, options.seed)
    if sample is None:
        _advance(problem, state, at)
    else:
        for point in islice(newton(replace(problem, data=sample), state), SAMPLE_STEPS):
            if point.gap is not None and point.gap <= SAMPLE_GAP * at.loss:
                break
        if problem.loss == Squared():
            state.curvature = NOTHING  # only that of all rows can serve all further steps
    yield from newton(problem, state, known=(at.loss, w, b))


def newton(problem: Problem, state: State, known=None) -> Iterator[Iterate]:
    """Newton steps from a state, which is kept up to date. No step may be worse than the point `known`, (F, w, b)."""
    last_gap = np.inf
    for t in count(2):
        at, second = _read(problem, state, first=True, second=not problem.data.in_memory)
        F = at.loss + problem.penalty.value(state.w)
        while known is not None and not F <= known[0] + ROUNDING * abs(known[0]):
            state.w, state.b = _cut_back(problem, known[1:], (state.w, state.b))
            at, second = _read(problem, state, first=True, second=not problem.data.in_memory)
            F = at.loss + problem.penalty.value(state.w)
        gap = duality_gap(problem, state.w, at)
        yield Iterate(state.w, state.b, t, float(F), gap)
        known = F, state.w, state.b
        _advance(problem, state, at, second, keep=gap <= KEEPS * last_gap)
        last_gap = gap


def _advance(problem, state: State, at: FirstOrder, second=None, keep=False):
    """Let features in, and step on the curvature: that read with `at`, that kept, or a new one (a pass)."""
    features, waiting = _grown(problem, state, at)
    if second is not None:
        state.curvature = second
        waiting += len(features) - len(state.features)
    elif len(features) > len(state.features) or not keep:
        state.features = features
        state.curvature = _read(problem, state, first=False, second=True)[1] or state.curvature
    state.w, state.b = _step(problem, state, at, ROUGH if waiting else FINE)
    state.features = features


def _grown(problem, state: State, at: FirstOrder):
    """The working set with the features that want in most, as many as are in use, and how many have to wait."""
    l1 = np.broadcast_to(problem.penalty.l1, state.w.shape)
    g = np.abs(at.by_w)
    wanting = g > l1
    wanting[state.features] = False
    candidates = np.flatnonzero(wanting)
    room = max(FIRST, int(np.count_nonzero(state.w)))
    waiting = max(0, len(candidates) - room)
    if waiting:
        with np.errstate(divide="ignore"):
            urgency = g[candidates] / l1[candidates]
        candidates = candidates[np.argpartition(-urgency, room)[:room]]
    return np.concatenate([state.features, candidates]), waiting


def _read(problem, state: State, *, first, second):
    """One pass for the first-order means, for the curvature of the working set, or for both."""
    loss, w, b, features = problem.loss, state.w, state.b, state.features
    quadratic = loss == Squared()
    left = features[len(state.curvature.features) :] if quadratic else features
    second = second and len(left) > 0
    slopes, support = first_order_part(loss, w, b), np.flatnonzero(w)

    def part(chunk):
        X, y, weight = chunk
        sums = slopes(chunk) if first else ()
        if not second:
            return sums
        if not quadratic:
            z = X[:, support] @ w[support] + b
            weight = weight * np.maximum(loss.second_derivative(y, z), loss.least_curvature)
        return *sums, chunk_products(X, weight, left, features if quadratic else left)

    if not first and not second:
        return None, None
    sums = problem.data.sum(part)
    at = summarise(sums[:2]) if first else None
    if not second:
        return at, None
    known = state.curvature if quadratic else NOTHING
    return at, known.grown(features, sums[-1], problem.data.total_weight)


def _step(problem, state: State, at: FirstOrder, precision):
    """The minimum of the quadratic at the state's point, over its working set and the intercept."""
    w, b, curvature, penalty = state.w, state.b, state.curvature, problem.penalty
    W = curvature.features
    l1, l2 = (np.broadcast_to(strength, w.shape)[W] for strength in (penalty.l1, penalty.l2))
    slope, H = at.by_w[W], curvature.H
    if problem.fit_intercept:
        slope = slope - at.by_b * curvature.mean
    else:
        H = H + curvature.weight * np.outer(curvature.mean, curvature.mean)
    v = minimise_quadratic(H + np.diag(l2), slope + l2 * w[W], l1, np.full(len(W), -np.inf), w[W], precision)
    if problem.fit_intercept and curvature.weight > 0:
        b = b - at.by_b / curvature.weight - curvature.mean @ (v - w[W])
    w = w.copy()
    w[W] = v
    return w, b


def _cut_back(problem, good, bad):
    """The best of some fractions of a step that went too far: one pass."""
    (w, b), (w_far, b_far) = good, bad

    def part(chunk):
        z, z_far = chunk.X @ w + b, chunk.X @ w_far + b_far
        return np.array([chunk.weight @ problem.loss.value(chunk.y, z + t * (z_far - z)) for t in FRACTIONS])

    losses = problem.data.sum(part) / problem.data.total_weight
    values = [loss + problem.penalty.value(w + t * (w_far - w)) for loss, t in zip(losses, FRACTIONS, strict=True)]
    t = FRACTIONS[np.argmin(values)]
    return w + t * (w_far - w), b + t * (b_far - b)
