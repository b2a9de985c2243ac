"""Sentences about a fit, for readers who did not make it."""

from collections.abc import Iterator, Sequence
from typing import Any

from riata.model.training_facts import PerClass
from riata.outcome.reasons import StopReason
from riata.outcome.score_names import SCORE_NAMES
from riata.penalties import CONCAVE, PENALTIES
from riata.reporting.class_weights import weights_in_words
from riata.reporting.html.ending import ending
from riata.reporting.html.facts import Facts
from riata.reporting.html.numbers import count, label, short
from riata.training.stages.two_stages import FIRST_FITS, TWO_STAGES, UNILASSO, adaptive_lasso

MOST_LISTED = 4  # classes whose numbers are listed in a sentence
SCORES = SCORE_NAMES | {
    "pinball_loss": "pinball loss (mean)", "coverage": "share of rows at or below the prediction",
    "concordance": "concordance (1: risks are in the order of events)", "r2": "R²",
    "rmse": "RMSE (root of the mean squared error)", "mae": "MAE (mean absolute error)",
    "loss": "loss", "features": "features",
}  # fmt: skip


def lead(facts: Facts) -> str:
    """What this page is about."""
    model, n_rows = facts.model, facts.training.n_rows
    what = f"predicts {facts.target}" if model.classes is None else f"tells {_either(model.classes)} apart"
    if model.task == "survival":
        what = f"predicts whose event comes sooner ({facts.target})"
    rows = "" if n_rows is None else f", learnt from {count(n_rows, 'row')} of {facts.data}"
    return f"A linear model that {what} by {len(model.names):,} of {facts.of_features}{rows}."


def asked(facts: Facts) -> list[str]:
    """What was minimised, over which models, a sentence each."""
    strength = facts.alpha if facts.k is None else facts.k
    found = f" {ending(facts.training).found}" if facts.training.stop and strength is not None else ""
    return [_minimised(facts) + found, *_of_outputs(facts), *_of_penalties(facts), *_of_steps(facts)]


def _minimised(facts: Facts) -> str:
    """A sentence on what was asked for: among which models the best is, and what makes it the best."""
    parameters, k, alpha = facts.parameters, facts.k, facts.alpha
    loss, grouped = f"mean {facts.model.loss_function.words} over the rows", "groups" in (facts.training.counted or "")
    if k is not None:
        one, many = ("group of features", "groups of features") if grouped else ("feature", "features")
        further = "further " if _beside_others(facts) else ""
        return (
            f"Asked for: of all linear models with at most {_each(k)} {further}{one if k == 1 else many}, the one with "
            f"the smallest {loss}."
        )
    if alpha is not None:
        half = "half " if facts.model.loss_function.score == "mse" else ""  # as in the formula below: the sum needs it
        return (
            f"Asked for: the linear model with the smallest sum of two things: {half}the {loss}, and "
            f"{_penalty(parameters, _each(alpha), grouped, _is_shared(facts))}. "
            f"The larger that {'strength' if own_penalty(parameters) else 'factor'}, the fewer features are used."
        )
    return f"A linear model with a small {loss} and few features, whose penalty was found while learning."


def _beside_others(facts: Facts) -> bool:
    """Whether k counts features beside those that are always in."""
    return (facts.training.counted or "").startswith("further")


def _of_outputs(facts: Facts) -> Iterator[str]:
    """What several sums, or several classes, are to each other."""
    model = facts.model
    if model.targets is not None:
        yield f"It predicts {len(model.targets)} targets at once, each by a sum of its own."
    elif model.levels:
        yield f"Each of {len(model.levels)} quantiles has such a model of its own."
    elif model.cutpoints is not None:
        yield (
            "Its classes have an order, and one sum ranks all rows: cutpoints at "
            f"{', '.join(map(short, model.cutpoints))} tell how likely each class is, and the likeliest is predicted "
            "(proportional odds)."
        )
    elif len(model.intercept) > 1 and model.link_function.sums_to_one:
        yield "It is of all classes at once; every class has a sum of its own, and the largest wins."
    elif len(model.intercept) > 1:
        yield "Every class has such a model of its own, against all others; the largest sum wins."


def _of_penalties(facts: Facts) -> Iterator[str]:
    """What else shaped the coefficients."""
    parameters, k = facts.parameters, facts.k
    if facts.ridge is not None:
        yield f"A ridge of strength {_each(facts.ridge)} keeps coefficients small."
    if parameters.get("standardize", True) and (facts.alpha is not None or facts.ridge is not None):
        yield "Penalties count coefficients per standard deviation, so the units of the columns do not matter."
    if (offset := facts.model.offset) is not None:
        yield f"{_capital(offset.words)} of a row is added to its sum, without a coefficient."
    if k is not None and _beside_others(facts):
        yield "Beside them, some features that were named are in every model."
    elif k is None and facts.training.penalty_factors:
        yield "Some features were penalised more than others, by factors that were given."
    for name, sentence in _MORE.items():
        if parameters.get(name):
            yield sentence


def _of_steps(facts: Facts) -> Iterator[str]:
    """What came before the fit, and after it."""
    parameters, model = facts.parameters, facts.model
    if (first := adaptive_lasso(str(parameters.get("penalty")))) is not None:
        yield (
            f"A first fit of {FIRST_FITS[first.first]} came before (the adaptive Lasso): the smaller a coefficient was "
            "there, the more its feature was penalised."
        )
    if parameters.get("penalty") == UNILASSO:
        yield (
            "These are coefficients of what every feature alone predicts of a row that it has not seen, and none is "
            "negative (uniLasso): a feature is in the model with the sign that it has alone, or not at all."
        )
    yield from _moved(parameters.get("debias"))
    if (weights := weights_in_words(model)) is not None:
        yield f"{_capital(weights)}."
    if model.threshold is not None and model.classes:
        yield f"{model.classes[1]} is predicted from a probability of {short(model.threshold)} on."
    if facts.training.selection and len(facts.training.stop) > 1:
        yield "How sparse each of them is was chosen along a path of its own."
    elif facts.training.selection:
        yield f"How sparse it is was chosen: {facts.training.selection}."


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


_MORE = {
    "nonnegative": "No coefficient may be negative.",
    "bounds": "Some coefficients had to lie within bounds that were given.",
    "normalize": "Every row was divided by its norm first.",
    "half_life": "Older rows counted less and less.",
    "polish": "An online solver chose candidates in a first pass; all else was solved over those alone.",
}


def _moved(debias: Any) -> list[str]:
    """What was done to the coefficients of the chosen features."""
    if not debias:
        return []
    if debias is True or debias == 1.0:
        return ["The chosen features were then fitted once more, without the penalty."]
    far = "as far as scores told" if debias == "auto" else f"{debias:.0%} of the way"
    return [f"Coefficients were then moved {far} towards those that the chosen features have without the penalty."]


def own_penalty(parameters: dict[str, Any]) -> str | None:
    """What a penalty is called that is no elastic net: one that was given as an object, MCP or SCAD."""
    written = parameters.get("penalty") or ""
    name = written.split("(")[0].split(":")[0]
    if name in TWO_STAGES:
        return None
    return name.upper() if name in CONCAVE else None if name in ("", *PENALTIES) else name


def _is_shared(facts: Facts) -> bool:
    """Whether features are in the model for all of its outputs or for none."""
    asked_for = facts.parameters.get("shared_support")
    return asked_for is not False if facts.model.targets is not None else bool(asked_for)


def _penalty(parameters: dict[str, Any], alpha: str, grouped: bool, shared: bool) -> str:
    own, share = own_penalty(parameters), parameters.get("l1_ratio", 1.0)
    if grouped or shared:
        ratio = parameters.get("group_ratio", 1.0)
        lengths = "the length of the coefficients of every group of features, times the root of its size"
        lengths = lengths if grouped else "the length of the coefficients of every feature"
        if ratio == 1.0:
            return f"{alpha} times the sum of {lengths}"
        return f"{alpha} times a mix of {lengths} ({ratio:.0%}), and of the absolute coefficients ({1 - ratio:.0%})"
    if own is not None:
        return f"the penalty {own} of strength {alpha}"
    if share == 1.0:
        return f"{alpha} times the sum of the absolute coefficients"
    return f"{alpha} times a mix of the absolute coefficients ({share:.0%}) and half their squares ({1 - share:.0%})"


def certificate(facts: Facts) -> str:
    """How sure it is that no better model of this kind exists."""
    training, gap = facts.training, facts.training.gap
    reason = training.stopped_because
    if reason is None:
        return "The model learnt from a stream, which has no end at which to certify it."
    if training.converged and gap is not None:
        if len(facts.training.stop) > 1:
            within = f"{facts.parameters.get('tol', 1e-6):.1e}"
            reason = f"the largest relative duality gap over the classes, {gap:.1e}, is within {within}"
        return (
            f"Certified: {reason}. No model of this kind can have an objective lower by more than {gap:.1e} of the "
            "empty model's loss."
        )
    end = ending(training)
    better = None if StopReason.SEARCHED_ALL in training.stop else training.how_much_better  # whose reason says it
    beside = f" {_capital(better)}." if better else ""
    return f"{end.begins} {reason}.{beside}"


def _either(classes: Sequence[Any]) -> str:
    shown = [label(known) for known in classes[:6]]
    if len(classes) > 6:
        return f"{', '.join(shown)} and {len(classes) - 6} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _each(value: PerClass) -> str:
    """A number, or one per class; of many classes their range."""
    if not isinstance(value, list):
        return short(value)
    known = [one for one in value if one is not None]
    if len(known) > MOST_LISTED and min(known) < max(known):
        return f"{short(min(known))} to {short(max(known))} (by class)"
    return " / ".join(dict.fromkeys(short(v) for v in value))
