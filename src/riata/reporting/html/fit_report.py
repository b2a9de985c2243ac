"""The report of a fit: one page that a colleague understands."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riata.errors import OptionError
from riata.files import writable
from riata.model.model import Model
from riata.reporting.html.code import python_code
from riata.reporting.html.ending import ending
from riata.reporting.html.facts import Facts, Origin, gather
from riata.reporting.html.numbers import duration, short
from riata.reporting.html.page import Tile, page, write_page
from riata.reporting.html.sections.asked import asked_section
from riata.reporting.html.sections.convergence import convergence_section
from riata.reporting.html.sections.cost import cost_section
from riata.reporting.html.sections.data import data_section
from riata.reporting.html.sections.model import model_section
from riata.reporting.html.sections.path import path_section
from riata.reporting.html.sections.quality import quality_section
from riata.reporting.html.sections.repeat import repeat_section
from riata.reporting.html.words import SCORES, lead
from riata.training.selection.stability import Stability

SECTIONS = (
    asked_section,
    model_section,
    path_section,
    quality_section,
    convergence_section,
    data_section,
    cost_section,
    repeat_section,
)


HELD_OUT = {"cv": "cross-validated", "cv-1se": "cross-validated", "validation": "on validation rows"}  # by rule


def write_report(fitted: Any, path: str | Path, *, test: Any = None, stability: Stability | None = None) -> None:
    """Write a report of a fitted estimator or a `Model`: one HTML file, which needs only a browser and no network.

    Parameters
    ----------
    fitted : SparseRegressor, SparseClassifier, SparseSurvival or Model
        The model to report on.
    path : str or Path
        The HTML file to write.
    test : Dataset, path, table, (X, y) or (X, y, sample_weight), optional
        Rows on which the model is scored, in one pass and in bounded memory.
    stability : Stability, optional
        The result of `riata.stability_selection`, to show how certain the coefficients are.

    Examples
    --------
    >>> import os, tempfile, numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = riata.SparseRegressor(k=2).fit(X, 3 * X[:, 4] - X[:, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.html")
    ...     riata.write_report(model, path, test=(X, 3 * X[:, 4] - X[:, 7]))
    ...     os.path.getsize(path) > 10_000
    True
    """
    if not str(path).endswith((".html", ".htm")):
        raise OptionError(f"a report is an .html file, not {Path(path).name!r}")
    writable(Path(path))
    code = python_code(fitted, str(path), test=None if test is None else "test")
    found, seconds = None, {}
    training = (fitted if isinstance(fitted, Model) else fitted.to_model()).training
    if training.seconds is not None:
        seconds["fitting"] = training.seconds
    if test is not None:
        from riata.plot.tested import tested  # it needs scikit-learn

        started = time.perf_counter()
        found = tested(fitted, test)
        seconds["testing"] = time.perf_counter() - started
    write_page(path, fit_page(gather(fitted, Origin(code=code, seconds=seconds), found, stability)))


def fit_page(facts: Facts) -> str:
    """The page of these facts."""
    sections = [section for make in SECTIONS if (section := make(facts)) is not None]
    model = facts.model
    title = f"{facts.target} from {facts.data}" if facts.target != "the target" else f"A model of {facts.data}"
    tiles = [Tile("features chosen", f"{len(model.names):,}", f"of {facts.of_features}")]
    held_out = _held_out(facts)
    tiles += held_out + _scores(facts, most=1 if held_out else 2)
    return page(title, lead(facts), sections, tiles=[*tiles, *_certificate(facts), *_cost(facts)])


def _scores(facts: Facts, most: int) -> list[Tile]:
    """The first scores, on test rows if there are any, with those of the baseline."""
    found, rows = facts.quality, "test rows"
    if found is None:
        found, rows = facts.on_training, "training rows"
    if found is None:
        return []
    known = [(name, value) for name, value in found.scores.items() if value is not None]
    return [
        Tile(
            SCORES[name].partition(" (")[0], short(value), f"on {found.n_rows:,} {rows}{_beside(found.baseline, name)}"
        )
        for name, value in known[:most]
    ]


def _held_out(facts: Facts) -> list[Tile]:
    """The score that the model was chosen by, of rows that its fits had not seen; the page's first one."""
    if facts.quality is not None or len(facts.paths) != 1:
        return []
    path, selection = facts.paths[0].path, facts.paths[0].selection
    where = HELD_OUT.get(selection.rule)
    if selection.scores is None or where is None:
        return []
    name = SCORES.get(selection.score, selection.score).partition(" (")[0]
    without = f"; {short(selection.scores[0])} without features" if path.n_selected[0] == 0 else ""
    return [Tile(name, short(selection.scores[selection.index]), f"{where}{without}")]


def _beside(baseline: Mapping[str, float | None], name: str) -> str:
    value = baseline.get(name)
    return "" if value is None else f"; baseline {short(value)}"


def _certificate(facts: Facts) -> list[Tile]:
    return [Tile("certificate", *ending(facts.training).tile)]


def _cost(facts: Facts) -> list[Tile]:
    training = facts.training
    if training.seconds is None:
        return []
    return [Tile("time of the fit", duration(training.seconds), f"{short(training.passes)} passes")]
