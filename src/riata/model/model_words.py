"""A model in a line, and in a line for each feature: what Python prints of it."""

from typing import TYPE_CHECKING

from riata.data.columns.hashed import SPACE
from riata.visible_text import visible

if TYPE_CHECKING:
    from riata.model.model import Model

FEW = 3  # features that a line names
MOST_LINES = 50  # features that are printed


def in_a_line(model: "Model") -> str:
    """What it predicts, by which features."""
    of = "" if model.target is None else f" of {model.target!r}"
    many = "any number of" if model.n_features == SPACE else f"{model.n_features:,}"
    named = ", ".join(name for name, _, _ in model.ranked[:FEW])
    more = ", ..." if len(model.names) > FEW else ""
    chosen = f": {named}{more}" if named else ""
    return visible(f"<{model.task} model{of} by {len(model.names):,} of {many} features{chosen}>")


def in_lines(model: "Model") -> str:
    """The model in words, with a line for each feature, largest effects first, and one for the intercepts."""
    rows = [(visible(name), coef) for name, coef, _ in model.ranked[:MOST_LINES]]
    rows.append(("intercept", model.intercept))
    width = max(len(name) for name, _ in rows)
    heads = [" ".join([" " * width, *(f"{visible(output):>12}" for output in model.outputs)])] if model.outputs else []
    lines = [" ".join([f"{name:<{width}}", *(f"{number:>12.6g}" for number in numbers)]) for name, numbers in rows]
    if len(model.names) > MOST_LINES:
        lines.insert(MOST_LINES, f"and {len(model.names) - MOST_LINES:,} more")
    return "\n".join([in_a_line(model)[1:-1], *heads, *lines])
