"""`riata reproduce`."""

import time
from pathlib import Path

import click

from riata.cli.command import option
from riata.cli.group import main
from riata.cli.next_command import say_next
from riata.cli.options import shows_progress


@main.command()
@option(
    "--data",
    default="digits49",
    show_default=True,
    help="digits49, gisette (downloaded), or a folder of files under UCI's names.",
)
@option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the results, which a later run goes on from [default: reproduction-NAME].",
)
@option("--quick", is_flag=True, help="Fewer steps: the shape of the answer in a minute.")
@option("--seeds", type=int, help="Seeds of what is random [default: 3, or 1 with --quick].")
def reproduce(data: str, out: Path | None, quick: bool, seeds: int | None) -> None:
    """Repeat the paper's experiment: its tables and figures, with riata's own methods beside its eight."""
    from riata.reproduce.experiment import reproduce as run
    from riata.training.progress import step_progress

    started = time.perf_counter()
    out = out or Path(f"reproduction-{Path(data).name}{'-quick' if quick else ''}")
    with step_progress(shows_progress(), "reproduce") as progress:
        findings = run(data, out, quick=quick, seeds=seeds, progress=progress)
    for failure in findings.failures:
        click.echo(f"note: {failure['algorithm']} at {failure['strength']:g}: {failure['failed']}", err=True)
    click.echo(f"{out / 'index.html'}: the whole experiment on one page, in {time.perf_counter() - started:.0f} s")
    say_next(f"open {out / 'index.html'} in a browser")
