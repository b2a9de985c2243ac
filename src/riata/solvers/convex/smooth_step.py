"""Newton's step over the coefficients of a model whose penalty is not convex, with the penalty's own curvature.

Steps by the tangent of the penalty forget that it flattens, and come near a minimum by a constant share only. Where all
that is left to do is in coefficients that are not zero, and F is convex about them, this step ends it.
"""

import numpy as np

from riata.objective import FirstOrder, Problem, at_best_intercept
from riata.penalties import SeparablePenalty
from riata.positive import solve_positive
from riata.solvers.convex.quadratics.curvature import Curvature, Point

DIFFERENCE = 1e-6  # of a coefficient: distance of the finite differences that give the penalty's curvature


def smooth_step(problem: Problem, curvature: Curvature, at: FirstOrder, here: Point) -> Point | None:
    """The point after that step; None where coefficients at zero are pulled most, would change their sign or leave
    their bounds, or F is not convex."""
    w, W, whole = here[0], curvature.features, problem.penalty
    assert isinstance(whole, SeparablePenalty)
    v = w[W]
    S = np.flatnonzero(v)
    if not len(S) or w[np.argmax(whole.violation(w, at_best_intercept(problem, at)) / problem.scale)] == 0.0:
        return None
    H, slope = curvature.quadratic(problem, at)
    penalty, near = whole.of(W[S]), DIFFERENCE * v[S]
    p, ahead, behind = (penalty.subdifferential(x)[0] for x in (v[S], v[S] + near, v[S] - near))
    bent = H[np.ix_(S, S)]
    bent.ravel()[:: len(S) + 1] += (ahead - behind) / (2.0 * near)
    step = solve_positive(bent, -(slope[S] + p))
    if step is None or np.any((v[S] + step) * v[S] <= 0.0):
        return None
    v[S] += step
    return curvature.moved(problem, at, here, v) if np.isfinite(whole.of(W).value(v)) else None
