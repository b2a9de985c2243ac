"""`riata path` and `riata stability`: how to choose the size of a model."""

import json
import time
from pathlib import Path

import click

from riata.cli.group import main
from riata.cli.options import (
    check_one_of,
    data_options,
    model_options,
    selecting,
    selection_options,
    shows_progress,
    structure_options,
)
from riata.cli.report import Stopwatch, check_report, report_option, write_fit_report
from riata.cli.rows import make_estimator, names_of, open_rows, say_notes, warnings_as_notes
from riata.errors import OptionError
from riata.files import writable


@main.command()
@click.argument("data")
@data_options
@selection_options
@click.option("--l1-ratio", type=float, default=1.0, show_default=True, help="Share of L1 in an elastic net.")
@click.option("--ridge", type=float, default=0.0, show_default=True, help="Strength of a squared penalty along k.")
@structure_options
@model_options
@click.option(
    "--plot", type=click.Path(path_type=Path), help="Draw coefficients and scores: a .png, .svg or .pdf file."
)
@click.option("--out", type=click.Path(path_type=Path), help="Write every model with its coefficients: a .csv file.")
@report_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def path(data, loss, validation, select, n_alphas, plot, out, report, as_json, **options):
    """Show the models of DATA from sparse to dense, along alpha or, with --k-max, along k, and which one to choose."""
    from riata.machine import peak_rss_mb
    from riata.reporting.terminal import path_report
    from riata.training.selection.searched import searched

    started, clock = time.perf_counter(), Stopwatch()
    if options["k_max"] is not None and n_alphas is not None:
        raise OptionError("a path goes along k or along alpha: give --k-max or --n-alphas, not both")
    plot, out = (None if file is None else writable(file) for file in (plot, out))
    path_report.check_files(plot, out)
    check_report(report)
    memory = options["memory"]
    with clock("opening the data"):
        train, open_more = open_rows(data, options, as_json)
        say_notes(train, as_json)
    along = {"alpha": "auto"} if options["k_max"] is None else {"k": "auto"}
    options |= along | selecting(select, n_alphas, validation)
    estimator = make_estimator(train, loss, options, memory=memory, verbose=shows_progress(as_json))
    with clock("fitting the path"), warnings_as_notes(as_json):
        estimator.fit(train, validation=open_more(validation))
    names, paths = names_of(train), searched(estimator)
    if out is not None:
        path_report.write_path(paths, names, out)
    if plot is not None:
        path_report.plot_path(paths, names, train.moments.scale, plot)
    if report is not None:
        write_fit_report(report, estimator, data, clock=clock)
    cost = {"passes": round(estimator.n_passes_, 2), "seconds": round(time.perf_counter() - started, 3)}
    if as_json:
        found = [path_report.as_json(one, names) for one in paths]
        click.echo(json.dumps({"data": data, **cost, "peak_rss_mb": peak_rss_mb(), "paths": found}))
        return
    for one in paths:
        path_report.show_path(one)
    click.echo(f"{cost['passes']:g} pass{'' if cost['passes'] == 1 else 'es'}, {cost['seconds']:.1f} s")


@main.command()
@click.argument("data")
@data_options
@click.option("--k", type=int, help="Features that every half may choose.")
@click.option("--alpha", type=float, help="Strength of the L1 penalty.")
@click.option("--alpha-ratio", type=float, help="Strength as a share of the alpha that gives the empty model.")
@model_options
@click.option("--rounds", type=int, default=50, show_default=True, help="Pairs of halves: twice as many fits.")
@click.option(
    "--threshold", type=float, default=0.75, show_default=True, help="Share of halves that makes a feature stable."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stability(data, loss, rounds, threshold, as_json, **options):
    """Show how often the features of DATA are chosen when half of its rows are left out."""
    from riata.reporting.terminal.summary import show_stability
    from riata.training.selection.stability import stability_selection

    check_one_of(options)
    memory = options["memory"]
    train, _ = open_rows(data, options, as_json)
    say_notes(train, as_json)
    estimator = make_estimator(train, loss, options, memory=memory)
    with warnings_as_notes(as_json):
        found = stability_selection(estimator, train, rounds=rounds, threshold=threshold, seed=options["seed"])
    show_stability(found, names_of(train), as_json)
