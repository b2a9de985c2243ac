"""Why a model of a path was chosen, in words. Sentences are made here, for people; no code reads them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch

from riata.outcome.choices import (
    Choice,
    LastWithinSize,
    LeastScore,
    PathModel,
    ScoredOn,
    Scores,
    WithinOneStandardError,
)
from riata.outcome.folds_used import folds_in_words
from riata.outcome.score_names import score_name

FEW = 3  # sentences that are still read
SCORED_ON = {
    ScoredOn.FOLDS: "over {} folds",
    ScoredOn.HELD_OUT_ROWS: "on {} rows held out",
    ScoredOn.TRAINING_ROWS: "of {} models",
}


def named(model: PathModel) -> str:
    """A model of a path, in words."""
    share = "" if model.debias is None else f"debias = {model.debias:g}"
    if model.by == "k":
        with_ridge = f"a ridge of {model.ridge:.3g}" if model.ridge else ""
        beside = " and ".join(filter(None, (with_ridge, share)))
        return f"k = {model.value}{beside and ' with '}{beside}"
    features = f"{model.n_selected} feature{'' if model.n_selected == 1 else 's'}"
    return f"alpha = {model.value:.4g} ({features}{share and ', '}{share})"


def why_all_chosen(choices: Sequence[tuple[str | None, Choice]]) -> str | None:
    """Why the models of one margin, or of several classes by label, were chosen; None where nothing was."""
    if not choices:
        return None
    if len(choices) == 1:
        return why_chosen(choices[0][1])
    if len(choices) <= FEW:
        return "; ".join(f"{label}: {why_chosen(choice)}" for label, choice in choices)
    sizes = [choice.model.n_selected for _, choice in choices]
    first = choices[0][1]
    how = "" if isinstance(first, LastWithinSize) else f" by its {score_name(first.scores.name)} {_where(first.scores)}"
    return (
        f"each of the {len(choices)} classes has a model of its own, chosen{how}: "
        f"they have from {min(sizes)} to {max(sizes)} features"
    )


@singledispatch
def why_chosen(choice: Choice) -> str:
    """Why a model was chosen."""
    raise TypeError(f"no sentence says what {type(choice).__name__} is")


@why_chosen.register
def _(choice: LeastScore) -> str:
    name, where = score_name(choice.scores.name), _where(choice.scores)
    if choice.model.n_selected == 0 and choice.scores.on is not ScoredOn.TRAINING_ROWS:
        return f"no feature helps on rows that were held out: {_least_empty(choice)}"
    said = f"{named(choice.model)}{_chosen_under(choice.model)} has the least {name}, {choice.score:.5g}, {where}"
    return said + _may_go_on(choice)


@why_chosen.register
def _(choice: WithinOneStandardError) -> str:
    model, name, where = named(choice.model), score_name(choice.scores.name), _where(choice.scores)
    model += _chosen_under(choice.model)
    within = f"within one standard error, {choice.error:.3g}, of"
    if choice.model == choice.least_model and choice.model.n_selected == 0:
        return f"no feature helps on rows that were held out: {_least_empty(choice)}"
    if choice.model == choice.least_model:
        fails = "has half of its gain over the emptiest one" if choice.half_of_gain else f"comes {within} it"
        said = f"{model} has the least {name} {where}, {choice.score:.5g}, and no sparser model {fails}"
    else:
        least = f"the least, {choice.least_score:.5g} at {_with_same_ridge(choice.least_model)}"
        said = f"{model} is the sparsest whose {name} {where}, {choice.score:.5g}, comes {within} {least}"
        said += ", and has half of its gain over the emptiest model" if choice.half_of_gain else ""
    if choice.gives_up_most:
        said += ", of whose gain over the emptiest model it has less than half; select='cv' takes that one"
    return said + _may_go_on(choice)


def _least_empty(choice: LeastScore | WithinOneStandardError) -> str:
    """Why the model without features is chosen, which knows the mean or the shares of the classes alone."""
    name, where = score_name(choice.scores.name), _where(choice.scores)
    return f"the model is a constant, which has the least {name} {where}, {choice.score:.5g}"


@why_chosen.register
def _(choice: LastWithinSize) -> str:
    said = f"{named(choice.model)} is the smallest alpha before the path has more than {choice.k} features"
    return said + _may_go_on(choice)


def _chosen_under(model: PathModel) -> str:
    return f", its features chosen under one of {model.chosen_under:.3g}," if model.chosen_under else ""


def _with_same_ridge(model: PathModel) -> str:
    """A model beside another one of its path, whose ridge was said."""
    return named(replace(model, ridge=0.0))


def _where(scores: Scores) -> str:
    if scores.folds is not None:
        return f"over {folds_in_words(scores.folds)}"
    return SCORED_ON[scores.on].format(scores.count)


def _may_go_on(choice: Choice) -> str:
    """A hint where further models, or the same ones with less shrinkage, might be better."""
    if isinstance(choice, LeastScore | WithinOneStandardError) and choice.all_but_shrinkage:
        return "; that is the last of the path, as it leaves hardly any loss: debias='auto' may find a better one"
    if not choice.more_may_be_better:
        return ""
    more = "a larger k_max" if choice.model.by == "k" else "a smaller alpha_reach"
    return f"; that is the last of the path, and {more} may find a better one"
