"""Refusing options: unknown ones, ones without effect, and ones that rows encoded earlier do not match."""

from collections.abc import Iterable, Sequence
from typing import Any

from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.formats.source import TARGET
from riata.data.offset import Offset
from riata.data.opening.column_options import as_interactions, pairs_of
from riata.data.positive_class import with_positive_last
from riata.data.row_marks import ROLES
from riata.data.survival import event_and_value
from riata.data.target_names import named_targets
from riata.errors import DataError, OptionError

CATEGORIES = ("category", "hashed category")
TEXTS = ("text", "hashed text")


def check_known(options: Iterable[str], known: list[str]) -> None:
    """Refuse options of unknown names."""
    for name in options:
        if name not in known:
            raise OptionError(f"there is no option {name!r} for columns; there are {', '.join(known)}")


def refuse_given(options: dict[str, Any], reason: str) -> None:
    """Refuse options that would have no effect, if any is given."""
    for name, value in options.items():
        if value is not None and not (isinstance(value, Sequence) and len(value) == 0):
            raise OptionError(f"{name} would do nothing: {reason}")


def check_as_encoded(source: Any, encoding: Encoding | None, options: dict[str, Any]) -> None:
    """Refuse a target, weight, task or columns other than those with which these rows were encoded."""
    for name, value in options.items():
        if not (value is None or _agrees(name, value, encoding)):
            said = repr(value) if isinstance(value, str | list | tuple) else "another array"
            raise OptionError(
                f"{source} holds rows that were encoded before, whose columns and weights are chosen already: "
                f"{name} cannot be {said} any more"
            )


def check_width(rows: Dataset, n_features: int | None) -> Dataset:
    """The rows, unless they have another number of features than was said."""
    if n_features not in (None, rows.n_features):
        raise DataError(f"there are {rows.n_features} features, and n_features says {n_features}: leave it out")
    return rows


def _agrees(name: str, value: Any, encoding: Encoding | None) -> bool:
    """Whether the rows were encoded with this value of an option."""
    if name == "task":
        target = encoding.target if encoding else None
        if target is not None and target.survival:
            return value in ("auto", "survival")
        return value in ("auto", "regression" if target is None or target.classes is None else "classification")
    if name == "positive":
        classes = encoding.target.classes if encoding and encoding.target else None
        return classes is not None and with_positive_last(classes, value, "the target") == tuple(classes)
    if not isinstance(value, str | list | tuple):
        return False  # an array, where the rows have their own
    if encoding is None or not value:
        return not value
    if name == "target":
        column = encoding.target.column if encoding.target else None
        if encoding.target is not None and encoding.target.others:
            return named_targets(value, encoding.target.numbers) == encoding.target.numbers
        return value == column or column == TARGET  # a target without a name was given as a number or a file
    if name == "trials":
        return encoding.target is not None and value == encoding.target.trials
    if name == "event":
        if encoding.target is None:
            return False
        event, happened = event_and_value(value, [encoding.target.event or ""])
        return event == encoding.target.event and happened in (None, encoding.target.happened)
    if name == "weight":
        return value == encoding.weight
    if name in ("offset", "exposure"):
        return encoding.offset == Offset(str(value), name == "exposure")
    if name in ROLES:
        return False  # such columns are not among the encoded ones
    columns = {column for encoder in encoding.encoders for column in encoder.columns}
    if name == "drop":
        return columns.isdisjoint(value)
    if name == "features":
        return columns == set(value)
    if name == "crosses":
        return {tuple(cross) for cross in value} <= {e.columns for e in encoding.encoders if e.kind == "cross"}
    if name == "interactions":
        known = {frozenset(e.columns) for e in encoding.encoders if e.kind in ("cross", "product")}
        return {frozenset(pair) for pair in pairs_of(as_interactions(value))} <= known
    kinds = {"categorical": CATEGORIES, "text": TEXTS}[name]
    return set(value) <= {e.columns[0] for e in encoding.encoders if e.kind in kinds}
