"""The command line: a thin face over `open_data`, the estimators and `Model`.

Heavy imports wait until a command runs, so that `riata --help` answers at once.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import click

from riata.cli_options import NumberOrAuto, make_estimator, model_options, selecting, selection_options
from riata.errors import OptionError, RiataError

NUMBER_OR_FULL = "a number, or 'full'"


class Group(click.Group):
    """Errors that riata raises on purpose are one sentence and exit code 2, never a traceback."""

    def invoke(self, ctx):
        try:
            return super().invoke(ctx)
        except RiataError as error:
            click.echo(f"riata: {error}", err=True)
            ctx.exit(2)
        except MemoryError:
            click.echo("riata: there is not enough memory for this; give --memory, or a machine with more", err=True)
            ctx.exit(2)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="riata")
def main():
    """Learn sparse linear models from data of any size, in bounded memory."""


def listed(_context, _parameter, values):
    """Names from an option given several times, or once with commas."""
    return tuple(name for value in values for name in value.split(","))


def names_option(flag, text):
    return click.option(flag, multiple=True, callback=listed, metavar="COLUMN,...", help=text)


def reading_options(command):
    """Options that say how any file is read."""
    for option in (
        click.option("--cache-dir", metavar="FOLDER", help="Where that temporary file lies."),
        click.option("--cache/--no-cache", default=True, show_default=True,
                     help="Keep encoded rows of slow formats in a temporary file for later passes."),
        click.option("--on-error", type=click.Choice(["raise", "skip"]), default="raise", show_default=True,
                     help="Whether bad rows of text files are an error, or counted and left out."),
        click.option("--memory", help="Budget, such as 512MB."),
    ):  # fmt: skip
        command = option(command)
    return command


def data_options(command):
    """Options that say how to read DATA, and what its columns are."""
    for option in (
        click.option("--task", type=click.Choice(["auto", "classification", "regression"]), default="auto",
                     help="auto: classes if the target is text or has two values."),
        click.option("--word-pairs", is_flag=True, help="Count pairs of neighbouring words in text, too."),
        names_option("--text", "Columns of free text."),
        names_option("--categorical", "Columns of levels, even if they look like numbers."),
        names_option("--drop", "Columns to leave out."),
        names_option("--features", "Columns to use [default: all others]."),
        click.option("--weight", help="Column of weights."),
        click.option("--target", help="Column (or array, or file) to predict."),
    ):  # fmt: skip
        command = option(command)
    return reading_options(command)


def reading(memory, cache, cache_dir, on_error) -> dict:
    """The options of `reading_options` as `open_data` takes them."""
    from riata.data.budget import return_memory_early

    return_memory_early()
    return {"memory": memory, "cache": cache and (cache_dir or True), "on_error": on_error}


def say_notes(data, quiet=False) -> None:
    """What the first pass found that should not pass silently."""
    if data.profile is not None and not quiet:
        for note in data.profile.notes:
            click.echo(f"note: {note}", err=True)


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
@model_options
@click.option("--solver", default="auto", show_default=True, help="Its name, see README; auto is exact or best-k.")
@click.option("--batch", help=f"Rows per step: {NUMBER_OR_FULL} [default: the solver's own].")
@click.option("--rounds", is_flag=True, help="Half the penalty in the first half of the steps (fobos).")
@click.option("--step", help="First step, or a schedule such as 2/t or 1/sqrt(t).")
@click.option("--max-steps", type=int, help="Stop after so many steps.")
@click.option("--max-passes", type=int, help="Stop after so many passes.")
@click.option("--half-life", type=float, help="Rows after which one counts half (online).")
@click.option("--checkpoint", type=click.Path(file_okay=False), help="Folder to save a stochastic fit in, on the way.")
@click.option("--every", default="60s", show_default=True, help="Time between two checkpoints.")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint, if there is one.")
@click.option("--test", "test_data", help="Data to score the model on.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to save the model [default: NAME.riata.json].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
def fit(data, loss, test_data, out, as_json, quiet, batch, validation, select, n_alphas, **options):
    """Fit a model to DATA: a file, or a data set by name (see riata datasets)."""
    from riata.scores import scores
    from riata.summary import as_dict, peak_rss_mb, show_fit

    started = time.perf_counter()
    check_one_of(options)
    out = writable(out or Path(f"{Path(data.partition(':')[0]).stem}.riata.json"))
    target, memory = options["target"], options["memory"]
    check_statistics(data, options | {"loss": loss, "validation": validation})
    train, open_more = open_rows(data, options, quiet or as_json, statistics_do=True)
    say_notes(train, quiet)
    test, others = open_more(test_data), open_more(validation)
    estimator = make_estimator(
        train,
        loss,
        options | selecting(select, n_alphas, validation),
        memory=memory,
        batch=parse_batch(batch),
        verbose=shows_progress(quiet or as_json),
    )
    estimator.fit(train, validation=others)
    model = estimator.to_model()
    model.training.update(data=data, target=target)
    test_scores = None if test is None else scores(model, test)
    model.save(out)
    seconds = time.perf_counter() - started
    summary = as_dict(model) | {
        "data": data, "seconds": round(seconds, 3), "peak_rss_mb": peak_rss_mb(), "test": test_scores, "model": str(out)
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(summary))
    elif not quiet:
        show_fit(model, summary)


@main.command()
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@click.option("--out", type=click.Path(path_type=Path), help="CSV or Parquet file [default: CSV on standard output].")
@reading_options
def predict(model_file, data, out, **how):
    """Predict the rows of DATA: a label or a number each, with probabilities where the model has them."""
    from riata.data.open import open_data
    from riata.model import load_model
    from riata.predictions import predictions, write_predictions
    from riata.progress import row_progress

    model = load_model(model_file)
    out = None if out is None else writable(out)
    rows = open_data(
        data, model.training.get("target"), n_features=model.n_features, encoding=encoding_of(model), need_target=False,
        **reading(**how),
    )  # fmt: skip
    with row_progress(shows_progress(quiet=out is None)):
        write_predictions(predictions(model, rows), out)


@main.command()
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@click.option("--target", help="Column (or array) that the model predicts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@reading_options
def evaluate(model_file, data, target, as_json, **how):
    """Score a model on DATA."""
    from riata.data.open import open_data
    from riata.model import load_model
    from riata.scores import scores
    from riata.summary import show_scores

    model = load_model(model_file)
    target = target or model.training.get("target")
    rows = open_data(
        data, target, task=model.task, n_features=model.n_features, encoding=encoding_of(model), **reading(**how)
    )
    result = scores(model, rows)
    if as_json:
        click.echo(json.dumps(result))
    else:
        show_scores(result)


@main.command()
@click.argument("model_file", metavar="MODEL")
@click.option("--json", "as_json", is_flag=True, help="Print the model as it is stored.")
def inspect(model_file, as_json):
    """Show a model: its features, what was minimised, how it was trained."""
    from riata.model import load_model
    from riata.summary import show_model

    model = load_model(model_file)
    if as_json:
        click.echo(Path(model_file).read_text(encoding="utf-8"), nl=False)
    else:
        show_model(model)


@main.command()
@click.argument("data")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def profile(data, target, as_json, memory, cache, cache_dir, on_error, features, **columns):
    """Show what the columns of DATA are, and which features they become: one pass."""
    from riata.data.open import open_data
    from riata.progress import row_progress
    from riata.summary import show_profile

    how = reading(memory, cache, cache_dir, on_error)
    with row_progress(shows_progress(as_json)):
        rows = open_data(data, target, need_target=False, features=features or None, **columns, **how)
    if rows.profile is None:
        raise OptionError("a profile is of columns; this is an array without any")
    if as_json:
        click.echo(json.dumps(rows.profile.to_json()))
    else:
        show_profile(data, rows)


@main.command()
@click.argument("data")
@click.argument("out", type=click.Path(path_type=Path))
@data_options
def convert(data, out, target, memory, cache, cache_dir, on_error, features, **columns):
    """Write the encoded rows of DATA to OUT, an Arrow file that later fits map into memory."""
    from riata.data.convert import convert as write
    from riata.data.open import open_data
    from riata.progress import row_progress

    out = writable(out)
    how = reading(memory, False, cache_dir, on_error)
    with row_progress(shows_progress()):
        rows = open_data(data, target, features=features or None, **columns, **how)
        write(rows, out)
    say_notes(rows)


@main.command()
@click.argument("data")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--add", multiple=True, metavar="FILE", help="Statistics of more rows, as this command wrote them.")
@click.option("--subtract", multiple=True, metavar="FILE", help="Statistics of rows to be forgotten.")
@data_options
def statistics(data, out, add, subtract, task, **options):
    """Read DATA once, and write to OUT what a squared loss needs of it: riata fit takes the file in place of rows."""
    from riata.data.gram import gram_of, load_gram
    from riata.units import parse_bytes

    out = writable(out)
    memory = parse_bytes(options["memory"])
    rows, _ = open_rows(data, options | {"task": "regression"})
    say_notes(rows)
    gram = gram_of(rows, memory)
    for path in add:
        gram = gram + load_gram(path)
    for path in subtract:
        gram = gram - load_gram(path)
    gram.save(out)
    click.echo(f"{gram.rows} rows of {len(gram.mean)} features in {out}", err=True)


@main.command()
def datasets():
    """List the data sets that can stand for a path."""
    from riata.summary import show_datasets

    show_datasets()


def shows_progress(quiet=False) -> bool:
    """Whether anybody would see a progress bar."""
    return not quiet and sys.stderr.isatty()


@main.command()
@click.argument("data")
@data_options
@selection_options
@click.option("--l1-ratio", type=float, default=1.0, show_default=True, help="Share of L1 in an elastic net.")
@click.option("--ridge", type=float, default=0.0, show_default=True, help="Strength of a squared penalty along k.")
@model_options
@click.option(
    "--plot", type=click.Path(path_type=Path), help="Draw coefficients and scores: a .png, .svg or .pdf file."
)
@click.option("--out", type=click.Path(path_type=Path), help="Write every model with its coefficients: a .csv file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def path(data, loss, validation, select, n_alphas, plot, out, as_json, **options):
    """Show the models of DATA from sparse to dense, along alpha or, with --k-max, along k, and which one to choose."""
    from riata import path_report
    from riata.summary import peak_rss_mb

    started = time.perf_counter()
    if options["k_max"] is not None and n_alphas is not None:
        raise OptionError("a path goes along k or along alpha: give --k-max or --n-alphas, not both")
    plot, out = (None if file is None else writable(file) for file in (plot, out))
    path_report.check_files(plot, out)
    memory = options["memory"]
    train, open_more = open_rows(data, options, as_json)
    say_notes(train, as_json)
    along = {"alpha": "auto"} if options["k_max"] is None else {"k": "auto"}
    options |= along | selecting(select, n_alphas, validation)
    estimator = make_estimator(train, loss, options, memory=memory, verbose=not as_json and sys.stderr.isatty())
    estimator.fit(train, validation=open_more(validation))
    names, paths = names_of(train), path_report.searched(estimator)
    if out is not None:
        path_report.write_path(paths, names, out)
    if plot is not None:
        path_report.plot_path(paths, names, train.moments.scale, plot)
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
    from riata.selection.stability import stability_selection
    from riata.summary import show_stability

    check_one_of(options)
    memory = options["memory"]
    train, _ = open_rows(data, options, as_json)
    say_notes(train, as_json)
    estimator = make_estimator(train, loss, options, memory=memory)
    found = stability_selection(estimator, train, rounds=rounds, threshold=threshold, seed=options["seed"])
    show_stability(found, names_of(train), as_json)


def open_rows(data, options: dict, quiet=False, statistics_do=False):
    """The rows at DATA, and a function that opens more of their kind; options of `data_options` are taken out."""
    from riata.data.gram import is_gram, load_gram
    from riata.data.open import open_data
    from riata.progress import row_progress

    how = reading(*(options.pop(name) for name in ("memory", "cache", "cache_dir", "on_error")))
    columns = {name: options.pop(name) for name in ("weight", "drop", "categorical", "text", "word_pairs")}
    target, task, features = (options.pop(name) for name in ("target", "task", "features"))
    if is_gram(data):
        if not statistics_do:
            raise OptionError(f"{data} holds statistics, which only riata fit takes in place of rows")
        return load_gram(data).as_data(), lambda source: None if source is None else open_data(source, target, **how)
    with row_progress(shows_progress(quiet)):
        rows = open_data(data, target, task=task, features=features or None, **columns, **how)
    task = "regression" if rows.classes is None else "classification"

    def open_more(source):
        if source is None:
            return None
        return open_data(source, target, task=task, n_features=rows.n_features, encoding=rows.encoding, **how)

    return rows, open_more


def check_statistics(data, options) -> None:
    """Refuse what statistics in place of rows cannot say."""
    from riata.data.gram import is_gram

    if not is_gram(data):
        return
    if options["loss"] not in (None, "squared"):
        raise OptionError(f"{data} holds statistics, which know the squared loss only, not {options['loss']!r}")
    if "auto" in (options["k"], options["alpha"]):
        raise OptionError(
            f"{data} holds statistics, and no rows to choose by: give --k, --alpha or --alpha-ratio a number"
        )


def names_of(rows) -> list[str]:
    """The names of the features, or x0, x1, ... where they have none."""
    return [f"x{j}" for j in range(rows.n_features)] if rows.feature_names is None else list(rows.feature_names)


def encoding_of(model):
    """How the model's features are made of columns, where it was fitted to a table."""
    from riata.data.encoding import Encoding

    return None if model.encoding is None else Encoding.from_json(model.encoding)


def check_one_of(options) -> None:
    """Refuse more than one way to say how sparse the model should be."""
    given = [f"--{name.replace('_', '-')}" for name in ("k", "alpha", "alpha_ratio") if options[name] is not None]
    if len(given) > 1 and "auto" not in (options["k"], options["alpha"]):
        raise OptionError(f"give one of --k, --alpha and --alpha-ratio, not {' and '.join(given)}")


def parse_batch(text):
    """A number of rows, or "full"; None is left to the solver."""
    if text in (None, "full"):
        return text
    if not text.isdigit():
        raise OptionError(f"--batch must be {NUMBER_OR_FULL}, not {text!r}")
    return int(text)


def writable(path: Path) -> Path:
    """A path that can be written, found out before any work is done."""
    if path.is_dir():
        raise OptionError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise OptionError(f"cannot write {path}: there is no folder {path.parent}")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            return path
    except OSError as error:
        raise OptionError(f"cannot write {path}: {error.strerror}") from None
