"""The relaxed Lasso: models moved towards the least mean loss over the features that they have.

A share of 1 goes all the way, and takes the bias of the penalty away; a share between keeps some of it (Meinshausen,
2007; Hastie, Tibshirani & Tibshirani, 2020). What glmnet calls gamma is 1 - share.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from riata.data.dataset import Dataset
from riata.objective import Problem
from riata.penalties import Cardinality, ElasticNet
from riata.solvers.convex.exact import exact
from riata.solvers.iterate import Options
from riata.solvers.subset.local.refit import Refits
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD
from riata.training.driver import run
from riata.training.fitting import bare_problem
from riata.training.paths.model_path import ModelPath
from riata.training.selection.scoring import mean_losses
from riata.training.spec import Spec
from riata.training.targets.outputs import of_coefficients

TRIED = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares, where scores choose one
SHARE_OF_CURVATURES = 0.125  # of the memory, for the curvatures of supports that are fitted in the same passes
SHUT_OUT = 1e300  # an l1 that no slope exceeds
REFIT_TOL, REFIT_PASSES = 1e-10, 200  # of fits by solver exact


def shares_tried(spec: Spec) -> tuple[float, ...]:
    """How far models are moved: one share, those among which scores choose, or none."""
    if spec.debias == "auto":
        return TRIED
    return (float(spec.debias),) if spec.debias else ()


class Relaxed(NamedTuple):
    """The models of a path, and beside them those of least mean loss over the same features."""

    path: ModelPath
    coefs: np.ndarray
    intercepts: np.ndarray

    def at(self, share: float) -> ModelPath:
        """The path, moved by this share; losses are still those of the path before."""
        path = self.path

        def moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
            return after if share == 1.0 else (1.0 - share) * before + share * after

        coefs, intercepts = moved(path.coefs, self.coefs), moved(path.intercepts, self.intercepts)
        return replace(path, coefs=coefs, intercepts=intercepts, debias=share)

    def one_after_the_other(self, shares: Sequence[float]) -> ModelPath:
        """The paths of several shares in a row, to be scored together."""
        paths = [self.at(share) for share in shares]
        coefs, intercepts = (np.concatenate([getattr(one, name) for one in paths]) for name in ("coefs", "intercepts"))
        return replace(self.path, values=np.tile(self.path.values, len(paths)), coefs=coefs, intercepts=intercepts)


def relaxed(path: ModelPath, data: Dataset, spec: Spec) -> Relaxed:
    """The models of a path beside those without a penalty on the rows of this data."""
    starts = list(zip(path.coefs, path.intercepts, strict=True))
    found = refits(data, spec, starts)
    return Relaxed(path, np.array([coef for coef, _ in found]), np.array([intercept for _, intercept in found]))


def every_share(path: ModelPath, data: Dataset, spec: Spec) -> list[ModelPath]:
    """The path as it is or, with debias, moved by each of the shares that are tried."""
    if not (shares := shares_tried(spec)):
        return [path]
    free, loss = relaxed(path, data, spec), spec.loss_function
    models = [free.at(share) for share in shares]
    each = [mean_losses(data, loss, one.coefs, one.intercepts)[0] for one in models]
    return [replace(one, losses=losses, objectives=losses) for one, losses in zip(models, each, strict=True)]


def refits(data: Dataset, spec: Spec, models: Sequence[tuple[np.ndarray, Any]]) -> list[tuple[np.ndarray, Any]]:
    """The least mean loss over the coefficients that are not 0 in each of these models, within the bounds."""
    supports = [np.flatnonzero(coef) for coef, _ in models]
    first = {support.tobytes(): i for i, support in reversed(list(enumerate(supports))) if len(support)}
    loss = spec.loss_function
    by_newton = loss.n_outputs == 1 and not loss.kinked and not loss.couples_rows
    fit = _by_newton if by_newton and not spec.nonnegative and spec.bounds is None else _by_exact
    wanted = sorted(first.values())
    fitted = dict(zip(wanted, fit(data, spec, [models[i] for i in wanted]), strict=True))
    return [
        fitted[first[support.tobytes()]] if len(support) else model
        for model, support in zip(models, supports, strict=True)
    ]


def _by_newton(
    data: Dataset, spec: Spec, models: Sequence[tuple[np.ndarray, Any]]
) -> Iterator[tuple[np.ndarray, float]]:
    """The refits by Newton steps, which several supports take in the same passes as far as there is memory."""
    supports = [np.flatnonzero(coef) for coef, _ in models]
    memory = int((spec.memory_bytes or MEMORY_UNTOLD) * SHARE_OF_CURVATURES)
    free = Problem(data, spec.loss_function, Cardinality(data.n_features), spec.fit_intercept)
    end = 0
    while (start := end) < len(models):
        room = memory
        while end < len(models) and (end == start or room > 0):
            room -= 8 * (len(supports[end]) + 1) ** 2
            end += 1
        batch = slice(start, end)
        columns = np.unique(np.concatenate(supports[batch]))
        starts = [(coef[np.flatnonzero(coef)], float(intercept)) for coef, intercept in models[batch]]
        for found in Refits(free, columns, spec.memory_bytes).fit(supports[batch], starts):
            coef = np.zeros(data.n_features)
            coef[found.support] = found.coef
            yield coef, found.intercept


def _by_exact(data: Dataset, spec: Spec, models: Sequence[tuple[np.ndarray, Any]]) -> Iterator[tuple[np.ndarray, Any]]:
    """One after the other, for losses of several margins, with kinks or of rows together, and within bounds."""
    problem, each = bare_problem(data, replace(spec, k=None)), of_coefficients(spec, data.n_features)
    lower, upper = each.limits
    for coef, _ in models:
        penalty = ElasticNet(np.where(coef != 0.0, 0.0, SHUT_OUT)).within(lower, upper)
        free = replace(problem, penalty=penalty, start=None)
        found = run(
            free, exact(free, Options(REFIT_PASSES, memory=spec.memory_bytes)), max_passes=REFIT_PASSES, tol=REFIT_TOL
        )
        yield found.coef, found.intercept
