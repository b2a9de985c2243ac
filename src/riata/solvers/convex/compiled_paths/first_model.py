"""A first model of one alpha in one compiled loop: of few entries, what goes with each step in Python counts most.

It goes along columns as a path does (`column_path`), of which this is one alpha. A pass certifies what it finds; where
that is not good enough, as where columns are too correlated for sweeps, the usual steps go on from there. Data that may
be interpreted goes the usual way, compiled or not: the model must not depend on which it is.
"""

from riata.data.in_memory import InMemory
from riata.objective import Problem, Start, at_best_intercept, gap_unit
from riata.small_work import is_small, of_thread
from riata.solvers.convex.compiled_paths.column_path import along_columns
from riata.solvers.convex.compiled_paths.covariance_path import FEW_COLUMNS, covariance_path, few_and_pulled
from riata.solvers.convex.quadratics.curvature import Point
from riata.solvers.iterate import Options

SHARE = 0.5  # of the gap that is asked for: the loop adds up in another order than the pass that certifies it
DENSE = 5.0  # entries of dense columns take the time of one that is stored with its row
FEW_OF_DENSE, FEW_OF_QUADRATIC = 5 << 17, 1 << 20  # entries: of more of them a pass takes longer than what goes with it
FEW_OF_OTHERS = (
    1 << 22
)  # of sparse columns and other losses: beyond it passes on all cores are faster than a loop on one
WORK = 1.5e6  # entries that are visited until a gap is halved: some milliseconds, as the usual steps take for anything,
PASSES, PASSES_OF_QUADRATIC = 60.0, 20.0  # or over all entries, if that is more: there Newton steps bring nothing new
MANY_CELLS = 1e5  # of fewer the loop takes less time than what goes with products


def first_model(problem: Problem, options: Options, start: Start) -> Point | None:
    """The model of a problem in memory, or a point on the way to it; None where the loop does not serve."""
    data = problem.data
    if not options.tol or not isinstance(data, InMemory) or start.w.any():
        return None
    if of_thread.work is not None or is_small(data):
        return None
    with data.ledger.monitoring():
        unit = gap_unit(problem)
    by_products = _by_products(problem, options, start, unit)
    if by_products is not None:
        return by_products
    sparse = data.chunk.X.sparse
    few_of_sparse = FEW_OF_QUADRATIC if problem.loss.quadratic else FEW_OF_OTHERS
    columns = along_columns(problem, options.memory, few_of_sparse if sparse else FEW_OF_DENSE)
    if columns is None:
        return None
    passes = PASSES_OF_QUADRATIC if problem.loss.quadratic else PASSES
    between = max(WORK, passes * columns.n_entries) if sparse else DENSE * WORK
    return columns.one(problem, (start.w, start.b), SHARE * options.tol, unit, between)


def _by_products(problem: Problem, options: Options, start: Start, unit: float) -> Point | None:
    """The model of few columns and a squared loss, most of which are pulled: their products tell it without rows."""
    data = problem.data
    if data.n_features > FEW_COLUMNS or data.n_rows * data.n_features < MANY_CELLS:
        return None
    if not few_and_pulled(at_best_intercept(problem, start.at), problem.strengths.l1):
        return None
    proposer = covariance_path(problem, 1, options.memory)
    return None if proposer is None else proposer.one(problem, start, SHARE * (options.tol or 0.0), unit)
