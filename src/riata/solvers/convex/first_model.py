"""A first model of one alpha in one compiled loop: of few entries, what goes with each step in Python counts most.

It goes along columns as a path does (`column_path`), of which this is one alpha. A pass certifies what it finds; where
that is not good enough, as where columns are too correlated for sweeps, the usual steps go on from there. Data that may
be interpreted goes the usual way, compiled or not: the model must not depend on which it is.
"""

from riata.data.in_memory import InMemory
from riata.objective import Problem, Start, gap_unit
from riata.small_work import is_small, of_thread
from riata.solvers.convex.column_path import along_columns
from riata.solvers.convex.curvature import Point
from riata.solvers.iterate import Options

SHARE = 0.5  # of the gap that is asked for: the loop adds up in another order than the pass that certifies it
DENSE = 5.0  # entries of dense columns take the time of one that is stored with its row
FEW = 1 << 17  # entries: of more of them a pass takes longer than what goes with it
WORK = 1.5e6  # entries that are visited: some milliseconds, as the usual steps take for anything


def first_model(problem: Problem, options: Options, start: Start) -> Point | None:
    """The model of a problem in memory, or a point on the way to it; None where the loop does not serve."""
    data = problem.data
    if not options.tol or not isinstance(data, InMemory) or start.w.any():
        return None
    if of_thread.work is not None or is_small(data):
        return None
    unit_of_work = 1.0 if data.chunk.X.sparse else DENSE
    columns = along_columns(problem, options.memory, FEW * unit_of_work)
    if columns is None:
        return None
    with data.ledger.monitoring():
        unit = gap_unit(problem)
    return columns.one(problem, (start.w, start.b), SHARE * options.tol, unit, WORK * unit_of_work)
