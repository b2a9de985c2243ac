"""Plain values from outside, such as JSON, checked against the annotations of a class before they are used."""

import types
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

LARGEST_WHOLE = 2**63
LARGEST_NUMBER = 1.7e308  # a whole number beyond cannot become a float
WORDS = {str: "a text", bool: "true or false", int: "a whole number", float: "a finite number", types.NoneType: "null"}


class SchemaError(ValueError):
    """A value is not of the type that it should be: the message is part of a sentence."""


def build(kind: Any, plain: Any, where: str, finite: bool = True) -> Any:
    """An instance of a dataclass from a JSON object that has its fields, each of the type that it is declared with."""
    if not isinstance(plain, Mapping):
        raise SchemaError(f"{where} is {_shown(plain)}, not an object")
    hints = _hints(kind)
    known = {one.name: one for one in fields(kind)}
    for name in plain:
        if name not in known:
            raise SchemaError(f"{where} holds {_shown(name)}, which this version of riata does not know")
    for name, one in known.items():
        if name not in plain and one.default is MISSING and one.default_factory is MISSING:
            raise SchemaError(f"{where} lacks its {name!r}")
    return kind(**{name: checked(hints[name], value, f"{name!r} of {where}", finite) for name, value in plain.items()})


def checked(kind: Any, value: Any, where: str, finite: bool = True) -> Any:
    """The value, if it is of this type; a list where a tuple is declared becomes one."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        for one in inner:
            try:
                return checked(one, value, where, finite)
            except SchemaError:
                continue
    elif origin in (list, tuple) and isinstance(value, list | tuple):
        if _all(inner[0], value, finite):
            return origin(value)
        return origin(checked(inner[0], item, f"an item of {where}", finite) for item in value)
    elif origin in (dict, Mapping) and isinstance(value, dict):
        if _all(inner[1], value.values(), finite):
            return dict(value)
        return {key: checked(inner[1], item, f"{_shown(key)} of {where}", finite) for key, item in value.items()}
    elif origin is None and _is(kind, value, finite):
        return value
    raise SchemaError(f"{where} is {_shown(value)}, not {_words(kind)}")


def _all(kind: Any, values: Collection[Any], finite: bool) -> bool:
    """Whether all values are of a plain type, as of many levels they are: without a place in words for each."""
    return kind in WORDS and all(_is(kind, value, finite) for value in values)


def _is(kind: Any, value: Any, finite: bool) -> bool:
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return abs(value) < LARGEST_NUMBER or (isinstance(value, float) and not finite)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_WHOLE
    return isinstance(value, kind) and not (kind is str and not _is_text(value))


def _is_text(value: str) -> bool:
    """Whether a string can be written as UTF-8: JSON may hold halves of letters."""
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:
        return False


def _words(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(one) for one in inner)
    if origin in (list, tuple):
        return f"a list, each item {_words(inner[0])}"
    return "an object" if origin in (dict, Mapping) else WORDS.get(kind, "what it should be")


def _shown(value: Any) -> str:
    """A value as part of a sentence."""
    if isinstance(value, list | tuple | dict):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and abs(value) > 10**30:
        return "a huge number"
    words = repr(value)
    return words if len(words) <= 60 else f"{words[:60]}..."


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
