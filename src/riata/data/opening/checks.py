"""Wishes that cannot be granted: unknown ones, ones that would do nothing, and ones about rows encoded before."""

from collections.abc import Sequence
from typing import Any

from riata.data.encoding import Encoding
from riata.data.formats.source import TARGET
from riata.errors import OptionError

CATEGORIES = ("category", "hashed category")
TEXTS = ("text", "hashed text")


def check_known(wishes, known: list[str]) -> None:
    """Refuse an option that there is not."""
    for name in wishes:
        if name not in known:
            raise OptionError(f"there is no option {name!r} for columns; there are {', '.join(known)}")


def refuse_given(wishes: dict[str, Any], reason: str) -> None:
    """Refuse options that would do nothing, where they are given."""
    for name, wish in wishes.items():
        if wish is not None and not (isinstance(wish, Sequence) and len(wish) == 0):
            raise OptionError(f"{name} would do nothing: {reason}")


def check_settled(source, encoding: Encoding | None, wishes: dict[str, Any]) -> None:
    """Refuse a wish for target, weight, task or columns that is not how these rows were encoded."""
    for name, wish in wishes.items():
        if not (wish is None or _met(name, wish, encoding)):
            said = repr(wish) if isinstance(wish, str | list | tuple) else "another array"
            raise OptionError(
                f"{source} holds rows that were encoded before, whose columns and weights are chosen already: "
                f"{name} cannot be {said} any more"
            )


def _met(name: str, wish, encoding: Encoding | None) -> bool:
    """Whether the rows are as somebody wishes."""
    if name == "task":
        classes = encoding.target.classes if encoding and encoding.target else None
        return wish in ("auto", "regression" if classes is None else "classification")
    if not isinstance(wish, str | list | tuple):
        return False  # an array beside the rows
    if encoding is None or not wish:
        return not wish
    if name == "target":
        column = encoding.target.column if encoding.target else None
        return wish == column or column == TARGET  # what had no name of its own was named by a number, or a file
    if name == "weight":
        return wish == encoding.weight
    columns = {column for encoder in encoding.encoders for column in encoder.columns}
    if name == "drop":
        return columns.isdisjoint(wish)
    if name == "features":
        return columns == set(wish)
    if name == "crosses":
        return {tuple(cross) for cross in wish} <= {e.columns for e in encoding.encoders if e.kind == "cross"}
    kinds = {"categorical": CATEGORIES, "text": TEXTS}[name]
    return set(wish) <= {e.columns[0] for e in encoding.encoders if e.kind in kinds}
