"""Choosing one model of a path: by cross-validation, by a validation set, by a criterion, or by its size.

Folds see the alphas (or the k) of the path of all rows, and each fold's models are scored on the rows that they have
not seen. The chosen model is that of the path of all rows: it is not fitted again, so its penalty and its number of
features are those that were chosen.
"""

from dataclasses import dataclass

import numpy as np

from riata.data.dataset import Dataset
from riata.data.folds import inside, outside, some_rows
from riata.errors import DataError, OptionError
from riata.fitting import Spec
from riata.losses import LOSSES
from riata.selection.paths import ModelPath, alpha_path, k_path
from riata.selection.scoring import CRITERIA, criterion, held_out, score_name

RULES = ("cv", "cv-1se", "validation", *CRITERIA)
DEFAULT_K_MAX = 50


@dataclass(frozen=True)
class Search:
    """Which models are tried, and the rule that chooses among them."""

    by: str  # "alpha" or "k"
    rule: str = "cv-1se"
    cv: int = 5
    n_alphas: int = 100
    alpha_reach: float = 0.01  # the last alpha as a share of the first
    k_max: int | None = None
    target_k: int | None = None  # of a path of alphas, choose the model with this many features instead


@dataclass(frozen=True)
class Selection:
    """Which model of a path was chosen, by what, and why."""

    rule: str
    score: str  # its name
    scores: np.ndarray | None  # one per model, less is better
    errors: np.ndarray | None  # their standard errors over folds
    fold_scores: np.ndarray | None  # folds x models
    index: int
    reason: str


def search_path(
    data: Dataset, spec: Spec, search: Search, validation: Dataset | None = None
) -> tuple[ModelPath, Selection]:
    """The path of all rows, and the choice of one of its models."""
    _check(search, spec, data.n_features, validation)
    path = _path(data, spec, search)
    if search.target_k is not None:
        return path, _by_size(path, search.target_k)
    if search.rule == "validation":
        assert validation is not None
        scores = held_out(validation, path, spec.loss).scores
        return path, _least(path, search.rule, score_name(spec.loss), scores, f"on {validation.n_rows} rows held out")
    if search.rule in CRITERIA:
        scores = criterion(search.rule, path, spec.loss, data.n_rows)
        return path, _least(path, search.rule, search.rule, scores, f"of {len(path)} models")
    return path, _cross_validated(data, spec, search, path)


def _check(search: Search, spec: Spec, n_features: int, validation) -> None:
    checks = [
        (search.rule not in RULES, f"select must be one of {', '.join(RULES)}, not {search.rule!r}"),
        (search.rule == "validation" and validation is None,
         "select='validation' needs rows: give fit validation=(X, y)"),
        (search.rule != "validation" and validation is not None,
         f"select={search.rule!r} has no use for a validation set; take select='validation'"),
        (validation is not None and validation.n_features != n_features,
         f"the validation set must have the {n_features} features that are learnt from"),
        (search.target_k is not None and not (isinstance(search.target_k, int | np.integer) and search.target_k >= 1),
         f"k beside alpha='auto' must be a positive whole number, not {search.target_k!r}"),
        (search.cv < 2, f"cv must be at least 2 folds, not {search.cv}"),
        (search.n_alphas < 2, f"a path needs at least 2 alphas, not {search.n_alphas}"),
        (not 0 < search.alpha_reach < 1, f"alpha_reach must lie between 0 and 1, not be {search.alpha_reach}"),
        (search.k_max is not None and not 1 <= search.k_max <= n_features,
         f"k_max must lie between 1 and the number of features, {n_features}, not be {search.k_max}"),
        (spec.solver not in ("auto", _SOLVER[search.by]),
         f"a path along {search.by} is made by solver {_SOLVER[search.by]!r}, not by {spec.solver!r}"),
    ]  # fmt: skip
    for wrong, sentence in checks:
        if wrong:
            raise OptionError(sentence)


_SOLVER = {"alpha": "exact", "k": "best-k"}


def _path(data, spec, search: Search, like: ModelPath | None = None) -> ModelPath:
    """The models on these rows: those that the search asks for, or the same values as another path has."""
    if search.by == "alpha":
        alphas = None if like is None else like.values
        return alpha_path(data, spec, alphas, length=search.n_alphas, reach=search.alpha_reach)
    rows_allow = max(1, data.n_rows // 2)  # more features than that say nothing about other rows
    k_max = min(search.k_max or DEFAULT_K_MAX, data.n_features, rows_allow) if like is None else len(like)
    return k_path(data, spec, k_max)


def _cross_validated(data, spec, search: Search, path) -> Selection:
    n_folds, seed = search.cv, spec.seed or 0
    if n_folds > data.n_rows:
        raise OptionError(f"cv={n_folds} folds need as many rows, and there are {data.n_rows}")
    parts = []
    for fold in range(n_folds):
        training = some_rows(data, outside(fold, n_folds, seed))
        _check_fold(training, spec.loss, fold, n_folds)
        models = _path(training, spec, search, like=path)
        parts.append(held_out(some_rows(data, inside(fold, n_folds, seed)), models, spec.loss))
    fold_scores = np.array([part.scores for part in parts])
    scores = np.average(fold_scores, axis=0, weights=[part.weight for part in parts])
    errors = fold_scores.std(axis=0, ddof=1) / np.sqrt(n_folds)
    name = score_name(spec.loss)
    if search.rule == "cv":
        return _least(path, "cv", name, scores, f"over {n_folds} folds", errors, fold_scores)
    return _one_standard_error(path, name, scores, errors, fold_scores)


def _check_fold(training: Dataset, loss, fold, n_folds) -> None:
    """Refuse rows that have only one class, or one value of the target."""
    if training.moments.y_varies:
        return
    what = "one of the two classes" if LOSSES[loss].labels else "all rows whose target differs from the rest"
    raise DataError(
        f"fold {fold + 1} of {n_folds} holds {what}, so the other folds have nothing to learn from: take "
        "other folds (cv, random_state), more rows, or another rule (select)"
    )


def _least(path, rule, name, scores, where, errors=None, fold_scores=None) -> Selection:
    """The model of least score; of equals the sparsest."""
    i = int(np.argmin(scores))
    reason = f"{path.named(i)} has the least {name}, {scores[i]:.5g}, {where}{_at_the_end(path, i)}"
    return Selection(rule, name, scores, errors, fold_scores, i, reason)


def _one_standard_error(path, name, scores, errors, fold_scores) -> Selection:
    """The sparsest model (largest alpha, smallest k) whose score is within one standard error of the least."""
    best = int(np.argmin(scores))
    i = int(np.argmax(scores <= scores[best] + errors[best]))
    reason = (
        f"{path.named(i)} is the sparsest whose {name} over {len(fold_scores)} folds, {scores[i]:.5g}, is within one "
        f"standard error ({errors[best]:.2g}) of the least, {scores[best]:.5g} at {path.named(best)}"
        f"{_at_the_end(path, best)}"
    )
    return Selection("cv-1se", name, scores, errors, fold_scores, i, reason)


def _at_the_end(path, i) -> str:
    """A hint where the least score is that of the last model: further ones might be better."""
    if i < len(path) - 1:
        return ""
    more = "a larger k_max" if path.by == "k" else "a smaller alpha_reach"
    return f"; that is the last of the path, and {more} may find a better one"


def _by_size(path, k) -> Selection:
    """The last model before one of more than k features."""
    too_many = np.flatnonzero(path.n_selected > k)
    i = int(too_many[0]) - 1 if len(too_many) else len(path) - 1
    reason = f"{path.named(i)} is the smallest alpha before the path has more than {k} features"
    if not len(too_many):
        reason += _at_the_end(path, i)
    return Selection("target k", "features", None, None, None, i, reason)
