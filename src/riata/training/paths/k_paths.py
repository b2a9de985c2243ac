"""Paths of one margin along k: the best models of rising numbers of features, and rougher ones to be scored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from riata.data.dataset import Dataset
from riata.objective import Problem, gap_unit
from riata.outcome.proofs import Bound, GlobalBound, RefittedSupports
from riata.outcome.stop import Stop
from riata.solvers.subset.best_per_size import best_per_size
from riata.solvers.subset.coupled_per_size import coupled_per_size
from riata.solvers.subset.local import coupled_refit
from riata.solvers.subset.local.refit import REFIT_PRECISION, SCORED_PRECISION, Fitted, empty_model
from riata.solvers.subset.proof.global_bound import Bounded
from riata.solvers.subset.rough_per_size import proposed_supports, refitted_in_turn, rough_per_size
from riata.solvers.subset.search.size_sweeps import Made, untold
from riata.solvers.subset.search.subset import MIN_GAIN
from riata.training.checks import check_spec
from riata.training.fitting import make_problem, solver_options
from riata.training.paths.model_events import model_made
from riata.training.paths.model_path import ModelPath
from riata.training.spec import Spec


def k_path_of_margin(data: Dataset, spec: Spec, k_max: int, *, bounded: bool = True) -> ModelPath:
    """The best models with at most 0, 1, ..., k_max features; a size that does not lower F repeats the last model."""
    passes_before = data.passes
    spec = replace(spec, k=k_max)
    check_spec(spec, data.n_features)
    problem, _ = make_problem(data, spec)
    found = best_per_size(problem, k_max, solver_options(spec), model_made)
    models = [empty_model(problem), *found.models]
    models += [models[-1]] * (k_max + 1 - len(models))
    path = _along_k(problem, spec, range(len(models)), models, Stop.proved(found.proof))
    bounds = _bounds(problem, found.bounded(), path.objectives) if bounded and found.bounded is not None else None
    return replace(path, passes=data.passes - passes_before, bounds=bounds)


def coupled_k_path(data: Dataset, spec: Spec, sizes: Sequence[int]) -> ModelPath:
    """Models with no features and with at most so many, of a loss with several margins a row or whose rows go together,
    at little cost: to be scored."""
    passes_before = data.passes
    spec = replace(spec, k=int(sizes[-1]))
    check_spec(spec, data.n_features)
    problem, _ = make_problem(data, spec)
    n_sweeps = 1 if spec.ridge else 2
    options, precision = solver_options(spec), coupled_refit.SCORED_PRECISION
    found, proof = coupled_per_size(problem, sizes, options, precision=precision, n_sweeps=n_sweeps)
    found += found[-1:] * (len(sizes) - len(found))
    path = _along_k(problem, spec, [0, *sizes], [empty_model(problem), *found], Stop.proved(proof))
    return replace(path, passes=data.passes - passes_before)


def rough_k_path(data: Dataset, spec: Spec, sizes: Sequence[int], made: Made = untold) -> ModelPath:
    """Good models with no features and with at most so many, at little cost and without a proof: to be scored."""
    passes_before = data.passes
    spec = replace(spec, k=int(sizes[-1]))
    check_spec(spec, data.n_features)
    problem, _ = make_problem(data, spec)
    least_gain = 2.0 * MIN_GAIN * gap_unit(problem)
    found = rough_per_size(problem, sizes, solver_options(spec), least_gain, made, SCORED_PRECISION)
    stop = Stop.proved(RefittedSupports(1 if problem.loss.quadratic else 2))
    path = _along_k(problem, spec, [0, *sizes], [empty_model(problem), *found], stop)
    return replace(path, passes=data.passes - passes_before)


def supports_under_ridge(data: Dataset, spec: Spec, sizes: Sequence[int], base: np.ndarray) -> list[np.ndarray]:
    """Features for each of these sizes, chosen under the ridge of a spec; sizes beyond the base's go on from it.

    A ridge keeps margins small, where the local quadratic of the empty model is near the loss.
    """
    problem, _ = make_problem(data, replace(spec, k=int(sizes[-1])))
    return proposed_supports(problem, sizes, 2.0 * MIN_GAIN * gap_unit(problem), base)


def fitted_k_path(
    data: Dataset,
    spec: Spec,
    supports: Mapping[int, np.ndarray],
    chosen_under: float,
    precision: float = REFIT_PRECISION,
) -> ModelPath:
    """The path of these supports, by their size, fitted with the ridge of a spec."""
    passes_before = data.passes
    spec = replace(spec, k=max(supports))
    check_spec(spec, data.n_features)
    problem, _ = make_problem(data, spec)
    found = refitted_in_turn(problem, list(supports.values()), solver_options(spec), precision=precision)
    found += found[-1:] * (len(supports) - len(found))
    path = _along_k(
        problem, spec, [0, *supports], [empty_model(problem), *found], Stop.proved(RefittedSupports(1))
    )  # fmt: skip
    return replace(path, passes=data.passes - passes_before, chosen_under=chosen_under)


def _along_k(problem: Problem, spec: Spec, sizes: Sequence[int], models: list[Fitted], stop: Stop) -> ModelPath:
    coefs = np.zeros((len(models), problem.n_coefficients))
    for row, model in zip(coefs, models, strict=True):
        row[model.support] = model.coef
    objectives = np.array([model.objective for model in models])
    return ModelPath(
        by="k",
        values=np.array(sizes),
        coefs=coefs,
        intercepts=np.array([model.intercept for model in models]),
        losses=objectives - [problem.penalty.value(w) for w in coefs],
        objectives=objectives,
        gaps=None,
        stop=stop,
        passes=0.0,
        n_choices=spec.n_choices(problem.data.n_features),
        ridge=spec.ridge or 0.0,
        n_outputs=problem.loss.n_outputs,
    )


def _bounds(problem: Problem, bounded: Bounded, objectives: np.ndarray) -> list[Bound]:
    """The bound of every k, that of 0 included: the empty model is the only one."""
    empty = float(objectives[0])
    return [
        GlobalBound(0, empty, empty, problem.counted),
        *(bounded.of(problem, k, objectives[k]) for k in range(1, len(objectives))),
    ]
