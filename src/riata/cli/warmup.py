"""`riata warmup`: compile ahead what fits, predictions and readers use, for images and for impatient people."""

import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from riata.cli.command import option
from riata.cli.group import main, nothing
from riata.cli.next_command import say_next, words
from riata.cli.options import shows_progress
from riata.kernels.announce import announcing
from riata.training.parameters import Heading

COLUMNS = 8


@main.command()
@option(
    "--solver",
    "solvers",
    heading=Heading.SOLVER,
    multiple=True,
    help="Only for this solver; may be given several times.",
)
def warmup(solvers: tuple[str, ...]) -> None:
    """Compile everything that fits, predictions and readers need, and keep it for later processes."""
    from riata.errors import OptionError
    from riata.kernels.disk_cache import kernels_folder
    from riata.near_misses import did_you_mean
    from riata.solvers.registry import SOLVERS
    from riata.training.progress import step_progress

    if unknown := set(solvers) - set(SOLVERS):
        hint = did_you_mean(min(unknown), SOLVERS)
        raise OptionError(f"there is no solver {min(unknown)!r}{hint or '; there are ' + ', '.join(SOLVERS)}")
    chosen = solvers or tuple(SOLVERS)
    with step_progress(shows_progress(), "compiling") as progress, announcing(nothing), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fits are too small to be good
        for done, name in enumerate(compiling(chosen)):
            if progress is not None:
                progress(done, 2 * len(chosen) + 2, name)
    folder = kernels_folder()
    if folder is None or not folder.is_dir():
        raise OptionError("compiled code could not be kept: $RIATA_CACHE names a folder for it")
    click.echo(f"compiled code is in {folder}")
    say_next(words("fit", "DATA", "--target", "COLUMN", "--k", "5"))


def compiling(solvers: tuple[str, ...]) -> Iterator[str]:
    """Use each solver on dense and sparse rows of both precisions, then the readers; yields a name before each."""
    import numpy as np
    import scipy.sparse as sp

    from riata.matrices.dense import FEW_NUMBERS

    n_rows = FEW_NUMBERS // COLUMNS + 1  # fewer would be summed by array functions
    X = np.random.default_rng(0).normal(size=(n_rows, COLUMNS))
    X[np.abs(X) < 0.5] = 0.0
    y = X[:, 0] - X[:, 1] + 0.1 * X[:, 2]
    for solver in solvers:
        for kind, rows in (("dense", X), ("sparse", sp.csr_array(X))):
            yield f"{solver}, {kind} rows"
            for precision in (np.float64, np.float32):
                _fit_both(solver, rows.astype(precision), y)
    _rare_steps()
    yield "readers of text"
    with tempfile.TemporaryDirectory() as folder:
        _read_files(Path(folder), X, y)
    yield "done"


def _rare_steps() -> None:
    """What few fits come to: a Newton step in which a coefficient would change its sign."""
    import numpy as np

    from riata.kernels.quadratic import take_step

    first, one = np.zeros(1, dtype=np.int64), np.ones(1)
    take_step(first, np.ones((1, 1)), -2.0 * one, -2.0 * one, one, -9.0 * one, 9.0 * one, one.copy())


def _fit_both(solver: str, X: Any, y: Any) -> None:
    from riata.errors import RiataError
    from riata.estimators import SparseClassifier, SparseRegressor
    from riata.solvers.registry import SOLVERS

    choice = {"alpha_ratio": 0.1} if SOLVERS[solver].takes.startswith("alpha") else {"k": 2}
    if SOLVERS[solver].finds_alpha:
        choice = {}
    for estimator, target in ((SparseRegressor, y), (SparseClassifier, y > 0.0)):
        try:
            estimator(solver=solver, max_passes=3, **choice).fit(X, target).predict(X)
        except RiataError:  # what a solver does not take needs no code
            continue


def _read_files(folder: Path, X: Any, y: Any) -> None:
    """A fit from svmlight, from named features, and from columns of numbers, levels and words."""
    from riata.engines.open import open_data
    from riata.estimators import SparseRegressor

    svmlight, named, table = folder / "rows.svm", folder / "rows.vw", folder / "rows.csv"
    for path, before in ((svmlight, ""), (named, "| ")):
        with path.open("w") as file:
            for row, target in zip(X, y, strict=True):
                pairs = " ".join(f"{j + 1}:{value:.3f}" for j, value in enumerate(row))
                file.write(f"{target:.3f} {before}{pairs}\n")
    with table.open("w") as file:
        file.write("number,level,words,y\n")
        for i, (row, target) in enumerate(zip(X, y, strict=True)):
            file.write(f"{row[0]:.3f},level{i % 3},the words of row {i},{target:.3f}\n")
    for rows in (open_data(svmlight), open_data(named), open_data(table, "y", text=["words"])):
        SparseRegressor(alpha_ratio=0.1).fit(rows).to_model()
    _read_plain_text()
    hashed = open_data(table, "y", text=["words"], hashed=True)
    SparseRegressor(solver="sketch", k=2, max_passes=1).fit(hashed)


def _read_plain_text() -> None:
    """The loop that reads large files of plain text."""
    import io

    import pyarrow as pa

    from riata.data.formats.csv_options import CsvOptions
    from riata.data.formats.dialect import dialect_of
    from riata.data.formats.plain_text import PlainText

    content = b"number,level\n1.5,a\n2,b\n"
    kinds = {"number": pa.float64(), "level": pa.string()}
    list(PlainText(len(content), [""]).batches(io.BytesIO(content), dialect_of(content, CsvOptions()), kinds))
