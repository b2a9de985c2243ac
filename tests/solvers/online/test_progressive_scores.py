"""Scores of probabilities on the way: those of scikit-learn on the same predictions, however rows are divided."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import riata
from riata.solvers.online.progressive_scores import ScoresSoFar


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
