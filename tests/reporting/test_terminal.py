"""What a fit tells on a terminal: numbers that line up, classes that can be read however many there are."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import metrics

import riata
from riata.cli import main
from riata.reporting.terminal.aligned import aligned, by_points

WIDTHS = (80, 120)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8))
def test_aligned_numbers_have_their_points_under_each_other(values):
    texts = aligned(values)
    nonzero = [text for text, value in zip(texts, values, strict=True) if value]
    assert len({len(text.partition(".")[2]) for text in nonzero if "e" not in text}) <= 1
    for text, value in zip(texts, values, strict=True):
        assert float(text.replace(",", "")) == pytest.approx(value, rel=0.05)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8))
def test_coefficients_have_four_digits_each_and_their_points_under_each_other(values):
    texts = by_points(values)
    assert len({text.index(".") for text in texts if "." in text and "e" not in text}) <= 1
    for text, value in zip(texts, values, strict=True):
        assert float(text.replace(",", "")) == pytest.approx(value, rel=5.1e-4)


def test_numbers_of_one_column_may_differ_a_million_times():
    assert by_points([-0.0060291, 13572.9, 0.0, 2.0]) == ["    -0.006029", "13,573", "     0", "     2.000"]


def test_what_is_missing_is_a_dash():
    assert aligned([None, 1.5, float("nan"), 0.0]) == ["–", "1.500", "–", "0"]


def shown(*words, width=80, code=0):
    done = CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": str(width)})
    assert done.exit_code == code, done.output
    return done.stdout if code == 0 else done.stderr


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def classes_in(rng, count, name, separated=True):
    """Rows of so many classes, one of which a column gives away."""
    codes = np.concatenate([np.arange(count), np.arange(count), rng.integers(0, count, 60 * count)])
    X = rng.normal(size=(count, 5))[codes] + rng.normal(size=(len(codes), 5))
    frame = pd.DataFrame(X.round(3), columns=[f"column{j}" for j in range(5)])
    frame["kind"] = [f"kind{code:02d}" for code in codes]
    if separated:
        frame["tells"] = np.where(codes == 1, 10.0, 0.0)
    frame.to_csv(name, index=False)


def test_long_names_can_be_told_apart(here, rng):
    classes_in(rng, 7, "t.csv")
    frame = pd.read_csv("t.csv").rename(columns=lambda name: name.replace("column", "a long name of measurement "))
    frame.to_csv("long.csv", index=False)
    text = shown("fit", "long.csv", "--target", "kind", "--alpha-ratio", "0.02", "--max-passes", "50", width=200)
    assert len(set(re.findall(r"a long name …asurement \d", text))) > 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [3, 7, 23])
def test_several_classes_can_be_read(here, rng, count, width):
    classes_in(rng, count, "t.csv")
    text = shown("fit", "t.csv", "--target", "kind", "--alpha-ratio", "0.02", "--max-passes", "50", width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text  # nothing is cut
    table = text.split("minimised")[1].split("training rows")[0]
    assert all(f"kind{code:02d}" in table for code in range(count))
    assert "Separated: kind01" in " ".join(text.split())
    assert len(re.findall("relative duality gap", text)) <= 1
    classes = 12 if count > 12 else count
    assert len(re.findall(r"^ kind\d\d +\d+ +\d\.\d{3} ", text, flags=re.M)) == classes


def test_classes_that_are_left_out_of_a_table_may_be_as_bad(here, rng):
    frame = pd.DataFrame({"noise": rng.normal(size=240), "kind": np.repeat([f"kind{j:02d}" for j in range(40)], 6)})
    frame.to_csv("t.csv", index=False)
    text = shown("fit", "t.csv", "--target", "kind", "--alpha-ratio", "0.9")
    said = re.search(r"and 28 more; of (\d+) of them no row is found, either", " ".join(text.split()))
    assert said is not None
    assert int(said[1]) > 20


def test_separated_classes_have_coefficients_that_nothing_limits_without_a_ridge(here, rng):
    classes_in(rng, 2, "t.csv")
    fit = "fit", "t.csv", "--target", "kind", "--out", "model.json"
    assert "without a ridge nothing limits its coefficients" in " ".join(shown(*fit, "--k", "1").split())
    for penalised in (["--k", "1", "--ridge", "0.1"], ["--alpha", "0.1"]):
        assert "the penalty alone limits its coefficients" in " ".join(shown(*fit, *penalised).split())


def test_the_positive_class_its_share_and_the_baseline_are_named(here, rng):
    X = rng.normal(size=(400, 3))
    frame = pd.DataFrame(X.round(3), columns=list("abc"))
    frame["late"] = np.where(X[:, 0] + rng.normal(size=400) > 2.0, "yes", "no")
    share = float((frame["late"] == "no").mean())
    frame.to_csv("t.csv", index=False)
    text = " ".join(shown("fit", "t.csv", "--target", "late", "--alpha-ratio", "0.05", "--test", "t.csv").split())
    assert "positive is yes" in text
    assert f"The baseline always says no, {100 * share:.4g} % of the training rows" in text
    assert "class, test rows" in text  # they are uneven
    fit = json.loads(shown("fit", "t.csv", "--target", "late", "--alpha-ratio", "0.05", "--test", "t.csv", "--json"))
    assert fit["baseline"]["train"]["accuracy"] == pytest.approx(share)
    assert fit["train"] == fit["test"]
    predicted = riata.load_model(fit["model"]).predict(frame)
    assert fit["train"]["accuracy"] == pytest.approx(metrics.accuracy_score(frame["late"], predicted))


def test_a_threshold_and_class_weights_are_in_the_model(here, rng):
    X = rng.normal(size=(400, 3))
    frame = pd.DataFrame(X.round(3), columns=list("abc"))
    frame["late"] = np.where(X[:, 0] + rng.normal(size=400) > 1.5, "yes", "no")
    frame.to_csv("t.csv", index=False)
    options = ["fit", "t.csv", "--target", "late", "--alpha-ratio", "0.05"]
    assert "predicted from a probability of 0.2 on" in " ".join(shown(*options, "--threshold", "0.2").split())
    model = riata.load_model("t.riata.json")
    assert model.threshold == 0.2
    p = model.predict_proba(frame)[:, 1]
    assert ((model.predict(frame) == "yes") == (p >= 0.2)).all()
    shown("predict", "t.riata.json", "t.csv", "--out", "p.csv")
    assert ((pd.read_csv("p.csv")["prediction"] == "yes") == (p >= 0.2)).all()
    estimator = riata.SparseClassifier(alpha_ratio=0.05, threshold=0.2).fit(riata.open("t.csv", "late"))
    assert (estimator.predict(frame) == model.predict(frame)).all()
    shown(*options, "--class-weight", "yes=9", "--out", "w.json")
    weighted = riata.load_model("w.json")
    assert weighted.training.parameters["class_weight"] == {"yes": 9.0}
    expected = riata.SparseClassifier(alpha_ratio=0.05, class_weight={"yes": 9}).fit(riata.open("t.csv", "late"))
    assert_allclose(weighted.intercept, expected.intercept_, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "kind", "--threshold", "0.5"], "a threshold decides between two classes, and there are 3"),
        (["--target", "column0", "--drop", "kind", "--threshold", "0.5"], "threshold is for classes"),
        (["--target", "two", "--threshold", "2"], "threshold must be a probability between 0 and 1"),
        (["--target", "two", "--threshold", "0.5", "--loss", "squared"], "'squared' gives none"),
    ],
)
def test_thresholds_that_mean_nothing_are_refused(here, rng, options, sentence):
    classes_in(rng, 3, "t.csv")
    frame = pd.read_csv("t.csv")
    frame["two"] = np.where(frame["kind"] == "kind01", "a", "b")
    frame.to_csv("t.csv", index=False)
    assert sentence in shown("fit", "t.csv", *options, "--alpha-ratio", "0.5", code=2)


def test_files_larger_than_memory_are_scored_on_some_training_rows(here, rng):
    X = rng.normal(size=(120_000, 12)).astype(np.float32)
    np.save("X.npy", X)
    np.save("y.npy", X[:, 0] + rng.normal(size=len(X)))
    options = ["--target", "y.npy", "--k", "2", "--memory", "4MB", "--out", "m.json"]
    fit = json.loads(shown("fit", "X.npy", *options, "--json"))
    assert 0 < fit["passes_to_score"] < 0.5
    all_rows = riata.load_model("m.json").score(riata.open("X.npy", "y.npy"))
    assert fit["train"]["r2"] == pytest.approx(all_rows, abs=0.02)
    text = shown("fit", "X.npy", *options)
    assert "to score training rows" in text
    assert "seed 0" in text


def test_effects_beyond_all_numbers_have_bars_that_end(tmp_path):
    """A bar is a share of the largest effect, which may be subnormal, or so large that its multiples are infinite."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"]).assign(y=lambda t: t.a - t.b + t.c)
    table.to_csv(tmp_path / "rows.csv", index=False)
    shown("fit", tmp_path / "rows.csv", "--target", "y", "--alpha-ratio", "0.1", "--out", tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    for coefs in ([1e308, -1e308, 5e-324], [5e-324, 5e-324, 0.0], [1e-310, 1e308, 1.0]):
        for feature, coef in zip(document["features"], coefs, strict=False):
            feature["coef"] = [coef]
            feature["deviation"] = 1.0
        (tmp_path / "odd.json").write_text(json.dumps(document))
        lines = shown("inspect", tmp_path / "odd.json").splitlines()
        assert all(line.count("█") <= 40 for line in lines)
        assert any("█" in line for line in lines)
