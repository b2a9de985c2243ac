"""What minimises over a working set: chosen by what it costs on these rows and columns, in operations.

| method             | holds                                | a sweep costs, of m features, k of them in the model |
| ------------------ | ------------------------------------ | ----------------------------------------------------- |
| `Curvature`        | products of all pairs of columns     | k m, after products that cost n m^2 once              |
| `GatheredColumns`  | the columns, sparse ones as they are | the entries of m columns, twice those of k            |
| `ColumnCopy`       | a dense copy of a few columns        | little: for losses that are not quadratic             |
| `AnchoredColumns`  | dense columns, and their products    | three times their entries: a step, for such losses    |

The first two turn to Newton steps on the dual (`semismooth`) where signs are hard to find. A Lasso along dense columns
that may have three quarters as many features as rows is followed along all columns (`AllColumns`). Group Lassos have
the first two: columns, group by group, where they are more than the entries of one.

Where rows have several margins, `OutputsCurvature` and `OutputColumns` are the same two ways; several targets have
`TargetsCurvature`, the curvature of the columns alone.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from riata.data.in_memory import InMemory
from riata.losses import SeveralMargins
from riata.objective import Problem
from riata.penalties import GroupLasso
from riata.solvers.convex.columns.all_columns import AllColumns
from riata.solvers.convex.columns.anchored_columns import AnchoredColumns
from riata.solvers.convex.columns.anchored_products import NO_ANCHOR, KeptAnchor
from riata.solvers.convex.columns.column_copy import ColumnCopy, column_copy
from riata.solvers.convex.columns.column_descent import too_many
from riata.solvers.convex.columns.columns import FASTER
from riata.solvers.convex.columns.gathered_columns import GatheredColumns
from riata.solvers.convex.columns.outputs_columns import OutputColumns, output_columns
from riata.solvers.convex.quadratics.curvature import Curvature
from riata.solvers.convex.quadratics.group_quadratic import LARGE_BLOCK
from riata.solvers.convex.quadratics.homotopy import serves_bounds
from riata.solvers.convex.quadratics.outputs_curvature import OutputsCurvature
from riata.solvers.convex.quadratics.targets_curvature import TargetsCurvature
from riata.solvers.convex.working_set import WorkingSetState

InnerModel = (
    AllColumns
    | AnchoredColumns
    | ColumnCopy
    | GatheredColumns
    | OutputColumns
    | Curvature
    | OutputsCurvature
    | TargetsCurvature
)

FEW_FEATURES = 128  # up to which the curvature is small whatever the rows are
COLUMNS_PER_ROW = 1.0  # of a working set of groups, for each entry of a column: with more, steps go along columns
ROUNDS, SWEEPS = 10, 8  # of sweeps and a Newton step, that a minimum takes: guesses, the same for both methods
CROWDED = 0.75  # of the rows: with more features in a working set `AllColumns` follows the minimum,
LIKELY = 0.5  # where so many of those that want to join it are enough for that, too
MOST_KNOWN, COPIES_OF_PRODUCTS = 2, 4  # times the rows: columns whose products it knows; and what a step makes of them
ENTRY_BYTES = 8
ROWS_PER_COLUMN = 2.0  # so few that a loss may be brought near nothing
ANCHORED_STEPS, ANCHORED_STEP = 4, 1.5e7  # that take the place of NEWTON_STEPS, and what each costs beside two passes
NEWTON_STEPS = 4  # of a loss that is not quadratic, each of which has a curvature of its own


class Step(NamedTuple):
    """What is known of the step that a working set is for."""

    memory: int | None = None  # the budget, in bytes
    many_minima: bool = False  # whether it is one of many over these rows, as along a path: compiled loops pay then
    rough: bool = False  # whether another step, over more features, follows: then a rough minimum is enough
    at_hand: AnchoredColumns | GatheredColumns | KeptAnchor | None = None  # what the last step had
    watched: Callable[[], np.ndarray] | None = None  # other features, whose sparse columns may be gathered as well
    known: np.ndarray | None = None  # features whose products with one another have been made


ANY_STEP = Step()


def without_curvature(
    problem: Problem, features: np.ndarray, step: Step = ANY_STEP
) -> AnchoredColumns | ColumnCopy | GatheredColumns | OutputColumns | None:
    """The columns of these features, where steps along them cost less than their curvature; otherwise None.

    Those at hand are taken if they are of these features and few others.
    """
    data = problem.data
    if problem.loss.couples_rows or problem.loss.stiff:
        return None
    if isinstance(problem.loss, SeveralMargins) and problem.loss.unit_curvature:
        return None  # that of the columns serves for all targets
    if problem.loss.n_outputs > 1:
        return output_columns(problem, features) if problem.penalty.convex else None
    if isinstance(problem.penalty, GroupLasso) and isinstance(data, InMemory):
        return _group_columns(problem.penalty, data, features, problem.fit_intercept)
    if "strengths" not in problem.penalty.has or not isinstance(data, InMemory):
        return None
    if len(features) > FEW_FEATURES and _may_be_anchored(problem, data, features, step):
        if isinstance(step.at_hand, AnchoredColumns):
            return step.at_hand.with_features(features)
        kept = step.at_hand if isinstance(step.at_hand, KeptAnchor) else NO_ANCHOR
        return AnchoredColumns(data, problem.fit_intercept, kept).with_features(features)
    curvature_cost = _curvature_cost(problem, data, features, step.known)
    if len(features) > FEW_FEATURES and _columns_cost(data, features) < curvature_cost:
        others = step.watched() if step.watched is not None and data.chunk.X.sparse else features[:0]
        if isinstance(step.at_hand, GatheredColumns) and step.at_hand.serves(features, len(others)):
            return step.at_hand
        return GatheredColumns.of(data, np.concatenate([features, others]), problem.fit_intercept)
    return column_copy(problem, features, step.many_minima)


def _may_be_anchored(problem: Problem, data: InMemory, features: np.ndarray, step: Step) -> bool:
    """Whether a curvature of these columns may serve for many steps, which pays, and there is room for them.

    Two rows for each column are so few that it can put them on their right sides (Cover, 1965): on the way there the
    curvatures of rows change by orders of magnitude.
    """
    if problem.loss.quadratic or not problem.penalty.convex or data.chunk.X.sparse:
        return False
    room = ENTRY_BYTES * len(features) * (data.n_rows + COPIES_OF_PRODUCTS * len(features))
    if step.memory is not None and room > step.memory:
        return False
    if step.rough and data.n_rows < ROWS_PER_COLUMN * len(features):
        return False
    entries = data.stored(features)
    saved = (NEWTON_STEPS - 1) * _products_cost(data, entries, len(features))
    return saved > ANCHORED_STEPS * (2.0 * entries + ANCHORED_STEP)


def _group_columns(
    penalty: GroupLasso, data: InMemory, features: np.ndarray, fit_intercept: bool
) -> GatheredColumns | None:
    """The columns, group by group, where they are many more than the entries of one; otherwise None."""
    groups = penalty.groups[features]
    along = data.stored(features) / len(features) if len(features) else np.inf
    if len(features) <= max(FEW_FEATURES, COLUMNS_PER_ROW * along) or np.bincount(groups).max() > LARGE_BLOCK:
        return None
    return GatheredColumns.of(data, features[np.argsort(groups, kind="stable")], fit_intercept)


def all_columns(
    problem: Problem, state: WorkingSetState, features: np.ndarray, wanted: int, memory: int | None
) -> AllColumns | None:
    """All dense columns, where the model may have so many features that their curvature is nearly singular, and there
    is room for them; those that the state has, if any. Otherwise None."""
    data = problem.data
    if not problem.loss.quadratic or problem.loss.n_outputs > 1 or problem.loss.couples_rows:
        return None
    if "strengths" not in problem.penalty.has or not isinstance(data, InMemory) or data.chunk.X.sparse:
        return None
    n, d = data.n_rows, data.n_features
    used = int(np.count_nonzero(state.w))
    expected = min(len(features), LIKELY * wanted + (1.0 - LIKELY) * used)
    if expected <= CROWDED * n or len(features) <= FEW_FEATURES or not serves_bounds(problem.strengths):
        return None
    if n <= FEW_FEATURES and not too_many(used, wanted, n, d):
        return None  # where rows are few a step over a working set costs little
    known = min(MOST_KNOWN * n, d)
    room = ENTRY_BYTES * (n * d + known * n + COPIES_OF_PRODUCTS * known**2)
    if memory is not None and room > memory:
        return None
    return state.all_columns or AllColumns.of(problem, data, state.past)


def settles_within_a_pass(data: InMemory, n_features: int) -> bool:
    """Whether the minimum of a quadratic of so many features costs less than a pass over the rows."""
    return ROUNDS * SWEEPS * n_features**2 <= data.stored(np.arange(data.n_features))


def _columns_cost(data: InMemory, features: np.ndarray) -> float:
    """Of sweeps along columns, and Newton steps on half of them; conjugate gradients stand for most of sparse ones."""
    entries, k = data.stored(features), _support(data, features)
    factorised = 1 if data.chunk.X.sparse else ROUNDS
    return ROUNDS * (SWEEPS + 1) * entries + factorised * _products_cost(data, entries * k / len(features), k)


def _curvature_cost(problem: Problem, data: InMemory, features: np.ndarray, known: np.ndarray | None) -> float:
    """Of products of all pairs of columns, but for those of known ones, and sweeps over them."""
    times, m = 1 if problem.loss.quadratic else NEWTON_STEPS, len(features)
    sweeps = ROUNDS * SWEEPS * _support(data, features) * m
    products = times * _products_cost(data, data.stored(features), m)
    if known is not None:
        products -= _products_cost(data, data.stored(known), len(known))
    return float(products + sweeps)


def _support(data: InMemory, features: np.ndarray) -> int:
    """How many of the features the model may have."""
    return min(len(features) // 2, data.n_rows)


def _products_cost(data: InMemory, entries: float, m: int) -> float:
    """Of products of all pairs of m columns that have so many entries together."""
    return 2.0 * entries**2 / data.n_rows if data.chunk.X.sparse else m * entries / FASTER
