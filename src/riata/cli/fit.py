"""`riata fit`."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from riata.cli.command import option
from riata.cli.fit_summary import more_options, scores_of, show, summary_of, what_finds_more
from riata.cli.group import main, say_note
from riata.cli.next_command import say_next, with_options
from riata.cli.options import check_one_of, json_option, parameter_options, shows_progress, validation_option
from riata.cli.report import Stopwatch, check_report, report_option, write_fit_report
from riata.cli.rows import Notes, make_spec, open_rows, say_notes, target_of
from riata.errors import OptionError
from riata.files import writable
from riata.training.parameters import Heading

if TYPE_CHECKING:
    from riata.model.training_facts import TrainingFacts

ENDING = ".riata.json"
OF_CHOICES = ("select", "cv", "gap", "n_alphas", "alpha_reach", "k_max")  # of use only where a strength is chosen


@main.command(
    examples=(
        "riata fit flights.csv --target delay --k 5",
        "riata fit flights.csv --target delay --alpha auto --test later.csv --report flights.html",
    )
)
@click.argument("data")
@parameter_options("fit")
@validation_option
@option("--test", "test_data", heading=Heading.FIRST, metavar="DATA", help="Data to score the model on.")
@option(
    "--out",
    type=click.Path(path_type=Path),
    help="Where to save the model [default: NAME.riata.json, or NAME.TARGET.riata.json beside it].",
)
@report_option
@option(
    "--stability",
    "halvings",
    type=int,
    metavar="ROUNDS",
    help="Show in the report how certain coefficients are, by fits to this many pairs of halves of the rows.",
)
@json_option
@option("--quiet", is_flag=True, help="Print nothing.")
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
    from riata.small_work import IN_A_COMMAND, interpreting
    from riata.training.small_fits import interpreting_if_small
    from riata.training.train import train

    started, clock = time.perf_counter(), Stopwatch()
    check_one_of(options)
    chosen_out, out = out, writable(out or default_file(data))
    check_asked(options, report, halvings)
    if not quiet:
        say_unused(options)
    with clock("opening the data"):
        rows, open_more = open_rows(data, options, quiet or as_json)
        say_notes(rows, quiet)
        test, others = None if rows.single_pass else open_more(test_data), open_more(validation)
    target = options["target"] or target_of(rows)
    spec = make_spec(rows, options | {"validation": validation}, verbose=shows_progress(quiet or as_json))
    if chosen_out is None:
        out = free_file(out, data, target)
    with clock("fitting"), interpreting_if_small(rows, spec, IN_A_COMMAND):
        trained = train(rows, spec, validation=others, warn=Notes(quiet))
    if rows.single_pass:
        test = open_more(test_data)  # a stream may have brought labels on the way
    model = trained.to_model()
    model = replace(model, training=replace(model.training, data=data, target=target))
    model.save(out)
    with clock("testing"), interpreting(rows):
        scores = scores_of(model, rows, test)
    seconds = time.perf_counter() - started
    if report is not None:
        how_certain = certainty(trained, rows, halvings, clock, Notes(quiet))
        write_fit_report(
            report, trained, data, quality=scores.test, test=test_data, stability=how_certain,
            on_training=None if rows.is_summary else scores.train, clock=clock,
        )  # fmt: skip
    if quiet and not as_json:
        return  # without what makes tables, which takes a while to import
    summary = summary_of(model, scores, data, seconds) | {"model": str(out), "report": report and str(report)}
    if as_json:
        click.echo(json.dumps(summary))
    else:
        show(model, summary, scores)
        say_next(
            with_options("predict", out, "NEW", "--out", "predictions.csv"),
            *more_options(test_data, report),
            *what_finds_more(model, scores, options),
        )


def check_asked(options: dict[str, Any], report: Path | None, halvings: int | None) -> None:
    """Refuse what cannot be written, or would not be shown, before any work is done."""
    from riata.training.checkpoint import check_folder

    check_report(report)
    if options["checkpoint"] is not None:
        check_folder(options["checkpoint"])
    if halvings is not None and report is None:
        raise OptionError("--stability is shown in a report: give --report a file, or see riata stability")


def say_unused(options: dict[str, Any]) -> None:
    """A note on options that were typed and change nothing: those of a choice, where nothing is to be chosen."""
    if "auto" in (options["k"], options["alpha"]):
        return
    source_of = click.get_current_context().get_parameter_source
    typed = [name for name in OF_CHOICES if source_of(name) is ParameterSource.COMMANDLINE]
    if typed:
        unused = " and ".join(f"--{name.replace('_', '-')}" for name in typed)
        say_note(f"{unused} {'has' if len(typed) == 1 else 'have'} no effect without --k auto or --alpha auto")


def certainty(trained: Any, rows: Any, rounds: int | None, clock: Stopwatch, warn: Notes) -> Any:
    """How stable the fit is at the strength that it has; None where it was not asked for."""
    from riata.training.progress import step_progress
    from riata.training.stability import train_halves

    if rounds is None:
        return None
    spec = trained.at_chosen_strength
    with clock("fitting halves"), step_progress(spec.verbose, "stability") as progress:
        spec = replace(spec, verbose=False)
        return train_halves(rows, spec, rounds=rounds, seed=spec.seed, warn=warn, progress=progress)


def default_file(data: str) -> Path:
    """Where a model goes if nothing is said: a file here, named after its data."""
    stem = Path(data if "://" in data else data.partition(":")[0]).stem
    return Path(f"{stem if stem not in ('', '-', '*') else 'model'}{ENDING}")


def free_file(out: Path, data: str, target: str | None) -> Path:
    """A file that nobody named, with the target in its name where a model of another target has the plain one.

    Nothing is written over but an earlier model of the same data and target.
    """
    if (earlier := _model_in(out)) is None or (earlier.data, earlier.target) == (data, target):
        return out
    if earlier.data == data and target is not None and earlier.target is not None:
        out = writable(out.with_name(f"{out.name.removesuffix(ENDING)}.{_in_a_name(target)}{ENDING}"))
        if (earlier := _model_in(out)) is None or (earlier.data, earlier.target) == (data, target):
            return out
    of = f"of {earlier.target!r} " if earlier.target is not None else ""
    raise OptionError(
        f"{out} holds a model {of}from {earlier.data}: say where to save this one with --out, or remove that file"
    )


def _model_in(out: Path) -> "TrainingFacts | None":
    """How the model in a file was made; None where there is no such file."""
    from riata.errors import ModelFileError
    from riata.model.saved_model import load_model

    if not out.exists():
        return None
    try:
        return load_model(out).training
    except ModelFileError:
        raise OptionError(f"{out} is there and holds no model: say where to save this one with --out") from None


def _in_a_name(target: str) -> str:
    """A target as a part of a file's name: letters, digits, dots, dashes and underscores, 60 of them at most."""
    return re.sub(r"[^\w.-]+", "_", target)[:60]
