"""Notes on a target: what it was taken for, classes that may be one, and columns that give it away."""

from collections.abc import Iterator

from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.unfit import COPY, LEAK, leak
from riata.data.target import Target

MOST_LEAKS = 5  # columns that a note names, of those that explain much of the target


def on_target(target: Target, task: str) -> Iterator[str]:
    """Whether it is a number or a class, where that was guessed, and classes that are written in two ways."""
    if task == "auto" and not (target.survival or target.others or target.trials):
        if target.classes is None:
            yield f"the target {target.column!r} is a number: regression (task='classification' changes that)"
        else:
            numbers = not any(isinstance(label, str) for label in target.classes)
            change = " (task='regression' changes that)" if numbers else ""
            yield f"the target {target.column!r} has {len(target.classes)} classes: classification{change}"
    yield from _differ_in_case(target)


def _differ_in_case(target: Target) -> Iterator[str]:
    """A note on classes that are the same but for capital letters."""
    by_word: dict[str, list[str]] = {}
    for label in target.classes or ():
        if isinstance(label, str):
            by_word.setdefault(label.strip().casefold(), []).append(label)
    alike = [labels for labels in by_word.values() if len(labels) > 1]
    if alike:
        pairs = "; ".join(" and ".join(map(repr, labels)) for labels in alike[:3])
        yield f"classes of {target.column!r} differ in capital letters or spaces alone ({pairs}): write them alike"


def leaks(columns: dict[str, ColumnProfile], target: str) -> list[str]:
    """Notes on columns that give the target away, the worst first; one note for all that merely explain much of it."""
    worst = sorted(columns, key=lambda name: -(columns[name].explains or 0.0))
    told = {name: note for name in worst if (note := leak(name, columns[name], target)) is not None}
    strong = [name for name in told if LEAK < (columns[name].explains or 0.0) <= COPY]
    if len(strong) < 2:
        return list(told.values())
    named = ", ".join(f"{name!r} ({columns[name].explains:.0%})" for name in strong[:MOST_LEAKS])
    more = f" and {len(strong) - MOST_LEAKS} more" if len(strong) > MOST_LEAKS else ""
    together = (
        f"{len(strong)} columns explain more than half of {target!r} each, {named}{more}: drop those that are not "
        f"known when predicting (as in drop={strong[:2]!r})"
    )
    return [*(told[name] for name in told if name not in strong), together]
