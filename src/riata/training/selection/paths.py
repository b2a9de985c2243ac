"""A path: models for falling alphas or for rising k, each on all rows of a dataset, the sparsest first."""

from dataclasses import dataclass, replace

import numpy as np

from riata.data.dataset import Dataset
from riata.objective import empty_intercept, empty_loss
from riata.outcome.choice_sentences import named
from riata.outcome.choices import PathModel
from riata.outcome.proofs import DualityGap, Stationary
from riata.outcome.sentences import why
from riata.outcome.stop import Stop
from riata.solvers.subset.k_path import k_path as best_models
from riata.solvers.subset.refit import Fitted
from riata.training.checks import check_spec
from riata.training.fitting import bare_problem, make_problem, solver_options
from riata.training.path import LENGTH, REACH, path
from riata.training.spec import Spec


@dataclass(frozen=True)
class ModelPath:
    """One model per row."""

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

    @property
    def converged(self) -> bool:
        return self.stop.converged

    @property
    def reason(self) -> str:
        """Why it ended there, in words."""
        return why(self.stop)

    @property
    def certified(self) -> bool:
        """Whether it is proved of every model that none of its kind is better, as the proof says."""
        return self.stop.reason.certified

    @property
    def n_selected(self) -> np.ndarray:
        """How many features each model has."""
        return np.count_nonzero(self.coefs, axis=1)

    def __len__(self) -> int:
        return len(self.values)

    def named(self, i: int) -> str:
        """A model of the path, in words."""
        return named(self.model(i))

    def model(self, i: int) -> PathModel:
        """Which model of the path it is."""
        return PathModel(self.by, self.values[i].item(), int(np.count_nonzero(self.coefs[i])))


def alpha_path(data: Dataset, spec: Spec, alphas=None, *, length=LENGTH, reach=REACH) -> ModelPath:
    """Models for these alphas, or for `length` of them from the alpha of the empty model to `reach` times it."""
    found = path(data, spec, alphas, length=length, reach=reach)
    scale = bare_problem(data, spec).scale
    penalties = [spec.penalty_at(alpha, scale).value(w) for alpha, w in zip(found.alphas, found.coefs, strict=True)]
    worst = float(found.gaps.max())
    reached = Stationary(worst, spec.tol, True) if found.stationary else DualityGap(worst, spec.tol, of_path=True)
    return ModelPath(
        "alpha", found.alphas, found.coefs, found.intercepts, found.losses, found.losses + penalties,
        None if found.stationary else np.maximum(found.gaps, 0.0), Stop.reached(reached), found.passes,
    )  # fmt: skip


def k_path(data: Dataset, spec: Spec, k_max: int) -> ModelPath:
    """The best models with at most 0, 1, ..., k_max features; a size of no further use repeats the one before."""
    passes_before = data.passes
    spec = replace(spec, k=k_max)
    check_spec(spec, data.n_features)
    problem, _ = make_problem(data, spec)
    found = best_models(problem, k_max, solver_options(spec))
    nothing = np.empty(0, dtype=np.int64)
    models = [Fitted(nothing, np.empty(0), empty_intercept(problem), empty_loss(problem)), *found.models]
    models += [models[-1]] * (k_max + 1 - len(models))
    coefs = np.zeros((len(models), data.n_features))
    for row, model in zip(coefs, models, strict=True):
        row[model.support] = model.coef
    objectives = np.array([model.objective for model in models])
    return ModelPath(
        "k", np.arange(len(models)), coefs, np.array([model.intercept for model in models]),
        objectives - [problem.penalty.value(w) for w in coefs], objectives, None, Stop.proved(found.proof),
        data.passes - passes_before, spec.n_choices(data.n_features),
    )  # fmt: skip
