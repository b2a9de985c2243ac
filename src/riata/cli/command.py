"""A command whose help lists its options under headings, with examples first, and that helps with near misses."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import click

from riata.cli.own_files import refuse_to_overwrite
from riata.near_misses import nearest
from riata.training.parameters import Heading

HELP = "Help"  # the last heading
ELSEWHERE = {  # what other programs call these options
    "-o": "--out", "--output": "--out", "--save": "--out", "-k": "--k", "-y": "--target", "--label": "--target",
    "--lambda": "--alpha", "--exclude": "--drop", "--ignore": "--drop", "--weights": "--weight",
}  # fmt: skip


class Option(click.Option):
    """An option that knows where the help lists it."""

    def __init__(self, *args: Any, heading: Heading = Heading.OUTPUT, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heading = heading


def option(*names: str, heading: Heading = Heading.OUTPUT, **settings: Any) -> Callable[[Any], Any]:
    """An option of a command, listed under a heading."""
    return click.option(*names, cls=Option, heading=heading, **settings)


def number_option(*names: str, default: int | float, help: str) -> Callable[[Any], Any]:
    """An option that is a number about a choice of models, with its default in the help."""
    kind = type(default)
    return option(*names, heading=Heading.SELECTION, type=kind, default=default, show_default=True, help=help)


class Command(click.Command):
    """A command of riata's."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        if self.examples:
            formatter.write_paragraph()
            with formatter.indentation():
                for example in self.examples:
                    formatter.write_text(example)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under their headings, what matters most first."""
        under: dict[str, list[tuple[str, str]]] = {name: [] for name in (*(one.value for one in Heading), HELP)}
        for one in self.get_params(ctx):
            if isinstance(one, click.Option) and (record := one.get_help_record(ctx)) is not None:
                heading = one.heading.value if isinstance(one, Option) else HELP
                under[heading].append(record)
        for heading, records in under.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records, col_max=32)

    def invoke(self, ctx: click.Context) -> Any:
        refuse_to_overwrite(ctx.params)
        return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, self._with_values(ctx, args))
        except click.NoSuchOption as error:
            options = [name for one in self.get_params(ctx) for name in (*one.opts, *one.secondary_opts)]
            self._refuse_dashes(error.option_name, ctx)
            raise _no_such("option", error.option_name, options, ctx) from None

    def _refuse_dashes(self, name: str, ctx: click.Context) -> None:
        """Say of an argument that is written as an option, as --out is one of other commands, how it is written."""
        arguments = [one.make_metavar(ctx) for one in self.get_params(ctx) if isinstance(one, click.Argument)]
        if name.lstrip("-").upper() in arguments:
            usage = " ".join([ctx.command_path, *arguments])
            raise click.UsageError(f"{name} is no option here, but stands without its name: {usage}", ctx) from None

    def _with_values(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The words with the value of every option that may stand without one, unless its value is the next word."""
        bare = {
            name: one
            for one in self.get_params(ctx)
            if isinstance(one, click.Option) and not one.is_flag and isinstance(one.flag_value, float | bool)
            for name in one.opts
        }
        words = list(args)
        for i, (word, following) in enumerate(pairwise([*args, "--"])):
            if word in bare and not _converts(bare[word], following, ctx):
                words[i] = f"{word}={float(bare[word].flag_value):g}"
        return words


def _converts(option: click.Option, word: str, ctx: click.Context) -> bool:
    try:
        option.type.convert(word, option, ctx)
    except click.UsageError:
        return False
    return True


def _no_such(what: str, name: str, known: Sequence[str], ctx: click.Context) -> click.UsageError:
    """One sentence on a name that there is not, with the nearest one that there is."""
    close = ELSEWHERE[name] if ELSEWHERE.get(name) in known else nearest(name, known)
    hint = f"see {ctx.command_path} --help" if close is None else f"did you mean {close}?"
    return click.UsageError(f"there is no {what} {name}; {hint}", ctx)


def no_such_command(name: str, group: click.Group, ctx: click.Context) -> click.UsageError:
    """One sentence on a command that there is not."""
    return _no_such("command", name, group.list_commands(ctx), ctx)
