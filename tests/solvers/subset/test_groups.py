"""Groups of features enter or leave whole, and penalty factors go by name."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import riata
from chunked import Chunked
from naive_l0 import refit
from riata.cli import main
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.losses import LOSSES
from riata.outcome.proofs import SwapOptimal
from riata.training.fitting import fit
from riata.training.spec import Spec

GROUPS = np.array([0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 4, 5, 6, 6, 7, 7])


def levels_and_numbers(rng, n=150):
    """Columns of categories, all levels of each, beside numbers; correlated with each other."""
    hidden = rng.normal(size=n)
    X = np.empty((n, len(GROUPS)))
    for g in range(GROUPS.max() + 1):
        columns = np.flatnonzero(GROUPS == g)
        score = hidden + 1.5 * rng.normal(size=n)
        if len(columns) == 1:
            X[:, columns[0]] = score * 10.0**g
        else:
            X[:, columns] = np.digitize(score, np.quantile(score, np.linspace(0, 1, len(columns) + 1)[1:-1]))[
                :, None
            ] == np.arange(len(columns))
    y = X[:, 0] - X[:, 2] + X[:, 7] + 0.5 * X[:, 9] + X[:, 3] / 10 + rng.normal(size=n)
    return X, y


def columns_of(groups):
    return np.flatnonzero(np.isin(GROUPS, groups))


def chosen(result):
    return np.unique(GROUPS[np.flatnonzero(result.coef)])


def swapped(members):
    outside = np.setdiff1d(np.arange(GROUPS.max() + 1), members)
    return ([*np.delete(members, i), j] for i in range(len(members)) for j in outside)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"ridge": 0.1}], ids=str)
def test_no_swap_of_groups_improves_what_is_returned(seed, options):
    X, y = levels_and_numbers(np.random.default_rng(seed))
    result = fit(InMemory(X, y), Spec(k=3, groups=GROUPS, **options)).result
    l2 = options.get("ridge", 0.0) * X.var(axis=0)
    intercept = options.get("fit_intercept", True)
    F, *_ = refit(X, y, columns_of(chosen(result)), fit_intercept=intercept, l2=l2)
    assert "no swap of one of the 3 groups for one of the other 5" in result.reason
    assert result.proof == SwapOptimal(k=3, n_others=5, size=3, counted="groups")
    assert_allclose(result.objective, F, rtol=1e-8)
    best = min(refit(X, y, columns_of(m), fit_intercept=intercept, l2=l2)[0] for m in swapped(chosen(result)))
    assert best >= F - 1e-9 * y.var()


@pytest.mark.parametrize("seed", range(2))
def test_logistic_swaps_that_look_best_are_refitted(seed):
    rng = np.random.default_rng(seed)
    X, y = levels_and_numbers(rng)
    y = np.where(y + y.std() * rng.normal(size=len(y)) > np.median(y), 1.0, -1.0)
    result = fit(InMemory(X, y), Spec(k=3, groups=GROUPS, loss="logistic")).result
    unit = X / X.std(axis=0)
    F, *_ = refit(unit, y, columns_of(chosen(result)), loss=LOSSES["logistic"])
    assert result.converged
    assert_allclose(result.objective, F, rtol=1e-6)
    best = min(refit(unit, y, columns_of(m), loss=LOSSES["logistic"])[0] for m in swapped(chosen(result)))
    assert best >= F - 1e-6


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_groups_of_one_are_features_and_chunks_do_not_matter(rng, loss):
    X, y = levels_and_numbers(rng)
    X, y = X[:, GROUPS != 0], np.sign(y - y.mean()) if loss == "logistic" else y
    single, several = np.arange(X.shape[1]), GROUPS[GROUPS != 0] - 1
    ours, theirs = (fit(InMemory(X, y), Spec(k=3, groups=groups, loss=loss)).result for groups in (single, None))
    assert ours.objective <= theirs.objective * (1 + 1e-6)
    whole = fit(InMemory(X, y), Spec(k=3, groups=several, loss=loss)).result
    chunked = fit(Chunked(X, y, 7), Spec(k=3, groups=several, loss=loss)).result
    assert_allclose(chunked.coef, whole.coef, rtol=1e-6, atol=1e-9)


@pytest.fixture
def flights():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "carrier": rng.choice(["UA", "AA", "DL"], 300),
            "origin": rng.choice(["JFK", "LGA"], 300),
            "distance": rng.normal(900, 300, 300),
        }
    )
    effect = frame["carrier"].map({"UA": 5.0, "AA": 0.0, "DL": -5.0})
    frame["delay"] = effect + frame["distance"] / 200 + rng.normal(size=300)
    return frame


def test_columns_are_kept_whole(flights):
    data = riata.open(flights, target="delay")
    model = riata.SparseRegressor(k=2, groups="columns").fit(data)
    columns = {name.partition("=")[0] for name in model.get_feature_names_out()}
    assert columns == {"carrier", "distance"}
    assert len(model.get_feature_names_out()) == 3  # of three levels, one is what the others leave
    auto = riata.SparseRegressor(k="auto", groups="columns").fit(data)
    assert_array_equal(auto.path_.values, [0, 1, 2, 3])
    assert auto.get_support().sum() == 3


def test_factors_by_name(flights):
    data = riata.open(flights, target="delay")
    model = riata.SparseRegressor(alpha_ratio=0.99, penalty_factors={"origin": 0, "carrier=AA": 0}).fit(data)
    assert {"origin=JFK", "carrier=AA"} <= set(model.get_feature_names_out())
    plain = riata.SparseRegressor(alpha_ratio=0.99).fit(data)
    assert len(plain.get_feature_names_out()) == 1
    numbers = flights[["distance"]].assign(noise=1.0 * (flights["origin"] == "JFK"))
    named = riata.SparseRegressor(alpha_ratio=0.99, penalty_factors={"noise": 0}).fit(numbers, flights["delay"])
    assert "noise" in named.get_feature_names_out()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"penalty_factors": {"nowhere": 0}}, "no such feature or column"),
        ({"k": 2, "groups": "rows"}, "one label for each feature, or 'columns'"),
        ({"k": 2, "groups": ["a", "a", "b", "c", None]}, "labels of one kind"),
        ({"k": 2, "groups": [0, 1]}, "one label for each of the 5 features"),
        ({"k": 0, "groups": "columns"}, "the number of groups of features, 3, not be 0"),
        ({"groups": "columns", "alpha": 0.1, "solver": "cd"}, "solver 'cd' takes the elastic net, not GroupLasso"),
        ({"k": 2, "groups": "columns", "memory": "500B"}, "groups need the products of all 5 features"),
    ],
    ids=str,
)
def test_what_is_refused(flights, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**options).fit(riata.open(flights, target="delay"))


def test_on_the_command_line(flights, tmp_path):
    flights.to_csv(tmp_path / "flights.csv", index=False)
    common = ["fit", str(tmp_path / "flights.csv"), "--target", "delay", "--json", "--out", str(tmp_path / "m.json")]
    found = json.loads(CliRunner().invoke(main, [*common, "--k", "1", "--groups", "columns"]).stdout)
    assert {name.partition("=")[0] for name in found["selected"]} == {"carrier"}
    options = ["--alpha-ratio", "0.99", "--penalty-factor", "origin=0", "--penalty-factor", "carrier=AA=0"]
    found = json.loads(CliRunner().invoke(main, [*common, *options]).stdout)
    assert {"origin=JFK", "carrier=AA"} <= set(found["selected"])
    wrong = CliRunner().invoke(main, [*common, "--penalty-factor", "origin"])
    assert wrong.exit_code == 2
    assert "is not NAME=NUMBER" in wrong.output


def test_a_category_of_many_levels_is_worth_what_least_squares_says(rng):
    """More levels than are looked at together, two of them the same, beside numbers."""
    levels = rng.integers(0, 150, 600)
    X = np.column_stack([np.eye(150)[levels], np.eye(150)[levels][:, 7], rng.normal(size=(600, 4))])
    groups = np.concatenate([np.zeros(151, dtype=int), np.arange(1, 5)])
    y = rng.normal(size=150)[levels] + X[:, -1] + 0.2 * rng.normal(size=600)
    result = fit(InMemory(X, y), Spec(k=2, groups=groups)).result
    assert_array_equal(np.unique(groups[np.flatnonzero(result.coef)]), [0, 4])
    columns = np.column_stack([X[:, :150], X[:, -1]])
    residual = y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]
    assert_allclose(result.objective, 0.5 * np.mean(residual**2), rtol=1e-8)
