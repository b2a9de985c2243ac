"""Scores of probabilities on the way: those of scikit-learn on the same predictions, however rows are divided."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.metrics import log_loss, roc_auc_score

import riata
from riata.data.chunk import Chunk
from riata.solvers.online.progressive_scores import MOST_DAYS, ScoresByDay, ScoresSoFar
from riata.training.spec import Spec
from riata.training.streaming.streams import Learner


@pytest.mark.parametrize("spread", [0.3, 5.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_all_predictions(rng, spread, weighted):
    z = spread * rng.normal(size=3000) - 1.0
    y = np.where(rng.random(3000) < 1 / (1 + np.exp(-z - rng.normal(size=3000))), 1.0, -1.0)
    weight = rng.integers(1, 5, 3000).astype(float) if weighted else np.ones(3000)
    so_far = ScoresSoFar()
    for part in np.array_split(np.arange(3000), 7):
        so_far.add(y[part], z[part], weight[part])
    p, found = 1 / (1 + np.exp(-z)), so_far.scores()
    assert found.rows == 3000
    assert found.log_loss == pytest.approx(log_loss(y, p, sample_weight=weight))
    share = np.average(y > 0, weights=weight)
    base = log_loss(y, np.full(3000, share), sample_weight=weight)
    assert found.normalised_entropy == pytest.approx(found.log_loss / base)
    assert found.auc == pytest.approx(roc_auc_score(y, z, sample_weight=weight), abs=2e-3)
    assert found.calibration == pytest.approx(weight @ p / (weight @ (y > 0)))
    other = ScoresSoFar()
    other.add(-y, -z, weight)
    assert other.scores(swapped=True).calibration == pytest.approx(found.calibration)
    assert other.scores().auc == pytest.approx(found.auc, abs=2e-3)


def test_one_class_has_a_log_loss_alone():
    so_far = ScoresSoFar()
    assert so_far.scores() is None
    so_far.add(np.ones(3), np.array([0.0, np.inf, -1e9]), np.ones(3))
    assert so_far.scores()[2:] == (None, None, None)


@pytest.mark.parametrize("first", [0, 1])
def test_a_stream_tells_them_whichever_class_comes_first(rng, first):
    X = rng.normal(size=(4000, 3))
    y = (rng.random(4000) < 1 / (1 + np.exp(2.0 - 2.0 * X[:, 0]))).astype(int)
    y[0] = first
    data = riata.open(
        ((X[i : i + 500], y[i : i + 500]) for i in range(0, 4000, 500)), task="classification", cache=False
    )
    model = riata.train(data, riata.Spec(solver="online", loss="logistic")).to_model()
    scores = model.training.progressive
    assert scores["rows"] == 4000
    assert scores["log_loss"] == pytest.approx(model.training.objective_value)
    assert scores["normalised_entropy"] < 0.9
    assert scores["auc"] > 0.8
    assert scores["calibration"] == pytest.approx(1.0, abs=0.1)


def dated_rows(rng, n=3000):
    """Rows of four days in order, some without a date, as a table and the day of each."""
    days = np.sort(rng.integers(0, 4, n))
    x = rng.normal(size=n)
    dates = pa.array(np.datetime64("2026-01-30") + days, mask=rng.random(n) < 0.1)
    clicks = (rng.random(n) < 1 / (1 + np.exp(2.0 - 2.0 * x))).astype(int)
    site = rng.choice(list("abc"), n)
    return pa.table({"site": site, "when": dates, "x": x, "click": clicks}), np.where(dates.is_null(), -1, days)


@pytest.mark.parametrize("asked", [{"solver": "online"}, {"solver": "sketch", "k": 2}])
def test_a_stream_with_dates_tells_them_by_day(rng, tmp_path, asked):
    table, days = dated_rows(rng)
    pq.write_table(table, tmp_path / "log.parquet")
    data = riata.open(tmp_path / "log.parquet", "click", one_pass=True, hashed=asked["solver"] == "sketch")
    model = riata.train(data, riata.Spec(loss="logistic", **asked)).to_model()
    by_day, whole = model.training.progressive_by_day, model.training.progressive
    assert list(by_day) == ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"]
    assert [of_day["rows"] for of_day in by_day.values()] == [np.count_nonzero(days == day) for day in range(4)]
    losses = [of_day["log_loss"] for of_day in by_day.values()]
    assert min(losses) < whole["log_loss"] < max(losses)
    assert all(of_day["auc"] > 0.5 for of_day in list(by_day.values())[1:])
    model.save(tmp_path / "model.json")
    assert riata.load_model(tmp_path / "model.json").training.progressive_by_day == by_day


def test_one_day_is_not_told_and_days_are_at_most_so_many():
    by_day = ScoresByDay()
    y, z, weight = np.array([1.0, -1.0]), np.zeros(2), np.ones(2)
    by_day.add(np.zeros(2, dtype=int), y, z, weight)
    assert by_day.scores() == {}
    for day in range(MOST_DAYS + 5):
        by_day.add(np.full(2, day), y, z, weight)
    scores = by_day.scores()
    assert len(scores) == MOST_DAYS
    assert scores["1970-01-01"].rows == 4
    assert scores["1970-01-02"][1:4] == (np.log(2.0), 1.0, 0.5)


@pytest.mark.parametrize("strong", [0.5, 2.0, 5.0])
def test_the_noise_of_the_last_intercept_is_taken_out(strong):
    """Sums of probabilities, of all rows, beside those that are true: how far they are off, over several streams."""
    n, d = 20_000, 20
    off = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = sp.csr_array((np.ones(n), (np.arange(n), rng.integers(0, d, n))), shape=(n, d))
        p = expit(X[:, :3] @ np.array([strong, -strong, strong]) - 2.7)
        y = (rng.random(n) < p).astype(int)
        learner = Learner(Spec(solver="online", loss="logistic"), np.array([], dtype=int))
        learner.learn_labelled(Chunk(X, np.zeros(n), np.ones(n)), y)
        found, stream = learner.trained(d), learner.margins.streams[0]
        sign = -1.0 if learner._swapped else 1.0
        b = np.array([found.intercept[0], sign * stream.intercept])
        off.append(np.log(expit((X @ found.coef[0])[:, None] + b).mean(axis=0) / p.mean()))
    after, before = np.sqrt(np.mean(np.square(off), axis=0))
    assert after < 0.7 * before
    assert after < 0.06


@pytest.mark.parametrize(
    ("given", "fit"), [({"k": 2}, {}), ({"half_life": 500}, {}), ({"fit_intercept": False}, {}), ({}, {"offset": 1.0})]
)
def test_intercepts_stay_where_the_log_odds_of_all_rows_say_nothing_of_them(rng, given, fit):
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
    learner = Learner(Spec(solver="online", loss="logistic", **given), np.array([], dtype=int))
    offset = np.full(2000, fit["offset"]) if fit else None
    learner.learn_labelled(Chunk(X, np.zeros(2000), np.ones(2000), offset), y)
    sign = -1.0 if learner._swapped else 1.0
    assert learner.trained(3).intercept[0] == sign * learner.margins.streams[0].intercept
