"""The command `riata` itself: its subcommands are in the files beside this one."""

import shutil
import signal
import sys
import textwrap
from typing import Any

import click

from riata.cli.command import Command, no_such_command
from riata.cli.ending import OF_SIGNAL, ending_well
from riata.kernels.announce import announcing
from riata.reporting.terminal.wording import as_typed
from riata.visible_text import on_one_line

STEPS = {  # the commands in the order in which one meets them
    "Look at data": ("profile", "datasets"),
    "Learn": ("fit", "path", "stability"),
    "Use a model": ("predict", "evaluate", "inspect"),
    "Prepare large data": ("convert", "statistics"),
    "This machine": ("doctor", "warmup", "completion", "reproduce"),
}


WHOLE = 1000  # characters: no short help is cut


class Group(click.Group):
    """Errors that riata raises on purpose are one sentence and exit code 2, never a traceback."""

    command_class = Command

    def main(
        self,
        args: Any = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Click's own `main`, but Ctrl-C before a command begins or after it has ended is no error of code 1."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode, **extra)
        try:
            code = super().main(args, prog_name, complete_var, False, **extra)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(OF_SIGNAL + signal.SIGINT)
        sys.exit(code if isinstance(code, int) else 0)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["riata.words"] = list(args)  # as they were typed, for reports
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            raise no_such_command(args[0], self, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by what one does with them."""
        for heading, names in STEPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(WHOLE)) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        say = nothing if "--quiet" in ctx.meta["riata.words"] else say_note
        with ending_well(ctx, say), announcing(say):
            return super().invoke(ctx)


def say_note(sentence: str) -> None:
    click.echo(wrapped(f"note: {on_one_line(as_typed(sentence))}"), err=True)


def wrapped(line: str) -> str:
    """The line in the width of a terminal; as it is where nobody looks at one, so that a log has a line for each."""
    if not sys.stderr.isatty():
        return line
    width = shutil.get_terminal_size().columns
    return textwrap.fill(line, width, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False)


def nothing(sentence: str) -> None:
    """Say nothing: --quiet."""


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Begin with: riata profile DATA --target COLUMN, then riata fit DATA --target COLUMN --k 5",
)
@click.version_option(package_name="riata")
def main() -> None:
    """Learn sparse linear models from data of any size, in bounded memory."""
