"""A fit whose penalty was chosen, and one that was moved towards the least mean loss over its features."""

import time
from dataclasses import dataclass, replace

import numpy as np

from riata.data.dataset import Columns, Dataset
from riata.training.driver import Record, Result
from riata.training.fitting import Fit
from riata.training.paths.model_path import ModelPath
from riata.training.selection.asked import Search
from riata.training.selection.choosing import Selection
from riata.training.selection.scoring import mean_losses
from riata.training.selection.search import Progress, nobody, search_path
from riata.training.spec import Spec
from riata.training.stages.relaxing import refits


@dataclass(frozen=True)
class SelectedFit(Fit):
    """The chosen model of a path, with the path and the reason."""

    path: ModelPath
    selection: Selection


def fit_selected(
    data: Dataset, spec: Spec, search: Search, validation: Dataset | None = None, progress: Progress | None = None
) -> SelectedFit:
    """Fit a path to all rows and take the model that the search chooses, without fitting it again."""
    started, passes_before = time.perf_counter(), data.passes
    path, selection = search_path(data, spec, search, validation, progress or nobody)
    i = selection.index
    value = path.values[i].item()
    chosen = replace(spec, k=value, ridge=path.ridge) if path.by == "k" else replace(spec, alpha=value)
    chosen = replace(chosen, debias=path.debias or False)
    gap = None if path.gaps is None or path.debias else float(path.gaps[i])
    passes, seconds = data.passes - passes_before, time.perf_counter() - started
    n_selected, F = int(path.n_selected[i]), float(path.objectives[i])
    result = Result(
        coef=path.coefs[i],
        intercept=path.intercepts[i],
        objective=F,
        gap=gap,
        stop=path.stop,
        passes=passes,
        steps=len(path),
        seconds=seconds,
        history=[Record(passes, len(path), seconds, F, gap, n_selected)],
        bound=None if path.bounds is None else path.bounds[i],
    )
    return SelectedFit(result, chosen.solver_name, chosen.alpha, chosen, path, selection)


def debiased(fitted: Fit, data: Dataset) -> Fit:
    """The fit with coefficients moved towards those of least mean loss over the same features: a few passes."""
    result, spec = fitted.result, fitted.spec
    if not result.coef.any():
        return fitted
    started, passes_before, share = time.perf_counter(), data.passes, float(spec.debias)
    coef = result.coef
    if result.features is not None:
        places = np.flatnonzero(coef)
        data, coef = Columns(data, result.features.ids[places]), coef[places]
    refit, intercept = refits(data, spec, [(coef, result.intercept)])[0]
    if share < 1.0:
        refit, intercept = (
            (1.0 - share) * before + share * after for before, after in ((coef, refit), (result.intercept, intercept))
        )
    objective = float(mean_losses(data, spec.loss_function, refit[None], np.array([intercept]))[0][0])
    if result.features is not None:
        coef, refit = refit, np.zeros_like(result.coef)
        refit[places] = coef
    return replace(
        fitted,
        result=replace(
            result,
            coef=refit,
            intercept=intercept,
            objective=objective,
            gap=None,
            passes=result.passes + data.passes - passes_before,
            seconds=result.seconds + time.perf_counter() - started,
        ),
    )
