"""A first model of one alpha in one compiled loop: of small problems, what goes with each step in Python counts most.

It goes along columns as a path does (`column_path`), of which this is one alpha. A pass certifies what it finds; where
that is not good enough, as where columns are too correlated for sweeps, the usual steps go on from there.
"""

from riata.objective import Problem, Start, gap_unit
from riata.small_work import of_thread
from riata.solvers.convex.column_path import along_few_columns
from riata.solvers.convex.curvature import Point
from riata.solvers.iterate import Options

SHARE = 0.5  # of the gap that is asked for: the loop adds up in another order than the pass that certifies it


def first_model(problem: Problem, options: Options, start: Start) -> Point | None:
    """The model of a problem in memory, or a point on the way to it; None where the loop does not serve."""
    if not options.tol or of_thread.work is not None or start.w.any():
        return None
    columns = along_few_columns(problem, options.memory)
    if columns is None:
        return None
    with problem.data.ledger.monitoring():
        unit = gap_unit(problem)
    return columns.one(problem, (start.w, start.b), SHARE * options.tol, unit)
