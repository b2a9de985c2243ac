"""The command line: a thin face over `open_data`, the estimators and `Model`.

Heavy imports wait until a command runs, so that `riata --help` answers at once.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import click

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


def data_options(command):
    """Options that say how to read DATA."""
    command = click.option("--task", type=click.Choice(["auto", "classification", "regression"]), default="auto",
                           help="auto: classes if the target is text or has two values.")(command)  # fmt: skip
    return click.option("--target", help="Column (or array) to predict.")(command)


@main.command()
@click.argument("data")
@data_options
@click.option("--k", type=int, help="Choose k features.")
@click.option("--alpha", type=float, help="Strength of the L1 penalty.")
@click.option("--alpha-ratio", type=float, help="Strength as a share of the alpha that gives the empty model.")
@click.option("--l1-ratio", type=float, default=1.0, show_default=True, help="Share of L1 in an elastic net.")
@click.option("--loss", type=click.Choice(["squared", "logistic"]), help="By default logistic for classes.")
@click.option("--solver", default="auto", show_default=True, help="auto, cd, subgradient, fobos or l0-sgd.")
@click.option("--intercept/--no-intercept", default=True, show_default=True)
@click.option("--standardize/--no-standardize", default=True, show_default=True,
              help="Penalise coefficients of columns scaled to unit deviation.")  # fmt: skip
@click.option("--normalize", type=click.Choice(["rows"]), help="Divide every row by its norm.")
@click.option("--batch", default="1", show_default=True, help=f"Rows per step: {NUMBER_OR_FULL}.")
@click.option("--rounds", is_flag=True, help="Half the penalty in the first half of the steps (fobos).")
@click.option("--step", help="First step, or a schedule such as 2/t or 1/sqrt(t).")
@click.option("--max-steps", type=int, help="Stop after so many steps.")
@click.option("--max-passes", type=int, help="Stop after so many passes.")
@click.option("--tol", type=float, default=1e-6, show_default=True, help="Relative duality gap, or change.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order of visits.")
@click.option("--memory", help="Budget, such as 512MB.")
@click.option("--test", "test_data", help="Data to score the model on.")
@click.option("--out", type=click.Path(path_type=Path), help="Where to save the model [default: NAME.riata.json].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
def fit(data, target, task, loss, test_data, out, as_json, quiet, intercept, seed, batch, **options):
    """Fit a model to DATA: a file, or a data set by name (see riata datasets)."""
    from riata.data.open import open_data
    from riata.estimators import SparseClassifier, SparseRegressor
    from riata.scores import scores
    from riata.summary import as_dict, peak_rss_mb, show_fit

    started = time.perf_counter()
    check_one_of(options)
    out = writable(out or Path(f"{Path(data.partition(':')[0]).stem}.riata.json"))
    train = open_data(data, target, task=task)
    task = "regression" if train.classes is None else "classification"
    test = None if test_data is None else open_data(test_data, target, task=task, n_features=train.n_features)
    estimator = (SparseRegressor if task == "regression" else SparseClassifier)(
        **options,
        loss=loss or ("squared" if task == "regression" else "logistic"),
        fit_intercept=intercept,
        batch=parse_batch(batch),
        random_state=seed,
        verbose=not (quiet or as_json) and sys.stderr.isatty(),
    )
    estimator.fit(train)
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
def predict(model_file, data, out):
    """Predict the rows of DATA: a label or a number each, with probabilities where the model has them."""
    from riata.data.open import open_data
    from riata.model import load_model
    from riata.predictions import predictions, write_predictions

    model = load_model(model_file)
    out = None if out is None else writable(out)
    rows = open_data(data, model.training.get("target"), n_features=model.n_features, need_target=False)
    write_predictions(predictions(model, rows), out)


@main.command()
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@click.option("--target", help="Column (or array) that the model predicts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(model_file, data, target, as_json):
    """Score a model on DATA."""
    from riata.data.open import open_data
    from riata.model import load_model
    from riata.scores import scores
    from riata.summary import show_scores

    model = load_model(model_file)
    target = target or model.training.get("target")
    result = scores(model, open_data(data, target, task=model.task, n_features=model.n_features))
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
def datasets():
    """List the data sets that can stand for a path."""
    from riata.summary import show_datasets

    show_datasets()


def check_one_of(options) -> None:
    """Refuse more than one way to say how sparse the model should be."""
    given = [f"--{name.replace('_', '-')}" for name in ("k", "alpha", "alpha_ratio") if options[name] is not None]
    if len(given) > 1:
        raise OptionError(f"give one of --k, --alpha and --alpha-ratio, not {' and '.join(given)}")


def parse_batch(text):
    """A number of rows, or "full"."""
    if text == "full":
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
