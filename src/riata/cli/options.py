"""Options that several commands share, and what their values must be."""

import sys

import click

from riata.errors import OptionError

NUMBER_OR_FULL = "a number, or 'full'"


class NumberOrAuto(click.ParamType):
    """A number, or the word "auto"."""

    def __init__(self, kind):
        self.kind, self.name = kind, "number or auto"

    def convert(self, value, param, ctx):
        try:
            return value if value == "auto" else self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is neither a {'whole ' * (self.kind is int)}number nor 'auto'", param, ctx)


def listed(_context, _parameter, values):
    """Names from an option given several times, or once with commas."""
    return tuple(name for value in values for name in value.split(","))


def crosses(_context, _parameter, values):
    """Groups of names, one for each time the option was given."""
    return tuple(tuple(value.split(",")) for value in values)


def names_option(flag, text):
    return click.option(flag, multiple=True, callback=listed, metavar="COLUMN,...", help=text)


def reading_options(command):
    """Options that say how any file is read."""
    for option in (
        click.option("--scheduler", metavar="ADDRESS", help="Of --engine dask [default: a cluster on this machine]."),
        click.option("--engine", type=click.Choice(["dask"]), help="Let the workers of a cluster read DATA."),
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
        click.option("--cross", "crosses", multiple=True, metavar="COLUMN,COLUMN", callback=crosses,
                     help="Columns whose levels are features in combination, too; may be repeated."),
        names_option("--text", "Columns of free text."),
        names_option("--categorical", "Columns of levels, even if they look like numbers."),
        names_option("--drop", "Columns to leave out."),
        names_option("--features", "Columns to use [default: all others]."),
        click.option("--weight", help="Column of weights."),
        click.option("--target", help="Column (or array, or file) to predict."),
    ):  # fmt: skip
        command = option(command)
    return reading_options(command)


def model_options(command):
    """Options that say what is minimised, the strength aside."""
    for option in (
        click.option("--device", type=click.Choice(["cuda"]), help="Run passes on a GPU (exact, best-k, paths)."),
        click.option("--seed", type=int, default=0, show_default=True, help="Of visits, folds and halves."),
        click.option("--tol", type=float, default=1e-6, show_default=True, help="Relative duality gap, or change."),
        click.option("--normalize", type=click.Choice(["rows"]), help="Divide every row by its norm."),
        click.option("--standardize/--no-standardize", default=True, show_default=True,
                     help="Penalise coefficients of columns scaled to unit deviation."),
        click.option("--intercept/--no-intercept", default=True, show_default=True),
        click.option("--loss",
                     help="squared, huber, poisson; logistic (for classes by default), squared, squared-hinge."),
    ):  # fmt: skip
        command = option(command)
    return command


class NameAndFactor(click.ParamType):
    """NAME=NUMBER; the name may hold an = of its own."""

    name = "name=number"

    def convert(self, value, param, ctx):
        name, _, number = value.rpartition("=")
        try:
            return name, float(number)
        except ValueError:
            self.fail(f"{value!r} is not NAME=NUMBER", param, ctx)


def structure_options(command):
    """Options that treat features differently, or together."""
    for option in (
        click.option("--penalty-factor", "penalty_factors", type=NameAndFactor(), multiple=True,
                     callback=lambda _context, _parameter, pairs: dict(pairs) or None,
                     help="Times the alpha of a feature or column, 0 is always in; may be given several times."),
        click.option("--groups", type=click.Choice(["columns"]),
                     help="Keep columns with several features (levels, parts of a date) whole; --k counts columns."),
    ):  # fmt: skip
        command = option(command)
    return command


def selection_options(command):
    """Options that say how a model of a path is chosen."""
    for option in (
        click.option("--validation", metavar="DATA", help="Rows to choose by [then --select is validation]."),
        click.option("--cv", type=int, default=5, show_default=True, help="Folds of the cross-validation."),
        click.option("--select", help="cv-1se [default], cv, validation, aic, bic or ebic."),
        click.option("--alpha-reach", type=float, default=0.01, show_default=True,
                     help="Last alpha of a path, as a share of that of the empty model."),
        click.option("--n-alphas", type=int, help="Alphas of a path [default: 100]."),
        click.option("--k-max", type=int, help="Largest k of a path [default: 50]."),
    ):  # fmt: skip
        command = option(command)
    return command


def selecting(select, n_alphas, validation) -> dict:
    """Options of `selection_options` whose defaults depend on others, as an estimator takes them."""
    return {"select": select or ("cv-1se" if validation is None else "validation"), "n_alphas": n_alphas or 100}


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


def shows_progress(quiet=False) -> bool:
    """Whether anybody would see a progress bar."""
    return not quiet and sys.stderr.isatty()
