"""Single swaps tried in the true loss, along a line each, all in one pass.

The local model says how the other weights follow when member i leaves and column j comes in (`Subset.lines`), and how
far to go. Where the curvature changes on the way, as it does for rows that a logistic model was sure of, that is too
far and the swap promises too much: the loss at a few fractions of the way tells. The least of them bounds from above
what a refit would reach, and is close to it.
"""

import numpy as np

from riata.arrays import namespace, to_host
from riata.solvers.subset.local_quadratic import LocalQuadratic
from riata.solvers.subset.refit import Fitted
from riata.solvers.subset.subset import Subset

FRACTIONS = (1.0, 0.5, 0.25)


def tried(model: LocalQuadratic, search: Subset, columns, partners) -> list[Fitted]:
    """For every swap of a candidate for the member in its place of `partners` (-1: for none), its line's best point."""
    lines = search.lines(columns, partners)
    ends = [model.coefficients(lines.columns, weights) for weights in (lines.start, lines.start + lines.step)]
    (start, start_b), (end, end_b) = ((w[lines.columns], b) for w, b in ends)
    objectives = _along(model.problem, lines.columns, (start, start_b), (end - start, end_b - start_b))
    trials = []
    for t, i in enumerate(partners):
        best = int(np.argmin(objectives[:, t]))
        w, b = (a + FRACTIONS[best] * (z - a) for a, z in ((start[:, t], end[:, t]), (start_b[t], end_b[t])))
        places = np.append(np.delete(np.arange(search.size), i if i >= 0 else []), search.size + t)
        places = places[np.argsort(lines.columns[places])]
        trials.append(Fitted(lines.columns[places], w[places], float(b), float(objectives[best, t])))
    return trials


def _along(problem, columns, start, step):
    """The objective at each fraction (a row) of each line (a column): one pass.

    Margins are had in float64, losses in float32: they only rank what is then refitted.
    """
    loss, l2 = problem.loss, np.broadcast_to(problem.cardinality.l2, problem.data.n_features)[columns]

    def part(chunk):
        X = chunk.X.narrowed(columns)
        xp = namespace(chunk.y)
        y, weight = (xp.asarray(v, dtype=xp.float32) for v in (chunk.y[:, None], chunk.weight))
        with np.errstate(over="ignore", invalid="ignore"):
            z, dz = (xp.asarray(X.margins(w, b), dtype=xp.float32) for w, b in (start, step))
            return np.array([to_host(weight @ loss.value(y, z + fraction * dz)) for fraction in FRACTIONS], dtype=float)

    losses = problem.data.sum(part) / problem.data.total_weight
    ridge = [0.5 * l2 @ (start[0] + fraction * step[0]) ** 2 for fraction in FRACTIONS]
    return np.nan_to_num(losses + ridge, nan=np.inf)
