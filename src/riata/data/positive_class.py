"""Which of two classes is the positive one: the last, which coefficients and thresholds speak of."""

from collections.abc import Sequence
from typing import Any

from riata.errors import OptionError


def with_positive_last(classes: Sequence[Any] | None, positive: Any, column: str) -> tuple[Any, ...] | None:
    """The classes of a column, the positive one last; words of a command line stand for numbers and booleans, too."""
    if positive is None:
        return None if classes is None else tuple(classes)
    if classes is None:
        raise OptionError(
            f"positive={positive!r} names one of two classes, and the target {column!r} is a number: leave it out, or "
            "say task='classification'"
        )
    known = ", ".join(map(repr, classes))
    if len(classes) != 2:
        raise OptionError(f"positive={positive!r} is for two classes, and {column!r} has {len(classes)}: leave it out")
    chosen = [label for label in classes if as_typed(label) == as_typed(positive)]
    if not chosen:
        raise OptionError(f"positive={positive!r} is no class of {column!r}: the classes are {known}")
    return (*(label for label in classes if label != chosen[0]), chosen[0])


def as_typed(label: Any) -> str:
    """A label as it is typed: 1.0 as 1, and True as true."""
    if hasattr(label, "item"):
        label = label.item()  # of NumPy
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    word = str(label)
    return word.lower() if word in ("True", "False") else word
