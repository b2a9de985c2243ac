"""Compiling: ahead with `riata warmup`, or by the first fit, which says so."""

import os
import subprocess
import sys

import numpy as np
import pytest

from riata.kernels import announce
from riata.small_work import FEATURES
from riata.training.progress import row_progress


@pytest.fixture
def run(tmp_path):
    """Runs a command in a process of its own, with a cache that starts empty; gives what it says on standard error."""
    for name, n_rows, width in (("small", 200, 4), ("wide", 200, FEATURES + 1), ("long", 400, FEATURES + 1)):
        X = np.random.default_rng(0).normal(size=(n_rows, width))
        header = ",".join([*(f"x{j}" for j in range(width)), "y"])
        np.savetxt(tmp_path / f"{name}.csv", np.column_stack([X, X[:, 0]]), delimiter=",", header=header, comments="")
    command = [sys.executable, "-c", "from riata.cli import main; main()"]

    def run(*words, **environment):
        given = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **environment}
        done = subprocess.run([*command, *words], env=given, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


FIT = ("fit", "wide.csv", "--target", "y", "--k", "2")  # too much to be interpreted


def test_the_first_fit_says_that_it_compiles_and_the_second_has_nothing_to_say(run, tmp_path):
    assert run(*FIT).count("compiling") == 1
    assert "compiling" not in run(*FIT)
    gone = max(tmp_path.glob("cache/kernels/*/*"), key=lambda file: file.stat().st_size)
    gone.unlink()
    assert run(*FIT, "--quiet") == ""
    assert gone.exists()  # it was compiled again, in silence


@pytest.mark.parametrize("strength", [("--k", "2"), ("--alpha-ratio", "0.1")], ids=" ".join)
def test_a_first_fit_of_small_data_compiles_nothing(run, tmp_path, strength):
    assert "compiling" not in run("fit", "small.csv", "--target", "y", *strength)
    run("predict", "small.riata.json", "small.csv")
    assert not (tmp_path / "cache").exists()


def test_after_a_warmup_a_fit_compiles_nothing(run, tmp_path):
    assert "compiling" not in run("warmup", "--solver", "best-k")
    for data in ("wide.csv", "long.csv"):  # by array functions as far as they go, and by loops alone
        assert "compiling" not in run("fit", data, "--target", "y", "--k", "2")


def test_an_unknown_solver_is_refused(tmp_path):
    from click.testing import CliRunner

    from riata.cli import main

    refused = CliRunner().invoke(main, ["warmup", "--solver", "nobody"])
    assert refused.exit_code == 2
    assert "there is no solver 'nobody'" in refused.stderr


def test_a_bar_says_it_once(monkeypatch, capsys):
    monkeypatch.setattr(announce, "_said", False)
    with row_progress(True):
        announce.announce()
        announce.announce()
    assert capsys.readouterr().err.count("compiling") == 1
