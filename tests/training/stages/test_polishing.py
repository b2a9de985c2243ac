"""Polishing: an exact fit over the candidates of an online pass, and what is known of the other features."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.errors import OptionError
from riata.solvers.online import online


@pytest.fixture
def log(rng, tmp_path):
    """Rows of a count and of levels, of which one matters much."""
    n = 1500
    code, count = rng.zipf(1.3, n) % 3000, rng.poisson(3, n)
    margin = -1.5 + 2.5 * (code == 1) - 0.2 * count
    click = (rng.random(n) < 1 / (1 + np.exp(-margin))).astype(np.int64)
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"code": [f"{i:06x}" for i in code], "count": count, "click": click}), path)
    return str(path)


def of_all_features(data, trained):
    """The objective of the exact fit with the same alpha over all features."""
    spec = riata.Spec(solver="exact", loss=trained.spec.loss, alpha=trained.course.alphas[0], tol=1e-9)
    return riata.train(data, spec).course.objective


@pytest.mark.parametrize("one_pass", [True, False])
def test_a_polished_model_is_the_exact_one_where_no_other_feature_would_enter(log, one_pass, tmp_path):
    data = riata.open(log, "click", one_pass=one_pass)
    trained = riata.train(data, riata.Spec(solver="online", loss="logistic", polish=True, seed=0))
    course = trained.course
    assert trained.solver == "exact"
    assert course.gap <= 1e-6
    assert course.rest.n_above == 0
    assert course.rest.gap <= 1e-5
    assert course.rest.n_candidates + course.rest.n_others == data.n_features
    assert course.objective == pytest.approx(of_all_features(riata.open(log, "click"), trained), rel=1e-5)
    model = trained.to_model()
    assert {"code=000001", "count"} <= set(model.names)
    model.save(tmp_path / "model.json")
    assert riata.load_model(tmp_path / "model.json").training.rest == course.rest


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_features_outside_that_would_enter_are_told(loss, rng, monkeypatch):
    monkeypatch.setattr(online, "MOST_LEADS", 1)
    X = rng.normal(size=(400, 6)) * [1, 2, 30, 1, 1, 1] + [0, 5, 0, 0, 0, 0]
    z = X[:, 0] + 0.5 * X[:, 1] - 2.5
    y = {
        "squared": z,
        "logistic": np.where(z + rng.logistic(size=400) > 0, "a", "b"),
        "poisson": rng.poisson(np.exp(z / 4)),
    }
    data = riata.open(X, y[loss])
    trained = riata.train(data, riata.Spec(solver="online", loss=loss, alpha=0.02, polish=True, seed=0))
    rest = trained.course.rest
    assert (rest.n_candidates, rest.n_others) == (1, 5)
    assert rest.n_above >= 1
    assert rest.largest > 1
    lost = trained.course.objective - of_all_features(data, trained)
    empty = riata.train(data, riata.Spec(solver="exact", loss=loss, alpha=1e6)).course.objective
    assert 0 < lost <= rest.gap * empty
    assert f"{rest.n_above} would enter" in rest.in_words()


def test_estimators_and_the_command_line_polish(log, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(
        main, ["fit", log, "--target", "click", "--solver", "online", "--one-pass", "--polish", "--json"]
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["rest"]["n_above"] == 0
    assert found["progressive"]["auc"] > 0.5
    assert found["gap"] <= 1e-6
    X = rng.normal(size=(300, 5))
    model = riata.SparseRegressor(solver="online", polish=True, random_state=0).fit(X, X[:, 3])
    assert model.coef_.shape == (5,)
    assert np.flatnonzero(model.coef_).tolist() == [3]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"solver": "exact"}, "solver 'online'"),
        ({"k": 1}, "leave out k"),
        ({"half_life": 10.0}, "half_life"),
        ({"normalize": "rows"}, "unit norm"),
    ],
)
def test_what_cannot_be_polished(options, sentence, rng):
    X = rng.normal(size=(20, 3))
    with pytest.raises(OptionError, match=sentence):
        riata.train(riata.open(X, X[:, 0]), riata.Spec(**{"solver": "online", "polish": True} | options))


def test_a_stream_that_is_gone_cannot_be_polished(rng):
    X = rng.normal(size=(20, 3))
    stream = riata.open(iter([(X, X[:, 0])]), cache=False)
    with pytest.raises(OptionError, match="read only once"):
        riata.train(stream, riata.Spec(solver="online", polish=True))
