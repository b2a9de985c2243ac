"""Refusing options: unknown ones, ones without effect, and ones that rows encoded earlier do not match."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.formats.source import TARGET
from riata.data.offset import Offset
from riata.data.opening.column_options import ALL_PAIRS, as_crosses, as_interactions, pairs_of
from riata.data.positive_class import with_positive_last
from riata.data.row_marks import ROLES
from riata.data.survival import event_and_value
from riata.data.target import Target
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


def check_n_features(rows: Dataset, n_features: int | None) -> Dataset:
    """The rows, unless they have another number of features than was said."""
    if n_features not in (None, rows.n_features):
        raise DataError(f"there are {rows.n_features} features, and n_features says {n_features}: leave it out")
    return rows


def _agrees(name: str, value: Any, encoding: Encoding | None) -> bool:
    """Whether the rows were encoded with this value of an option."""
    target = encoding.target if encoding else None
    if name == "task":
        return value in ("auto", _task_of(target))
    if name == "positive":
        classes = target.classes if target else None
        return classes is not None and with_positive_last(classes, value, "the target") == tuple(classes)
    if not isinstance(value, str | list | tuple):
        return False  # an array, where the rows have their own
    if encoding is None or not value:
        return not value
    if name in ("target", "trials", "event"):
        return target is not None and _OF_TARGET[name](value, target)
    if name == "weight":
        return bool(value == encoding.weight)
    if name in ("offset", "exposure"):
        return encoding.offset == Offset(str(value), name == "exposure")
    if name in ROLES:  # such columns are not among the encoded ones
        return False
    return _OF_COLUMNS[name](value, encoding)


def _task_of(target: Target | None) -> str:
    if target is not None and target.survival:
        return "survival"
    return "regression" if target is None or target.classes is None else "classification"


def _same_target(value: Any, target: Target) -> bool:
    if target.others:
        return named_targets(value, target.numbers) == target.numbers
    return value == target.column or target.column == TARGET  # which has no name: it was given as a number or a file


def _same_event(value: Any, target: Target) -> bool:
    event, happened = event_and_value(value, [target.event or ""])
    return event == target.event and happened in (None, target.happened)


def _columns_of(encoding: Encoding, *kinds: str) -> set[tuple[str, ...]]:
    """The columns of each encoder of some kinds, or of all of them."""
    return {encoder.columns for encoder in encoding.encoders if not kinds or encoder.kind in kinds}


def _has_pairs(value: Any, encoding: Encoding) -> bool:
    known = set(map(frozenset, _columns_of(encoding, "cross", "product")))
    return {frozenset(pair) for pair in pairs_of(as_interactions(value))} <= known


_OF_TARGET: dict[str, Callable[[Any, Target], bool]] = {
    "target": _same_target,
    "trials": lambda value, target: bool(value == target.trials),
    "event": _same_event,
}
_OF_COLUMNS: dict[str, Callable[[Any, Encoding], bool]] = {
    "drop": lambda value, encoding: set().union(*_columns_of(encoding)).isdisjoint(value),
    "features": lambda value, encoding: set().union(*_columns_of(encoding)) == set(value),
    "crosses": lambda value, encoding: {*as_crosses(value)} - {*ALL_PAIRS} <= _columns_of(encoding, "cross"),
    "interactions": _has_pairs,
    "categorical": lambda value, encoding: {(name,) for name in value} <= _columns_of(encoding, *CATEGORIES),
    "text": lambda value, encoding: {(name,) for name in value} <= _columns_of(encoding, *TEXTS),
}
