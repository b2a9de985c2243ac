"""A path: models for falling alphas or for rising k, each on all rows of a dataset, the sparsest first."""

from dataclasses import dataclass, replace

import numpy as np

from riata.data.dataset import Dataset
from riata.fitting import Spec, fit


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
    converged: bool
    reason: str  # why, in words
    passes: float

    @property
    def n_selected(self) -> np.ndarray:
        """How many features each model has."""
        return np.count_nonzero(self.coefs, axis=1)

    def __len__(self) -> int:
        return len(self.values)

    def named(self, i: int) -> str:
        """A model of the path, in words."""
        n = self.n_selected[i]
        features = f"{n} feature{'' if n == 1 else 's'}"
        return f"k = {self.values[i]}" if self.by == "k" else f"alpha = {self.values[i]:.4g} ({features})"


def alpha_path(data: Dataset, spec: Spec, alphas=None, *, length=100, reach=0.01) -> ModelPath:
    """Models for these alphas, or for `length` of them from the alpha of the empty model to `reach` times it."""
    passes_before = data.passes
    if alphas is None:
        largest = fit(data, replace(spec, k=None, alpha=None, alpha_ratio=1.0)).alpha
        alphas = largest * np.geomspace(1.0, reach, length)
    fits = [fit(data, replace(spec, k=None, alpha=float(alpha), alpha_ratio=None)) for alpha in alphas]
    results = [f.result for f in fits]
    objectives = np.array([result.objective for result in results])
    penalties = np.array([f.problem.penalty.value(f.result.coef) for f in fits])
    gaps = np.array([result.gap for result in results])
    return ModelPath(
        "alpha",
        np.asarray(alphas),
        np.array([result.coef for result in results]),
        np.array([result.intercept for result in results]),
        objectives - penalties,
        objectives,
        gaps,
        all(result.converged for result in results),
        f"the largest relative duality gap is {gaps.max():.1e}, the tolerance {spec.tol:.1e}",
        data.passes - passes_before,
    )


def k_path(data: Dataset, spec: Spec, k_max: int) -> ModelPath:
    """The best models with 1, 2, ..., k_max features; a size of no further use repeats the one before."""
    passes_before = data.passes
    fits = [fit(data, replace(spec, alpha=None, alpha_ratio=None, k=k)) for k in range(1, k_max + 1)]
    results = [f.result for f in fits]
    objectives = np.array([result.objective for result in results])
    penalties = np.array([f.problem.penalty.value(f.result.coef) for f in fits])
    return ModelPath(
        "k",
        np.arange(1, k_max + 1),
        np.array([result.coef for result in results]),
        np.array([result.intercept for result in results]),
        objectives - penalties,
        objectives,
        None,
        all(result.converged for result in results),
        results[-1].reason,
        data.passes - passes_before,
    )
