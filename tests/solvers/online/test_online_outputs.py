"""Solver 'online' with softmax: the slow version, portions, checkpoints, how good it is, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import log_loss

import naive_online as naive
import riata
from riata.data.chunk import Chunk
from riata.losses import Softmax
from riata.solvers.online.online import NOISE_WITH_ALPHA, NOISES, RATE, RATES
from riata.solvers.online.online_outputs import OnlineOutputs
from riata.solvers.stochastic.method import first_state, make_stepper

K = 3
LABELS = np.array(["oak", "ash", "elm"])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12)) * 10.0 ** rng.integers(-2, 3, 12)
    W = np.where(rng.random((12, K)) < 0.3, 2.0, 0.0)
    return X, LABELS[(X / X.std(axis=0) @ W + rng.gumbel(size=(3000, K))).argmax(axis=1)]


@pytest.mark.parametrize("alpha", [None, 0.02])
def test_every_lane_is_the_slow_method(alpha):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 6)) * (rng.random((150, 6)) < 0.5)
    X[0] = 0.0
    codes, weight = (X[:, :K] + rng.gumbel(size=(150, K)) / 2).argmax(axis=1), rng.uniform(0.5, 1.5, 150)
    method = OnlineOutputs(alpha, distinct=100.0, n_outputs=K)
    state = first_state(method, 6)
    chunk = Chunk(X, codes.astype(float), weight)
    margins = make_stepper(method, Softmax(K), None, 1, True).advance(state, chunk, np.arange(150))
    assert margins.shape == (150, K)
    noises, rates = (NOISES, np.full(4, RATE)) if alpha is None else (np.full(4, NOISE_WITH_ALPHA), RATES)
    w, b = naive.online_outputs(X, codes, weight, K, noises, rates, alpha or 0.0, 100.0)
    for lane in range(4):
        state.memory["lane"][0] = lane
        found, intercepts = method.model(state)
        assert_allclose(found.reshape(6, K).T, w[:, lane], atol=1e-9)
        assert_allclose(intercepts, b[lane] - b[lane].mean(), atol=1e-9)


def test_portions_and_passes_over_the_same_rows_give_the_same_model(rows):
    X, y = rows
    asked = {"solver": "online", "loss": "softmax"}
    whole = riata.SparseClassifier(order="sequential", **asked).fit(X, y)
    portions = riata.SparseClassifier(**asked)
    for start in range(0, 3000, 700):
        portions.partial_fit(X[start : start + 700], y[start : start + 700], classes=LABELS)
    assert_allclose(portions.coef_, whole.coef_, rtol=1e-9)
    assert list(portions.classes_) == ["ash", "elm", "oak"]
    assert_allclose(portions.predict_proba(X[:5]), portions.to_model().predict_proba(X[:5]))
    assert whole.history_[-1].accuracy > 0.5


def test_its_probabilities_are_better_than_those_of_one_against_the_rest(rows):
    X, y = rows
    found = {}
    for loss in ("softmax", "logistic"):
        model = riata.SparseClassifier(solver="online", loss=loss, random_state=0).fit(X[:2000], y[:2000])
        found[loss] = log_loss(y[2000:], model.predict_proba(X[2000:]))
    assert found["softmax"] < found["logistic"] < np.log(K)


@pytest.mark.parametrize(
    ("asked", "beside", "sentence"),
    [
        ({}, {}, "learns rows as they come where all classes are named at first"),
        ({"k": 2}, {"classes": LABELS}, "takes k for one margin a row"),
        ({"alpha": 0.1, "shared_support": True}, {"classes": LABELS}, "groups go with solvers 'best-k' and 'exact'"),
    ],
    ids=["new classes", "k", "shared support"],
)
def test_what_it_cannot_do_gets_its_sentence(rows, asked, beside, sentence):
    with pytest.raises(riata.errors.OptionError, match=sentence):
        riata.SparseClassifier(solver="online", loss="softmax", **asked).partial_fit(*rows, **beside)
