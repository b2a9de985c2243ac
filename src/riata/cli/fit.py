"""`riata fit`."""

import json
import time
from pathlib import Path

import click

from riata.cli.group import main
from riata.cli.options import (
    NUMBER_OR_FULL,
    NumberOrAuto,
    check_one_of,
    data_options,
    model_options,
    parse_batch,
    selecting,
    selection_options,
    shows_progress,
    structure_options,
)
from riata.cli.report import Stopwatch, check_report, report_option, write_fit_report
from riata.cli.rows import make_estimator, open_rows, say_notes, target_of, warnings_as_notes
from riata.errors import OptionError
from riata.files import writable


@main.command()
@click.argument("data")
@data_options
@selection_options
@click.option("--k", type=NumberOrAuto(int), help="Choose k features, or let --select choose how many: auto.")
@click.option("--alpha", type=NumberOrAuto(float), help="Strength of the L1 penalty; auto: --select chooses.")
@click.option("--debias", is_flag=True, help="Fit the chosen features once more, without the penalty.")
@click.option("--alpha-ratio", type=float, help="Strength as a share of the alpha that gives the empty model.")
@click.option("--l1-ratio", type=float, default=1.0, show_default=True, help="Share of L1 in an elastic net.")
@click.option("--nonnegative", is_flag=True, help="Only models without negative coefficients.")
@click.option("--ridge", type=float, default=0.0, show_default=True, help="Strength of a squared penalty beside --k.")
@structure_options
@model_options
@click.option("--follow", is_flag=True, help="Read on as a text file grows, until Ctrl-C (solvers for streams).")
@click.option("--n-features", type=int, help="Of sparse rows, where the first rows of a stream cannot tell.")
@click.option("--solver", default="auto", show_default=True, help="Its name, see README; auto is exact or best-k.")
@click.option("--batch", help=f"Rows per step: {NUMBER_OR_FULL} [default: the solver's own].")
@click.option("--rounds", is_flag=True, help="Half the penalty in the first half of the steps (fobos).")
@click.option("--step", help="First step, or a schedule such as 2/t or 1/sqrt(t).")
@click.option("--max-steps", type=int, help="Stop after so many steps.")
@click.option("--max-passes", type=int, help="Stop after so many passes.")
@click.option("--half-life", type=float, help="Rows after which one counts half (online).")
@click.option("--checkpoint", type=click.Path(file_okay=False), help="Folder to save a fit in, on the way.")
@click.option("--every", default="60s", show_default=True, help="Time between two checkpoints.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint, if there is one.")
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
def fit(data, loss, test_data, out, report, halvings, as_json, quiet, batch, validation, select, n_alphas, **options):
    """Fit a model to DATA: a file, or a data set by name (see riata datasets)."""
    from riata.machine import peak_rss_mb
    from riata.model.quality import quality
    from riata.reporting.terminal.summary import as_dict, show_fit
    from riata.training.checkpoint import check_folder

    started, clock = time.perf_counter(), Stopwatch()
    check_one_of(options)
    out = writable(out or default_file(data))
    check_report(report)
    if options["checkpoint"] is not None:
        check_folder(options["checkpoint"])
    if halvings is not None and report is None:
        raise OptionError("--stability is shown in a report: give --report a file, or see riata stability")
    target, memory = options["target"], options["memory"]
    with clock("opening the data"):
        train, open_more = open_rows(data, options, quiet or as_json)
        say_notes(train, quiet)
        test, others = None if train.single_pass else open_more(test_data), open_more(validation)
    estimator = make_estimator(
        train,
        loss,
        options | selecting(select, n_alphas, validation),
        memory=memory,
        batch=parse_batch(batch),
        verbose=shows_progress(quiet or as_json),
    )
    with clock("fitting"), warnings_as_notes(quiet):
        estimator.fit(train, validation=others)
    if train.single_pass:
        test = open_more(test_data)  # a stream may have brought labels on the way
    model = estimator.to_model()
    model.training.update(data=data, target=target or target_of(train))
    with clock("testing"):
        found = None if test is None else quality(model, test)
    model.save(out)
    seconds = time.perf_counter() - started
    summary = as_dict(model) | {
        "data": data, "seconds": round(seconds, 3), "peak_rss_mb": peak_rss_mb(),
        "test": None if found is None else found.scores, "model": str(out), "report": report and str(report),
    }  # fmt: skip
    if report is not None:
        with warnings_as_notes(quiet):
            how_certain = certainty(estimator, train, halvings, clock)
        write_fit_report(report, estimator, data, quality=found, test=test_data, stability=how_certain, clock=clock)
    if as_json:
        click.echo(json.dumps(summary))
    elif not quiet:
        show_fit(model, summary)


def certainty(estimator, train, rounds: int | None, clock: Stopwatch):
    """How stable the fit is at the strength that it has; None where nobody asked."""
    from riata.training.selection.stability import at_chosen_strength, stability_selection

    if rounds is None:
        return None
    with clock("fitting halves"):
        return stability_selection(at_chosen_strength(estimator), train, rounds=rounds, seed=estimator.random_state)


def default_file(data: str) -> Path:
    """Where a model goes if nothing is said: a file here, named after its data."""
    stem = Path(data if "://" in data else data.partition(":")[0]).stem
    return Path(f"{stem if stem not in ('', '-', '*') else 'model'}.riata.json")
