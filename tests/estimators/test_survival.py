"""SparseSurvival: the minimum against a slow reference, its curves and its concordance, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import riata
from naive import cox_loss
from riata.errors import DataError, OptionError
from riata.model.concordance import concordance
from survival_problems import make


def reference(rows, efron, alpha, l1_ratio, scale):
    """The least objective, by L-BFGS over the positive and negative parts of coefficients of scaled columns."""
    d = rows.X.shape[1]
    X = (rows.X - rows.X.mean(axis=0)) / scale

    def F(parts):
        w = parts[:d] - parts[d:]
        loss = cox_loss(X @ w, rows.time, rows.event, rows.weight, efron)
        return loss + alpha * (l1_ratio * parts.sum() + 0.5 * (1 - l1_ratio) * w @ w)

    found = minimize(F, np.zeros(2 * d), bounds=[(0, None)] * (2 * d), options={"ftol": 1e-14, "gtol": 1e-9})
    return found.fun


@pytest.mark.parametrize(
    ("loss", "l1_ratio", "standardize", "ties"),
    [
        ("cox", 1.0, True, True),
        ("cox", 0.5, False, False),
        ("cox-efron", 1.0, False, True),
        ("cox-efron", 0.5, True, True),
    ],
)
def test_reaches_the_minimum_and_certifies_it(loss, l1_ratio, standardize, ties):
    rows = make(60, 5, ties=ties)
    options = {"loss": loss, "l1_ratio": l1_ratio, "standardize": standardize, "tol": 1e-9}
    model = riata.SparseSurvival(alpha_ratio=0.1, **options).fit(rows.X, rows.y, rows.weight)
    assert model.converged_
    assert 0.0 <= model.gap_ <= 1e-9
    least = reference(rows, loss == "cox-efron", model.alpha_, l1_ratio, model.scale_ if standardize else 1.0)
    assert_allclose(model.objective_, least, rtol=1e-6)
    assert model.objective_ <= least + 1e-9
    empty = riata.SparseSurvival(alpha=1.0001 * model.alpha_ / 0.1, **options).fit(rows.X, rows.y, rows.weight)
    assert not empty.coef_.any()
    assert np.all(empty.predict(rows.X) == 0.0)


def test_weights_are_copies_of_rows_and_order_does_not_count():
    rows = make(80, 6)
    times = np.random.default_rng(0).integers(0, 4, 80)
    weighted = riata.SparseSurvival(alpha=0.02, tol=1e-11).fit(rows.X, rows.y, times)
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(80), times))
    copied = riata.SparseSurvival(alpha=0.02, tol=1e-11).fit(rows.X[copies], rows.y[copies])
    assert_allclose(copied.coef_, weighted.coef_, atol=1e-6)
    assert_allclose(copied.cum_baseline_hazard_, weighted.cum_baseline_hazard_, rtol=1e-5)


def test_columns_far_from_zero_and_features_always_in():
    rows = make(100, 6)
    options = {"alpha_ratio": 0.2, "penalty_factors": [0, 1, 1, 1, 1, 2], "tol": 1e-8}
    here = riata.SparseSurvival(**options).fit(rows.X, rows.y)
    far = riata.SparseSurvival(**options).fit(rows.X + 1e5, rows.y)
    assert here.coef_[0] != 0.0
    assert far.converged_
    assert_allclose(far.predict(rows.X + 1e5), here.predict(rows.X), atol=1e-5)


def test_curves_of_the_empty_model_are_those_of_nelson_and_aalen():
    rows = make(50, 3)
    model = riata.SparseSurvival(alpha=1e3).fit(rows.X, rows.y)
    times = np.unique(rows.time[rows.event])
    hazard = [np.sum(rows.event & (rows.time == t)) / np.sum(rows.time >= t) for t in times]
    assert_allclose(model.unique_times_, times)
    assert_allclose(model.cum_baseline_hazard_, np.cumsum(hazard))
    curves = model.predict_survival_function(rows.X[:2])
    assert_allclose(curves[0](times), np.exp(-np.cumsum(hazard)))
    assert curves[1](times[0] / 2) == 1.0
    assert_allclose(model.predict_cumulative_hazard_function(rows.X[:2], return_array=True)[1], np.cumsum(hazard))


def test_concordance_counts_every_pair():
    rows = make(70, 3)
    risk = np.round(np.random.default_rng(0).normal(size=70), 1)  # with ties
    good = pairs = 0.0
    for i in np.flatnonzero(rows.event):
        for j in range(70):
            if rows.time[j] > rows.time[i] or (rows.time[j] == rows.time[i] and not rows.event[j]):
                pairs += rows.weight[i] * rows.weight[j]
                good += rows.weight[i] * rows.weight[j] * (0.5 * (risk[j] <= risk[i]) + 0.5 * (risk[j] < risk[i]))
    assert_allclose(concordance(rows.signed, risk, rows.weight), good / pairs)
    assert np.isnan(concordance(np.array([-1.0, -2.0]), risk[:2]))
    for n in (1, 2, 3, 4, 5, 8, 9):
        assert_allclose(concordance(np.arange(1.0, n + 1), -np.arange(n)), 1.0 if n > 1 else np.nan)


def test_a_model_of_a_file_predicts_the_same(tmp_path):
    rows = make(80, 6)
    model = riata.SparseSurvival(alpha_ratio=0.1).fit(rows.X, rows.y)
    model.to_model().save(tmp_path / "model.json")
    loaded = riata.load_model(tmp_path / "model.json")
    assert_allclose(loaded.predict(rows.X), model.predict(rows.X))
    assert_allclose(
        loaded.hazard.survival(loaded.predict(rows.X[:3])),
        model.predict_survival_function(rows.X[:3], return_array=True),
    )


def test_wrong_targets_get_a_sentence():
    X = np.eye(4)
    event, time = np.array([True, False, True, True]), np.array([1.0, 2.0, 3.0, 4.0])

    def fit(y):
        riata.SparseSurvival().fit(X, y)

    def structured(event, time):
        return np.rec.fromarrays([event, time], names="event, time")

    for wrong, sentence in (
        (structured(event, time - 1), "row 1: the time is 0, and times to an event are positive"),
        (structured(event, time - 2), "row 1: the time is -1"),
        (structured(event, np.where(time == 3, np.nan, time)), "y has no value in row 3"),
        (structured(2 * event, time), "row 1: the event is .*2.*, and must be 1"),
        (structured(event & False, time), "no row has an event"),
        (time, "y must be times with their events"),
    ):
        with pytest.raises(DataError, match=sentence):
            fit(wrong)


def test_what_cannot_be_combined_gets_a_sentence():
    rows = make(30, 3)
    data = riata.open(rows.X, rows.signed, task="survival")
    for options, sentence in (
        ({"k": 2}, "solver 'best-k' takes losses of single rows, and 'cox' is one of rows together"),
        ({"alpha": 0.1, "solver": "online"}, "solver 'online' takes losses of single rows"),
        ({"alpha": 0.1, "device": "cuda"}, "loss 'cox' is not there on a GPU"),
        ({"alpha": 0.1, "debias": True}, "debias"),
    ):
        with pytest.raises(OptionError, match=sentence):
            riata.train(data, riata.Spec(loss="cox", **options))
    with pytest.raises(OptionError, match="loss must be one of cox, cox-efron here, not 'squared'"):
        riata.train(data, riata.Spec(alpha=0.1))
