"""Plain values from outside, such as JSON, checked against the annotations of a class before they are used."""

import types
from collections.abc import Mapping
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
    known = _types(kind)
    for name in plain:
        if name not in known:
            raise SchemaError(f"{where} holds {_shown(name)}, which this version of riata does not know")
    for name in _needed(kind):
        if name not in plain:
            raise SchemaError(f"{where} lacks its {name!r}")
    values = dict(plain)
    for name, value in plain.items():
        if not _is_plainly(known[name], value, finite):
            values[name] = checked(known[name], value, f"{name!r} of {where}", finite)
    return kind(**values)


def checked(kind: Any, value: Any, where: str, finite: bool = True) -> Any:
    """The value, if it is of this type; a list where a tuple is declared becomes one."""
    if _is_plainly(kind, value, finite):
        return value
    origin, inner = _parts(kind)
    if origin in (Union, types.UnionType):
        for one in inner:
            try:
                return checked(one, value, where, finite)
            except SchemaError:
                continue
    elif origin in (list, tuple) and isinstance(value, list | tuple):
        if all(_is_plainly(inner[0], item, finite) for item in value):
            return origin(value)
        return origin(checked(inner[0], item, f"an item of {where}", finite) for item in value)
    elif origin is Mapping and isinstance(value, Mapping) and not isinstance(value, dict):
        return value  # no JSON: it was made here
    elif origin in (dict, Mapping) and isinstance(value, dict):
        if all(_is_plainly(inner[1], item, finite) for item in value.values()):
            return dict(value)
        return {key: checked(inner[1], item, f"{_shown(key)} of {where}", finite) for key, item in value.items()}
    raise SchemaError(f"{where} is {_shown(value)}, not {_words(kind)}")


def _is_plainly(kind: Any, value: Any, finite: bool) -> bool:
    """Whether a value is of a plain type, and may stay as it is: most are, and need no words for their place."""
    origin, inner = _parts(kind)
    if origin is None:
        return kind is Any or _is(kind, value, finite)
    return origin in (Union, types.UnionType) and any(_is_plainly(one, value, finite) for one in inner)


def _is(kind: Any, value: Any, finite: bool) -> bool:
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return abs(value) < LARGEST_NUMBER or (isinstance(value, float) and not finite)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_WHOLE
    return isinstance(value, kind) and not (kind is str and not is_text(value))


def is_text(value: Any) -> bool:
    """Whether it is a string that can be written as UTF-8: JSON may hold halves of letters."""
    try:
        return isinstance(value, str) and (value.isascii() or bool(value.encode()))
    except UnicodeEncodeError:
        return False


def _words(kind: Any) -> str:
    origin, inner = _parts(kind)
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
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """What a generic type is of, such as list and (int,)."""
    return get_origin(kind), get_args(kind)


@cache
def _types(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass, with their types."""
    hints = get_type_hints(kind)
    return {one.name: hints[one.name] for one in fields(kind)}


@cache
def _needed(kind: Any) -> list[str]:
    """The fields that have no default."""
    return [one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]
