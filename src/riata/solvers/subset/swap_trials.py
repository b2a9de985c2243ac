"""Single swaps tried in the true loss, each along a line, all in one pass.

The local quadratic gives the weights before and after member i leaves and column j enters (`Subset.lines`). Where the
curvature changes between the two, as it does for rows that a logistic model predicts with near certainty, the step is
too long and the quadratic promises too much: the true loss is evaluated at a few fractions of the step. The least of
these losses is an upper bound on that of a refit, and close to it.
"""

import numpy as np

from riata.arrays import namespace, to_host
from riata.data.chunk import Chunk
from riata.objective import Problem
from riata.solvers.subset.local_quadratic import LocalQuadratic
from riata.solvers.subset.refit import Fitted
from riata.solvers.subset.subset import Subset

TRIED_FRACTIONS = (1.0, 0.5, 0.25)  # of a step


def tried(model: LocalQuadratic, search: Subset, columns: np.ndarray, partners: np.ndarray) -> list[Fitted]:
    """The best point on the line of every swap of a column for the member whose place `partners` names (-1: none)."""
    lines = search.lines(columns, partners)
    ends = [model.coefficients(lines.columns, weights) for weights in (lines.start, lines.start + lines.step)]
    (start, start_b), (end, end_b) = ((w[lines.columns], b) for w, b in ends)
    objectives = _along(model.problem, lines.columns, (start, start_b), (end - start, end_b - start_b))
    trials = []
    for t, i in enumerate(partners):
        best = int(np.argmin(objectives[:, t]))
        w, b = (a + TRIED_FRACTIONS[best] * (z - a) for a, z in ((start[:, t], end[:, t]), (start_b[t], end_b[t])))
        places = np.append(np.delete(np.arange(search.size), i if i >= 0 else []), search.size + t)
        places = places[np.argsort(lines.columns[places])]
        trials.append(Fitted(lines.columns[places], w[places], float(b), float(objectives[best, t])))
    return trials


def _along(
    problem: Problem,
    columns: np.ndarray,
    start: tuple[np.ndarray, np.ndarray],
    step: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """The objective at each fraction (a row) of each line (a column), of (weights, intercepts): one pass.

    Margins are computed in float64, losses in float32: they only rank the supports that are then refitted.
    """
    loss, l2 = problem.loss, np.broadcast_to(problem.cardinality.l2, problem.data.n_features)[columns]

    def part(chunk: Chunk) -> np.ndarray:
        X = chunk.X.narrowed(columns)
        xp = namespace(chunk.y)
        y, weight = (xp.asarray(v, dtype=xp.float32) for v in (chunk.y[:, None, ...], chunk.weight))
        with np.errstate(over="ignore", invalid="ignore"):
            z, dz = (xp.asarray(X.margins(w, b), dtype=xp.float32) for w, b in (start, step))
            losses = [to_host(weight @ loss.value(y, z + fraction * dz)) for fraction in TRIED_FRACTIONS]
            return np.array(losses, dtype=float)

    losses = problem.data.sum(part) / problem.data.total_weight
    ridge = [0.5 * l2 @ (start[0] + fraction * step[0]) ** 2 for fraction in TRIED_FRACTIONS]
    objectives: np.ndarray = np.nan_to_num(losses + ridge, nan=np.inf)
    return objectives
