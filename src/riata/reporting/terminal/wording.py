"""Sentences of the library in the words of a command line: its parameters as the options that people type.

`max_passes=30` becomes `--max-passes 30`, `cache=True` becomes `--cache`, `drop=['a', 'b']` becomes `--drop a,b`,
`csv={'decimal': ','}` becomes `--csv decimal=,`, and `alpha_reach` alone `--alpha-reach`. What stands in quotes
otherwise is a name of the user's, and stays.
"""

import ast
import re
import shlex
from contextlib import suppress
from functools import cache
from itertools import cycle

from riata.training.parameters import PARAMETERS, Kind

ELLIPSIS = {...}  # csv={...} in a sentence: whatever there is to say
WHOLE_PASSES = 100  # from which on parts of a pass are not told
MOST_NESTED = 8  # brackets in a list or dictionary that riata writes


def passes_in_words(passes: float) -> str:
    """How often the rows were read: parts of a pass matter where there are few."""
    number = f"{passes:,.0f}" if passes >= WHOLE_PASSES else f"{passes:g}"
    return f"{number} pass{'' if passes == 1 else 'es'}"


@cache
def _options() -> dict[str, tuple[str, bool]]:
    """The option of every parameter, by its names in Python, and whether it is a switch."""
    found: dict[str, tuple[str, bool]] = {}
    for one in PARAMETERS:
        if one.flag is not None:
            switch = one.kind in (Kind.FLAG, Kind.SWITCH)
            found |= {name: (one.flag.partition("/")[0], switch) for name in (one.name, one.argument)}
    return found


def as_typed(sentence: str) -> str:
    """The sentence with options in place of Python's arguments."""
    parts = re.split(r"""('[^']*'(?!\w)|"[^"]*")""", _assignments(_collections(sentence)))
    return "".join(part if quoted else _names(part) for part, quoted in zip(parts, cycle((False, True)), strict=False))


def _collections(sentence: str) -> str:
    """name=[...] and name={...} as options with what is in them, in quotes where a shell needs them."""
    said, rest = "", sentence
    while found := re.search(r"(?<![-\w'])([a-z]\w*)=(?=[\[{])", rest):
        flag, literal = _options().get(found[1], (None, False))[0], _literal(rest[found.end() :])
        value = None if literal is None or flag is None else _words(flag, literal)
        end = found.end() + len(literal or "")
        said += rest[: found.start()] + (rest[found.start() : end] if value is None else value)
        rest = rest[end:]
    return said + rest


def _literal(text: str) -> str | None:
    """The list or dictionary that a text begins with, as Python writes it."""
    closing = "]" if text[0] == "[" else "}"
    for at in (i for i, letter in enumerate(text) if letter == closing):
        if sum(map(text[:at].count, "[{(")) > MOST_NESTED:  # a name made to keep Python's parser busy for hours
            return None
        with suppress(ValueError, SyntaxError):
            ast.literal_eval(text[: at + 1])
            return text[: at + 1]
    return None


def _words(flag: str, literal: str) -> str | None:
    """An option with its value, such as --drop a,b or --csv decimal=,; KEY=VALUE for a dictionary of anything."""
    value = ast.literal_eval(literal)
    if value in (ELLIPSIS, [...]):
        return f"{flag} {'KEY=VALUE' if value == ELLIPSIS else '...'}"
    if isinstance(value, dict):
        pairs = ((key, one[0] if isinstance(one, list) and len(one) == 1 else one) for key, one in value.items())
        return " ".join(f"{flag} {shlex.quote(f'{key}={one}')}" for key, one in pairs)
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return f"{flag} {shlex.quote(','.join(map(_in_a_list, value)))}"
    return None


def _in_a_list(name: str) -> str:
    """A name as it is typed among others: in quotes, if it has what divides them."""
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"') else name


def _assignments(sentence: str) -> str:
    """name=value as an option with its value."""

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"].strip("'\"")
        if name not in _options():
            return match[0]
        flag, switch = _options()[name]
        if name == "cache" and value not in ("True", "False"):
            return f"--cache-dir {value}"
        if not switch:
            return f"{flag} {value}"
        return flag if value == "True" else f"--no-{flag[2:]}"

    return re.sub(r"(?<![-\w'])(?P<name>[a-z]\w*)=(?P<value>'[^']*'|\"[^\"]*\"|[\w.+-]*\w)", option, sentence)


def _names(part: str) -> str:
    """Names of several words, which no English word looks like, as options."""

    def option(match: re.Match[str]) -> str:
        return _options()[match[0]][0] if match[0] in _options() else match[0]

    return re.sub(r"(?<![-\w.])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b", option, part)
