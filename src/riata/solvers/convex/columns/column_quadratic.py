"""The minimum of a penalised quadratic of the margins, along columns in memory.

    Q(v) = sum_i u_i m_i + D_i m_i^2 / 2 + sum_j l1_j |v_j| + l2_j / 2 v_j^2,   m = A (v - v0) + c

Coordinate descent over the coefficients that are not zero, or are pulled, longest where it gains most for its work;
Anderson's extrapolation of its last sweeps (Bertrand & Massias, 2021); and Newton steps on the support. Along sparse
columns these are made by conjugate gradients, too, in some of the work of sweeps, or more while they gain more for it;
and where sweeps left nearly all signs as they were, once they have cost as much, up to the precision that is asked for.
A factorisation is made once as much work has gone into all else as it costs: so none costs much more than the best.
"""

import numpy as np

from riata.objective import Problem
from riata.solvers.convex.columns.column_descent import Descent
from riata.solvers.convex.columns.columns import Columns, DenseColumns
from riata.solvers.convex.columns.effort import Effort
from riata.solvers.convex.quadratics.quadratic import PROGRESS

MAX_ROUNDS = 2000
BESIDE = 0.5  # of the work of sweeps: what conjugate gradients have at least, however little they gain
SETTLED = 0.002  # of the columns in the model: sweeps that change no more signs have found nearly all of them


def minimise_along_columns(
    problem: Problem,
    columns: Columns,
    u: np.ndarray,
    D: np.ndarray,
    v0: np.ndarray,
    enough: float,
    effort: Effort | None = None,
    last_share: float = 0.0,
) -> tuple[np.ndarray, float]:
    """(v, c) whose Q is within `enough` of the least, and nearer to it than that of v0, from there.

    Rows have slopes u and curvatures D at v0. It ends, too, with a round that gains no more than `last_share` of what
    all have gained.
    """
    work = Descent(problem, columns, u, D, v0)
    effort = effort or Effort()
    effort.here = 0.0
    Q_first, enough, crowded, settled = work.Q, min(enough, PROGRESS * work.gap()), False, False
    for _ in range(MAX_ROUNDS):
        Q, signs = work.Q, np.sign(work.v)
        if work.gap() <= enough:
            break
        if not crowded and work.crowded():
            crowded = True
            work.by_dual(enough)
        elif effort.pays(work.newton_cost(), settled):
            work.newton()
            effort.here = effort.in_all = 0.0
        else:
            cost = work.descend(last_share)
            effort.add(cost)
            effort.for_conjugate += BESIDE * cost
            if not isinstance(columns, DenseColumns) and work.gap() > enough:
                changed = np.count_nonzero(signs != np.sign(work.v))
                if changed <= SETTLED * np.count_nonzero(work.v) and work.long_step_cost() <= effort.here:
                    effort.add(work.to_the_end(enough))
                else:
                    effort.add(work.conjugate(effort))
        settled = np.array_equal(signs, np.sign(work.v))
        if Q - work.Q <= last_share * (Q_first - work.Q) and work.Q < Q_first:
            break
    return work.v, work.constant
