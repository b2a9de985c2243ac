"""What a command works on: the rows at DATA, and the estimator that its options ask for."""

import logging
import warnings
from contextlib import contextmanager

import click

from riata.cli.options import shows_progress

READING = ("memory", "cache", "cache_dir", "on_error", "engine", "scheduler")


def reading(memory, cache, cache_dir, on_error, engine, scheduler) -> dict:
    """The options of `reading_options` as `open_data` takes them."""
    from riata.data.budget import return_memory_early

    return_memory_early()
    how = {"memory": memory, "cache": cache and (cache_dir or True), "on_error": on_error}
    return how if engine is None and scheduler is None else how | {"engine": cluster(scheduler)}


def cluster(scheduler):
    """A client of the scheduler at an address, or of a cluster started here, for as long as the command runs."""
    from riata.engines.dask.cluster import close, connect

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters comes as an error of our own
    client, _ = connect(scheduler or "dask")
    click.get_current_context().call_on_close(lambda: close(client))
    return client


def open_rows(data, options: dict, quiet=False, encoding=None):
    """The rows at DATA, and a function that opens more of their kind; options of `data_options` are taken out."""
    from riata.engines.open import open_data
    from riata.training.progress import row_progress

    how = reading(*(options.pop(name) for name in READING))
    columns = {name: options.pop(name) for name in ("weight", "drop", "categorical", "text", "word_pairs", "crosses")}
    follow = options.pop("follow", False)
    columns["hashed"] = options.get("solver") == "sketch"
    target, task, features = (options.pop(name) for name in ("target", "task", "features"))
    with row_progress(shows_progress(quiet)):
        columns |= {"features": features or None, "follow": follow, "n_features": options.pop("n_features", None)}
        rows = open_data(data, target, task=task, encoding=encoding, **columns, **how)
    task = "regression" if rows.classes is None else "classification"
    target = target or target_of(rows)

    def open_more(source):
        if source is None:
            return None
        return open_data(source, target, task=task, n_features=rows.n_features, encoding=rows.encoding, **how)

    return rows, open_more


def make_estimator(rows, loss, options: dict, **more):
    """The estimator for a target of this kind."""
    from riata.estimators import SparseClassifier, SparseRegressor

    kind = SparseRegressor if rows.classes is None else SparseClassifier
    options = {"fit_intercept" if name == "intercept" else name: value for name, value in options.items()}
    options["random_state"] = options.pop("seed")
    if loss is not None:
        options["loss"] = loss
    return kind(**options, **more)


def target_of(rows) -> str | None:
    """The column that is the target, where the rows know it themselves: they may have been encoded before."""
    return rows.encoding.target.column if rows.encoding is not None and rows.encoding.target else None


def say_notes(data, quiet=False) -> None:
    """What the first pass found that should not pass silently."""
    if data.profile is not None and not quiet:
        for note in data.profile.notes:
            click.echo(f"note: {note}", err=True)


@contextmanager
def warnings_as_notes(quiet=False):
    """Show that a fit stopped early in a line of its own, or not at all, and not as a line of somebody's code."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        others, said = warnings.showwarning, set()
        warnings.simplefilter("always", ConvergenceWarning)

        def show(message, category, *where):
            if not issubclass(category, ConvergenceWarning):
                others(message, category, *where)
            elif not quiet and str(message) not in said:
                said.add(str(message))
                click.echo(f"note: {message}", err=True)

        warnings.showwarning = show
        yield


def names_of(rows) -> list[str]:
    """The names of the features, or x0, x1, ... where they have none."""
    return [f"x{j}" for j in range(rows.n_features)] if rows.feature_names is None else list(rows.feature_names)
