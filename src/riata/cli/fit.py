"""`riata fit`."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from riata.cli.group import main
from riata.cli.options import check_one_of, parameter_options, shows_progress, validation_option
from riata.cli.report import Stopwatch, check_report, report_option, write_fit_report
from riata.cli.rows import Notes, make_spec, open_rows, say_notes, target_of
from riata.errors import OptionError
from riata.files import writable


@main.command()
@click.argument("data")
@parameter_options("fit")
@validation_option
@click.option("--test", "test_data", help="Data to score the model on.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to save the model [default: NAME.riata.json].")
@report_option
@click.option(
    "--stability",
    "halvings",
    type=int,
    metavar="ROUNDS",
    help="Show in the report how certain coefficients are, by fits to so many pairs of halves of the rows.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
def fit(
    data: str,
    validation: str | None,
    test_data: str | None,
    out: Path | None,
    report: Path | None,
    halvings: int | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Fit a model to DATA: a file, or a data set by name (see riata datasets)."""
    from riata.machine import peak_rss_mb
    from riata.model.quality import quality
    from riata.reporting.terminal.summary import as_dict, show_fit
    from riata.training.checkpoint import check_folder
    from riata.training.train import train

    started, clock = time.perf_counter(), Stopwatch()
    check_one_of(options)
    out = writable(out or default_file(data))
    check_report(report)
    if options["checkpoint"] is not None:
        check_folder(options["checkpoint"])
    if halvings is not None and report is None:
        raise OptionError("--stability is shown in a report: give --report a file, or see riata stability")
    with clock("opening the data"):
        rows, open_more = open_rows(data, options, quiet or as_json)
        say_notes(rows, quiet)
        test, others = None if rows.single_pass else open_more(test_data), open_more(validation)
    spec = make_spec(rows, options | {"validation": validation}, verbose=shows_progress(quiet or as_json))
    with clock("fitting"):
        trained = train(rows, spec, validation=others, warn=Notes(quiet))
    if rows.single_pass:
        test = open_more(test_data)  # a stream may have brought labels on the way
    model = trained.to_model()
    origin = replace(model.training, data=data, target=options["target"] or target_of(rows))
    model = replace(model, training=origin)
    with clock("testing"):
        found = None if test is None else quality(model, test)
    model.save(out)
    seconds = time.perf_counter() - started
    summary = as_dict(model) | {
        "data": data, "seconds": round(seconds, 3), "peak_rss_mb": peak_rss_mb(),
        "test": None if found is None else found.scores, "model": str(out), "report": report and str(report),
    }  # fmt: skip
    if report is not None:
        how_certain = certainty(trained, rows, halvings, clock, Notes(quiet))
        write_fit_report(report, trained, data, quality=found, test=test_data, stability=how_certain, clock=clock)
    if as_json:
        click.echo(json.dumps(summary))
    elif not quiet:
        show_fit(model, summary)


def certainty(trained: Any, rows: Any, rounds: int | None, clock: Stopwatch, warn: Notes) -> Any:
    """How stable the fit is at the strength that it has; None where it was not asked for."""
    from riata.training.stability import train_halves

    if rounds is None:
        return None
    with clock("fitting halves"):
        spec = trained.at_chosen_strength
        return train_halves(rows, spec, rounds=rounds, seed=spec.seed, warn=warn)


def default_file(data: str) -> Path:
    """Where a model goes if nothing is said: a file here, named after its data."""
    stem = Path(data if "://" in data else data.partition(":")[0]).stem
    return Path(f"{stem if stem not in ('', '-', '*') else 'model'}.riata.json")
