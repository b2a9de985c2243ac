"""The choice of one model of a path, or of several paths with a row of scores each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riata.errors import OptionError
from riata.losses import Loss
from riata.outcome.choice_sentences import why_chosen
from riata.outcome.choices import Choice, LastWithinSize, LeastScore, ScoredOn, Scores, WithinOneStandardError
from riata.outcome.folds_used import FoldsUsed
from riata.outcome.path_end import EndReason
from riata.training.paths.model_path import ModelPath
from riata.training.selection.scoring import HeldOut


@dataclass(frozen=True)
class Selection:
    """Which model of a path was chosen, by which scores, and why."""

    rule: str
    score: str  # its name
    scores: np.ndarray | None  # one per model, less is better
    errors: np.ndarray | None  # their standard errors over folds
    fold_scores: np.ndarray | None  # folds x models
    index: int
    choice: Choice

    @property
    def reason(self) -> str:
        """A sentence that says why it was chosen."""
        return why_chosen(self.choice)


def cross_validated(
    models: list[ModelPath], rule: str, loss: Loss, parts: list[HeldOut], used: FoldsUsed
) -> tuple[ModelPath, Selection]:
    """The choice by scores on folds: their mean, by weight, and its standard error."""
    n, weights = len(models[0]), [part.weight for part in parts]
    fold_scores = np.array([part.scores.reshape(len(models), n) for part in parts])
    scores = np.average(fold_scores, axis=0, weights=weights)
    errors = _standard_errors(fold_scores, weights)
    of = Scores(loss.score, ScoredOn.FOLDS, len(parts), used)
    if rule == "cv":
        return least(models, rule, of, scores, errors, fold_scores)
    return one_standard_error(models, of, scores, errors, fold_scores, weights)


def _standard_errors(fold_scores: np.ndarray, weights: Sequence[float] | np.ndarray) -> np.ndarray:
    """The standard errors of means over folds: folds of groups or days differ in size, and the large ones say more."""
    with np.errstate(invalid="ignore"):  # a score may be infinite
        around = fold_scores - np.average(fold_scores, axis=0, weights=weights)
        return np.sqrt(np.average(around**2, axis=0, weights=weights) / max(1, len(weights) - 1))


def least(
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
    choice = LeastScore(path.model(i), of, float(scores[of_path, i]), _could_go_on(path, i), _left_to_debias(path, i))
    of_errors = None if errors is None else errors[of_path]
    of_folds = None if fold_scores is None else fold_scores[:, of_path]
    return path, Selection(
        rule=rule, score=of.name, scores=scores[of_path], errors=of_errors, fold_scores=of_folds, index=i, choice=choice
    )


def one_standard_error(
    models: list[ModelPath],
    of: Scores,
    scores: np.ndarray,
    errors: np.ndarray,
    fold_scores: np.ndarray,
    weights: list[float],
) -> tuple[ModelPath, Selection]:
    """The sparsest model (largest alpha, smallest k) whose score is within one standard error of the least.

    Of models of the same alpha, one for each share of `debias`, it is that of least score. Where the least gains more
    than a standard error of the difference, in which what a fold does to all models cancels, the model has at least
    half of that gain over the first one: scores of folds differ by an outlier or few events, too, and that is no doubt
    about models.
    """
    of_least, least = (int(place) for place in np.unravel_index(np.argmin(scores), scores.shape))
    lowest, error = float(scores[of_least, least]), float(errors[of_least, least])
    of_best, best = np.argmin(scores, axis=0), np.min(scores, axis=0)
    has_half = 2 * (best[0] - best) >= best[0] - lowest
    i = int(np.argmax(best <= lowest + error))
    of_folds, of_least_model = fold_scores[:, of_best[i], i], fold_scores[:, of_least, least]
    asks_for_half = not has_half[i] and beyond_doubt(of_folds - of_least_model, weights)
    if asks_for_half:
        i = int(np.argmax(has_half))
    of_path = int(of_best[i])
    path = models[of_path]
    choice = WithinOneStandardError(
        model=path.model(i),
        scores=of,
        score=float(best[i]),
        error=error,
        least_model=models[of_least].model(least),
        least_score=lowest,
        more_may_be_better=_could_go_on(models[of_least], least),
        all_but_shrinkage=_left_to_debias(models[of_least], least),
        gives_up_most=bool(not has_half[i]),
        half_of_gain=bool(asks_for_half),
    )
    return path, Selection(
        rule="cv-1se",
        score=of.name,
        scores=scores[of_path],
        errors=errors[of_path],
        fold_scores=fold_scores[:, of_path],
        index=i,
        choice=choice,
    )


def beyond_doubt(differences: np.ndarray, weights: Sequence[float] | np.ndarray) -> bool:
    """Whether the mean of differences over folds is more than its standard error."""
    return float(np.average(differences, weights=weights)) > float(_standard_errors(differences, weights))


def _could_go_on(path: ModelPath, i: int) -> bool:
    """Whether this is the last model of a path that could be longer: further ones might be better."""
    complete = path.ended is not None if path.by == "alpha" else path.values[i] == path.n_choices
    return i == len(path) - 1 and not complete


def _left_to_debias(path: ModelPath, i: int) -> bool:
    """Whether this is the last model of a path that ended for leaving hardly any loss, most of which is shrinkage."""
    saturated = path.ended is not None and path.ended.reason is EndReason.SATURATED
    return i == len(path) - 1 and saturated and path.model(i).debias is None


def by_size(path: ModelPath, k: int) -> Selection:
    """The last model before one of more than k features."""
    too_many = np.flatnonzero(path.n_selected > k)
    if len(too_many) and too_many[0] == 0:
        raise OptionError(
            f"{path.n_selected[0]} features are always in, since their penalty factor is 0, and k is {k}: take more, "
            "or give them a penalty"
        )
    i = int(too_many[0]) - 1 if len(too_many) else len(path) - 1
    choice = LastWithinSize(path.model(i), k, not len(too_many) and _could_go_on(path, i))
    return Selection(
        rule="target k", score="features", scores=None, errors=None, fold_scores=None, index=i, choice=choice
    )
