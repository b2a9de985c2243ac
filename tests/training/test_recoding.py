"""Groups that overlap, and coefficients of levels in order: against copies made by hand and isotonic regression."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from numpy.testing import assert_allclose
from sklearn.isotonic import IsotonicRegression

import riata
from chunked import Chunked
from riata.cli import main
from riata.errors import OptionError

GROUPS = [["x0", "x1"], ["x1", "x2", "x3"]]
COPIES, LABELS = np.array([0, 1, 1, 2, 3, 4, 5]), [0, 0, 1, 1, 1, 2, 3]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(120, 6)) * np.linspace(1, 3, 6)
    return X, X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=120), rng.uniform(0.5, 2.0, size=120)


def added_up(coef):
    total = np.zeros((*np.shape(coef)[:-1], 6))
    for copy, j in enumerate(COPIES):
        total[..., j] += coef[..., copy]
    return total


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, "chunks"], ids=["dense", "csr", "chunks"])
def test_a_coefficient_is_the_sum_of_those_of_its_groups(rows, layout):
    X, y, weight = rows
    model = riata.SparseRegressor(alpha=0.3, groups=GROUPS, group_ratio=0.8, tol=1e-10)
    found = model.fit(Chunked(X, y, 17, weight=weight)) if layout == "chunks" else model.fit(layout(X), y, weight)
    copied = riata.SparseRegressor(alpha=0.3, groups=LABELS, group_ratio=0.8, tol=1e-10).fit(X[:, COPIES], y, weight)
    assert_allclose(found.coef_, added_up(copied.coef_), atol=1e-6)
    assert_allclose(found.objective_, copied.objective_, rtol=1e-9)
    assert_allclose(found.predict(X), copied.predict(X[:, COPIES]), atol=1e-6)
    assert found.gap_ <= 1e-10
    assert "one for each group of its feature" in found.to_model().objective


def test_paths_selection_and_classes_have_them_too(rows):
    X, y, _ = rows
    chosen = riata.SparseRegressor(alpha="auto", groups=GROUPS, cv=3, n_alphas=5).fit(X, y)
    assert chosen.path_.coefs.shape == (5, 6)
    assert f"({np.count_nonzero(chosen.coef_)} features)" in chosen.selection_.reason  # and not so many copies
    within = riata.SparseRegressor(alpha="auto", k=3, groups=GROUPS).fit(X, y)
    assert 0 < np.count_nonzero(within.coef_) <= 3
    by_bic = riata.SparseRegressor(alpha="auto", select="bic", n_alphas=5, groups=GROUPS).fit(X, y)
    residuals, n = y - by_bic.predict(X), np.count_nonzero(by_bic.coef_)
    bic = len(y) * np.log(np.mean(residuals**2)) + n * np.log(len(y))
    assert_allclose(by_bic.selection_.scores.min(), bic, rtol=1e-6)
    again = riata.SparseRegressor(alpha=chosen.alpha_, groups=GROUPS).fit(X, y)
    assert_allclose(chosen.coef_, again.coef_, atol=1e-4)
    labels = np.digitize(y, [-1, 1])
    several = riata.SparseClassifier(alpha=0.05, groups=GROUPS, loss="softmax").fit(X, labels)
    copied = riata.SparseClassifier(alpha=0.05, groups=LABELS, loss="softmax").fit(X[:, COPIES], labels)
    assert_allclose(several.coef_, added_up(copied.coef_), atol=1e-3)


def test_lists_that_do_not_overlap_are_labels(rows):
    X, y, _ = rows
    listed = riata.SparseRegressor(alpha=0.3, groups=[["x0", "x1"], ("x3", "x5")]).fit(X, y)
    labelled = riata.SparseRegressor(alpha=0.3, groups=[0, 0, 2, 1, 3, 1]).fit(X, y)
    assert_allclose(listed.coef_, labelled.coef_, atol=1e-8)


@pytest.fixture
def table(rng):
    size = rng.choice(["S", "M", "L", "XL"], 200)
    effect = pd.Series(size).map({"S": 0.0, "M": -0.3, "L": 1.0, "XL": 0.8})
    return pd.DataFrame({"size": size, "y": effect + 0.3 * rng.normal(size=200)})


@pytest.mark.parametrize("order", ["S<M<L<XL", " XL < L< M <S "])
def test_coefficients_in_order_are_those_of_isotonic_regression(table, order):
    data = riata.open(table, target="y")
    model = riata.SparseRegressor(alpha=0.0, bounds={"size": order}, tol=1e-10).fit(data)
    rank = table["size"].map({level.strip(): i for i, level in enumerate(order.split("<"))})
    assert_allclose(model.predict(data), IsotonicRegression().fit_transform(rank, table["y"]), atol=1e-5)
    levels = sorted(set(table["size"]), key=[one.strip() for one in order.split("<")].index)
    coefs = [model.coef_[list(data.feature_names).index(f"size={level}")] for level in levels]
    assert coefs[0] == 0.0
    assert np.all(np.diff(coefs) >= 0.0)
    no_constant = riata.SparseRegressor(alpha=0.0, bounds={"size": order}, fit_intercept=False, tol=1e-10).fit(data)
    assert_allclose(no_constant.predict(data), model.predict(data), atol=1e-4)


def test_levels_that_are_numbers_have_an_order_of_their_own(rng):
    frame = pd.DataFrame({"age": rng.choice([9, 30, 100], 150), "x": rng.normal(size=150)})
    frame["y"] = -0.02 * frame["age"] + frame["x"] + rng.normal(size=150)
    data = riata.open(frame, target="y", categorical=["age"])
    falling, rising = (
        dict(
            zip(data.feature_names, riata.SparseRegressor(alpha=0.01, bounds={"age": one}).fit(data).coef_, strict=True)
        )
        for one in ("decreasing", "increasing")
    )
    assert falling["age=9"] > falling["age=30"] > falling["age=100"] == 0.0
    assert rising["age=9"] == rising["age=30"] == rising["age=100"] == 0.0
    assert rising["x"] > 0.5


def test_the_command_line_takes_both(tmp_path, monkeypatch, rows, table):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rows[0], columns=[f"x{j}" for j in range(6)]).assign(y=rows[1])
    frame.to_csv("t.csv", index=False)
    table.to_csv("s.csv", index=False)
    commands = {
        "a.json": ["t.csv", "--groups", "x0,x1", "--groups", "x1,x2,x3"],
        "b.json": ["s.csv", "--bound", "size=S<M<L<XL"],
    }
    for out, (data, *options) in commands.items():
        words = ["fit", data, "--target", "y", "--alpha", "0.01", *options, "--out", out, "--report", "r.html"]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    said = [json.loads((tmp_path / out).read_text())["objective"] for out in commands]
    assert "one for each group of its feature" in said[0]
    assert "steps from one to the next" in said[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"groups": [["size=S", "size=M"], ["size=M", "size=L"]], "k": 1, "alpha": None}, "groups that do not overlap"),
        ({"groups": [["size", "weight"]]}, "groups name 'weight', and there is no such feature or column"),
        ({"groups": [["size"], []]}, "a list without a feature"),
        ({"groups": [[["size"]]]}, "groups name .'size'., and there is no such feature"),
        ({"bounds": {"size": "S<M<L"}}, "leave out 'XL': write all levels"),
        ({"bounds": {"size": "S<M<L<XXL"}}, "it has no such level; did you mean 'XL'"),
        ({"bounds": {"weight": "increasing"}}, "there is no column of levels of that name"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(table, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**({"alpha": 0.1} | options)).fit(riata.open(table, target="y"))


@pytest.mark.parametrize(
    ("order", "rises"), [("S<L", True), ("L<S", False), ("decreasing", True), ("increasing", False)]
)
@pytest.mark.parametrize("fewer", ["S", "L"])
def test_an_order_of_two_levels_is_the_sign_of_their_one_feature(order, rises, fewer, rng):
    size = np.where(rng.random(300) < 0.4, fewer, "SL".replace(fewer, ""))
    frame = pd.DataFrame({"size": size, "x": rng.normal(size=300)})
    frame["y"] = 1.0 * (frame["size"] == "L") + 0.3 * rng.normal(size=300)
    data = riata.open(frame, "y")
    assert list(data.feature_names) == [f"size={fewer}", "x"]
    coef = riata.SparseRegressor(alpha=0.01, bounds={"size": order}).fit(data).coef_[0]
    sign = 1.0 if fewer == "L" else -1.0
    assert (sign * coef > 0.5) == rises
    assert rises or coef == 0.0
    with pytest.raises(riata.errors.OptionError, match="it has no such level"):
        riata.SparseRegressor(alpha=0.01, bounds={"size": "S<XL"}).fit(data)


def test_heredity_of_levels_that_have_no_feature_of_their_own(rng):
    frame = pd.DataFrame({"a": rng.choice(["u", "v"], 300), "b": rng.choice(["p", "q"], 300)})
    frame["y"] = 1.0 * ((frame["a"] == "u") & (frame["b"] == "p")) + 0.1 * rng.normal(size=300)
    data = riata.open(frame, "y", interactions=[("a", "b")])
    model = riata.SparseRegressor(alpha=0.01, heredity="strong").fit(data)
    names = set(model.get_feature_names_out())
    assert any("^" in name for name in names)
    assert {name.partition("=")[0] for name in names if "^" not in name} == {"a", "b"}
