"""The batch answer with a certificate, in a few passes over data of any size: Newton steps on a working set.

A first-order pass at (w, b) gives the slopes g of all d features, F and a certified gap. Features whose |g_j| exceeds
l1_j join the working set W, as many again as there are in the model. A second-order pass gives
    H = sum_i s_i loss''(y_i, z_i) (x_i - mean)(x_i - mean)' / sum(s)
over W alone, about means weighted alike, which is the curvature once the best intercept follows the coefficients. The
next point minimises the penalised quadratic with slope g and curvature H. The squared loss is this quadratic: its H
never changes, so only products with new features are ever read. For other losses a step that does not lower F is cut
back to the best of some fractions. Out of core one pass does both, for features that wanted in after the pass before.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from riata.data.products import Products, chunk_products
from riata.losses import Squared
from riata.objective import FirstOrder, Problem, duality_gap, empty_intercept, first_order_part, summarise
from riata.solvers.iterate import Iterate, Options
from riata.solvers.quadratic import minimise_quadratic

FIRST = 64  # features that join an empty working set
ROUNDING = 1e-14  # of F: a rise by less is none
FRACTIONS = 0.5 ** np.arange(1, 16)


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


def exact(problem: Problem, options: Options) -> Iterator[Iterate]:
    """One iterate after every first-order pass, each with its certified gap."""
    data, penalty = problem.data, problem.penalty
    ahead = not data.in_memory
    w, b = np.zeros(data.n_features), empty_intercept(problem)
    features, curvature = NOTHING.features, NOTHING
    before, t = None, 0
    while True:
        at, second = _read(problem, w, b, features if ahead else None, curvature)
        F = at.loss + penalty.value(w)
        if before is not None and problem.loss != Squared() and not F <= before[0] + ROUNDING * abs(before[0]):
            w, b = _cut_back(problem, before[1:], (w, b))
            continue
        t += 1
        yield Iterate(w, b, t, float(F), duality_gap(problem, w, at))
        before = F, w, b
        if not ahead:
            features = _grown(problem, features, at, w)
            second = _read(problem, w, b, features, curvature, first=False)[1]
        curvature = second if second is not None else curvature
        w, b = _newton(problem, curvature, at, w, b)
        if ahead:
            features = _grown(problem, features, at, w)


def _grown(problem, features, at: FirstOrder, w):
    """The working set with the features that want in most, as many as are in use."""
    l1 = np.broadcast_to(problem.penalty.l1, w.shape)
    g = np.abs(at.by_w)
    wanting = g > l1
    wanting[features] = False
    candidates = np.flatnonzero(wanting)
    room = max(FIRST, int(np.count_nonzero(w)))
    if len(candidates) > room:
        with np.errstate(divide="ignore"):
            urgency = g[candidates] / l1[candidates]
        candidates = candidates[np.argpartition(-urgency, room)[:room]]
    return np.concatenate([features, candidates])


def _read(problem, w, b, features, curvature, first=True):
    """One pass: the first-order part if asked for, the curvature of features if there are any."""
    loss, data = problem.loss, problem.data
    quadratic = loss == Squared()
    new = features if features is None or not quadratic else features[len(curvature.features) :]
    slopes = first_order_part(loss, w, b)
    second = new is not None and len(new) > 0
    support = np.flatnonzero(w)

    def part(chunk):
        X, y, weight = chunk
        sums = slopes(chunk) if first else ()
        if not second:
            return sums
        if not quadratic:
            z = X[:, support] @ w[support] + b
            weight = weight * np.maximum(loss.second_derivative(y, z), loss.least_curvature)
        return *sums, chunk_products(X, weight, new, features if quadratic else new)

    if not first and not second:
        return None, None
    sums = data.sum(part)
    at = summarise(sums[:2]) if first else None
    if not second:
        return at, None
    known = curvature if quadratic else NOTHING
    return at, known.grown(features, sums[-1], data.total_weight)


def _newton(problem, curvature: Curvature, at: FirstOrder, w, b):
    """The minimum of the quadratic at (w, b) over the working set and the intercept."""
    W, penalty = curvature.features, problem.penalty
    l1, l2 = (np.broadcast_to(strength, w.shape)[W] for strength in (penalty.l1, penalty.l2))
    slope, H = at.by_w[W], curvature.H
    if problem.fit_intercept:
        slope = slope - at.by_b * curvature.mean
    else:
        H = H + curvature.weight * np.outer(curvature.mean, curvature.mean)
    v = minimise_quadratic(H + np.diag(l2), slope + l2 * w[W], l1, np.full(len(W), -np.inf), w[W])
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
