"""Choosing one model of a path: by cross-validation, by a validation set, by a criterion, or by its size.

Folds see the alphas (or the k) of the path of all rows, and each fold's models are scored on the rows that they have
not seen. The chosen model is that of the path of all rows: it is not fitted again, so its penalty and its number of
features are those that were chosen.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from riata.arrays import to_host
from riata.coupled_passes import mean_targets
from riata.data.dataset import Dataset
from riata.data.folds import Folds, by_position, some_rows
from riata.data.gram import Gram, are_whole
from riata.data.statistics import Statistics, SummaryRows
from riata.errors import DataError, OptionError
from riata.losses import Loss, SeveralMargins
from riata.outcome.choice_sentences import why_chosen
from riata.outcome.choices import Choice, LastWithinSize, LeastScore, ScoredOn, Scores, WithinOneStandardError
from riata.outcome.folds_used import FoldKind, FoldsUsed
from riata.solvers.subset.local_quadratic import NOTHING
from riata.training.checks import check_rows
from riata.training.model_events import model_made
from riata.training.path import (
    MOST_ALPHAS,
    ModelPath,
    fitted_k_path,
    k_path,
    path,
    rough_k_path,
    supports_under_ridge,
)
from riata.training.relaxing import every_share, relaxed, shares_tried
from riata.training.selection.folds_asked import n_folds_of
from riata.training.selection.products import fold_statistics
from riata.training.selection.ridge_search import MOST_FEATURES, RidgeSearch, ScoredRows, ridge_unit
from riata.training.selection.scoring import CRITERIA, HeldOut, criterion, held_out, scored_loss
from riata.training.selection.side_by_side import fits_side_by_side, paths_side_by_side
from riata.training.spec import Spec

RULES = ("cv", "cv-1se", "validation", *CRITERIA)
DEFAULT_K_MAX = 50  # where a path along k ends, or begins to ask whether more are better


@dataclass(frozen=True)
class Search:
    """Which models are tried, and the rule that chooses among them."""

    by: str  # "alpha" or "k"
    rule: str = "cv-1se"
    cv: Any = 5
    n_alphas: int = 100
    alpha_reach: float = 0.01  # the last alpha as a share of the first
    k_max: int | None = None
    target_k: int | None = None  # of a path of alphas, choose the model with this many features instead
    folds: Folds | None = None  # where they are not by position

    @property
    def needs_folds(self) -> bool:
        """Whether the rule scores models on folds."""
        return self.target_k is None and self.rule in ("cv", "cv-1se")


def search_of(spec: Spec) -> Search | None:
    """What k="auto" or alpha="auto" asks for; None where neither is given."""
    by = next((name for name in ("k", "alpha") if _is_auto(getattr(spec, name))), None)
    if by is None:
        return None
    if spec.alpha_ratio is not None or (by == "k" and spec.alpha is not None):
        raise OptionError(f"{by}='auto' chooses {by} itself: give it no other strength beside it")
    target_k = spec.k if by == "alpha" else None
    return Search(by, spec.select, spec.cv, spec.n_alphas, spec.alpha_reach, spec.k_max, target_k)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


@dataclass(frozen=True)
class Selection:
    """Which model of a path was chosen, by what, and why."""

    rule: str
    score: str  # its name
    scores: np.ndarray | None  # one per model, less is better
    errors: np.ndarray | None  # their standard errors over folds
    fold_scores: np.ndarray | None  # folds x models
    index: int
    choice: Choice

    @property
    def reason(self) -> str:
        """Why it was chosen, in words."""
        return why_chosen(self.choice)


def search_path(
    data: Dataset,
    spec: Spec,
    search: Search,
    validation: Dataset | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> tuple[ModelPath, Selection]:
    """The path of all rows, and the choice of one of its models. Progress is told of paths done, of how many."""
    _check(search, spec, data.n_features, validation)
    check_rows(data, spec)
    divided = (search.folds or by_position(n_folds_of(search.cv), spec.seed or 0)) if search.needs_folds else None
    if divided is not None and divided.n_folds > data.n_observed:
        raise OptionError(f"cv={divided.n_folds} folds need as many rows, and there are {data.n_observed}")
    folds = _folds(data, spec, search, divided)
    if search.by == "k" and _ridge_is_open(spec, search.rule):
        return _with_ridge(folds, spec, search, validation, progress)
    if search.by == "alpha" and divided is not None and isinstance(folds, _RowFolds) and folds.fit_in_memory:
        path, parts = folds.side_by_side()
        return _cross_validated(every_share(path, data, spec), search.rule, spec.loss_function, parts, folds.used)
    if progress is not None and divided is not None:
        progress(0, divided.n_folds + 1, "of all rows")
    path = folds.path()
    models = every_share(path, data, spec)
    if search.target_k is not None:
        return models[0], _by_size(models[0], search.target_k)
    if search.rule == "validation":
        assert validation is not None
        scores = np.array([held_out(validation, one, spec.loss_function).scores for one in models])
        of = Scores(spec.loss_function.score, ScoredOn.HELD_OUT_ROWS, validation.n_rows)
        return _least(models, search.rule, of, scores)
    if search.rule in CRITERIA:
        n_counted = _n_counted(data, spec)
        scores = np.array([criterion(search.rule, one, spec.loss_function, n_counted) for one in models])
        return _least(models, search.rule, Scores(search.rule, ScoredOn.TRAINING_ROWS, scores.size), scores)
    parts = []
    for fold in range(folds.used.count):
        if progress is not None:
            progress(fold + 1, folds.used.count + 1, f"fold {fold + 1} of {folds.used.count}")
        parts.append(folds.held_out(fold, path))
    return _cross_validated(models, search.rule, spec.loss_function, parts, folds.used)


def _to_be_scored(path: ModelPath, data: Dataset, spec: Spec) -> ModelPath:
    """A fold's models, with debias those of every share that is tried in a row, as `every_share` has them."""
    shares = shares_tried(spec)
    return relaxed(path, data, spec).one_after_the_other(shares) if shares else path


def _with_ridge(
    folds: "_RowFolds | _ProductFolds",
    spec: Spec,
    search: Search,
    validation: Dataset | None,
    progress: Callable[[int, int, str], None] | None,
) -> tuple[ModelPath, Selection]:
    """The path along k of the ridge of least score, and the choice of one of its models."""
    everything, n_rows = folds.everything, folds.n_rows
    k_max = _last_size(spec, search, everything.n_features, n_rows)
    k_most = k_max if search.k_max else min(MOST_FEATURES, max(k_max, n_rows // 2), everything.n_features)
    k_most = k_most if everything.cheap_passes else k_max
    rows: list[Callable[[], ScoredRows]]
    if validation is not None:
        rows = [lambda: _OtherRows(everything, validation, spec.loss_function)]
    else:
        rows = [partial(folds.of, fold) for fold in range(folds.used.count)]
    side_by_side = validation is None and isinstance(folds, _RowFolds) and folds.fit_in_memory
    if side_by_side:
        rows = [partial(_as_it_is, one()) for one in rows]
    if progress is not None:
        progress(0, 2, "over folds and ridges")
    best = RidgeSearch(rows, spec, side_by_side).best(ridge_unit(everything, spec), k_max, k_most)
    if progress is not None:
        progress(1, 2, "of all rows")
    if best.choosing == 0.0:
        path = k_path(everything, replace(spec, ridge=0.0), k_max).of_sizes(best.sizes)
    else:
        chosen = supports_under_ridge(everything, replace(spec, ridge=best.choosing), best.sizes, NOTHING)
        supports = dict(zip(best.sizes, chosen, strict=True))
        path = fitted_k_path(everything, replace(spec, ridge=best.fitting), supports, best.choosing)
    if validation is not None:
        of = Scores(spec.loss_function.score, ScoredOn.HELD_OUT_ROWS, validation.n_rows)
        scores = held_out(validation, path, spec.loss_function).scores
        return _least([path], search.rule, of, scores[None])
    return _cross_validated([path], search.rule, spec.loss_function, best.parts, folds.used)


def _ridge_is_open(spec: Spec, rule: str) -> bool:
    """Whether a ridge is to be chosen beside k: not where one is given, nor where models are moved away from it."""
    return spec.ridge is None and spec.groups is None and rule not in CRITERIA and not shares_tried(spec)


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
        (not 0 < search.alpha_reach < 1, f"alpha_reach must lie between 0 and 1, not be {search.alpha_reach}"),
        (search.k_max is not None and not 1 <= search.k_max <= most,
         f"k_max must lie between 1 and the number of {spec.counted}, {most}, not be {search.k_max}"),
        (spec.certify is not None and spec.certify is not False,
         f"{search.by}='auto' is not certified: leave certify out, or give it the number k that was chosen"),
        (spec.checkpoint is not None, f"{search.by}='auto' has no checkpoints: leave checkpoint out, or give a number"),
        (spec.solver not in ("auto", _SOLVER[search.by]),
         f"a path along {search.by} is made by solver {_SOLVER[search.by]!r}, not by {spec.solver!r}"),
    ]  # fmt: skip
    for wrong, sentence in checks:
        if wrong:
            raise OptionError(sentence)


_SOLVER = {"alpha": "exact", "k": "best-k"}


@dataclass(frozen=True)
class _RowFolds:
    """Folds whose rows are read for every path."""

    data: Dataset
    spec: Spec
    search: Search
    folds: Folds | None

    @property
    def used(self) -> FoldsUsed:
        assert self.folds is not None
        return self.folds.used

    def path(self) -> ModelPath:
        """The path of all rows."""
        return _path(self.data, self.spec, self.search)

    @property
    def fit_in_memory(self) -> bool:
        """Whether the rows of all folds can be held at once."""
        return fits_side_by_side(self.data, self.used.count, self.spec.memory_bytes)

    def side_by_side(self) -> tuple[ModelPath, list[HeldOut]]:
        """The path of all rows and the scores of all folds, as far as they are worth it."""
        rows = [self._rows(fold) for fold in range(self.used.count)]
        return paths_side_by_side(self.data, self.spec, rows, self.search.n_alphas, self.search.alpha_reach)

    def _rows(self, fold: int) -> tuple[Dataset, Dataset]:
        """Those that a fold learns from, and those that it is scored on."""
        data, folds = self.data, self.folds
        assert folds is not None
        training, rest = some_rows(data, folds.learnt(fold)), some_rows(data, folds.scored(fold))
        loss = self.spec.loss_function
        varies = training.n_rows > 0 and training.moments.y_varies
        if varies and isinstance(loss, SeveralMargins):
            varies = not loss.lacks(mean_targets(training, loss))
        _check_fold(varies, loss, fold, self.used)
        return training, rest

    def held_out(self, fold: int, path: ModelPath) -> HeldOut:
        """What models like those of a path, but fitted to other rows, score on those of this fold."""
        rows = self.of(fold)
        models = _path(rows.learnt, self.spec, self.search, like=path)
        return rows.scores(_to_be_scored(models, rows.learnt, self.spec))

    @property
    def everything(self) -> Dataset:
        return self.data

    @property
    def n_rows(self) -> int:
        return self.data.n_observed

    def of(self, fold: int) -> ScoredRows:
        """The rows of a fold."""
        return _OtherRows(*self._rows(fold), self.spec.loss_function)


@dataclass(frozen=True)
class _OtherRows:
    """Rows to learn from, and rows to be scored on."""

    learnt: Dataset
    scored: Dataset
    loss: Loss

    def scores(self, path: ModelPath) -> HeldOut:
        return held_out(self.scored, path, self.loss)


@dataclass(frozen=True)
class _ProductFolds:
    """Folds that are known by the products of their columns, all that the squared loss needs."""

    statistics: Statistics
    spec: Spec
    search: Search
    passes: float  # that they cost

    @property
    def used(self) -> FoldsUsed:
        return self.statistics.plan.used

    def path(self) -> ModelPath:
        """The path of all rows."""
        return replace(_path(self.everything, self.spec, self.search, n_rows=self.n_rows), passes=self.passes)

    @property
    def everything(self) -> Dataset:
        return self.statistics.total.as_data()

    @property
    def n_rows(self) -> int:
        return self.statistics.total.rows

    def held_out(self, fold: int, path: ModelPath) -> HeldOut:
        """What models like those of a path, but fitted to other rows, score on those of this fold."""
        rows = self.of(fold)
        models = _path(rows.learnt, self.spec, self.search, like=path)
        return rows.scores(_to_be_scored(models, rows.learnt, self.spec))

    def of(self, fold: int) -> ScoredRows:
        """The rows of a fold, as their products know them."""
        others, rest = self.statistics.learnt(fold), self.statistics.scored(fold)
        _check_fold(others.weight > 0 and others.y_varies, self.spec.loss_function, fold, self.used)
        if rest.weight == 0:
            raise DataError(f"fold {fold + 1} of {self.used.count} has no rows to score: take fewer folds (cv)")
        return _OtherProducts(others.as_data(), rest, self.spec.loss_function)


@dataclass(frozen=True)
class _OtherProducts:
    """Products of rows to learn from, and of rows to be scored on."""

    learnt: Dataset
    rest: Gram
    loss: Loss

    def scores(self, path: ModelPath) -> HeldOut:
        return scored_loss(self.loss, self.rest.mean_loss(path.coefs, path.intercepts), self.rest.weight)


def _folds(data: Dataset, spec: Spec, search: Search, folds: Folds | None) -> _RowFolds | _ProductFolds:
    """The folds, by the way that costs least."""
    passes_before = data.passes
    statistics = fold_statistics(data, spec, folds)
    if statistics is None:
        return _RowFolds(data, spec, search, folds)
    return _ProductFolds(statistics, spec, search, data.passes - passes_before)


def _path(
    data: Dataset, spec: Spec, search: Search, like: ModelPath | None = None, n_rows: int | None = None
) -> ModelPath:
    """The models on these rows: those that the search asks for, or the same values as another path has."""
    if search.by == "alpha":
        alphas = None if like is None else like.values
        return path(data, spec, alphas, length=search.n_alphas, reach=search.alpha_reach)
    if like is not None and spec.groups is None:
        return rough_k_path(data, spec, like.values[1:].tolist(), model_made)
    if like is not None:
        return k_path(data, spec, int(like.values[-1]), bounded=False)
    return k_path(data, spec, _last_size(spec, search, data.n_features, n_rows or data.n_observed))


def _last_size(spec: Spec, search: Search, n_features: int, n_rows: int) -> int:
    """Where a path along k ends: where it was asked to, or with no more features than rows can tell of."""
    return search.k_max or min(DEFAULT_K_MAX, spec.n_choices(n_features), max(1, n_rows // 2))


def _check_fold(y_varies: bool, loss: Loss, fold: int, used: FoldsUsed) -> None:
    """Refuse rows that have only one class, or one value of the target."""
    if y_varies:
        return
    what = "of one of the two classes" if loss.labels else "with one and the same target"
    what = "of some of the classes" if loss.n_outputs > 1 and "classification" in loss.tasks else what
    advice = "cv" if used.kind in (FoldKind.TIME, FoldKind.COLUMN, FoldKind.SPLITTER) else "cv, random_state"
    raise DataError(
        f"fold {fold + 1} of {used.count} has only rows {what} to learn from: take other folds ({advice}), more rows, "
        "or another rule (select)"
    )


def _cross_validated(
    models: list[ModelPath], rule: str, loss: Loss, parts: list[HeldOut], used: FoldsUsed
) -> tuple[ModelPath, Selection]:
    """The choice by scores on folds: their mean, by weight, and its standard error."""
    n, weights = len(models[0]), [part.weight for part in parts]
    fold_scores = np.array([part.scores.reshape(len(models), n) for part in parts])
    scores = np.average(fold_scores, axis=0, weights=weights)
    # folds of groups or days differ in size, and the large ones say more
    errors = np.sqrt(np.average((fold_scores - scores) ** 2, axis=0, weights=weights) / (len(parts) - 1))
    of = Scores(loss.score, ScoredOn.FOLDS, len(parts), used)
    if rule == "cv":
        return _least(models, rule, of, scores, errors, fold_scores)
    return _one_standard_error(models, of, scores, errors, fold_scores)


def _least(
    models: list[ModelPath],
    rule: str,
    of: Scores,
    scores: np.ndarray,
    errors: np.ndarray | None = None,
    fold_scores: np.ndarray | None = None,
) -> tuple[ModelPath, Selection]:
    """The model of least score, of one of several paths with a row of scores each; of equals the sparsest."""
    of_path, i = (int(place) for place in np.unravel_index(np.argmin(scores), scores.shape))
    path = models[of_path]
    choice = LeastScore(path.model(i), of, float(scores[of_path, i]), _could_go_on(path, i))
    of_errors = None if errors is None else errors[of_path]
    of_folds = None if fold_scores is None else fold_scores[:, of_path]
    return path, Selection(rule, of.name, scores[of_path], of_errors, of_folds, i, choice)


def _one_standard_error(
    models: list[ModelPath], of: Scores, scores: np.ndarray, errors: np.ndarray, fold_scores: np.ndarray
) -> tuple[ModelPath, Selection]:
    """The sparsest model (largest alpha, smallest k) whose score is within one standard error of the least.

    Of models of the same alpha, one for each share of `debias`, it is that of least score.
    """
    of_least, least = (int(place) for place in np.unravel_index(np.argmin(scores), scores.shape))
    lowest, error = float(scores[of_least, least]), float(errors[of_least, least])
    i = int(np.argmax(np.min(scores, axis=0) <= lowest + error))
    of_path = int(np.argmin(scores[:, i]))
    path, score, empty = models[of_path], float(scores[of_path, i]), float(scores[of_path, 0])
    gives_up_most = i < least and 2 * (empty - score) < empty - lowest
    choice = WithinOneStandardError(
        path.model(i), of, score, error, models[of_least].model(least), lowest,
        _could_go_on(models[of_least], least), gives_up_most,
    )  # fmt: skip
    return path, Selection("cv-1se", of.name, scores[of_path], errors[of_path], fold_scores[:, of_path], i, choice)


def _could_go_on(path: ModelPath, i: int) -> bool:
    """Whether this is the last model of a path that could be longer: further ones might be better."""
    complete = path.ended is not None if path.by == "alpha" else path.values[i] == path.n_choices
    return i == len(path) - 1 and not complete


def _by_size(path: ModelPath, k: int) -> Selection:
    """The last model before one of more than k features."""
    too_many = np.flatnonzero(path.n_selected > k)
    if len(too_many) and too_many[0] == 0:
        raise OptionError(
            f"{path.n_selected[0]} features are always in, since their penalty factor is 0, and k is {k}: take more, "
            "or give them a penalty"
        )
    i = int(too_many[0]) - 1 if len(too_many) else len(path) - 1
    choice = LastWithinSize(path.model(i), k, not len(too_many) and _could_go_on(path, i))
    return Selection("target k", "features", None, None, None, i, choice)
