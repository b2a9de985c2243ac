"""Choosing a ridge together with k: models along k for a few ridges, scored on rows that they have not seen.

Without a ridge a model of many features is over-confident, and without end where classes can be separated: its log loss
turns after a few features, and the choice would be far too sparse. Where there are many more features than rows can
tell apart, the best ones without a ridge are not the best for other rows, either. So features are also chosen under a
ridge, and their coefficients then fitted with another. Ridges are shares of the curvature of a typical feature. Where
one of the largest models has the least score, clearly below those of half as many features, and nobody said where to
end, there are larger ones.

Where a loss has several margins a row, one ridge chooses features and fits them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from riata.data.dataset import Dataset
from riata.objective import Problem, empty_intercept
from riata.small_work import of_thread
from riata.solvers.subset.best_coupled import CoupledSearch
from riata.solvers.subset.best_k_refits import largest_gains
from riata.solvers.subset.local.hessian import NOTHING
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import SCORED_PRECISION
from riata.threads import n_cores, one_blas_thread
from riata.training.fitting import make_problem, solver_options
from riata.training.paths.k_paths import coupled_k_path, fitted_k_path, rough_k_path, supports_under_ridge
from riata.training.paths.model_events import model_made
from riata.training.paths.model_path import ModelPath
from riata.training.selection.choosing import beyond_doubt
from riata.training.selection.scoring import HeldOut
from riata.training.spec import Spec

CHOOSING = (0.1, 1.0, 10.0)  # ridges that features are chosen under, as shares of the curvature of a typical feature
FITTING = (0.01, 0.1, 1.0)  # and those that they are fitted with
TYPICAL = 50  # features of largest slope, whose median curvature that is
ALL_SIZES = 20  # sizes up to there are all tried,
GROWTH = 1.15  # and beyond so many times the last one
NEAR_END = 0.9  # of the largest size: a least score beyond lets paths go on to twice as many
MOST_FEATURES = 1000  # where nobody said where to end


class ScoredRows(Protocol):
    """Rows to learn from, and others that models are scored on."""

    @property
    def learnt(self) -> Dataset: ...

    def scores(self, path: ModelPath) -> HeldOut:
        """The scores of all models of a path."""


def sizes_to(k_max: int) -> list[int]:
    """The sizes of a path: all up to some, and then ever fewer."""
    sizes = list(range(1, min(k_max, ALL_SIZES) + 1))
    while sizes[-1] < k_max:
        sizes.append(min(k_max, int(np.ceil(GROWTH * sizes[-1]))))
    return sizes


@dataclass(frozen=True)
class Scored:
    """The scores, over folds, of the models of one pair of ridges; the first of them is the empty one."""

    choosing: float  # the ridge that features were chosen under
    fitting: float  # and that they were fitted with
    sizes: list[int]
    by_fold: np.ndarray  # folds x models
    weights: np.ndarray  # of folds

    @property
    def means(self) -> np.ndarray:
        return np.average(self.by_fold, axis=0, weights=self.weights)

    @property
    def least(self) -> float:
        return float(self.means.min())

    @property
    def parts(self) -> list[HeldOut]:
        """The scores of every fold."""
        return [HeldOut(scores, weight) for scores, weight in zip(self.by_fold, self.weights.tolist(), strict=True)]

    @property
    def ends_too_early(self) -> bool:
        """Whether one of the largest models has the least score, clearly below those of half as many features."""
        best, n_half = int(np.argmin(self.means)), sum(2 * size <= self.sizes[-1] for size in self.sizes)
        if best == 0 or self.sizes[best - 1] <= NEAR_END * self.sizes[-1]:
            return False
        of_half = int(np.argmin(self.means[: 1 + n_half]))
        return beyond_doubt(self.by_fold[:, of_half] - self.by_fold[:, best], self.weights)

    def clearly_better_than(self, other: "Scored") -> bool:
        """Whether it gains more over another than a standard error of the difference, by the same folds."""
        gains = other.by_fold[:, np.argmin(other.means)] - self.by_fold[:, np.argmin(self.means)]
        return beyond_doubt(gains, self.weights)


@dataclass
class _Fold:
    """A fold, and the features of every size that were chosen on the rows it learns from, by the ridge."""

    rows: Callable[[], ScoredRows]
    spec: Spec
    supports: dict[float, dict[int, np.ndarray]] = field(default_factory=dict)

    def without_ridge(self, sizes: list[int]) -> HeldOut:
        """The scores of models without a ridge."""
        rows = self.rows()
        return rows.scores(rough_k_path(rows.learnt, replace(self.spec, ridge=0.0), sizes))

    def with_ridge(self, choosing: float, fitting: float, sizes: list[int]) -> HeldOut:
        """The scores of models whose features were chosen under a ridge, fitted with another."""
        rows, known = self.rows(), self.supports.setdefault(choosing, {})
        new = [size for size in sizes if size not in known]
        if new:
            base = known[max(known)] if known else NOTHING
            spec = replace(self.spec, ridge=choosing)
            known |= zip(new, supports_under_ridge(rows.learnt, spec, new, base), strict=True)
        spec = replace(self.spec, ridge=fitting)
        supports = {size: known[size] for size in sizes}
        return rows.scores(fitted_k_path(rows.learnt, spec, supports, choosing, SCORED_PRECISION))


class _CoupledFold(_Fold):
    """A fold of a loss with several margins a row, which has one ridge to choose and to fit."""

    def without_ridge(self, sizes: list[int]) -> HeldOut:
        return self.with_ridge(0.0, 0.0, sizes)

    def with_ridge(self, choosing: float, fitting: float, sizes: list[int]) -> HeldOut:
        rows = self.rows()
        return rows.scores(coupled_k_path(rows.learnt, replace(self.spec, ridge=fitting), sizes))


class RidgeSearch:
    """The folds of a search, with what was found so far."""

    def __init__(self, rows: Sequence[Callable[[], ScoredRows]], spec: Spec, side_by_side: bool) -> None:
        fold = _Fold if spec.one_by_one else _CoupledFold
        self._folds = [fold(one, spec) for one in rows]
        one_for_both = [(ridge, [ridge]) for ridge in FITTING]
        self._ridges = [(choosing, list(FITTING)) for choosing in CHOOSING] if spec.one_by_one else one_for_both
        self._threads = n_cores() if side_by_side and of_thread.work is None else 1
        self._n_made = 0
        self.with_ridge: Scored | None = None

    def best(self, unit: float, k_max: int, k_most: int) -> Scored:
        """The pair of ridges of least score, or none at all where that is hardly worse; `with_ridge` is the best pair.

        Models have up to k_max features, or up to k_most where the largest ones are the best.
        """
        sizes = sizes_to(k_max)
        plain = self._scored(0.0, 0.0, sizes, lambda fold: fold.without_ridge(sizes))
        each = []  # the best fit of every ridge that features are chosen under
        for choosing, some in self._ridges:
            fits = [self._with_ridge(choosing * unit, fitting * unit, sizes) for fitting in some]
            each.append(_best(fits))
        best = _best([plain, *each])
        while best is not plain and best.ends_too_early and best.sizes[-1] < k_most:
            # the more features, the stronger the ridge that chooses them well
            each = [self._grown(one, min(2 * best.sizes[-1], k_most)) for one in each if one.choosing >= best.choosing]
            best = _best(each)
        self.with_ridge = _best(each)
        return best if best is plain or best.clearly_better_than(plain) else plain

    def _grown(self, scored: Scored, k_max: int) -> Scored:
        """The scores, with those of models of more features, up to `k_max`, behind them."""
        more = [size for size in sizes_to(k_max) if size > scored.sizes[-1]]
        end = self._with_ridge(scored.choosing, scored.fitting, more)
        by_fold = np.hstack([scored.by_fold, end.by_fold[:, 1:]])
        return replace(scored, sizes=scored.sizes + more, by_fold=by_fold)

    def _with_ridge(self, choosing: float, fitting: float, sizes: list[int]) -> Scored:
        return self._scored(choosing, fitting, sizes, lambda fold: fold.with_ridge(choosing, fitting, sizes))

    def _scored(self, choosing: float, fitting: float, sizes: list[int], score: Callable[[_Fold], HeldOut]) -> Scored:
        """The scores of all folds, side by side where their rows are in memory."""
        parts = []
        with one_blas_thread(), ThreadPoolExecutor(self._threads) as pool:
            for part in pool.map(score, self._folds) if self._threads > 1 else map(score, self._folds):
                parts.append(part)
                self._n_made += len(sizes)
                usual = (1 + sum(len(some) for _, some in self._ridges)) * len(self._folds) * len(sizes)
                model_made(self._n_made, max(self._n_made, usual))
        by_fold, weights = np.array([part.scores for part in parts]), np.array([part.weight for part in parts])
        return Scored(choosing, fitting, sizes, by_fold, weights)


def _best(some: Sequence[Scored]) -> Scored:
    return min(some, key=lambda scored: scored.least)


def ridge_unit(data: Dataset, spec: Spec) -> float:
    """The ridge that is as strong as the curvature of a typical feature at the empty model: a pass."""
    problem, _ = make_problem(data, replace(spec, k=1, ridge=0.0))
    if not spec.one_by_one:
        return _coupled_unit(problem, spec)
    model = LocalQuadratic.at(problem, np.zeros(data.n_features), empty_intercept(problem), rows_ahead=False)
    typical = largest_gains(model.h**2, NOTHING, TYPICAL)
    scale = np.broadcast_to(problem.scale, data.n_features)[typical]
    return float(np.median((model.unit[typical] / np.where(scale > 0, scale, 1.0)) ** 2))


def _coupled_unit(problem: Problem, spec: Spec) -> float:
    """The unit of a loss with several margins a row: by the mean curvature over the margins of a feature."""
    model = CoupledSearch(problem, solver_options(spec), 1).at_empty()
    scale = np.broadcast_to(problem.scale, problem.n_coefficients)[:: problem.loss.n_outputs]
    found = model.curvatures / scale[model.features] ** 2
    return float(np.median(found[found > 0.0])) if (found > 0.0).any() else 1.0
