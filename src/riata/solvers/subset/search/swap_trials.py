"""Single swaps tried in the true loss, each along a line, all in one pass.

The local quadratic gives the weights before and after member i leaves and column j enters (`Subset.lines`). Where the
curvature changes between the two, as it does for rows that a logistic model predicts with near certainty, the step is
too long and the quadratic promises too much: the true loss is evaluated at a few fractions of the step. The least of
these losses is an upper bound on that of a refit, and close to it.
"""

import numpy as np

from riata.arrays import namespace, to_host
from riata.data.chunk import Chunk, added
from riata.objective import Problem
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import Fitted
from riata.solvers.subset.search.subset import Subset

TRIED_FRACTIONS = (1.0, 0.5, 0.25)  # of a step
# where the smallest of those is the best, as for a level in which a rare class is common:
SMALLER_FRACTIONS = (0.1, 0.03, 0.01)
MARGINS_AT_ONCE = 1 << 18  # of all lines: a chunk in memory may have all rows, and a GPU wants them so


def tried(model: LocalQuadratic, search: Subset, entering: np.ndarray, partners: np.ndarray) -> list[Fitted]:
    """The best point on the line of every swap of a column for the member whose place `partners` names (-1: none)."""
    lines = search.lines(entering, partners)
    ends = [model.coefficients(lines.columns, weights) for weights in (lines.start, lines.start + lines.step)]
    columns = np.append(lines.columns, model.problem.always_in)
    n_lines = len(lines.columns)
    (start, start_b), (end, end_b) = ((w[columns], b) for w, b in ends)
    step, step_b = end - start, end_b - start_b
    fraction, objective = _least(model.problem, columns, (start, start_b), (step, step_b), TRIED_FRACTIONS)
    far = np.flatnonzero(fraction == TRIED_FRACTIONS[-1])
    if len(far):
        ends_far = (start[:, far], start_b[far]), (step[:, far], step_b[far])
        smaller, below = _least(model.problem, columns, *ends_far, SMALLER_FRACTIONS)
        fraction[far] = np.where(below < objective[far], smaller, fraction[far])
        objective[far] = np.minimum(below, objective[far])
    trials = []
    for t, i in enumerate(partners):
        w, b = start[:, t] + fraction[t] * step[:, t], start_b[t] + fraction[t] * step_b[t]
        places = np.delete(np.arange(search.size), i if i >= 0 else [])
        places = np.concatenate([places, [search.size + t], np.arange(n_lines, len(columns))])
        places = places[np.argsort(columns[places])]
        trials.append(Fitted(columns[places], w[places], float(b), float(objective[t])))
    return trials


Points = tuple[np.ndarray, np.ndarray]  # weights, a column per line, and intercepts


def _least(
    problem: Problem, columns: np.ndarray, start: Points, step: Points, fractions: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The best of these fractions of every line, and the objective there: one pass."""
    objectives = _along(problem, columns, start, step, fractions)
    best = np.argmin(objectives, axis=0)
    return np.asarray(fractions)[best], objectives[best, np.arange(len(best))]


def _along(
    problem: Problem, columns: np.ndarray, start: Points, step: Points, fractions: tuple[float, ...]
) -> np.ndarray:
    """The objective at each fraction (a row) of each line (a column): one pass.

    Margins are computed in float64, losses in float32: they only rank the supports that are then refitted.
    """
    loss, l2 = problem.loss, np.broadcast_to(problem.cardinality.l2, problem.data.n_features)[columns]

    def of_rows(chunk: Chunk) -> np.ndarray:
        X = chunk.X.narrowed(columns)
        xp = namespace(chunk.y)
        y, weight = (xp.asarray(v, dtype=xp.float32) for v in (chunk.y[:, None, ...], chunk.weight))
        with np.errstate(over="ignore", invalid="ignore"):
            z, dz = (xp.asarray(X.margins(w, b), dtype=xp.float32) for w, b in (start, step))
            losses = [to_host(weight @ loss.value(y, z + fraction * dz)) for fraction in fractions]
            return np.array(losses, dtype=float)

    def part(chunk: Chunk) -> np.ndarray:
        at_once = chunk.n_rows if namespace(chunk.y) is not np else max(1, MARGINS_AT_ONCE // start[0].shape[1])
        return added(map(of_rows, chunk.blocks(at_once)))

    losses = problem.data.sum(part) / problem.data.total_weight
    ridge = [0.5 * l2 @ (start[0] + fraction * step[0]) ** 2 for fraction in fractions]
    return np.nan_to_num(losses + ridge, nan=np.inf)
