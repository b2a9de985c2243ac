"""What the command line shows of a model in a file."""

from rich.table import Table

from riata.model.model import Model
from riata.reporting.class_weights import weights_in_words
from riata.reporting.terminal.console import facts_table, first_few, terminal
from riata.reporting.terminal.features import features_table
from riata.reporting.terminal.user_text import escape
from riata.reporting.terminal.wording import as_typed


def show_model(model: Model) -> None:
    """Every feature of a model, and how it was made."""
    console = terminal()
    console.print(features_table(model, len(model.names)))
    facts = facts_table()
    facts.add_row(
        "task", escape(model.task if model.classes is None else f"{model.task} of {first_few(model.classes)}")
    )
    facts.add_row("minimised", escape(model.objective))
    facts.add_row("intercept", first_few([f"{b:.6g}" for b in model.intercept]))
    if model.cutpoints is not None:
        facts.add_row("cutpoints", first_few([f"{cut:.6g}" for cut in model.cutpoints]))
    facts.add_row("features", f"{len(model.names):,} of {model.n_features:,}")
    if model.classes is not None and len(model.classes) == 2:
        label = model.classes[1]
        from_where = "0.5 on, as usual" if model.threshold is None else f"{model.threshold:g} on"
        if model.link_function.probabilities:
            facts.add_row("threshold", escape(f"{label} is predicted from a probability of {from_where}"))
    add_weights(facts, model)
    for key in (
        "data",
        "n_rows",
        "selection",
        "solver",
        "gap",
        "stopped_because",
        "how_much_better",
        "passes",
        "seconds",
    ):
        if (value := getattr(model.training, key)) is not None:
            written = {"gap": ".2g", "n_rows": ",", "passes": "g"}.get(key)
            said = as_typed(str(value)) if written is None else format(value, written)
            facts.add_row(key.replace("_", " "), escape(said))
    console.print(facts)


def add_weights(facts: Table, model: Model) -> None:
    """The offset of rows; what rows of each class counted, if not the same, and what this does to probabilities."""
    if model.offset is not None:
        facts.add_row("offset", escape(f"{model.offset.words} of a row is added to its margin"))
    if (said := weights_in_words(model)) is not None:
        facts.add_row("weights", escape(said))
