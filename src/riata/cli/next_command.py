"""What one would type next: a command with the options that were given to this one, quoted for a shell."""

import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import click

from riata.cli.command import Option
from riata.training.parameters import Heading
from riata.visible_text import on_one_line


def say_next(*lines: str) -> None:
    """What one would do next, on standard error, where it is in nobody's way."""
    for number, line in enumerate(lines):
        click.echo(f"{'next:' if number == 0 else '     '} {on_one_line(line)}", err=True)


def words(*parts: str | Path | None) -> str:
    """A command to type, its parts quoted where a shell would take them apart."""
    return " ".join(["riata", *(shlex.quote(str(part)) for part in parts if part is not None)])


def with_options(name: str, *parts: str | Path | None, without: Collection[str] = ()) -> str:
    """The command `name` with these parts and all options that were given to the running one and mean the same to it.

    Where output goes is no such option: nothing is to be written over.
    """
    context = click.get_current_context()
    group = context.find_root().command
    assert isinstance(group, click.Group)
    here = {one.name: one for one in context.command.params}
    values = _as_typed(context)
    carried: list[str] = []
    for one in group.commands[name].params:
        if one.name in values and one.name not in without and _mean_the_same(one, here.get(one.name)):
            assert isinstance(one, click.Option)
            carried += _typed(one, values[one.name])
    return words(name, *parts, *carried)


def _mean_the_same(one: click.Parameter, other: click.Parameter | None) -> bool:
    """Whether an option says the same to two commands: --threshold, for one, does not."""
    if not (isinstance(one, Option) and isinstance(other, Option)):
        return False
    return one.help == other.help and one.heading is not Heading.OUTPUT and one.name != "report"


def _as_typed(context: click.Context) -> dict[str, Any]:
    """The options that were given, on the command line or in a file, by name: the words themselves, unread."""
    arguments = context.find_root().meta["riata.words"]
    typed = arguments[arguments.index(context.command.name) + 1 :]
    found, _, _ = context.command.make_parser(context).parse_args(list(typed))
    return {name: value for name, value in {**(context.default_map or {}), **found}.items() if value is not None}


def _typed(one: click.Option, value: Any) -> Iterator[str]:
    """An option and its value as words of a command line."""
    if one.is_flag:
        names = one.opts if value else one.secondary_opts
        yield from names[:1]
        return
    for each in value if one.multiple else [value]:
        yield one.opts[0]
        if isinstance(each, str):  # else nothing stood behind the option, as in --certify
            yield each
