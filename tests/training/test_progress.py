"""Progress: every long fit tells how far it is, on a terminal by bars and elsewhere by lines."""

import io
import re
import sys

import numpy as np
import pytest

import riata
from riata.training import progress
from riata.training.driver import Record
from riata.training.progress import Lines, pass_progress
from riata.training.selection import scored_folds

FITS = {
    "exact": {"alpha_ratio": 0.1},
    "best-k": {"k": 3},
    "path along alpha": {"alpha": "auto", "n_alphas": 10},
    "path along k": {"k": "auto", "k_max": 4},
    "online": {"solver": "online"},
    "fobos": {"solver": "fobos", "alpha_ratio": 0.1, "max_passes": 3},
}


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(120, 8))
    return X, X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=120)


@pytest.fixture
def quiet_until_the_end(monkeypatch):
    """However slow the machine is, no line comes while a fit is under way."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 1e9)


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.filterwarnings("ignore:.*stopped before")
def test_a_verbose_fit_says_where_it_ended(rows, kind, capsys, quiet_until_the_end):
    riata.SparseRegressor(**FITS[kind]).fit(*rows)  # compiles what it needs, which is said too
    capsys.readouterr()
    riata.SparseRegressor(**FITS[kind], verbose=True).fit(*rows)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    name = FITS[kind].get("solver", kind.partition(" ")[0])
    assert said[0].startswith(f"{name}: ")
    assert said[0].endswith(" s")


def test_classes_are_counted(rows, capsys, quiet_until_the_end):
    X, y = rows
    riata.SparseClassifier(alpha_ratio=0.2).fit(X, y > 0)
    capsys.readouterr()
    riata.SparseClassifier(alpha_ratio=0.2, verbose=True, loss="logistic").fit(X, np.digitize(y, [-0.5, 0.5]))
    said = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in said] == [f"exact {i} ({i + 1} of 3)" for i in range(3)]


def test_models_and_folds_are_told_with_the_time_left(rows, capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    X, y = rows
    model = riata.SparseClassifier(alpha="auto", n_alphas=5, cv=3, verbose=True)
    model.fit(X, y > 0)
    assert "of all rows, model 5 of 5" in capsys.readouterr().err
    monkeypatch.setattr(scored_folds, "fits_side_by_side", lambda *_: False)  # one fold after the other
    model.fit(X, y > 0)
    said = capsys.readouterr().err
    assert "of all rows, model 5 of 5" in said
    assert all(f"fold {fold} of 3, model 5 of 5" in said for fold in (1, 2, 3))


@pytest.mark.parametrize("estimator", [riata.SparseRegressor, riata.SparseClassifier])
@pytest.mark.parametrize("options", [{}, {"groups": [0, 0, 1, 1, 2, 3, 4, 5]}])
@pytest.mark.parametrize("in_memory", [True, False])
def test_models_along_k_are_told_one_by_one(rows, tmp_path, estimator, options, in_memory, capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    X, y = rows
    y = y > 0 if estimator is riata.SparseClassifier else y
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    given = (X, y) if in_memory else (riata.open(tmp_path / "rows.npz", memory="1MB"),)
    estimator(k="auto", ridge=0.0, k_max=4, cv=3, verbose=True, **options).fit(*given)
    said = capsys.readouterr().err
    for where in ("of all rows", "fold 1 of 3", "fold 3 of 3"):
        told = [tuple(map(int, one)) for one in re.findall(rf"{where}, model (\d+) of (\d+)", said)]
        numbers = [number for number, _ in told]
        assert numbers == sorted(numbers)
        assert len(set(numbers)) > 2
        assert told[-1][0] == told[-1][1]


def test_the_time_left_of_a_certified_fit_follows_its_gap(capsys, monkeypatch):
    """A gap that fell by half of its orders of magnitude has about as much time to go as it took."""
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    clock = iter([0.0, 10.0, 20.0, 20.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with pass_progress(True, "", riata.Spec(alpha=0.1, tol=1e-6)) as callback:
        callback(Record(1, 1, 1.0, 1.0, 1.0, 3))
        callback(Record(2, 2, 2.0, 1.0, 1e-3, 3))
    assert "gap 1.0e-03, about 20 s left" in capsys.readouterr().err


def test_lines_come_now_and_then(capsys):
    lines = Lines()
    task = lines.add_task("work", total=None, state="starting")
    for i in range(1000):
        lines.update(task, completed=i, total=1000, state=f"{i}")
    assert capsys.readouterr().err == ""


def test_bars_on_a_terminal_share_it(rows, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    X, y = rows
    with progress.step_progress(True, "halves") as steps:
        steps(0, 2, "first")
        riata.SparseClassifier(alpha="auto", n_alphas=5, verbose=True).fit(X, y > 0)
        steps(1, 2, "second")
    assert "halves" in screen.getvalue()
    assert progress._current is None
