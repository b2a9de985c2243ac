"""`riata profile`, `convert`, `statistics` and `datasets`: what can be done with data alone."""

import json
import operator
from functools import reduce
from pathlib import Path
from typing import Any

import click

from riata.cli.command import number_option, option
from riata.cli.group import main
from riata.cli.next_command import say_next, with_options, words
from riata.cli.options import json_option, parameter_options, shows_progress
from riata.cli.rows import open_rows, opening, say_notes
from riata.errors import OptionError
from riata.files import writable
from riata.outcome.folds_used import folds_in_words
from riata.visible_text import visible


@main.command(examples=("riata profile flights.csv --target delay",))
@click.argument("data")
@parameter_options("profile")
@json_option
def profile(data: str, as_json: bool, **options: Any) -> None:
    """Show what the columns of DATA hold, and which features they become."""
    from riata.data.columns.packed_names import for_json
    from riata.engines.open import open_data
    from riata.reporting.terminal.data_tables import show_profile
    from riata.training.progress import row_progress

    with row_progress(shows_progress(as_json)):
        rows = open_data(data, need_target=options["target"] is not None, **opening(options))
    if rows.profile is None:
        raise OptionError(
            "a profile tells of the columns of a table, and this is an array without names: fit it as it is"
        )
    if as_json:
        click.echo(json.dumps(rows.profile.to_json(), default=for_json))
    else:
        show_profile(data, rows)
        named = [] if options["target"] else ["--target", "COLUMN"]
        most = rows.n_features - len(named) // 2  # the target is no feature
        say_next(with_options("fit", data, *_size(rows, most), *named))


@main.command(examples=("riata convert 'sales/*.csv' sales.arrow --target price",))
@click.argument("data")
@click.argument("out", type=click.Path(path_type=Path))
@parameter_options("convert")
def convert(data: str, out: Path, **options: Any) -> None:
    """Write the encoded rows of DATA to OUT, an Arrow file that later fits map into memory."""
    from riata.data.opening.convert import convert as write
    from riata.engines.open import open_data
    from riata.training.progress import row_progress

    out = writable(out)
    how = opening(options)
    how["cache"] = "engine" in how and how["cache"]  # one pass here needs none
    with row_progress(shows_progress()):
        rows = open_data(data, **how)
        write(rows, out)
    say_notes(rows)
    say_next(words("fit", out, *_size(rows, rows.n_features)))


def _size(rows: Any, most: int) -> tuple[str, str]:
    """Options that ask for a small model of so many features at most; several targets have no k."""
    return ("--alpha", "auto") if rows.facts.targets else ("--k", str(max(1, min(5, most))))


@main.command(examples=("riata statistics monday.csv monday.stats --target price",))
@click.argument("data")
@click.argument("out", type=click.Path(path_type=Path))
@number_option("--cv", default=5, help="Folds to keep apart for --k auto; 1: none.")
@number_option("--seed", default=0, help="Seed of the folds.")
@option("--add", multiple=True, metavar="FILE", help="Statistics of more rows, as this command wrote them.")
@option("--subtract", multiple=True, metavar="FILE", help="Statistics of rows to take out again.")
@parameter_options("statistics")
def statistics(
    data: str, out: Path, cv: int, seed: int, add: tuple[str, ...], subtract: tuple[str, ...], **options: Any
) -> None:
    """Read DATA once and write its means and products to OUT: riata fit and path take them as data (squared loss)."""
    from riata.data.budget import parse_memory
    from riata.data.statistics import SummaryRows, load_statistics, statistics_of
    from riata.training.selection.folds_asked import folds_by_value

    out = writable(out)
    if cv < 1:
        raise OptionError(f"--cv must be a whole number of folds, 1 for none, not {cv}")
    memory = parse_memory(options["memory"])
    more, less = ([load_statistics(path) for path in paths] for paths in (add, subtract))
    encoding = next((known.encoding for known in more + less), None)  # features are those of the other days
    rows, _ = open_rows(data, options | {"task": "regression"}, encoding=encoding)
    say_notes(rows)
    if isinstance(rows, SummaryRows):
        found = rows.statistics
    else:
        found = statistics_of(rows, memory=memory, folds=folds_by_value(rows, cv, seed))
    found = reduce(operator.sub, less, reduce(operator.add, more, found))
    found.save(out)
    folds = f" in {folds_in_words(found.plan.used)}" if len(found.folds) > 1 else ""
    click.echo(f"{found.total.rows} rows of {len(found.total.mean)} features{folds} in {visible(str(out))}", err=True)
    if len(found.folds) > 1:  # a fit must ask for the folds that are kept apart
        folds_asked = [*(() if cv == 5 else ("--cv", str(cv))), *(() if seed == 0 else ("--seed", str(seed)))]
        say_next(words("fit", out, "--alpha", "auto", *folds_asked))
    else:
        say_next(words("fit", out, "--alpha-ratio", "0.1"))


@main.command()
def datasets() -> None:
    """List the data sets that can be named in place of a path."""
    from riata.reporting.terminal.data_tables import show_datasets

    show_datasets()
    say_next(words("fit", "digits49", "--k", "20", "--test", "digits49:test"))
