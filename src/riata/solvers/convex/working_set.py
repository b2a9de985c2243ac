"""Newton steps on a working set: which features it has, what is read of them, and what is done about a step too far.

`exact`, for one alpha, and `alpha_path`, for many of them, share it. Steps minimise the loss over a copy of the columns
of the working set where they are few and in memory (`column_copy`), and otherwise a quadratic by their curvature.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from riata.coupled_passes import by_output, by_rows, coupled_losses
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.losses import CoupledLoss, Loss, SettledLoss, SeveralMargins
from riata.matrices.moments import Products
from riata.objective import FirstOrder, Problem, at_best_intercept, first_order_part, has_dual_bound, pulls, summarise
from riata.penalties import GroupLasso
from riata.solvers.convex.columns.all_columns import NO_PAST, AllColumns, Past
from riata.solvers.convex.columns.anchored_columns import AnchoredColumns
from riata.solvers.convex.columns.anchored_products import NO_ANCHOR, KeptAnchor
from riata.solvers.convex.columns.effort import Effort
from riata.solvers.convex.columns.gathered_columns import GatheredColumns
from riata.solvers.convex.columns.kept_columns import KeptColumns, can_be_kept
from riata.solvers.convex.columns.restricted import F_ROUNDING
from riata.solvers.convex.columns.row_curvature import row_curvature
from riata.solvers.convex.columns.spare_copies import spare_copies
from riata.solvers.convex.quadratics.curvature import NOTHING, Curvature, Point
from riata.solvers.convex.quadratics.outputs_curvature import OutputsCurvature, diagonal_part, outputs_products_part
from riata.solvers.convex.quadratics.targets_curvature import TargetsCurvature
from riata.solvers.convex.quadratics.term_products import TermProducts, term_products, within_terms
from riata.solvers.iterate import Saved
from riata.solvers.saved_checks import check_array, check_facts, check_indices, check_positive, check_set, restoring
from riata.units import whole_megabytes

MIN_JOINING = 64  # so many features may join at a time, however few are in use, where passes are cheap
GROUPS_JOINING, MOST_IN_GROUPS = 32, 1024  # the same for groups, up to so many features together
NEARLY_PULLED = 0.95  # of the threshold: features that are pulled by less may leave the working set,
WORTH_PRUNING = 0.75  # if what is left is at most this share of it
STEP_PRECISION = 1e-13  # of a step that is followed by a pass
NO_EFFECT = (
    1e-4  # of the gap that is asked for: coefficients of a smaller share of the largest effect leave no trace in it
)
STEP_FRACTIONS = 0.5 ** np.arange(1, 16)  # that are tried of a step that raises F
SLOW, SLOW_STEPS = 0.5, 3  # of the gap: so many steps in a row that leave more of it are slow
CUTS = 3  # of one step: they leave less of it than rounding
COPIES_OF_CURVATURE = 4  # H, a sum of parts of it, and two copies in a factorisation


AnyCurvature = Curvature | OutputsCurvature | TargetsCurvature


@dataclass
class WorkingSetState:
    """The current point of a method, its working set, and the curvature that was read last."""

    w: np.ndarray
    b: Any  # a number, or one for each output
    features: np.ndarray = field(default_factory=lambda: NOTHING.features)
    curvature: AnyCurvature = NOTHING
    tangent: bool = False  # steps take the penalty's tangent for it, see `Penalty.tangent`
    damping: float = 0.0  # of such steps, see `Curvature.damped`
    sample: Problem | None = None  # whose rows tell the curvature, where that of all would cost much more than slopes
    gathered: AnchoredColumns | GatheredColumns | KeptAnchor | None = None  # the columns that the last step went along
    all_columns: AllColumns | None = None  # once the model has become crowded
    columns: KeptColumns | None = None  # of the working set
    past: Past = NO_PAST  # of all columns in a fit that goes on, until it has them
    slow: int = 0  # steps by the curvature of the sample in a row that brought little
    settled: tuple[Dataset, np.ndarray, Any, Loss] | None = None  # what `loss_here` found last, over which rows

    def loss_here(self, problem: Problem) -> Loss:
        """The loss as a sum over rows at this point; of one that couples rows it is kept for further passes here."""
        if not problem.loss.couples_rows:
            return problem.loss
        if self.settled is None or not (
            self.settled[0] is problem.data and self.settled[1] is self.w and self.settled[2] == self.b
        ):
            [loss] = by_rows(problem.data, problem.loss, [(self.w, self.b)])
            self.settled = problem.data, self.w, self.b, loss
        return self.settled[3]

    def judge_sample(self, gap: float, least_gap: float) -> None:
        """Do without the sample once its curvature is too far from that of all rows."""
        self.slow = self.slow + 1 if gap > SLOW * least_gap else 0
        if self.slow == SLOW_STEPS:
            self.sample = None

    def saved(self, known: "Known", least_gap: float, idle: int, steps: int, slope_unit: float | None) -> Saved:
        """The state, with the point before it, the least gap so far, and the number of steps and of idle ones."""
        H = self.curvature if isinstance(self.curvature, Curvature) else NOTHING  # another is read again
        past = self.past if self.all_columns is None else self.all_columns.past
        anchored = self.gathered.kept if isinstance(self.gathered, AnchoredColumns) else self.gathered
        anchored = anchored if isinstance(anchored, KeptAnchor) else NO_ANCHOR
        columns = self.gathered if isinstance(self.gathered, GatheredColumns) else None
        effort = Effort() if columns is None else columns.effort
        arrays = {"w": self.w, "features": self.features, "known": known[1],
                  "H.features": H.features, "H.mean": H.mean, "H": H.H, "anchored.features": anchored.features,
                  "anchored.rows": anchored.rows, "anchored.products": anchored.products,
                  "columns.features": NOTHING.features if columns is None else columns.features}  # fmt: skip
        facts = {"b": np.asarray(self.b).tolist(), "H.weight": float(H.weight), "known_F": float(known[0]),
                 "known_b": np.asarray(known[2]).tolist(), "least_gap": float(least_gap), "idle": idle, "steps": steps,
                 "slope_unit": slope_unit, "tangent": self.tangent, "damping": self.damping,
                 "anchored.spent": anchored.spent, "anchored.ratio": anchored.ratio,
                 "columns.worked": float(effort.in_all), "columns.for_conjugate": float(effort.for_conjugate),
                 **past._asdict()}  # fmt: skip
        return Saved(arrays, facts)

    @classmethod
    @restoring()
    def resumed(cls, saved: Saved, problem: Problem) -> tuple["WorkingSetState", "Known"]:
        """The state and the point before it."""
        arrays, facts = saved
        d, n_outputs = problem.n_coefficients, problem.loss.n_outputs
        m = len(arrays["H.features"])
        shapes = {"w": (d,), "known": (d,), "H.mean": (m,), "H": (m, m)}
        for name, shape in shapes.items():
            check_array(arrays, name, np.float64, shape)
        for name in ("features", "H.features", "anchored.features", "columns.features"):
            check_indices(check_array(arrays, name, np.int64, (None,)), name, 0, d)
            check_set(arrays[name], name, np.arange(d))
        if not np.array_equal(arrays["features"][:m], arrays["H.features"]):
            raise ValueError("the features whose curvature is known are not the first ones")
        of_b: Any = float if n_outputs == 1 else list[float]
        check_facts(facts, {"b": of_b, "H.weight": float, "known_F": float, "known_b": of_b, "least_gap": float,
                            "idle": int, "steps": int, "slope_unit": float | None, "tangent": bool, "damping": float,
                            "tries": int, "lost": bool, "anchored.spent": float, "anchored.ratio": float,
                            "columns.worked": float, "columns.for_conjugate": float})  # fmt: skip
        check_positive(facts, "slope_unit")
        if (facts["slope_unit"] is None) != has_dual_bound(problem):
            raise ValueError("its points were not measured as those of this problem are")
        if not 0.0 <= facts["damping"] < np.inf:
            raise ValueError("the damping is not a number of 0 or more")
        curvature = Curvature(arrays["H.features"], facts["H.weight"], arrays["H.mean"], arrays["H"])
        b, known_b = (facts[name] if n_outputs == 1 else np.array(facts[name]) for name in ("b", "known_b"))
        if n_outputs > 1:
            for name in ("b", "known_b"):
                check_array({name: np.array(facts[name])}, name, np.float64, (n_outputs,))
        state = cls(arrays["w"], b, arrays["features"], curvature, facts["tangent"], facts["damping"])
        state.past = Past(facts["tries"], facts["lost"])
        state.gathered = _kept_anchor(arrays, facts, problem.data.n_rows)
        if len(arrays["columns.features"]) and isinstance(problem.data, InMemory):
            state.gathered = _columns_again(problem, problem.data, arrays["columns.features"], facts)
        return state, (facts["known_F"], arrays["known"], known_b)

    def prune(self, problem: Problem, at: FirstOrder) -> None:
        """Let features go that are not in the model and hardly pulled, where these are many."""
        pull, threshold = pulls(problem.penalty, at_best_intercept(problem, at))
        W = self.features
        kept = (self.w[W] != 0.0) | (pull[W] > NEARLY_PULLED * threshold[W])
        kept = np.isin(W, problem.penalty.whole(W[kept]))
        if np.count_nonzero(kept) < WORTH_PRUNING * len(W):
            self.features, self.curvature = W[kept], self.curvature.only(kept[: len(self.curvature.features)])


def _kept_anchor(arrays: dict[str, np.ndarray], facts: dict[str, Any], n_rows: int) -> KeptAnchor:
    """What a checkpoint has of columns, checked."""
    features, rows = arrays["anchored.features"], check_array(arrays, "anchored.rows", np.float64, (None,))
    m, n = (len(features), n_rows) if len(rows) else (0, 0)
    check_array(arrays, "anchored.rows", np.float64, (n,))
    products = check_array(arrays, "anchored.products", np.float64, (m, m))
    if not (rows >= 0.0).all():
        raise ValueError("the curvatures of rows are not all 0 or more")
    check_positive(facts, "anchored.ratio")
    return KeptAnchor(features, rows, products, facts["anchored.spent"], facts["anchored.ratio"])


def _columns_again(problem: Problem, data: InMemory, features: np.ndarray, facts: dict[str, Any]) -> GatheredColumns:
    """The columns that the last step went along, in their order, and what work had gone into them: both tell how the
    next goes on."""
    with data.ledger.monitoring():
        columns = GatheredColumns.of(data, features, problem.fit_intercept)
    columns.effort.in_all, columns.effort.for_conjugate = facts["columns.worked"], facts["columns.for_conjugate"]
    return columns


Known = tuple[float, np.ndarray, Any]  # (F, w, b) of a point that steps must not be worse than


def passes_are_cheap(problem: Problem) -> bool:
    """Whether to save work rather than passes. Where a penalty is not convex, the way decides where a fit ends: it is
    then the same wherever the rows lie."""
    return problem.data.cheap_passes or not problem.penalty.convex


def local_problem(problem: Problem, w: np.ndarray, tangent: bool) -> Problem:
    """What a step from w minimises: the problem, or that of the penalty's tangent at w."""
    return replace(problem, penalty=problem.penalty.tangent(w)) if tangent else problem


def read(
    problem: Problem, state: WorkingSetState, *, first: bool, second: bool, memory: int | None = None
) -> tuple[FirstOrder | None, AnyCurvature | None]:
    """One pass for the first-order means, for the curvature of the working set (None if it is known), or for both."""
    if isinstance(problem.loss, SeveralMargins) and problem.loss.unit_curvature:
        return _read_columns(problem, state, first, second, memory)
    features, known = state.features, _still_known(problem.loss, state.curvature)
    left = features[len(known.features) :]
    second = second and len(left) > 0
    if not (first or second):
        return None, None
    if second and state.sample is not None:
        return _read_by_sample(problem, state.sample, state, first, memory)
    if second:
        check_memory(
            len(features), len(state.w), memory, what="features" if problem.loss.n_outputs == 1 else "coefficients"
        )
    if second and not first and (columns := _kept_columns(problem, state, memory)) is not None:
        return None, curvature_of(problem, known, features, columns.products(features, len(known.features)))
    part = pass_part(
        replace(problem, loss=state.loss_here(problem)),
        state.w,
        state.b,
        left if second else None,
        features,
        first=first,
    )
    in_memory = problem.data if isinstance(problem.data, InMemory) and not first else None
    sums = problem.data.sum(part) if in_memory is None else in_memory.sum_of_products(part)
    at = summarise(sums[0], state.w, state.b) if first else None
    return at, curvature_of(problem, known, features, sums[-1]) if second else None


def _kept_columns(problem: Problem, state: WorkingSetState, memory: int | None) -> KeptColumns | None:
    """Where the columns of the working set are kept; None where they are not."""
    data, one_by_one = problem.data, problem.loss.quadratic and problem.loss.n_outputs == 1
    if not (one_by_one and isinstance(data, InMemory) and can_be_kept(data, len(state.features), memory)):
        state.columns = None
    elif state.columns is None or state.columns.data is not data:
        state.columns = KeptColumns(data)
    return state.columns


def _read_columns(
    problem: Problem, state: WorkingSetState, first: bool, second: bool, memory: int | None
) -> tuple[FirstOrder | None, TargetsCurvature | None]:
    """The same for several targets, whose curvature is that of the columns: of new ones a pass tells it."""
    known = state.curvature.of_columns if isinstance(state.curvature, TargetsCurvature) else NOTHING
    wanted = np.unique(state.features // problem.loss.n_outputs) if second else NOTHING.features
    new = np.setdiff1d(wanted, known.features)
    columns = np.concatenate([known.features, new])
    slopes = first_order_part(problem.loss, state.w, state.b) if first else None
    if len(new):
        check_memory(len(columns), problem.data.n_features, memory)

    def part(chunk: Chunk) -> tuple[Any, ...]:
        right = new if len(new) == len(columns) else columns
        products = (chunk.X.products(chunk.weight, new, right),) if len(new) else ()
        return *((slopes(chunk),) if slopes else ()), *products

    sums = problem.data.sum(part) if first or len(new) else ()
    at = summarise(sums[0], state.w, state.b) if first else None
    if len(new):
        known = known.grown(columns, sums[-1], problem.data.total_weight)
    return at, TargetsCurvature(state.features, known) if second and len(state.features) else None


def _read_by_sample(
    problem: Problem, sample: Problem, state: WorkingSetState, first: bool, memory: int | None
) -> tuple[FirstOrder | None, AnyCurvature]:
    """One pass for the first-order means, if asked for, and the diagonal of the curvature, the rest from a sample."""
    (w, b, features), loss = (state.w, state.b, state.features), problem.loss
    assert isinstance(loss, SeveralMargins)
    check_memory(len(features), len(w), memory, "coefficients")
    centre = sample.data.moments.mean if problem.fit_intercept else np.zeros(problem.data.n_features)
    squares = diagonal_part(loss, w, b, features, centre)
    slopes = pass_part(problem, w, b, None, None, first=first)
    sums, (weight, diagonal) = problem.data.sum(lambda chunk: (slopes(chunk), squares(chunk)))
    products = sample.data.sum(outputs_products_part(sample, loss, w, b, features))
    at = summarise(sums[0], w, b) if first else None
    return at, OutputsCurvature.of(sample, features, products, diagonal / weight)


def _still_known(loss: Loss, curvature: AnyCurvature) -> Curvature:
    """What of a curvature holds at another point: all of it, or nothing."""
    return curvature if loss.quadratic and isinstance(curvature, Curvature) else NOTHING


def curvature_of(problem: Problem, known: Curvature, features: np.ndarray, sums: Any) -> AnyCurvature:
    """The curvature of these features, of which some are known, from what `pass_part` adds up."""
    if isinstance(problem.loss, SeveralMargins):
        return OutputsCurvature.of(problem, features, sums)
    return known.grown(features, within_terms(sums), problem.data.total_weight)


def pass_part(
    problem: Problem, w: np.ndarray, b: Any, left: np.ndarray | None, features: np.ndarray | None, first: bool = True
) -> Callable[[Chunk], tuple[Any, ...]]:
    """What a chunk adds: first-order sums (if `first`), then (unless `left` is None) the products of `left` with
    all `features`."""
    loss = problem.loss
    slopes = first_order_part(loss, w, b) if first else None
    products: Callable[[Chunk], Any] | None = None
    if left is not None and features is not None and isinstance(loss, SeveralMargins):
        products = outputs_products_part(problem, loss, w, b, features)
    elif left is not None and features is not None:
        products = _products_part(loss, w, b, left, features)

    def part(chunk: Chunk) -> tuple[Any, ...]:
        return *((slopes(chunk),) if slopes else ()), *((products(chunk),) if products else ())

    return part


def _products_part(
    loss: Loss, w: np.ndarray, b: float, left: np.ndarray, features: np.ndarray
) -> Callable[[Chunk], Products | TermProducts]:
    """What a chunk adds to the products of some features with all features of the working set."""
    right = left if len(left) == len(features) else features

    def part(chunk: Chunk) -> Products | TermProducts:
        X, y, weight, _ = chunk
        if isinstance(loss, SettledLoss):
            return term_products(chunk, loss, X.margins(w, b), features)
        if not loss.quadratic:
            weight = weight * row_curvature(loss, y, X.margins(w, b))
        return X.products(weight, left, right)

    return part


def check_memory(size: int, n_features: int, memory: int | None, what: str = "features") -> None:
    need, most = (COPIES_OF_CURVATURE * 8 * count**2 for count in (size, n_features))
    if memory is not None and need > memory:
        later = f", and more may follow: {whole_megabytes(most)} is enough for all {n_features}" if most > need else ""
        raise OptionError(
            f"{size} {what} want to be in the model at this alpha, and their curvature needs "
            f"{whole_megabytes(need)}, more than the budget of {memory / 1e6:.0f} MB{later}; take a larger alpha, or "
            f"give it more memory"
        )


def grown(
    problem: Problem,
    state: WorkingSetState,
    ats: list[FirstOrder],
    least: float = 1.0,
    min_joining: int = MIN_JOINING,
) -> tuple[np.ndarray, int]:
    """The working set with the features that are pulled most, as many as are in use, and how many more there are.

    A feature is a candidate if it is pulled by more than `least` times its threshold at any of the points.
    """
    pulled = [pulls(problem.penalty, at_best_intercept(problem, at)) for at in ats]
    pull, threshold = pulled[0]
    for another, _ in pulled[1:]:
        pull = np.maximum(pull, another)
    pulled_in = pull > least * threshold
    pulled_in[state.features] = False
    spare = spare_copies(problem, int(np.count_nonzero(state.w)))
    if spare is not None:
        pulled_in[spare] = False
    candidates = np.flatnonzero(pulled_in)
    room = max(round(min_joining * problem.loss.n_outputs**0.5), int(np.count_nonzero(state.w)))
    if isinstance(problem.penalty, GroupLasso):
        room = max(room, min(GROUPS_JOINING * len(state.w) // problem.penalty.n_groups, MOST_IN_GROUPS))
    waiting = max(0, len(candidates) - room)
    if waiting:
        with np.errstate(divide="ignore"):
            urgency = pull[candidates] / threshold[candidates]
        candidates = candidates[np.argpartition(-urgency, room)[:room]]
    return problem.penalty.whole(np.concatenate([state.features, candidates])), waiting


def worse(F: float, known: float, rounding: float = F_ROUNDING) -> bool:
    """Whether F is above the known value by more than rounding, or is NaN."""
    return not F <= known + rounding * abs(known)


def without_rounding(problem: Problem, point: Point, tol: float | None) -> Point:
    """The point without coefficients that are rounding beside the largest, each by the effect of one deviation: from
    the mean, or, without an intercept to take that up, from zero.

    Of a column and its copy, one takes the coefficient, and what is left for the other is a sum that should be zero.
    """
    if "strengths" not in problem.penalty.has:  # such as groups, which are in a model as a whole
        return point
    w, b = point
    support = np.flatnonzero(w != 0.0)
    moments = problem.data.moments.of(support // problem.loss.n_outputs)
    effects = np.abs(w[support]) * (moments.scale if problem.fit_intercept else np.hypot(moments.scale, moments.mean))
    share = max(STEP_PRECISION, NO_EFFECT * (tol or 0.0))
    small = support[effects <= share * effects.max(initial=0.0)]
    if len(small):
        w = w.copy()
        w[small[problem.strengths.l1[small] > 0.0]] = 0.0  # without an L1 penalty zero is a number as any other
    return w, b


def cut_back(problem: Problem, good: Point, bad: Point) -> Point:
    """The best of some fractions of the step from `good` to `bad`, which raised F: one pass."""
    (w, b), (w_far, b_far) = good, bad
    points = [(w + t * (w_far - w), b + t * (b_far - b)) for t in STEP_FRACTIONS]
    losses = _losses_on_the_way(problem, good, bad, points)
    values = [loss + problem.penalty.value(point[0]) for loss, point in zip(losses, points, strict=True)]
    return points[np.argmin(np.nan_to_num(values, nan=np.inf))]


def _losses_on_the_way(problem: Problem, good: Point, bad: Point, points: list[Point]) -> np.ndarray:
    """The mean losses at these points, which are STEP_FRACTIONS of the way from `good` to `bad`."""
    loss = problem.loss  # `part` may be sent to workers: it must not refer to the problem, which has the data
    if isinstance(loss, CoupledLoss):
        return coupled_losses(problem.data, loss, points)
    (w, b), (w_far, b_far) = good, bad
    W, W_far = by_output(loss, w), by_output(loss, w_far)

    def part(chunk: Chunk) -> np.ndarray:
        z, z_far = chunk.X.margins(W, b), chunk.X.margins(W_far, b_far)
        with np.errstate(over="ignore", invalid="ignore"):
            values = (loss.value(chunk.y, z + float(t) * (z_far - z)) for t in STEP_FRACTIONS)
            return np.array([float(chunk.weight @ value) for value in values])

    losses: np.ndarray = problem.data.sum(part) / problem.data.total_weight
    return losses
