"""One margin: from a dataset and a spec to a fitted linear function. Check, assemble, delegate."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from riata.data.dataset import Dataset
from riata.objective import Problem, Start, alpha_max, best_slopes, empty_start
from riata.penalties import ElasticNet
from riata.solvers.convex.exact import exact
from riata.solvers.iterate import Options
from riata.solvers.registry import SOLVERS
from riata.training.checkpoint import Checkpoints, data_fingerprint
from riata.training.checks import check_rows, check_spec
from riata.training.driver import Record, Result, run
from riata.training.shaping_options import shaping_options
from riata.training.spec import Spec
from riata.training.stages.first_fit import with_first_fit
from riata.training.stages.two_stages import FIRST_FITS
from riata.training.stages.univariate import second_stage, single_fits
from riata.training.targets.outputs import coefficient_scale, of_coefficients
from riata.units import parse_seconds

DEFAULT_ALPHA_RATIO = 0.1


@dataclass(frozen=True)
class Fit:
    """A result, with the choices that were made on the way."""

    result: Result
    solver: str
    alpha: float | None
    spec: Spec
    note: str = field(default="", kw_only=True)  # what else the formula of the model has to say


def make_problem(data: Dataset, spec: Spec) -> tuple[Problem, float | None]:
    """The problem of a spec on data, and its alpha as a number; None where there is none, or the solver finds it."""
    if SOLVERS[spec.solver_name].finds_alpha and spec.alpha is None and spec.alpha_ratio is None:
        free = spec.family.at(0.0) if spec.k is None else spec.family
        return Problem(data, spec.loss_function, free, spec.fit_intercept), None
    bare = bare_problem(data, spec)
    if spec.k is not None:
        return bare, None
    alpha = spec.alpha
    if alpha is None:
        ratio = DEFAULT_ALPHA_RATIO if spec.alpha_ratio is None else spec.alpha_ratio
        bare, largest = with_start(bare, spec)
        alpha = ratio * largest
    return replace(bare, penalty=of_coefficients(spec, data.n_features).penalty_at(alpha, bare.scale)), alpha


def bare_problem(data: Dataset, spec: Spec) -> Problem:
    """The problem of a spec; a penalty whose strength is alpha has strength 1 here."""
    loss, each = spec.loss_function, of_coefficients(spec, data.n_features)
    scale = coefficient_scale(data.moments.scale, loss.n_outputs) if spec.standardize else 1.0
    penalty = each.penalty_at(1.0, scale) if spec.k is None else each.family.scaled(scale)
    problem = Problem(data, loss, penalty, spec.fit_intercept, scale, limit=spec.coef_limit)
    cheap_empty = loss.n_outputs == 1 and not loss.kinked
    return problem if cheap_empty else replace(problem, empty=empty_start(problem))


def with_start(problem: Problem, spec: Spec) -> tuple[Problem, float]:
    """The problem with the model of the largest alpha, and that alpha. Features that are always in are fitted first."""
    start = empty_start(problem)
    free = np.equal(of_coefficients(spec, problem.data.n_features).factors, 0.0)
    if np.any(free):
        shut_out = ElasticNet(np.where(free, 0.0, 1e300)).within(problem.penalty.lower, problem.penalty.upper)
        always_in = replace(problem, penalty=shut_out, start=start)
        found = run(always_in, exact(always_in, Options(100)), max_passes=100, tol=1e-12)
        start = Start(found.coef, found.intercept, best_slopes(problem, found.coef, found.intercept))
    problem = replace(problem, start=start)
    return problem, alpha_max(problem)


def fit(data: Dataset, spec: Spec, progress: Callable[[Record], None] | None = None) -> Fit:
    """Fit one linear model: a number, or the margin between -1 and +1."""
    check_spec(spec, data.n_features)
    passes_before = data.passes
    check_rows(data, spec)
    singles = single_fits(data, spec) if spec.unilasso else None
    rows, second = (data, with_first_fit(data, spec)) if singles is None else second_stage(data, singles, spec)
    problem, alpha = make_problem(rows, second)
    first_passes = data.passes - passes_before  # for the moments, and for alpha_max
    solver = SOLVERS[spec.solver_name]
    checkpoints = checkpoints_of(data, spec)
    resumed = checkpoints.load() if checkpoints is not None and spec.resume else None
    options = replace(solver_options(spec), resume=resumed)
    result = run(
        problem, solver.start(problem, options), max_passes=options.max_passes, tol=spec.tol, progress=progress,
        checkpoints=checkpoints, resumed=resumed,
    )  # fmt: skip
    if singles is not None:
        coef, intercept = singles.of_features(result.coef, result.intercept)
        result = replace(result, coef=coef, intercept=intercept)
    return Fit(replace(result, passes=result.passes + first_passes), spec.solver_name, alpha, spec)


def checkpoints_of(data: Dataset, spec: Spec) -> Checkpoints | None:
    """Where a fit is saved, identified by its data and the options that shape the result; None without a folder."""
    if spec.checkpoint is None:
        return None
    every = parse_seconds(spec.every, "every")
    return Checkpoints(Path(spec.checkpoint), data_fingerprint(data) | shaping_options(spec), every)


def describe(fitted: Fit) -> str:
    """What was minimised, as a formula in words."""
    spec = fitted.spec
    unit = " of columns scaled to unit deviation" if spec.standardize else ""
    if spec.unilasso:
        unit = " of the coefficients of predictions by single features without the row itself, none of them negative"
    text = f"mean {spec.loss_function.name} loss{spec.loss_function.summed}"
    if fitted.alpha is None and spec.k is None:
        text += ", with a penalty found while learning"
    else:
        n_features = len(fitted.result.coef) // spec.loss_function.n_outputs
        text += of_coefficients(spec, n_features).family.formula(fitted.alpha, unit)
    if spec.penalty_factors is not None:
        text += ", each feature times its penalty factor" if spec.k is None else ", those with a penalty factor of 0 in"
    if (asked := spec.adaptive) is not None:
        power = "" if asked.gamma == 1.0 else f"^{asked.gamma:g}"
        text += f", each feature times (largest |b| / |b_j|){power} of a first fit ({FIRST_FITS[asked.first]})"
    text += fitted.note
    text += ", no coefficient negative" if spec.nonnegative else ""
    text += ", coefficients within their bounds" if spec.bounds is not None else ""
    if spec.loss_function.couples_rows:
        return text  # an intercept would make no difference
    return text + (", intercept not penalised" if spec.fit_intercept else ", no intercept")


def solver_options(spec: Spec) -> Options:
    """The part of a spec that says how to solve. With max_steps there is no limit of passes by default."""
    passes = spec.max_passes
    if passes is None:
        passes = SOLVERS[spec.solver_name].max_passes if spec.max_steps is None else 10**9
    gap = 0.0 if spec.certify is True else float(spec.certify or 0.0)
    return Options(
        max_passes=passes,
        max_steps=spec.max_steps,
        batch=spec.batch,
        rounds=spec.rounds,
        step=spec.step,
        order=spec.order,
        seed=spec.seed,
        memory=spec.memory_bytes,
        half_life=spec.half_life,
        tol=spec.tol,
        leads=spec.polish,
        certify=gap if spec.certifies else None,
        certify_seconds=parse_seconds(spec.certify_time, "certify_time"),
    )
