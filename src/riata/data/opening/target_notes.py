"""Notes on a target: what it was taken for, classes that may be one, and columns that give it away."""

from collections.abc import Iterator

from riata.data.column_names import listed
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.unfit import leak
from riata.data.target import Target

MOST_LEAKS = 5  # columns that give the target away of which each has its own note


def on_target(target: Target, task: str) -> Iterator[str]:
    """Whether it is a number or a class, where that was guessed, and classes that are written in two ways."""
    if task == "auto" and not (target.survival or target.others or target.trials):
        what = "a number" if target.classes is None else f"one of {len(target.classes)} classes"
        decide = "task='classification' or task='regression' decides it"
        yield f"the target {target.column!r} is taken for {what} ({decide})"
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
    """Notes on columns that give the target away, the worst first; one on all the others, where they are many."""
    worst = sorted(columns, key=lambda name: -(columns[name].explains or 0.0))
    told = {name: note for name in worst if (note := leak(name, columns[name], target)) is not None}
    notes = list(told.values())[:MOST_LEAKS]
    if len(told) > MOST_LEAKS:
        notes.append(f"so do {len(told) - MOST_LEAKS} more columns: {listed(list(told)[MOST_LEAKS:], 10)}")
    return notes
