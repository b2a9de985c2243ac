"""What click makes of the words of a command: the same for all tries of a format, and dearer than most of them."""

from functools import cache
from typing import Any


@cache
def parsed(words: tuple[str, ...]) -> tuple[Any, Any]:
    """The context of `riata`, and that of the command."""
    from riata.cli import main

    outer = main.make_context("riata", list(words))
    _, command, rest = main.resolve_command(outer, list(words))
    return outer, command.make_context(command.name, rest, parent=outer)
