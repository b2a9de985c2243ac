"""The command `riata` itself: its subcommands are in the files beside this one."""

from typing import Any

import click

from riata.errors import RiataError
from riata.kernels.announce import announcing


class Group(click.Group):
    """Errors that riata raises on purpose are one sentence and exit code 2, never a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["riata.words"] = list(args)  # as they were typed, for reports
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with announcing(nothing if "--quiet" in ctx.meta["riata.words"] else say_note):
                return super().invoke(ctx)
        except RiataError as error:
            click.echo(f"riata: {error}", err=True)
            ctx.exit(2)
        except MemoryError:
            click.echo("riata: there is not enough memory for this; give --memory, or a machine with more", err=True)
            ctx.exit(2)


def say_note(sentence: str) -> None:
    click.echo(f"note: {sentence}", err=True)


def nothing(sentence: str) -> None:
    """Say nothing: --quiet."""


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="riata")
def main() -> None:
    """Learn sparse linear models from data of any size, in bounded memory."""
