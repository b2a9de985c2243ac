"""What was asked: in words, as a formula, and every option that mattered."""

from riata.reporting.html.facts import Facts
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered
from riata.reporting.html.tables import facts as facts_list
from riata.reporting.html.words import asked, own_penalty

SHOWN = (
    "loss",
    "penalty",
    "l1_ratio",
    "group_ratio",
    "standardize",
    "fit_intercept",
    "normalize",
    "tol",
    "random_state",
    "memory",
)


def asked_section(facts: Facts) -> Section:
    """The problem."""
    parameters, training = facts.parameters, facts.training
    options = [("solver", training.solver), ("k", facts.k), ("ridge", facts.ridge), ("alpha", facts.alpha)]
    options += [(name.replace("_", " "), parameters.get(name)) for name in SHOWN]
    body = rendered(
        "asked.html",
        words=asked(facts),
        loss=facts.model.loss_function,
        k=facts.k,
        alpha=facts.alpha,
        own_penalty=own_penalty(parameters),
        grouped="groups" in (training.counted or ""),
        group_ratio=parameters.get("group_ratio", 1.0),
        l1_ratio=parameters.get("l1_ratio", 1.0),
        ridge=facts.ridge,
        scaled=parameters.get("standardize", True),
        intercept=parameters.get("fit_intercept", True) and facts.model.task != "survival",
        offset=facts.model.offset is not None,
        minimised=facts.model.objective,
        options=facts_list(options),
    )
    return Section("asked", "What was asked", body)
