"""A fit whose penalty was chosen, and a refit that takes the penalty's bias away."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from riata.data.dataset import Columns, Dataset
from riata.errors import OptionError
from riata.objective import Problem
from riata.penalties import Cardinality
from riata.solvers.subset.refit import Refits
from riata.training.driver import Record, Result
from riata.training.fitting import Fit
from riata.training.path import ModelPath
from riata.training.selection.search import Search, Selection, search_path
from riata.training.spec import Spec


@dataclass(frozen=True)
class SelectedFit(Fit):
    """The chosen model of a path, with the path and the reason."""

    path: ModelPath
    selection: Selection


def fit_selected(
    data: Dataset,
    spec: Spec,
    search: Search,
    validation: Dataset | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> SelectedFit:
    """Fit a path to all rows and take the model that the search chooses, without fitting it again."""
    started, passes_before = time.perf_counter(), data.passes
    path, selection = search_path(data, spec, search, validation, progress)
    i = selection.index
    value = path.values[i].item()
    chosen = replace(spec, k=value, ridge=path.ridge) if path.by == "k" else replace(spec, alpha=value)
    gap = None if path.gaps is None else float(path.gaps[i])
    passes, seconds = data.passes - passes_before, time.perf_counter() - started
    n_selected, F = int(path.n_selected[i]), float(path.objectives[i])
    result = Result(
        path.coefs[i], path.intercepts[i], F, gap, path.stop, passes, len(path), seconds,
        [Record(passes, len(path), seconds, F, gap, n_selected)], bound=None if path.bounds is None else path.bounds[i],
    )  # fmt: skip
    return SelectedFit(result, chosen.solver_name, chosen.alpha, chosen, path, selection)


def debiased(fitted: Fit, data: Dataset) -> Fit:
    """The same features with the coefficients of least mean loss, without a penalty: a few passes."""
    result, spec = fitted.result, fitted.spec
    support = places = np.flatnonzero(result.coef)
    if spec.loss_function.n_outputs > 1:
        raise OptionError(f"debias refits one margin at a time, and loss {spec.loss_function.name!r} has several")
    if spec.nonnegative or spec.bounds is not None:
        raise OptionError("debias refits without limits, so it cannot keep coefficients within bounds")
    if len(support) == 0:
        return fitted
    started, passes_before = time.perf_counter(), data.passes
    if result.features is not None:
        data, support = Columns(data, result.features.ids[places]), np.arange(len(places))
    free = Problem(data, spec.loss_function, Cardinality(len(support)), spec.fit_intercept)
    refit = Refits(free, support, spec.memory_bytes).fit([support], [(result.coef[places], result.intercept)])[0]
    coef = np.zeros_like(result.coef)
    coef[places] = refit.coef
    return replace(
        fitted,
        result=replace(
            result,
            coef=coef,
            intercept=refit.intercept,
            objective=refit.objective,
            gap=None,
            passes=result.passes + data.passes - passes_before,
            seconds=result.seconds + time.perf_counter() - started,
        ),
    )
