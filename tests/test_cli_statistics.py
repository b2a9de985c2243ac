"""`riata statistics`: days add up, and a fit from the file is a fit from the rows."""

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from riata.cli import main
from riata.model import load_model


@pytest.fixture
def days(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X[:, 0] - 2.0 * X[:, 3] + 0.1 * rng.normal(size=80)
    for name, rows in (("monday", slice(0, 30)), ("tuesday", slice(30, 80)), ("both", slice(0, 80))):
        np.savez(tmp_path / f"{name}.npz", X=X[rows], y=y[rows])
    return tmp_path


def riata(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def fitted(days, source):
    """What the model predicts for rows of the unit matrix."""
    out = days / "model.json"
    done = riata("fit", source, "--task", "regression", "--alpha", "0.1", "--json", "--out", out)
    assert done.exit_code == 0, done.output
    return load_model(out).predict(np.eye(6))


def test_days_add_up_to_the_fit_of_all_rows(days):
    assert riata("statistics", days / "monday.npz", days / "m.npz").exit_code == 0
    assert riata("statistics", days / "tuesday.npz", days / "all.npz", "--add", days / "m.npz").exit_code == 0
    assert_allclose(fitted(days, days / "all.npz"), fitted(days, days / "both.npz"), atol=1e-6)
    done = riata("statistics", days / "both.npz", days / "t.npz", "--subtract", days / "m.npz")
    assert done.exit_code == 0
    assert "50 rows of 6 features" in done.output
    assert_allclose(fitted(days, days / "t.npz"), fitted(days, days / "tuesday.npz"), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(["--loss", "huber"], "know the squared loss only"), (["--alpha", "auto"], "no rows to choose by")],
    ids=str,
)
def test_what_statistics_cannot_say(days, options, sentence):
    riata("statistics", days / "both.npz", days / "s.npz")
    done = riata("fit", days / "s.npz", *options)
    assert done.exit_code == 2
    assert sentence in done.output


def test_only_fit_takes_them(days):
    riata("statistics", days / "both.npz", days / "s.npz")
    done = riata("path", days / "s.npz")
    assert done.exit_code == 2
    assert "which only riata fit takes in place of rows" in done.output
