"""Interactions: products of numbers with numbers and with levels, from frames and files, in models, with heredity."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import riata
from riata.cli import main
from riata.data.encoding import Encoding
from riata.data.opening.open import open_data
from riata.errors import DataError, OptionError
from riata.model.saved_model import load_model


@pytest.fixture
def sales(rng):
    n = 500
    frame = pd.DataFrame({"price": rng.normal(size=n) + 3.0, "size": rng.normal(size=n)})
    frame = frame.assign(shop=rng.choice(["a", "b", "c"], n), day=rng.choice(["mo", "tu", None], n))
    frame.loc[::9, "size"] = np.nan
    bought = frame["price"] * frame["size"].fillna(0) + frame["price"] * (frame["shop"] == "b")
    return frame.assign(sold=bought + ((frame["shop"] == "a") & (frame["day"] == "mo")) + 0.2 * rng.normal(size=n))


def columns_of(data):
    X = data.chunk.X.toarray()
    return dict(zip(data.feature_names, np.asarray(X).T, strict=True))


def test_products_of_numbers_with_numbers_and_with_levels(sales):
    found = columns_of(open_data(sales, "sold", interactions=[("price", "size"), ("shop", "price")]))
    size = sales["size"].fillna(sales["size"].mean()).to_numpy()
    assert_allclose(found["price*size"], sales["price"] * size)
    for level in "abc":
        assert_allclose(found[f"shop={level}*price"], sales["price"] * (sales["shop"] == level))
    assert "size=(missing)" in found
    assert not any("(missing)*" in name for name in found)


def test_all_pairs_are_those_of_columns_that_are_features(sales):
    sales["id"] = [f"row {i}" for i in range(len(sales))]
    names = list(open_data(sales, "sold", interactions="all").feature_names)
    assert {"price*size", "price*shop=a", "size*day=(missing)", "shop=a^day=mo"} < set(names)
    assert not any("id" in name for name in names)
    some = open_data(sales, "sold", interactions=[("price", "size", "shop")], drop=["day", "id"])
    alone = open_data(sales, "sold", interactions="all", drop=["day", "id"])
    assert list(some.feature_names) == list(alone.feature_names)


def test_the_same_from_files_and_with_the_encoding_of_a_model(sales, tmp_path):
    sales.to_csv(tmp_path / "sales.csv", index=False)
    frame = open_data(sales, "sold", interactions="all")
    file = riata.open(str(tmp_path / "sales.csv"), "sold", interactions=[["all"]], one_pass=False)
    assert list(file.feature_names) == list(frame.feature_names)
    assert_allclose(np.stack(list(columns_of(file).values())), np.stack(list(columns_of(frame).values())))
    model = riata.SparseRegressor(k=3).fit(frame).to_model()
    assert model.names == ["price*size", "price*shop=b", "shop=a^day=mo"]
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert [e.column for e in Encoding.from_json(again.encoding).encoders] == ["price*size", "price*shop", "shop^day"]
    other = sales.head(3).assign(shop=["b", "never seen", "a"])
    expected = (
        model.intercept[0]
        + columns_of(open_data(other, "sold", encoding=frame.encoding))["price*size"] * (model.coef[0][0])
    )
    expected += model.coef[0][1] * np.array([other["price"].iloc[0], 0, 0])
    expected += model.coef[0][2] * ((other["shop"] == "a") & (other["day"] == "mo")).to_numpy()
    assert_allclose(again.predict(other), expected)


@pytest.mark.parametrize("heredity", ["strong", "weak"])
def test_an_interaction_comes_with_the_features_it_is_of(sales, heredity):
    data = open_data(sales, "sold", interactions="all")
    free = riata.SparseRegressor(alpha=0.1).fit(data).get_feature_names_out()
    assert {"price*size", "price*shop=b"} <= set(free)
    assert "size" not in free
    model = riata.SparseRegressor(alpha=0.1, heredity=heredity).fit(data)
    assert model.gap_ <= 1e-6
    chosen = set(model.get_feature_names_out())
    interactions = [name for name in chosen if "*" in name or "^" in name]
    assert len(interactions) >= 2
    needed = all if heredity == "strong" else any
    assert all(needed(part in chosen for part in name.replace("^", "*").split("*")) for name in interactions)


def test_strong_heredity_is_a_group_lasso_with_copies(rng):
    X = rng.normal(size=(150, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=150)
    frame = pd.DataFrame(X, columns=[*"abc"]).assign(y=y)
    data = open_data(frame, "y", interactions=[("a", "b")])
    model = riata.SparseRegressor(alpha=0.1, heredity="strong", tol=1e-10).fit(data)
    product = X[:, 0] * X[:, 1]
    copies = np.column_stack([X, X[:, 0], X[:, 1], product])
    by_hand = riata.SparseRegressor(alpha=0.1, groups=[0, 1, 2, 3, 3, 3], tol=1e-10).fit(copies, y).coef_
    assert_allclose(model.coef_, [by_hand[0] + by_hand[3], by_hand[1] + by_hand[4], by_hand[2], by_hand[5]], atol=1e-6)


def test_on_the_command_line(sales, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sales.to_csv("sales.csv", index=False)
    words = ["fit", "sales.csv", "--target", "sold", "--alpha", "0.1", "--interaction", "all", "--heredity", "strong"]
    done = CliRunner().invoke(main, [*words, "--out", "m.json", "--report", "r.html", "--json"])
    assert done.exit_code == 0, done.output
    assert "with the two features that it is of" in json.loads((tmp_path / "m.json").read_text())["objective"]
    again = CliRunner().invoke(main, ["predict", "m.json", "sales.csv", "--out", "p.csv"])
    assert again.exit_code == 0, again.output
    frame = riata.open(sales, "sold", interactions="all")
    here = riata.SparseRegressor(alpha=0.1, heredity="strong").fit(frame).predict(frame)
    assert_allclose(pd.read_csv("p.csv").iloc[:, -1], here, atol=1e-4)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"interactions": [("price",)]}, OptionError, "interactions are of two columns or more"),
        ({"interactions": "price"}, OptionError, "such as .* or 'all'"),
        ({"interactions": [("price", "weight")]}, DataError, "no column 'weight'"),
        ({"interactions": [("price", "sold")]}, DataError, "'sold' is the target, which cannot be part of an inter"),
        ({"interactions": [("price", "size")], "crosses": [("size", "price")]}, OptionError, "leave one of them out"),
        ({"interactions": [("price", "shop")], "max_levels": 2}, DataError, "too many levels for the product"),
        ({"interactions": [("price", "shop")], "text": ["shop"]}, DataError, "has neither numbers nor levels"),
    ],
    ids=str,
)
def test_what_is_no_interaction_is_refused(sales, options, error, sentence):
    with pytest.raises(error, match=sentence):
        open_data(sales, "sold", **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": 2}, "heredity goes with alpha, not with k"),
        ({"alpha": 0.1, "nonnegative": True}, "makes groups of its own, and does not go with nonnegative"),
        ({"alpha": 0.1, "heredity": "both"}, "heredity must be 'strong' or 'weak'"),
        ({"alpha": 0.1, "opening": {}}, "is about interactions, and there are none"),
        ({"alpha": 0.1, "opening": {"interactions": [("price", "size")], "drop": ["size"]}}, "needs 'size' beside"),
    ],
    ids=str,
)
def test_what_heredity_does_not_go_with(sales, options, sentence):
    data = open_data(sales, "sold", **options.pop("opening", {"interactions": "all"}))
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**({"heredity": "strong"} | options)).fit(data)
