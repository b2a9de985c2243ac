"""`riata predict`, `evaluate` and `inspect`: what can be done with a model."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from riata.cli.command import option
from riata.cli.group import main, say_note
from riata.cli.next_command import say_next, with_options, words
from riata.cli.options import json_option, parameter_options, shows_progress
from riata.cli.report import Stopwatch, check_report, report_option, write_model_report
from riata.cli.rows import offsets, reading, say_notes
from riata.data.target_names import split_names
from riata.errors import OptionError
from riata.files import writable
from riata.training.parameters import Heading
from riata.visible_text import visible


@main.command(examples=("riata predict flights.riata.json new.csv --out predictions.csv",))
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@option(
    "--out",
    heading=Heading.FIRST,
    type=click.Path(path_type=Path),
    help="CSV or Parquet file [default: CSV on standard output]; a folder of them with an engine.",
)
@option(
    "--for-spreadsheets",
    is_flag=True,
    help="Put an apostrophe before labels that a spreadsheet would take for formulas.",
)
@option(
    "--keep",
    heading=Heading.FIRST,
    multiple=True,
    metavar="COLUMN,...",
    help="Columns of DATA to write beside the predictions, such as an identifier.",
)
@parameter_options("predict")
def predict(
    model_file: str, data: str, out: Path | None, for_spreadsheets: bool, keep: tuple[str, ...], **how: Any
) -> None:
    """Predict a label or a number for every row of DATA, with probabilities if the model has them."""
    from riata.data.columns.gaps import counting
    from riata.data.out_of_core import OutOfCore
    from riata.data.remote import Remote
    from riata.model.kept_columns import beside, kept_columns
    from riata.model.predictions import predictions, write_parts, write_predictions
    from riata.model.saved_model import load_model
    from riata.small_work import interpreting
    from riata.training.progress import row_progress

    gaps = click.get_current_context().with_resource(counting())
    model = load_model(model_file)
    out = None if out is None else writable(out)
    options = reading(how)
    names = [name for value in keep for name in split_names(value)]
    kept = kept_columns(data, names, model.encoding, **options) if names else None
    rows = model.rows(data, need_target=False, **offsets(how), **options)
    if kept is not None and isinstance(rows, Remote):
        raise OptionError("the workers of a cluster write predictions alone: leave --keep or --engine out")
    say_notes(rows)
    with row_progress(shows_progress(quiet=out is None)), interpreting(rows):
        if out is not None and isinstance(rows, Remote):
            write_parts(model, rows, out, for_spreadsheets)
        else:
            tables = predictions(model, rows)
            write_predictions(tables if kept is None else beside(kept, tables), out, for_spreadsheets)
    for note in gaps.notes():
        say_note(note)
    if isinstance(rows, OutOfCore):
        for note in rows.source.note_on_skipped():
            say_note(f"{note}: there is no prediction for {'it' if rows.source.skipped == 1 else 'them'}")
    if out is not None:
        say_next(with_options("evaluate", model_file, data) + "  # if it holds the answers, too")


@main.command(examples=("riata evaluate flights.riata.json later.csv --report later.html",))
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@option("--target", heading=Heading.FIRST, help="Column (or array) that the model predicts, or columns: a,b,c.")
@report_option
@json_option
@parameter_options("evaluate")
def evaluate(model_file: str, data: str, target: str | None, report: Path | None, as_json: bool, **how: Any) -> None:
    """Score a model on DATA."""
    from riata.data.columns.gaps import counting
    from riata.model.quality import ClassQuality, TargetsQuality, quality
    from riata.model.saved_model import load_model
    from riata.reporting.terminal.quality import show_scores
    from riata.small_work import interpreting
    from riata.training.progress import row_progress

    check_report(report)
    gaps = click.get_current_context().with_resource(counting())
    clock = Stopwatch()
    model = load_model(model_file)
    with clock("opening the data"), row_progress(shows_progress(as_json)):
        rows = model.rows(data, target, **offsets(how), **reading(how))
    say_notes(rows)
    with clock("testing"), interpreting(rows), row_progress(shows_progress(as_json)):
        found = quality(model, rows)
    for note in gaps.notes(rows.n_rows):
        say_note(note)
    if report is not None:
        write_model_report(report, model, model_file, data, found, clock)
    if as_json:
        more: dict[str, Any] = {}
        if isinstance(found, ClassQuality):
            more["by_class"] = [one._asdict() for one in found.by_class]
        if isinstance(found, TargetsQuality):
            more["by_target"] = {name: one.scores for name, one in found.by_target.items()}
        click.echo(json.dumps(found.scores | {"baseline": found.baseline} | more))
    else:
        show_scores(model, found)
        if report is None:
            say_next(with_options("evaluate", model_file, data, "--report", "page.html"))
        else:
            say_next(with_options("predict", model_file, "NEW", "--out", "predictions.csv"))


@main.command(examples=("riata inspect flights.riata.json", "riata inspect flights.riata.json --sql"))
@click.argument("model_file", metavar="MODEL")
@option("--json", "as_json", is_flag=True, help="Print the model as it is stored.")
@option("--sql", "as_sql", is_flag=True, help="Print the model as an SQL expression over the columns of a table.")
def inspect(model_file: str, as_json: bool, as_sql: bool) -> None:
    """Show a model: its features, what was minimised, how it was trained."""
    from riata.model.saved_model import load_model
    from riata.reporting.terminal.model_summary import show_model

    model = load_model(model_file)
    if as_json and as_sql:
        raise OptionError("give --json or --sql, and not both")
    if as_json:
        click.echo(_shown(Path(model_file).read_text(encoding="utf-8")), nl=False)
    elif as_sql:
        from riata.model.sql import name_of, what_it_gives

        each = [f"{model.to_sql(output)} AS {name_of(output)}" for output in model.outputs]
        click.echo(_shown(",\n".join(each) if each else model.to_sql()))
        say_note(f"this is {what_it_gives(model)}; gaps have to be NULL")
    else:
        show_model(model)
        say_next(words("predict", model_file, "NEW", "--out", "predictions.csv"))


def _shown(text: str) -> str:
    """The text as it is, or, on a terminal, what it would do to that written out."""
    return visible(text) if sys.stdout.isatty() else text
