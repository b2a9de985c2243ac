"""Folds: the rows that each learns from, the models that it makes of them, and their scores on its other rows.

They are known by their rows or, where that is enough and costs less, by the products of their columns.
"""

from dataclasses import dataclass, replace

from riata.coupled_passes import mean_targets
from riata.data.dataset import Dataset
from riata.data.folds import Folds, some_rows
from riata.data.gram import Gram
from riata.data.statistics import Statistics
from riata.errors import DataError
from riata.losses import Loss, SeveralMargins
from riata.outcome.folds_used import FoldKind, FoldsUsed
from riata.training.paths.k_paths import k_path_of_margin, rough_k_path
from riata.training.paths.model_events import model_made
from riata.training.paths.model_path import ModelPath
from riata.training.paths.path import path_of_margin
from riata.training.selection.asked import Search
from riata.training.selection.products import fold_statistics
from riata.training.selection.ridge_search import ScoredRows
from riata.training.selection.scoring import HeldOut, held_out, scored_loss
from riata.training.selection.side_by_side import fits_side_by_side, paths_side_by_side
from riata.training.spec import Spec
from riata.training.stages.relaxing import relaxed, shares_tried

DEFAULT_K_MAX = 50  # where a path along k ends, or begins to ask whether more are better


@dataclass(frozen=True)
class RowFolds:
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
        return _path_of(self.data, self.spec, self.search)

    @property
    def fit_in_memory(self) -> bool:
        """Whether the rows of all folds can be held at once."""
        return fits_side_by_side(self.data, self.used.count, self.spec.memory_bytes)

    def side_by_side(self) -> tuple[ModelPath, list[HeldOut]]:
        """The path of all rows and the scores of all folds, as far as they are worth it."""
        rows = [self._rows(fold) for fold in range(self.used.count)]
        return paths_side_by_side(self.data, self.spec, rows, self.search.n_alphas, self.search.alpha_reach)

    def _rows(self, fold: int) -> tuple[Dataset, Dataset]:
        """The rows that a fold learns from, and those that it is scored on."""
        data, folds = self.data, self.folds
        assert folds is not None
        training, rest = some_rows(data, folds.learnt(fold)), some_rows(data, folds.scored(fold))
        loss = self.spec.loss_function
        varies = training.n_rows > 0 and training.moments.y_varies
        if varies and isinstance(loss, SeveralMargins):
            varies = not loss.lacks(mean_targets(training, loss))
        _check_fold(varies, loss, fold, self.used)
        return training, rest

    @property
    def everything(self) -> Dataset:
        return self.data

    @property
    def n_rows(self) -> int:
        return self.data.n_observed

    def of(self, fold: int) -> ScoredRows:
        """The rows of a fold."""
        return OtherRows(*self._rows(fold), self.spec.loss_function)


@dataclass(frozen=True)
class OtherRows:
    """Rows to learn from, and rows to be scored on."""

    learnt: Dataset
    scored: Dataset
    loss: Loss

    def scores(self, path: ModelPath) -> HeldOut:
        return held_out(self.scored, path, self.loss, self.learnt)


@dataclass(frozen=True)
class ProductFolds:
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
        return replace(_path_of(self.everything, self.spec, self.search, n_rows=self.n_rows), passes=self.passes)

    @property
    def everything(self) -> Dataset:
        return self.statistics.total.as_data()

    @property
    def n_rows(self) -> int:
        return self.statistics.total.rows

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


def folds_of(data: Dataset, spec: Spec, search: Search, folds: Folds | None) -> RowFolds | ProductFolds:
    """The folds, by the way that costs least."""
    passes_before = data.passes
    statistics = fold_statistics(data, spec, folds)
    if statistics is None:
        return RowFolds(data, spec, search, folds)
    return ProductFolds(statistics, spec, search, data.passes - passes_before)


def scores_of(folds: RowFolds | ProductFolds, fold: int, path: ModelPath) -> HeldOut:
    """The scores, on the rows of a fold, of models like those of a path that are fitted to the other rows."""
    rows = folds.of(fold)
    models = _path_of(rows.learnt, folds.spec, folds.search, like=path)
    return rows.scores(_to_be_scored(models, rows.learnt, folds.spec))


def _to_be_scored(path: ModelPath, data: Dataset, spec: Spec) -> ModelPath:
    """The models of a fold to be scored: with debias, those of all shares that are tried, one after the other."""
    shares = shares_tried(spec)
    return relaxed(path, data, spec).one_after_the_other(shares) if shares else path


def _path_of(
    data: Dataset, spec: Spec, search: Search, like: ModelPath | None = None, n_rows: int | None = None
) -> ModelPath:
    """The models on these rows: those that the search asks for, or the same values as another path has."""
    if search.by == "alpha":
        alphas = None if like is None else like.values
        return path_of_margin(data, spec, alphas, length=search.n_alphas, reach=search.alpha_reach)
    if like is not None and spec.groups is None and spec.one_by_one:
        return rough_k_path(data, spec, like.values[1:].tolist(), model_made)
    if like is not None:
        return k_path_of_margin(data, spec, int(like.values[-1]), bounded=False)
    return k_path_of_margin(data, spec, last_size(spec, search, data.n_features, n_rows or data.n_observed))


def last_size(spec: Spec, search: Search, n_features: int, n_rows: int) -> int:
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
