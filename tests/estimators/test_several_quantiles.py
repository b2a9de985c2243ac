"""Several quantiles in one fit: each is what it is alone, rows in which they cross are told, and models keep them."""

import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from sklearn.metrics import d2_pinball_score

import riata
from riata.cli import main
from riata.errors import ModelWarning

LEVELS, LOSS = (0.2, 0.5, 0.9), "quantile:0.2,0.5,0.9"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    return X, 5.0 + 2.0 * X[:, 0] + (1.0 + (X[:, 1] > 0.0)) * rng.normal(size=120)


@pytest.fixture(scope="module")
def fitted(rows):
    return riata.SparseRegressor(loss=LOSS, alpha=0.05).fit(*rows)


def test_each_is_what_it_is_alone(rows, fitted):
    X, y = rows
    for k, level in enumerate(LEVELS):
        alone = riata.SparseRegressor(loss=f"quantile:{level}", alpha=0.05).fit(X, y)
        assert_allclose(fitted.coef_[k], alone.coef_, atol=1e-12)
        assert_allclose(fitted.predict(X)[:, k], alone.predict(X), atol=1e-12)
    assert fitted.gap_ <= 1e-6
    assert fitted.n_crossing_ == 0
    explained = [d2_pinball_score(y, z, alpha=q) for q, z in zip(LEVELS, fitted.predict(X).T, strict=True)]
    assert_allclose(fitted.score(X, y), np.mean(explained))
    assert_allclose(fitted.to_model().score(X, y), np.mean(explained), rtol=1e-5)


def test_rows_in_which_they_cross_are_told(rows):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 20)), rng.normal(size=40)
    with pytest.warns(ModelWarning, match=r"quantiles cross in \d+ of 40 training rows"):
        model = riata.SparseRegressor(loss="quantile:0.4,0.5,0.6", alpha_ratio=0.05).fit(X, y)
    crossing = np.count_nonzero((np.diff(model.predict(X), axis=1) < -1e-9).any(axis=1))
    assert model.n_crossing_ == crossing > 0


def test_a_file_a_table_and_a_page_have_all_of_them(rows, fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = rows
    np.savetxt("rows.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,f,y", comments="")
    words = ["fit", "rows.csv", "--target", "y", "--task", "regression", "--loss", LOSS, "--alpha", "0.05"]
    done = CliRunner().invoke(main, [*words, "--out", "m.json", "--report", "page.html"])
    assert done.exit_code == 0, done.output
    assert "3 quantiles" in done.output
    assert_allclose(riata.load_model("m.json").predict("rows.csv"), fitted.predict(X), atol=1e-6)
    assert "Each of 3 quantiles has such a model of its own" in (tmp_path / "page.html").read_text()
    assert CliRunner().invoke(main, ["predict", "m.json", "rows.csv", "--out", "p.csv"]).exit_code == 0
    assert (tmp_path / "p.csv").read_text().splitlines()[0] == '"prediction_0.2","prediction_0.5","prediction_0.9"'
    told = CliRunner().invoke(main, ["evaluate", "m.json", "rows.csv"]).output
    assert "rows in which they cross" in told


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"loss": "quantile:0.9,0.1"}, "several quantiles are levels that rise"),
        ({"loss": "quantile:0.1,2"}, "the level of a quantile lies between 0 and 1, and 2 does not"),
        ({"loss": LOSS, "k": 2}, "goes with alpha, or with k and solver='online': it has a kink"),
    ],
    ids=str,
)
def test_what_they_cannot_be_gets_its_sentence(rows, options, sentence):
    with pytest.raises(riata.errors.OptionError, match=sentence):
        riata.SparseRegressor(**options).fit(*rows)


def test_streams_and_paths_are_of_one(rows):
    with pytest.raises(riata.errors.OptionError, match="a stream learns one quantile"):
        riata.SparseRegressor(loss=LOSS, solver="online").partial_fit(*rows)
    with pytest.raises(riata.errors.OptionError, match="a path is of one quantile"):
        riata.path(riata.open(*rows), riata.Spec(loss=LOSS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        assert riata.SparseRegressor(loss=LOSS, solver="online").fit(*rows).coef_.shape == (3, 6)
