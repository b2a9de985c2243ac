"""`riata path` and `riata stability`: how to choose the size of a model."""

import json
import time
from pathlib import Path
from typing import Any

import click

from riata.cli.command import number_option, option
from riata.cli.group import main
from riata.cli.next_command import say_next, with_options
from riata.cli.options import check_one_of, json_option, parameter_options, shows_progress, validation_option
from riata.cli.report import Stopwatch, check_report, report_option, write_fit_report
from riata.cli.rows import Notes, make_spec, names_of, open_rows, say_notes
from riata.errors import OptionError
from riata.files import writable
from riata.training.parameters import PARAMETERS, Section

CHOOSING = (
    "validation",
    *(one.key for one in PARAMETERS if one.section is Section.SELECTION),
)  # of no use to one model


@main.command(examples=("riata path flights.csv --target delay --k-max 20 --plot path.png",))
@click.argument("data")
@parameter_options("path")
@validation_option
@option("--plot", type=click.Path(path_type=Path), help="Draw coefficients and scores: a .png, .svg or .pdf file.")
@option("--out", type=click.Path(path_type=Path), help="Write every model with its coefficients: a .csv file.")
@report_option
@json_option
def path(
    data: str,
    validation: str | None,
    plot: Path | None,
    out: Path | None,
    report: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show the models of DATA from sparse to dense, along alpha or (--k-max) along k, and choose one."""
    from riata.machine import peak_rss_mb
    from riata.reporting.terminal import path_report
    from riata.reporting.terminal.wording import passes_in_words
    from riata.training.train import train

    started, clock = time.perf_counter(), Stopwatch()
    if options["k_max"] is not None and options["n_alphas"] is not None:
        raise OptionError("a path goes along k or along alpha: give --k-max or --n-alphas, not both")
    plot, out = (None if file is None else writable(file) for file in (plot, out))
    path_report.check_files(plot, out)
    check_report(report)
    with clock("opening the data"):
        rows, open_more = open_rows(data, options, as_json)
        say_notes(rows, as_json)
    along = {"alpha": "auto"} if options["k_max"] is None else {"k": "auto"}
    spec = make_spec(rows, options | {"validation": validation}, verbose=shows_progress(as_json), **along)
    with clock("fitting the path"):
        trained = train(rows, spec, validation=open_more(validation), warn=Notes(as_json))
    names, course = names_of(rows), trained.course
    assert course is not None
    if out is not None:
        path_report.write_path(course.searched, names, out)
    if plot is not None:
        path_report.plot_path(course.searched, names, rows.moments.scale, plot)
    if report is not None:
        write_fit_report(report, trained, data, clock=clock)
    cost = {"passes": round(course.passes, 2), "seconds": round(time.perf_counter() - started, 3)}
    if as_json:
        found = [path_report.as_json(one, names) for one in course.searched]
        click.echo(json.dumps({"data": data, **cost, "peak_rss_mb": peak_rss_mb(), "paths": found}))
        return
    for one in course.searched:
        path_report.show_path(one)
    click.echo(f"{passes_in_words(cost['passes'])}, {cost['seconds']:.1f} s")
    first, value = course.searched[0].path, course.searched[0].chosen
    # no number stands for several classes, nor for features that were chosen under a ridge
    strength = f"{value:.6g}" if len(course.searched) == 1 and first.chosen_under is None else "auto"
    no_choice = () if strength == "auto" else CHOOSING
    share = first.debias
    moved = () if share is None or not no_choice else ("--debias", f"{share:g}")
    say_next(with_options("fit", data, f"--{first.by}", strength, *moved, without=no_choice))


@main.command(examples=("riata stability flights.csv --target delay --k 5",))
@click.argument("data")
@parameter_options("stability")
@number_option("--rounds", "n_rounds", default=50, help="Pairs of halves: twice as many fits.")
@number_option("--threshold", default=0.75, help="Share of halves that makes a feature stable.")
@json_option
def stability(data: str, n_rounds: int, threshold: float, as_json: bool, **options: Any) -> None:
    """Show how often each feature is chosen when half of the rows are left out."""
    from riata.reporting.terminal.stability_table import show_stability
    from riata.training.progress import step_progress
    from riata.training.stability import train_halves

    check_one_of(options)
    if "auto" in (options["k"], options["alpha"]):
        raise OptionError("halves are compared at one strength: give --k or --alpha a number")
    rows, _ = open_rows(data, options, as_json)
    say_notes(rows, as_json)
    spec, warn = make_spec(rows, options), Notes(as_json)
    with step_progress(shows_progress(as_json), "stability") as progress:
        found = train_halves(
            rows, spec, rounds=n_rounds, threshold=threshold, seed=options["seed"], warn=warn, progress=progress
        )
    show_stability(found, names_of(rows), as_json)
    if not as_json:
        strengths: tuple[str, ...] = ("k", "alpha", "alpha_ratio", "penalty")
        sized: tuple[str, ...] = ("--k", str(len(found.stable) or "auto"))
        if rows.facts.targets or "one margin a row" not in spec.loss_function.has:  # k is of losses with one
            strengths, sized = (), ()
        say_next(with_options("fit", data, *sized, "--report", "page.html", without=strengths))
