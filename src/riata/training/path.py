"""A path of one margin: models for falling alphas or for rising k, on all rows, the sparsest first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses.several_margins import n_features_in
from riata.objective import Problem, gap_unit
from riata.outcome.path_end import EndReason, PathEnd
from riata.outcome.proofs import Bound, DualityGap, GlobalBound, RefittedSupports, Stationary
from riata.outcome.stop import Stop
from riata.solvers.convex.alpha_path import AlphaModel, PathOptions, alpha_path
from riata.solvers.convex.judge import Judge
from riata.solvers.subset.best_per_size import best_per_size
from riata.solvers.subset.global_bound import Bounded
from riata.solvers.subset.refit import REFIT_PRECISION, SCORED_PRECISION, Fitted, empty_model
from riata.solvers.subset.rough_per_size import proposed_supports, refitted_in_turn, rough_per_size
from riata.solvers.subset.size_sweeps import Made, untold
from riata.solvers.subset.subset import MIN_GAIN
from riata.training.checks import check_spec
from riata.training.first_fit import with_first_fit
from riata.training.fitting import bare_problem, make_problem, solver_options, with_start
from riata.training.model_events import model_made
from riata.training.model_path import ModelPath
from riata.training.outputs import of_coefficients
from riata.training.spec import Spec
from riata.training.univariate import second_stage, single_fits

MOST_ALPHAS = 10_000
LENGTH = 100  # alphas of a path
REACH_TALL, REACH_WIDE = 1e-4, 1e-2  # the last alpha as a share of the first, with more rows than features or not
MOST_EXPLAINED = 0.999  # of the empty model's loss, beyond which models only learn the rows by heart
LEAST_GROWTH = 1e-5  # of what is explained, from one model to the next
FEWEST_MODELS = 5  # of a path that ends because it hardly grows


def usual_reach(data: Dataset) -> float:
    """How far a path goes, as a share of its first alpha: with many rows far smaller ones may be the best."""
    return REACH_TALL if data.n_observed > data.n_features else REACH_WIDE


def path_of_margin(
    data: Dataset,
    spec: Spec,
    alphas: Sequence[float] | np.ndarray | None = None,
    *,
    length: int = LENGTH,
    reach: float | None = None,
    max_features: int | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> ModelPath:
    """Models for decreasing alphas: those given, or `length` of them from alpha_max to `reach` times it.

    By default `reach` is 0.0001 with more rows than features, and 0.01 otherwise, as in glmnet.
    It ends early with the first model of at least `max_features` features, and, with alphas of its own, where a model
    explains nearly all of the target or hardly more than the one before: `ended` says so.
    """
    check_spec(spec, data.n_features)
    if alphas is None and not (1 <= length <= MOST_ALPHAS and (reach is None or 0 < reach <= 1)):
        raise OptionError(
            f"a path has 1 to {MOST_ALPHAS} alphas and reaches a share in (0, 1], not {length} and {reach}"
        )
    growing = GrowingPath(data, spec, alphas, length=length, reach=reach)
    while growing.grow():
        model_made(growing.n_models, len(growing.alphas))
        n_features = n_features_in(growing.last.w, spec.loss_function.n_outputs)
        if progress is not None:
            progress(growing.alphas[growing.n_models - 1], n_features)
        if max_features is not None and n_features >= max_features:
            growing.end(EndReason.FEATURES)
    return growing.models()


class GrowingPath:
    """A path along alpha that is made one model at a time.

    With alphas of its own it ends where more models do not pay, as in glmnet (Friedman, Hastie & Tibshirani, 2010):
    where the model explains nearly all, or hardly more than the one before.
    """

    def __init__(
        self,
        data: Dataset,
        spec: Spec,
        alphas: Sequence[float] | np.ndarray | None = None,
        *,
        length: int = LENGTH,
        reach: float | None = None,
    ) -> None:
        check_spec(spec, data.n_features)
        self._data, self._spec, self._passes_before = data, spec, data.passes
        self._singles = single_fits(data, spec) if spec.unilasso else None
        if self._singles is None:
            spec = with_first_fit(data, spec)
        else:
            data, spec = second_stage(data, self._singles, spec)
        problem, largest = with_start(bare_problem(data, spec), spec)
        assert problem.start is not None
        self._may_end = alphas is None
        reach = usual_reach(data) if reach is None else reach
        self.alphas = largest * np.geomspace(1.0, reach, length) if alphas is None else _checked(alphas)
        each = of_coefficients(spec, data.n_features)
        self._penalties = [each.penalty_at(alpha, problem.scale) for alpha in self.alphas]
        self._judge = Judge.of(problem, problem.start)
        self._unit = gap_unit(problem)
        options = PathOptions(self._judge, self._judge.unit(self._unit), spec.tol, spec.memory_bytes)
        self._first_loss = problem.start.at.loss
        self._left = alpha_path(problem, largest, self.alphas, self._penalties, options)
        self._models: list[AlphaModel] = []
        self.ended: PathEnd | None = None

    @property
    def n_models(self) -> int:
        return len(self._models)

    @property
    def last(self) -> AlphaModel:
        """The last model so far."""
        return self._models[-1]

    def grow(self) -> bool:
        """Make the next model, unless the path has come to its end; whether there is one."""
        if self.ended is not None or self.n_models == len(self.alphas):
            return False
        model = next(self._left)
        if self._may_end and self._models and model.gap > self._spec.tol:
            self.end(EndReason.UNCERTIFIED)
            return False
        self._models.append(model)
        if self._may_end and self.n_models < len(self.alphas):
            self._end_if_it_stops_paying()
        return True

    def end(self, reason: EndReason) -> None:
        """Make no further models; without effect at the last alpha."""
        if self.n_models < len(self.alphas):
            self.ended = PathEnd(self.n_models, len(self.alphas), reason)

    def _end_if_it_stops_paying(self) -> None:
        explained = (self._first_loss - self.last.loss) / self._unit
        if self.last.loss <= (1.0 - MOST_EXPLAINED) * self._unit:
            self.end(EndReason.SATURATED)
        elif self.n_models >= FEWEST_MODELS:
            growth = (self._models[-2].loss - self.last.loss) / self._unit
            if growth < LEAST_GROWTH * explained:
                self.end(EndReason.FLAT)

    def models(self, first: int = 0) -> ModelPath:
        """The models so far, or those from the first of these on."""
        coefs, intercepts, losses, gaps = (np.array(every) for every in zip(*self._models[first:], strict=True))
        objectives = losses + [penalty.value(w) for penalty, w in zip(self._penalties[first:], coefs, strict=False)]
        if self._singles is not None:
            coefs, intercepts = self._singles.of_features(coefs, intercepts)
        tol = self._spec.tol
        worst, has_gap = float(gaps.max()), self._judge.has_gap
        reached = DualityGap(worst, tol, of_path=True) if has_gap else Stationary(worst, tol, True)
        return ModelPath(
            "alpha",
            self.alphas[first : self.n_models],
            coefs,
            intercepts,
            losses,
            objectives,
            np.maximum(gaps, 0.0) if has_gap else None,
            Stop.reached(reached),
            self._data.passes - self._passes_before,
            ended=self.ended,
            n_outputs=self._spec.loss_function.n_outputs,
            copies=self._data.facts.copies,
        )


def _checked(alphas: Sequence[float] | np.ndarray) -> np.ndarray:
    alphas = np.asarray(alphas, dtype=np.float64)
    fine = alphas.ndim == 1 and len(alphas) > 0 and bool(np.isfinite(alphas).all() and (alphas >= 0).all())
    if not fine or np.any(np.diff(alphas) > 0):
        raise OptionError("alphas must be finite, zero or more, and lie from large to small")
    return alphas


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
        "k", np.array(sizes), coefs, np.array([model.intercept for model in models]),
        objectives - [problem.penalty.value(w) for w in coefs], objectives, None, stop,
        0.0, spec.n_choices(problem.data.n_features), ridge=spec.ridge or 0.0, n_outputs=problem.loss.n_outputs,
    )  # fmt: skip


def _bounds(problem: Problem, bounded: Bounded, objectives: np.ndarray) -> list[Bound]:
    """The bound of every k, that of 0 included: the empty model is the only one."""
    empty = float(objectives[0])
    return [
        GlobalBound(0, empty, empty, problem.counted),
        *(bounded.of(problem, k, objectives[k]) for k in range(1, len(objectives))),
    ]
