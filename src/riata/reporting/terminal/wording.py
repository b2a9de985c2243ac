"""Sentences of the library in the words of a command line: its parameters as the options that people type.

`max_passes=30` becomes `--max-passes 30`, `cache=True` becomes `--cache`, and `alpha_reach` alone `--alpha-reach`; of
`(drop=['a'], or --drop a)` the second half is left. What stands in quotes is a name of the user's, and stays.
"""

import re
from functools import cache
from itertools import cycle

from riata.training.parameters import PARAMETERS, Kind


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
    sentence = re.sub(r"\((?:n_features|[a-z_]+=[^()]*?)(?:, or|;) (--[^()]*)\)", r"(\1)", sentence)
    parts = re.split(r"""('[^']*'(?!\w)|"[^"]*")""", _assignments(sentence))
    return "".join(part if quoted else _names(part) for part, quoted in zip(parts, cycle((False, True)), strict=False))


def _assignments(sentence: str) -> str:
    """name=value as an option with its value."""

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], ",".join(re.findall(r"[^\[\]'\", ][^\[\]'\"]*", match["value"]))
        if name not in _options():
            return match[0]
        flag, switch = _options()[name]
        if name == "cache" and value not in ("True", "False"):
            return f"--cache-dir {value}"
        if not switch:
            return f"{flag} {value}"
        return flag if value == "True" else f"--no-{flag[2:]}"

    return re.sub(
        r"(?<![-\w'])(?P<name>[a-z]\w*)=(?P<value>\['[^\[\]]*'\]|'[^']*'|\"[^\"]*\"|[\w.+-]*\w)", option, sentence
    )


def _names(part: str) -> str:
    """Names of several words, which no English word looks like, as options."""

    def option(match: re.Match[str]) -> str:
        return _options()[match[0]][0] if match[0] in _options() else match[0]

    return re.sub(r"(?<![-\w.])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b", option, part)
