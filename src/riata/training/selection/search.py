"""Choosing one model of a path: by cross-validation, by a validation set, by a criterion, or by its size.

Folds see the alphas (or the k) of the path of all rows, and each fold's models are scored on the rows that they have
not seen. The chosen model is that of the path of all rows: it is not fitted again, so its penalty and its number of
features are those that were chosen.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from riata.arrays import to_host
from riata.data.dataset import Dataset
from riata.data.folds import Folds, by_position
from riata.data.gram import are_whole
from riata.data.statistics import SummaryRows
from riata.errors import OptionError
from riata.outcome.choices import ScoredOn, Scores
from riata.solvers.registry import AUTO
from riata.solvers.subset.local.hessian import NOTHING
from riata.training.checks import check_rows, check_spec, refuse
from riata.training.paths.k_paths import fitted_k_path, k_path_of_margin, supports_under_ridge
from riata.training.paths.model_path import ModelPath
from riata.training.paths.path import MOST_ALPHAS, usual_reach
from riata.training.selection.asked import Search
from riata.training.selection.choosing import Selection, by_size, cross_validated, least
from riata.training.selection.folds_asked import n_folds_of
from riata.training.selection.limits import without_limit
from riata.training.selection.ridge_search import MOST_FEATURES, RidgeSearch, Scored, ScoredRows, ridge_unit
from riata.training.selection.scored_folds import OtherRows, ProductFolds, RowFolds, folds_of, last_size, scores_of
from riata.training.selection.scoring import CRITERIA, criterion, held_out
from riata.training.spec import Spec
from riata.training.stages.relaxing import every_share, shares_tried

RULES = ("cv", "cv-1se", "validation", *CRITERIA)
Progress = Callable[[int, int, str], None]  # is told how many paths are done, of how many, and the name of the next


def nobody(done: int, of: int, following: str) -> None:
    """Nobody is told."""


def search_path(
    data: Dataset,
    spec: Spec,
    search: Search,
    validation: Dataset | None = None,
    progress: Progress = nobody,
) -> tuple[ModelPath, Selection]:
    """The path of all rows, and the choice of one of its models."""
    _check(search, spec, data.n_features, validation)
    check_rows(data, spec)
    if search.alpha_reach is None:
        search = replace(search, alpha_reach=usual_reach(data))
    divided = _divided(data, spec, search)
    folds = folds_of(data, spec, search, divided)
    if search.by == "k" and _ridge_is_open(spec, search.rule):
        return _with_ridge(folds, spec, search, validation, progress)
    if search.by == "alpha" and divided is not None and isinstance(folds, RowFolds) and folds.fit_in_memory:
        path, parts = folds.side_by_side()
        return cross_validated(every_share(path, data, spec), search.rule, spec.loss_function, parts, folds.used)
    if divided is not None:
        progress(0, divided.n_folds + 1, "of all rows")
    path = folds.path()
    models = every_share(path, data, spec)
    if search.target_k is not None:
        return models[0], by_size(models[0], search.target_k)
    if search.needs_folds:
        parts = []
        for fold in range(folds.used.count):
            progress(fold + 1, folds.used.count + 1, f"fold {fold + 1} of {folds.used.count}")
            parts.append(scores_of(folds, fold, path))
        return cross_validated(models, search.rule, spec.loss_function, parts, folds.used)
    return _without_folds(models, data, spec, search.rule, validation)


def _divided(data: Dataset, spec: Spec, search: Search) -> Folds | None:
    """The folds that a search asks for, of which none is empty; None where its rule needs none."""
    if not search.needs_folds:
        return None
    divided = search.folds or by_position(n_folds_of(search.cv), spec.seed or 0)
    if divided.n_folds > data.n_observed:
        fewer = f": take cv={data.n_observed}" if data.n_observed > 1 else ""
        raise OptionError(f"cv={divided.n_folds} folds need as many rows, and there are {data.n_observed}{fewer}")
    return divided


def _without_folds(
    models: list[ModelPath], data: Dataset, spec: Spec, rule: str, validation: Dataset | None
) -> tuple[ModelPath, Selection]:
    """The model of least score on the validation rows, or by a criterion."""
    loss = spec.loss_function
    if rule == "validation":
        assert validation is not None
        scores = np.array([held_out(validation, one, loss, data).scores for one in models])
        return least(models, rule, Scores(loss.score, ScoredOn.HELD_OUT_ROWS, validation.n_rows), scores)
    n_counted = _n_counted(data, spec)
    scores = np.array([criterion(rule, one, loss, n_counted) for one in models])
    return least(models, rule, Scores(rule, ScoredOn.TRAINING_ROWS, scores.size), scores)


def _with_ridge(
    folds: RowFolds | ProductFolds, spec: Spec, search: Search, validation: Dataset | None, progress: Progress
) -> tuple[ModelPath, Selection]:
    """The path along k of the ridge of least score, and the choice of one of its models."""
    everything, n_rows = folds.everything, folds.n_rows
    k_max = last_size(spec, search, everything.n_features, n_rows)
    k_most = k_max if search.k_max else min(MOST_FEATURES, max(k_max, n_rows // 2), everything.n_features)
    k_most = k_most if everything.cheap_passes and spec.one_by_one else k_max
    rows: list[Callable[[], ScoredRows]]
    if validation is not None:
        rows = [lambda: OtherRows(everything, validation, spec.loss_function)]
    else:
        rows = [partial(folds.of, fold) for fold in range(folds.used.count)]
    side_by_side = validation is None and isinstance(folds, RowFolds) and folds.fit_in_memory
    if side_by_side:
        rows = [partial(_as_it_is, one()) for one in rows]
    progress(0, 2, "over folds and ridges")
    ridges = RidgeSearch(rows, spec, side_by_side)
    best = ridges.best(ridge_unit(everything, spec), k_max, k_most)
    progress(1, 2, "of all rows")

    def chosen(scored: Scored) -> tuple[ModelPath, Selection]:
        path = _path_under(everything, spec, scored, k_max)
        if validation is None:
            return cross_validated([path], search.rule, spec.loss_function, scored.parts, folds.used)
        of = Scores(spec.loss_function.score, ScoredOn.HELD_OUT_ROWS, validation.n_rows)
        return least([path], search.rule, of, held_out(validation, path, spec.loss_function, everything).scores[None])

    path, selection = chosen(best)
    if path.ridge or ridges.with_ridge is None or not spec.loss_function.labels:
        return path, selection
    coef, intercept = path.coefs[selection.index], path.intercepts[selection.index]
    if without_limit(everything, spec.loss_function, coef, intercept):  # scores of folds may not have met that
        return chosen(ridges.with_ridge)
    return path, selection


def _path_under(data: Dataset, spec: Spec, scored: Scored, k_max: int) -> ModelPath:
    """The models of all rows, of features that are chosen under one ridge and fitted with another."""
    if scored.choosing == 0.0 or not spec.one_by_one:
        return k_path_of_margin(data, replace(spec, ridge=scored.fitting), k_max).of_sizes(scored.sizes)
    chosen = supports_under_ridge(data, replace(spec, ridge=scored.choosing), scored.sizes, NOTHING)
    supports = dict(zip(scored.sizes, chosen, strict=True))
    return fitted_k_path(data, replace(spec, ridge=scored.fitting), supports, scored.choosing)


def _ridge_is_open(spec: Spec, rule: str) -> bool:
    """Whether a ridge is to be chosen beside k: not where one is given, nor where models are moved away from it."""
    asked_for = spec.ridge is not None or bool(shares_tried(spec))
    # a path of several margins, or of rows that go together, takes long: it is tried where classes may be separable
    worth_it = spec.one_by_one or "classification" in spec.loss_function.tasks
    return worth_it and not asked_for and spec.groups is None and rule not in CRITERIA


def _as_it_is(rows: ScoredRows) -> ScoredRows:
    return rows


def _n_counted(data: Dataset, spec: Spec) -> int:
    """How many rows there are for a criterion: where all weights are whole numbers, a row of weight 2 is two rows.

    Other weights are relative, and say how much rows count beside each other; so do weights of classes.
    """
    if isinstance(data, SummaryRows):
        return data.statistics.total.n_counted
    whole = spec.class_weight is None and not data.sum(lambda chunk: int(not are_whole(to_host(chunk.weight))))
    return round(data.total_weight) if whole else data.n_observed


def _check(search: Search, spec: Spec, n_features: int, validation: Dataset | None) -> None:
    most = spec.n_choices(n_features)
    checks = [
        (search.rule not in RULES, f"select must be one of {', '.join(RULES)}, not {search.rule!r}"),
        (search.rule == "validation" and validation is None,
         "select='validation' needs rows to choose by: give a validation set"),
        (search.rule != "validation" and validation is not None,
         f"select={search.rule!r} has no use for a validation set; take select='validation'"),
        (validation is not None and validation.n_features != n_features,
         f"the validation set must have the {n_features} features that are learnt from"),
        (search.target_k is not None and not (isinstance(search.target_k, int | np.integer) and search.target_k >= 1),
         f"k beside alpha='auto' must be a positive whole number, not {search.target_k!r}"),
        (search.target_k is not None and spec.debias == "auto",
         "debias='auto' is chosen by scores, and k beside alpha='auto' asks for none: give debias a share"),
        (not 2 <= search.n_alphas <= MOST_ALPHAS,
         f"a path has at least 2 and at most {MOST_ALPHAS} alphas, not {search.n_alphas}"),
        (search.alpha_reach is not None and not 0 < search.alpha_reach < 1,
         f"alpha_reach must lie between 0 and 1, not be {search.alpha_reach}"),
        (search.k_max is not None and not 1 <= search.k_max <= most,
         f"k_max must lie between 1 and the number of {spec.counted}, {most}, not be {search.k_max}"),
        (spec.certifies,
         f"{search.by}='auto' is not certified: leave certify out, or give it the number k that was chosen"),
        (spec.checkpoint is not None, f"{search.by}='auto' has no checkpoints: leave checkpoint out, or give a number"),
        (spec.solver not in ("auto", AUTO[search.by]),
         f"a path along {search.by} is made by solver {AUTO[search.by]!r}, not by {spec.solver!r}"),
    ]  # fmt: skip
    refuse(checks)
    if search.by == "k":
        check_spec(replace(spec, k=1), n_features)
