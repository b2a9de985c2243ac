"""Newton steps on a working set: which features it has, what is read of them, and what is done about a step too far.

What one alpha (`exact`) and many alphas side by side (`alpha_path`) have in common. What stands for the loss over the
working set is a copy of its columns where they are few and in memory (`column_copy`), or else its curvature.
"""

from dataclasses import dataclass, field

import numpy as np

from riata.arrays import at_least
from riata.errors import OptionError
from riata.objective import FirstOrder, Problem, first_order_part, pulls, summarise
from riata.solvers.convex.curvature import NOTHING, Curvature
from riata.solvers.iterate import Saved

FIRST = 64  # features that join at least, where passes are cheap
FINE = 1e-13  # precision of a step that is worth a pass
FRACTIONS = 0.5 ** np.arange(1, 16)
DAMPED = 10.0  # times the curvature, after a step of which no fraction was of use
CUTS = 3  # of one step: they leave less of it than rounding does
ROUNDING = 1e-14  # of F: a rise by less is none


@dataclass
class WorkingSetState:
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
    def resumed(cls, saved: Saved) -> "WorkingSetState":
        arrays, facts = saved
        curvature = Curvature(arrays["H.features"], facts["H.weight"], arrays["H.mean"], arrays["H"])
        return cls(arrays["w"], facts["b"], arrays["features"], curvature)


def read(problem: Problem, state: WorkingSetState, *, first: bool, second: bool, memory: int | None = None):
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


def grown(problem: Problem, state: WorkingSetState, ats: list[FirstOrder], least=1.0, first=FIRST):
    """The working set with the features that want in most, as many as are in use, and how many have to wait.

    A feature wants in where it is pulled by more than `least` times its threshold at any of the points.
    """
    pulled = [pulls(problem.penalty, at.by_w) for at in ats]
    pull, threshold = np.max([pull for pull, _ in pulled], axis=0), pulled[0][1]
    wanting = pull > least * threshold
    wanting[state.features] = False
    candidates = np.flatnonzero(wanting)
    room = max(first, int(np.count_nonzero(state.w)))
    waiting = max(0, len(candidates) - room)
    if waiting:
        with np.errstate(divide="ignore"):
            urgency = pull[candidates] / threshold[candidates]
        candidates = candidates[np.argpartition(-urgency, room)[:room]]
    return np.concatenate([state.features, candidates]), waiting


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
