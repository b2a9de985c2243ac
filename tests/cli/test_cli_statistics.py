"""`riata statistics`: days add up, and a fit from the file is a fit from the rows."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from riata.cli import main
from riata.model.saved_model import load_model


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


def chosen(days, command, source, *options):
    """What a search along k or alpha says from rows, or from statistics."""
    out = ("--out", days / "model.json") if command == "fit" else ()
    done = riata(command, source, "--task", "regression", "--json", *options, *out)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_cross_validation_needs_no_rows(days):
    assert riata("statistics", days / "both.npz", days / "s.npz").exit_code == 0
    for options in (["--k", "auto"], ["--alpha", "auto", "--select", "cv"], ["--k", "auto", "--select", "bic"]):
        ours, theirs = (chosen(days, "fit", days / name, *options) for name in ("s.npz", "both.npz"))
        assert ours["n_selected"] == theirs["n_selected"]
        assert_allclose(ours["objective"], theirs["objective"], rtol=1e-6)
        assert ours["passes"] == 0
        assert ours["n_rows"] == 80
    ours, theirs = (chosen(days, "path", days / name, "--k-max", "3") for name in ("s.npz", "both.npz"))
    for one, other in zip(ours["paths"][0]["models"], theirs["paths"][0]["models"], strict=True):
        assert_allclose(one["mse"], other["mse"], rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--loss", "huber"], "know the squared loss only"),
        (["--solver", "fobos"], "no rows for solver 'fobos' to visit"),
        (["--normalize", "rows"], "no rows to normalise"),
        (["--alpha", "auto", "--cv", "3"], "have 5 folds, and 3 are wanted: take --cv 5"),
        (["--features", "x1"], "whose columns and weights are chosen already"),
    ],
    ids=str,
)
def test_what_statistics_cannot_say(days, options, sentence):
    riata("statistics", days / "both.npz", days / "s.npz")
    done = riata("fit", days / "s.npz", *options, "--out", days / "model.json")
    assert done.exit_code == 2
    assert sentence in done.output


def test_statistics_without_folds_choose_by_criteria_only(days):
    riata("statistics", days / "both.npz", days / "s.npz", "--cv", "1")
    done = riata("path", days / "s.npz")
    assert done.exit_code == 2
    assert "have no folds" in done.output
    assert riata("path", days / "s.npz", "--select", "bic").exit_code == 0
    assert "needs halves of the rows" in riata("stability", days / "s.npz", "--k", "1").output


CSV = "colour,size,price\n" + "".join(
    f"{c},{s},{10 * (c == 'red') + s}\n" for s in range(20) for c in ("red", "blue", "green")
)


def test_features_of_a_day_are_those_of_the_other(tmp_path):
    monday, tuesday = tmp_path / "monday.csv", tmp_path / "tuesday.csv"
    monday.write_text(CSV)
    tuesday.write_text("colour,size,price\nred,3,13\nviolet,4,4\n")
    assert riata("statistics", monday, tmp_path / "m.npz", "--target", "price").exit_code == 0
    done = riata("statistics", tuesday, tmp_path / "all.npz", "--target", "price", "--add", tmp_path / "m.npz")
    assert done.exit_code == 0, done.output
    assert "62 rows of 4 features in 5 folds" in done.output
    model = tmp_path / "model.json"
    done = riata(
        "fit", tmp_path / "all.npz", "--k", "2", "--out", model, "--test", tuesday, "--target", "price", "--json"
    )
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["test"]["r2"] > 0.999


@pytest.mark.parametrize("options", [["--k", "auto"], ["--k", "2"], ["--alpha-ratio", "0.1"]], ids=str)
def test_standard_input_is_read_once_and_kept_nowhere(tmp_path, options):
    (tmp_path / "rows.csv").write_text(CSV)
    wanted = ["--target", "price", *options, "--json", "--out", str(tmp_path / "model.json")]
    theirs = json.loads(riata("fit", tmp_path / "rows.csv", *wanted).stdout)
    done = CliRunner().invoke(main, ["fit", "-", "--no-cache", *wanted], input=CSV)
    assert done.exit_code == 0, done.output
    ours = json.loads(done.stdout)
    assert ours["passes"] == 1
    assert ours["n_rows"] == 60
    assert ours["n_selected"] == theirs["n_selected"]
    assert_allclose(ours["objective"], theirs["objective"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--task", "classification"], "and these rows are read once: take solver 'online'"),
        (["--loss", "huber"], "one reading is enough for the squared loss and not for 'huber'"),
    ],
    ids=str,
)
def test_what_one_reading_cannot_say(options, sentence):
    done = CliRunner().invoke(main, ["fit", "-", "--no-cache", "--target", "price", *options], input=CSV)
    assert done.exit_code == 2
    assert sentence in done.output


def test_statistics_are_no_rows_to_predict(days):
    riata("statistics", days / "both.npz", days / "s.npz")
    assert riata("fit", days / "s.npz", "--alpha", "0.1", "--out", days / "m.json").exit_code == 0
    for command in ("predict", "evaluate"):
        done = riata(command, days / "m.json", days / "s.npz")
        assert done.exit_code == 2
        assert "no rows to predict" in done.output


@pytest.mark.parametrize(
    "wish", [["--target", "size"], ["--task", "classification"], ["--cross", "colour,size"]], ids=str
)
def test_statistics_are_of_one_target_and_its_columns(tmp_path, wish):
    (tmp_path / "rows.csv").write_text(CSV)
    assert riata("statistics", tmp_path / "rows.csv", tmp_path / "s.npz", "--target", "price").exit_code == 0
    done = riata("fit", tmp_path / "s.npz", "--k", "2", "--out", tmp_path / "m.json", *wish)
    assert done.exit_code == 2
    assert "chosen already" in done.output
    done = riata("fit", tmp_path / "s.npz", "--k", "2", "--out", tmp_path / "m.json", "--device", "cuda")
    assert "no rows to send to a GPU" in done.output


@pytest.mark.parametrize("options", [("--k", "2"), ("--alpha", "0.3", "--no-intercept")], ids=str)
def test_statistics_know_the_scores_of_squares(days, options):
    assert riata("statistics", days / "both.npz", days / "all.npz").exit_code == 0
    fit = "--task", "regression", *options, "--json", "--out", days / "model.json"
    of_rows, of_sums = (json.loads(riata("fit", days / name, *fit).stdout) for name in ("both.npz", "all.npz"))
    for name in ("r2", "rmse", "mse"):
        assert_allclose(of_sums["train"][name], of_rows["train"][name], rtol=1e-6)
        assert_allclose(of_sums["baseline"]["train"][name], of_rows["baseline"]["train"][name], rtol=1e-6, atol=1e-12)
    assert of_sums["train"]["mae"] is None
    page = days / "page.html"
    done = riata("fit", days / "all.npz", "--task", "regression", *options, "--report", page, "--out", days / "m.json")
    assert done.exit_code == 0, done.output
    assert "training rows (80)" in done.output
    assert "How good it is" not in page.read_text()
