"""Options that several commands share, and the estimator that they ask for."""

import click


def model_options(command):
    """Options that say what is minimised, the strength aside."""
    for option in (
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


class NumberOrAuto(click.ParamType):
    """A number, or the word "auto"."""

    def __init__(self, kind):
        self.kind, self.name = kind, "number or auto"

    def convert(self, value, param, ctx):
        try:
            return value if value == "auto" else self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is neither a {'whole ' * (self.kind is int)}number nor 'auto'", param, ctx)


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


def make_estimator(rows, loss, options: dict, **more):
    """The estimator for a target of this kind."""
    from riata.estimators import SparseClassifier, SparseRegressor

    kind, usual = (SparseRegressor, "squared") if rows.classes is None else (SparseClassifier, "logistic")
    options = {"fit_intercept" if name == "intercept" else name: value for name, value in options.items()}
    options["random_state"] = options.pop("seed")
    return kind(loss=loss or usual, **options, **more)
