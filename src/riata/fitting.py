"""From a dataset and plain options to a fitted linear model: check, assemble, delegate."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from riata.checkpoint import Checkpoints, data_fingerprint
from riata.data.dataset import Dataset
from riata.data.remote import Remote
from riata.device.arrays import namespace
from riata.driver import Record, Result, run
from riata.errors import DataError, OptionError
from riata.losses import LOSSES
from riata.objective import Problem, Start, alpha_max, elastic_net, empty_start, first_order
from riata.penalties import Cardinality, ElasticNet, GroupCardinality
from riata.solvers.exact import exact
from riata.solvers.iterate import Options
from riata.solvers.registry import SOLVERS, choose_solver
from riata.solvers.stochastic import first_state, make_stepper
from riata.solvers.stream import Stream
from riata.solvers.visits import ORDERS
from riata.units import parse_seconds

DEFAULT_ALPHA_RATIO = 0.1
WIDEST = 1 << 34  # features: one number for each would take 128 GiB
SAVING = [name for name, solver in SOLVERS.items() if solver.saves or solver.method]  # that have checkpoints
NOT_SHAPING = {"checkpoint", "every", "resume", "memory"}  # options that leave the result as it is


@dataclass(frozen=True)
class Spec:
    """What the user asked for, by the names of the estimators' parameters."""

    k: int | None = None
    alpha: float | None = None
    alpha_ratio: float | None = None
    l1_ratio: float = 1.0
    ridge: float = 0.0
    loss: str = "squared"
    solver: str = "auto"
    penalty_factors: Any = None  # one number per feature; 0 is always in
    groups: np.ndarray | None = None  # the group of every feature, numbered from 0; k then counts groups
    nonnegative: bool = False
    fit_intercept: bool = True
    standardize: bool = True
    tol: float = 1e-6
    max_passes: int | None = None
    max_steps: int | None = None
    batch: int | str | None = None
    rounds: bool = False
    step: str | float | None = None
    order: str | None = None
    memory: int | None = None
    seed: int | None = None
    half_life: float | None = None
    checkpoint: str | Path | None = None
    every: str | float = "60s"
    resume: bool = False

    @property
    def counted(self) -> str:
        """What k counts."""
        return "features" if self.groups is None else "groups of features"

    @property
    def takes(self) -> str:
        return "alpha" if self.k is None else "k"

    def n_choices(self, n_features: int) -> int:
        """How many features there are for k to count, or groups of them."""
        return n_features if self.groups is None else int(np.max(self.groups)) + 1

    @property
    def solver_name(self) -> str:
        return choose_solver(self.solver, self.takes)


@dataclass(frozen=True)
class Fit:
    """A result, with the choices that were made on the way."""

    result: Result
    solver: str
    alpha: float | None
    spec: Spec
    problem: Problem


def check_spec(spec: Spec, n_features: int) -> None:
    """Refuse what makes no sense, one sentence each."""
    given = [name for name in ("k", "alpha", "alpha_ratio") if getattr(spec, name) is not None]
    solver, most = SOLVERS[spec.solver_name], spec.n_choices(n_features)
    _check_numbers(spec)
    idle = [name for name in ("batch", "step", "order", "max_steps") if getattr(spec, name) is not None]
    checks = [
        (len(given) > 1, f"give one of k, alpha and alpha_ratio, not {' and '.join(given)}"),
        (spec.k is not None and not _whole(spec.k), f"k must be a whole number or 'auto', not {spec.k!r}"),
        (_whole(spec.k) and not 1 <= spec.k <= most,
         f"k must lie between 1 and the number of {spec.counted}, {most}, not be {spec.k}"),
        (spec.groups is not None and spec.solver_name != "best-k",
         f"groups go with k and solver 'best-k', not with solver {spec.solver_name!r}"),
        (not _at_least_zero(spec.alpha), f"alpha must be zero or more, or 'auto', not {spec.alpha}"),
        (not _at_least_zero(spec.alpha_ratio), f"alpha_ratio must be zero or more, not {spec.alpha_ratio}"),
        (not 0 <= spec.ridge < np.inf, f"ridge must be zero or more, not {spec.ridge}"),
        (spec.ridge > 0 and not (solver.ridge and spec.k is not None),
         f"ridge goes with k and a solver that takes it; {spec.solver_name!r} does not"),
        (not 0 < spec.l1_ratio <= 1, f"l1_ratio must lie in (0, 1], not be {spec.l1_ratio}"),
        (spec.l1_ratio < 1 and spec.k is not None, "l1_ratio goes with alpha; beside k take a ridge"),
        (spec.l1_ratio < 1 and not solver.ridge, f"solver {spec.solver_name!r} has no l2 part; leave l1_ratio at 1"),
        *_factor_checks(spec, n_features),
        ((spec.penalty_factors is not None or spec.nonnegative) and spec.solver_name != "exact",
         f"solver {spec.solver_name!r} has no penalty_factors and no nonnegative; take solver 'exact'"),
        (spec.loss not in LOSSES, f"there is no loss {spec.loss!r}; there are {', '.join(LOSSES)}"),
        (spec.loss in LOSSES and not (solver.any_curvature or np.isfinite(LOSSES[spec.loss].curvature)),
         f"loss {spec.loss!r} bends without bound, which solver {spec.solver_name!r} cannot have; take solver 'exact'"),
        (spec.order not in (None, *ORDERS), f"order must be one of {', '.join(ORDERS)}, not {spec.order!r}"),
        (spec.batch not in (None, "full") and not (_whole(spec.batch) and spec.batch >= 1),
         f"batch must be a positive whole number or 'full', not {spec.batch!r}"),
        (bool(idle) and not solver.stochastic,
         f"{' and '.join(idle)} would do nothing: solver {spec.solver_name!r} takes no steps on single rows"),
        (spec.max_passes is not None and spec.max_passes < 1, f"max_passes must be at least 1, not {spec.max_passes}"),
        (spec.max_steps is not None and spec.max_steps < 1, f"max_steps must be at least 1, not {spec.max_steps}"),
        (not 0 <= spec.tol < np.inf, f"tol must be zero or more, not {spec.tol}"),
        (spec.half_life is not None and not solver.own_alpha, "a half_life is for solvers 'online' and 'sketch'"),
        (n_features > WIDEST and not solver.any_width,
         f"solver {spec.solver_name!r} keeps a number for every feature, and there are {n_features:,}: take "
         "solver 'sketch'"),
        (spec.half_life is not None and not 0 < spec.half_life < np.inf,
         f"half_life must be positive, not {spec.half_life}"),
        (spec.resume and spec.checkpoint is None, "to resume, say from which folder: give checkpoint"),
        (spec.checkpoint is not None and not (solver.saves or solver.method),
         f"solver {spec.solver_name!r} has no checkpoints; take one of {', '.join(SAVING)}"),
        (spec.checkpoint is not None and spec.groups is not None, "groups of features have no checkpoints"),
        (spec.rounds and spec.l1_ratio < 1, "rounds halve an L1 penalty, as in the paper: leave l1_ratio at 1"),
        (spec.rounds and spec.solver_name != "fobos", "rounds are a variant of solver 'fobos'"),
    ]  # fmt: skip
    for wrong, sentence in checks:
        if wrong:
            raise OptionError(sentence)


def _check_numbers(spec: Spec) -> None:
    """Refuse what is no number where one must be."""
    optional = {"max_passes", "max_steps", "half_life"}
    for name in ("ridge", "l1_ratio", "tol", *optional):
        value = getattr(spec, name)
        if not (isinstance(value, Real) or (value is None and name in optional)):
            raise OptionError(f"{name} must be a number, not {value!r}")


def _factor_checks(spec: Spec, n_features: int) -> list[tuple[bool, str]]:
    if spec.penalty_factors is None:
        return []
    factors = np.asarray(spec.penalty_factors, dtype=np.float64)
    right_shape = factors.shape == (n_features,)
    return [
        (not right_shape, f"penalty_factors must be one number for each of the {n_features} features"),
        (not (np.isfinite(factors).all() and (factors >= 0).all()), "penalty_factors must be zero or more, and finite"),
        (right_shape and not factors.any(), "penalty_factors are all 0: at least one feature must have a penalty"),
    ]


def _whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _at_least_zero(value) -> bool:
    return value is None or (isinstance(value, Real) and 0 <= float(value) < np.inf)


def check_rows(data: Dataset, spec: Spec) -> None:
    """Refuse rows that a loss cannot learn from."""
    if data.n_rows == 0:
        raise DataError("there are no rows to learn from")
    if isinstance(data, Remote) and SOLVERS[spec.solver_name].stochastic:
        raise OptionError(
            f"solver {spec.solver_name!r} learns from one row after the other, which a cluster cannot share out: take "
            "solver 'exact' or 'best-k' there, or leave the engine out"
        )
    if data.stands_in and (spec.loss != "squared" or SOLVERS[spec.solver_name].stochastic):
        what = f"the squared loss only, not {spec.loss!r}"
        if spec.loss == "squared":
            what = f"no rows for solver {spec.solver_name!r} to visit"
        raise OptionError(f"there are statistics in place of rows, and they know {what}")
    if spec.loss == "poisson" and data.sum(lambda chunk: int(namespace(chunk.y).any(chunk.y < 0))):
        raise DataError("the target has negative values, and the Poisson loss is for counts: take loss 'squared'")


def make_problem(data: Dataset, spec: Spec) -> tuple[Problem, float | None]:
    """The problem of a spec on data, and the alpha that it came to."""
    if SOLVERS[spec.solver_name].own_alpha and spec.alpha is None and spec.alpha_ratio is None:
        free = elastic_net(0.0) if spec.k is None else Cardinality(spec.k)
        return Problem(data, LOSSES[spec.loss], free, spec.fit_intercept), None
    bare = bare_problem(data, spec)
    if spec.k is not None:
        l2 = spec.ridge * np.square(bare.scale)
        few = Cardinality(spec.k, l2) if spec.groups is None else GroupCardinality(spec.k, spec.groups, l2)
        return replace(bare, penalty=few), None
    alpha = spec.alpha
    if alpha is None:
        ratio = DEFAULT_ALPHA_RATIO if spec.alpha_ratio is None else spec.alpha_ratio
        bare, largest = with_start(bare, spec)
        alpha = ratio * largest
    return replace(bare, penalty=penalty_of(spec, alpha, bare.scale)), alpha


def bare_problem(data: Dataset, spec: Spec) -> Problem:
    """The problem of a spec before it has an alpha or a k."""
    scale = data.moments.scale if spec.standardize else 1.0
    return Problem(data, LOSSES[spec.loss], penalty_of(spec, 0.0, scale), spec.fit_intercept, scale)


def penalty_of(spec: Spec, alpha: float, scale) -> ElasticNet:
    """The penalty of a spec at an alpha."""
    return elastic_net(alpha, spec.l1_ratio, scale, _factors(spec), spec.nonnegative)


def _factors(spec: Spec) -> np.ndarray | float:
    return 1.0 if spec.penalty_factors is None else np.asarray(spec.penalty_factors, dtype=np.float64)


def with_start(problem: Problem, spec: Spec) -> tuple[Problem, float]:
    """The problem with the model of the largest alpha, and that alpha. Features that are always in are fitted first."""
    factors = _factors(spec)
    start = empty_start(problem)
    if np.any(np.equal(factors, 0.0)):
        shut_out = np.where(np.equal(factors, 0.0), 0.0, 1e300)
        always_in = replace(problem, penalty=replace(problem.penalty, l1=shut_out), start=start)
        found = run(always_in, exact(always_in, Options(100)), max_passes=100, tol=1e-12)
        start = Start(found.coef, found.intercept, first_order(problem, found.coef, found.intercept))
    problem = replace(problem, start=start)
    return problem, alpha_max(problem, spec.l1_ratio, factors)


def fit(data: Dataset, spec: Spec, progress: Callable[[Record], None] | None = None) -> Fit:
    """Fit one linear model: a number, or the margin between -1 and +1."""
    check_spec(spec, data.n_features)
    passes_before = data.passes
    check_rows(data, spec)
    problem, alpha = make_problem(data, spec)
    first_passes = data.passes - passes_before  # for the moments, and for alpha_max
    solver = SOLVERS[spec.solver_name]
    checkpoints = checkpoints_of(data, spec)
    resumed = checkpoints.load() if checkpoints is not None and spec.resume else None
    options = replace(solver_options(spec), resume=resumed)
    result = run(
        problem, solver.start(problem, options), max_passes=options.max_passes, tol=spec.tol, progress=progress,
        checkpoints=checkpoints, resumed=resumed,
    )  # fmt: skip
    return Fit(replace(result, passes=result.passes + first_passes), spec.solver_name, alpha, spec, problem)


def checkpoints_of(data: Dataset, spec: Spec) -> Checkpoints | None:
    """Where a fit is saved, known by its data and by the options that shape the result; None if nobody asked."""
    if spec.checkpoint is None:
        return None
    every = parse_seconds(spec.every)
    shaping = {name: np.array(value).tolist() for name, value in asdict(spec).items() if name not in NOT_SHAPING}
    return Checkpoints(Path(spec.checkpoint), data_fingerprint(data) | shaping, every)


def describe(fitted: Fit) -> str:
    """What was minimised, as a formula in words."""
    problem, spec = fitted.problem, fitted.spec
    unit = " of columns scaled to unit deviation" if spec.standardize else ""
    text = f"mean {spec.loss} loss"
    if fitted.alpha is None and spec.k is None:
        text += ", with a penalty found while learning"
    elif fitted.alpha is None:
        text += f" + {spec.ridge:g} / 2 |w|_2^2{unit}" if spec.ridge else ""
        text += f" over models of at most {spec.k} {spec.counted}"
    elif spec.l1_ratio == 1:
        text += f" + {fitted.alpha:.6g} * |w|_1{unit}"
    else:
        text += f" + {fitted.alpha:.6g} * ({spec.l1_ratio:g} |w|_1 + {1 - spec.l1_ratio:g} / 2 |w|_2^2){unit}"
    text += ", each feature times its penalty factor" if spec.penalty_factors is not None else ""
    text += ", no coefficient negative" if spec.nonnegative else ""
    return text + (", intercept not penalised" if problem.fit_intercept else ", no intercept")


def open_stream(spec: Spec, n_features: int) -> Stream:
    """A stream that learns this spec from rows as they come."""
    check_spec(spec, n_features)
    sentence = None
    solver = SOLVERS[spec.solver_name]
    if spec.k is None and spec.alpha is None and (spec.alpha_ratio is not None or not solver.own_alpha):
        sentence = "a stream has no alpha_max to take a share of: give partial_fit an alpha or a k"
    elif spec.rounds:
        sentence = "rounds are halves of a known number of steps, and a stream has none: leave rounds=False"
    elif spec.batch == "full":
        sentence = "a stream has no full batch: give batch a number"
    if sentence:
        raise OptionError(sentence)
    loss = LOSSES[spec.loss]
    penalty = elastic_net(spec.alpha or 0.0, spec.l1_ratio) if spec.k is None else Cardinality(spec.k)
    if solver.method is None:
        raise OptionError(f"solver {spec.solver_name!r} cannot learn from a stream")
    method: Any = solver.method(penalty)
    if solver.own_alpha:
        method = replace(method, standardize=spec.standardize, half_life=spec.half_life)
    if solver.any_width and spec.memory is not None:
        method = replace(method, budget=spec.memory)
    stepper = make_stepper(method, loss, spec.step, int(spec.batch or 1), spec.fit_intercept)
    return Stream(stepper, first_state(stepper.method, n_features), n_features)


def solver_options(spec: Spec) -> Options:
    """The part of a spec that says how to solve. Enough steps are a limit of their own."""
    passes = spec.max_passes
    if passes is None:
        passes = SOLVERS[spec.solver_name].max_passes if spec.max_steps is None else 10**9
    return Options(
        passes, spec.max_steps, spec.batch, spec.rounds, spec.step, spec.order, spec.seed, spec.memory, spec.half_life
    )
