"""A path: models for falling alphas or for rising k, each on all rows of a dataset, the sparsest first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.objective import Problem, empty_intercept, empty_loss, gap_unit
from riata.outcome.choice_sentences import named
from riata.outcome.choices import PathModel
from riata.outcome.proofs import Bound, DualityGap, GlobalBound, Stationary
from riata.outcome.sentences import why
from riata.outcome.stop import Stop
from riata.solvers.convex.alpha_path import PathOptions, alpha_path
from riata.solvers.convex.judge import Judge
from riata.solvers.subset.best_per_size import BestPerSize, best_per_size
from riata.solvers.subset.refit import Fitted
from riata.training.checks import check_spec
from riata.training.fitting import bare_problem, make_problem, solver_options, with_start
from riata.training.model_events import model_made
from riata.training.spec import Spec

MOST_ALPHAS = 10_000
LENGTH, ALPHA_REACH = 100, 0.01  # alphas of a path, and the last one as a share of the first


@dataclass(frozen=True)
class ModelPath:
    """The models of a path: each array has a row, or an entry, for every model."""

    by: str  # "alpha" or "k"
    values: np.ndarray  # of alpha, or of k
    coefs: np.ndarray  # models x features
    intercepts: np.ndarray
    losses: np.ndarray  # the mean loss, without the penalty
    objectives: np.ndarray  # with it
    gaps: np.ndarray | None  # certified, relative to the loss of the empty model; None along k
    stop: Stop
    passes: float
    n_choices: int | None = None  # how many features, or groups of them, there are for k to count
    bounds: list[Bound] | None = None  # along k: what no model of each size has an objective below; None: not asked for

    @property
    def converged(self) -> bool:
        return self.stop.converged

    @property
    def reason(self) -> str:
        """Why it ended there, in words."""
        return why(self.stop)

    @property
    def certified(self) -> bool:
        """Whether every model has a proof that none of its kind is better."""
        return self.stop.reason.certified

    @property
    def bound_values(self) -> np.ndarray | None:
        """What no model of each k has an objective below; None where there are no such bounds."""
        if self.bounds is None or not all(isinstance(bound, GlobalBound) for bound in self.bounds[1:]):
            return None
        return np.array([bound.value for bound in self.bounds if isinstance(bound, GlobalBound)])

    @property
    def alphas(self) -> np.ndarray:
        """The values of alpha of a path along alpha."""
        if self.by != "alpha":
            raise AttributeError("a path along k has no alphas: its `values` are the numbers of features")
        return self.values

    @property
    def n_selected(self) -> np.ndarray:
        """How many features each model has."""
        n_selected: np.ndarray = np.count_nonzero(self.coefs, axis=1)
        return n_selected

    def __len__(self) -> int:
        return len(self.values)

    def named(self, i: int) -> str:
        """A model of the path, in words."""
        return named(self.model(i))

    def model(self, i: int) -> PathModel:
        """Model i by its alpha or k and its number of features."""
        return PathModel(self.by, self.values[i].item(), int(np.count_nonzero(self.coefs[i])))


def path(
    data: Dataset,
    spec: Spec,
    alphas: Sequence[float] | np.ndarray | None = None,
    *,
    length: int = LENGTH,
    reach: float = ALPHA_REACH,
    max_features: int | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> ModelPath:
    """Models for decreasing alphas: those given, or `length` of them from alpha_max to `reach` times it.

    It ends early with the first model of at least `max_features` features.
    """
    check_spec(spec, data.n_features)
    if alphas is None and not (1 <= length <= MOST_ALPHAS and 0 < reach <= 1):
        raise OptionError(
            f"a path has 1 to {MOST_ALPHAS} alphas and reaches a share in (0, 1], not {length} and {reach}"
        )
    passes_before = data.passes
    problem, largest = with_start(bare_problem(data, spec), spec)
    assert problem.start is not None
    alphas = largest * np.geomspace(1.0, reach, length) if alphas is None else _checked(alphas)
    penalties = [spec.penalty_at(alpha, problem.scale) for alpha in alphas]
    judge = Judge.of(problem, problem.start)
    options = PathOptions(judge, judge.unit(gap_unit(problem)), spec.tol, spec.memory_bytes)
    points = []
    for alpha, point in zip(alphas, alpha_path(problem, largest, alphas, penalties, options), strict=True):
        points.append(point)
        model_made(len(points), len(alphas))
        n_features = int(np.count_nonzero(point.w))
        if progress is not None:
            progress(alpha, n_features)
        if max_features is not None and n_features >= max_features:
            break
    coefs, gaps = np.array([point.w for point in points]), np.array([point.gap for point in points])
    losses = np.array([point.loss for point in points])
    worst = float(gaps.max())
    reached = DualityGap(worst, spec.tol, of_path=True) if judge.has_gap else Stationary(worst, spec.tol, True)
    return ModelPath(
        "alpha",
        alphas[: len(points)],
        coefs,
        np.array([point.b for point in points]),
        losses,
        losses + [penalty.value(w) for penalty, w in zip(penalties, coefs, strict=False)],
        np.maximum(gaps, 0.0) if judge.has_gap else None,
        Stop.reached(reached),
        data.passes - passes_before,
    )


def _checked(alphas: Sequence[float] | np.ndarray) -> np.ndarray:
    alphas = np.asarray(alphas, dtype=np.float64)
    fine = alphas.ndim == 1 and len(alphas) > 0 and bool(np.isfinite(alphas).all() and (alphas >= 0).all())
    if not fine or np.any(np.diff(alphas) > 0):
        raise OptionError("alphas must be finite, zero or more, and lie from large to small")
    return alphas


def k_path(data: Dataset, spec: Spec, k_max: int, *, bounded: bool = True) -> ModelPath:
    """The best models with at most 0, 1, ..., k_max features; a size that does not lower F repeats the last model."""
    passes_before = data.passes
    spec = replace(spec, k=k_max)
    check_spec(spec, data.n_features)
    problem, _ = make_problem(data, spec)
    found = best_per_size(problem, k_max, solver_options(spec))
    nothing = np.empty(0, dtype=np.int64)
    models = [Fitted(nothing, np.empty(0), empty_intercept(problem), empty_loss(problem)), *found.models]
    models += [models[-1]] * (k_max + 1 - len(models))
    coefs = np.zeros((len(models), data.n_features))
    for row, model in zip(coefs, models, strict=True):
        row[model.support] = model.coef
    objectives = np.array([model.objective for model in models])
    bounds = _bounds(problem, found, objectives) if bounded else None
    return ModelPath(
        "k", np.arange(len(models)), coefs, np.array([model.intercept for model in models]),
        objectives - [problem.penalty.value(w) for w in coefs], objectives, None, Stop.proved(found.proof),
        data.passes - passes_before, spec.n_choices(data.n_features), bounds,
    )  # fmt: skip


def _bounds(problem: Problem, found: BestPerSize, objectives: np.ndarray) -> list[Bound]:
    """The bound of every k, that of 0 included: the empty model is the only one."""
    bounded = found.bounded()
    empty = float(objectives[0])
    return [GlobalBound(0, empty, empty), *(bounded.of(problem, k, objectives[k]) for k in range(1, len(objectives)))]
