"""Streamed quality is what scikit-learn says of all rows at once, whatever the chunks; its memory is bounded."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

import riata
from chunked import Chunked
from riata.data.columns.histogram import MOST_BINS, histogram_of
from riata.errors import DataError
from riata.model.model import Model
from riata.model.quality import curves, quality
from riata.model.quality.curves import ScoreTable
from riata.model.quality.numbers import SAMPLE
from riata.model.training_facts import TrainingFacts


def model_of(task, loss, coef, classes=None):
    coef = np.atleast_2d(coef)
    names = [f"x{j}" for j in range(coef.shape[1])]
    intercept = np.linspace(-0.1, 0.1, len(coef))
    return Model(
        task,
        loss,
        "",
        classes,
        coef.shape[1],
        names,
        list(range(coef.shape[1])),
        coef,
        [1.0] * coef.shape[1],
        intercept,
    )


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(300, 4))
    return X, X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=300), rng.integers(1, 4, 300).astype(float)


@pytest.mark.parametrize("chunk_rows", [1, 37, 300])
def test_regression(rows, chunk_rows):
    X, y, weight = rows
    model = model_of("regression", "squared", [0.9, -1.1, 0.4, 0.1])
    found = quality(model, Chunked(X, y + 1e6, chunk_rows, weight))
    predicted = model.predict(X)
    assert_allclose(found.scores["r2"], metrics.r2_score(y + 1e6, predicted, sample_weight=weight), rtol=1e-9)
    assert_allclose(
        found.scores["mse"], metrics.mean_squared_error(y + 1e6, predicted, sample_weight=weight), rtol=1e-12
    )
    assert_allclose(found.scores["rmse"] ** 2, found.scores["mse"], rtol=1e-12)
    mae = metrics.mean_absolute_error(y + 1e6, predicted, sample_weight=weight)
    assert_allclose(found.scores["mae"], mae, rtol=1e-12)
    expected = np.histogram(y + 1e6 - predicted, found.residuals.edges, weights=weight)[0]
    assert_allclose(found.residuals.counts, expected)
    assert_allclose(np.sort(found.sample[:, 0]), np.sort(y + 1e6))


@pytest.mark.parametrize("chunk_rows", [1, 37, 300])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_two_classes(rows, chunk_rows, loss):
    X, y, weight = rows
    labels = (y > 0).astype(int)
    data = Chunked(X, labels, chunk_rows, weight, np.array(["no", "yes"]))
    model = model_of("classification", loss, [0.9, -1.1, 0.4, 0.1], ["no", "yes"])
    found, z = quality(model, data), model.margins(X)
    assert_allclose(found.scores["accuracy"], metrics.accuracy_score(labels, z > 0, sample_weight=weight))
    assert_allclose(found.scores["auc"], metrics.roc_auc_score(labels, z, sample_weight=weight))
    assert_allclose(found.confusion, metrics.confusion_matrix(labels, z > 0, sample_weight=weight))
    table = found.curves["yes"]
    assert_allclose(table.average_precision, metrics.average_precision_score(labels, z, sample_weight=weight))
    others = metrics.average_precision_score(1 - labels, -z, sample_weight=weight)
    assert_allclose(table.of_others().average_precision, others)
    false, true = table.roc()
    expected = metrics.roc_curve(labels, z, sample_weight=weight, drop_intermediate=False)
    assert_allclose(false, expected[0])
    assert_allclose(true, expected[1])
    if loss == "logistic":
        p = 1 / (1 + np.exp(-z))
        assert_allclose(found.scores["log_loss"], metrics.log_loss(labels, p, sample_weight=weight))
        check_calibration(found.calibration, p, labels, weight)
        check_calibration(found.calibration.of_others(), 1 - p, 1 - labels, weight)
    else:
        assert found.calibration is None


def check_calibration(found, p, labels, weight):
    """Groups are of rows in the order of their probability, and hold all of them."""
    assert np.all(np.diff(found.predicted) > 0)
    assert_allclose(found.weight.sum(), weight.sum())
    assert_allclose(found.weight @ found.predicted, weight @ p)
    assert_allclose(found.weight @ found.observed, weight @ labels)
    assert found.weight.max() < 0.2 * weight.sum()


@pytest.mark.parametrize("chunk_rows", [1, 300])
def test_the_baseline_is_what_a_model_without_features_scores(rows, chunk_rows):
    X, y, weight = rows
    training = TrainingFacts(baseline=[0.4])
    model = replace(model_of("regression", "squared", [0.9, -1.1, 0.4, 0.1]), training=training)
    found = quality(model, Chunked(X, y, chunk_rows, weight)).baseline
    constant = np.full(300, 0.4)
    assert_allclose(found["r2"], metrics.r2_score(y, constant, sample_weight=weight))
    assert_allclose(found["mse"], metrics.mean_squared_error(y, constant, sample_weight=weight))
    assert_allclose(found["mae"], metrics.mean_absolute_error(y, constant, sample_weight=weight))
    labels, shares = np.digitize(y, [-1, 1]), [0.2, 0.5, 0.3]
    data = Chunked(X, labels, chunk_rows, weight, np.array(["low", "mid", "top"]))
    model = model_of("classification", "logistic", np.eye(3, 4), ["low", "mid", "top"])
    found = quality(replace(model, training=TrainingFacts(baseline=shares)), data)
    assert_allclose(found.baseline["accuracy"], metrics.accuracy_score(labels, np.ones(300), sample_weight=weight))
    constant = np.tile(shares, (300, 1))
    assert_allclose(found.baseline["log_loss"], metrics.log_loss(labels, constant, sample_weight=weight))
    assert_allclose(found.scores["deviance_explained"], 1 - found.scores["log_loss"] / found.baseline["log_loss"])
    unknown = quality(model, data)  # of an older file: the shares of these rows stand in
    assert unknown.baseline["accuracy"] == pytest.approx(np.bincount(labels, weight).max() / weight.sum())


@pytest.mark.parametrize(("loss", "power"), [("poisson", 1.0), ("tweedie:1.5", 1.5), ("gamma", 2.0)])
def test_deviance_explained_of_counts_and_amounts(rng, loss, power):
    X = rng.normal(size=(200, 2))
    y = rng.poisson(np.exp(0.5 * X[:, 0] + 1)) + (0.5 if loss == "gamma" else 0.0)
    model = replace(model_of("regression", loss, [0.5, 0.0]), training=TrainingFacts(baseline=[float(y.mean())]))
    found = quality(model, Chunked(X, y, 30))
    assert_allclose(found.scores["deviance_explained"], metrics.d2_tweedie_score(y, model.predict(X), power=power))


def test_the_baseline_of_weighted_classes_is_their_shares_of_the_weight(rng):
    """Negative rows that stand for ten each: by counts, the baseline would be far too bad, and the model too good."""
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    weight = np.where(y == 1, 1.0, 10.0)
    model = riata.SparseClassifier(alpha=0.1).fit(X, y, sample_weight=weight).to_model()
    found = quality(model, Chunked(X, y, 100, weight, np.array([0, 1])))
    share = weight[y == 1].sum() / weight.sum()
    assert_allclose(model.training.baseline, [1.0 - share, share])
    assert_allclose(found.scores["deviance_explained"], metrics.d2_log_loss_score(
        y, model.predict_proba(X), sample_weight=weight), rtol=1e-6)  # fmt: skip
    assert found.is_weighted


def test_a_rare_class_has_several_groups_of_calibration(rng):
    """Of 1 % of the rows; groups of equal width of probability would be one."""
    X = rng.normal(size=(20_000, 1))
    p = 1 / (1 + np.exp(5.5 - 1.5 * X[:, 0]))
    labels = (rng.random(20_000) < p).astype(int)
    model = replace(model_of("classification", "logistic", [1.5], ["no", "yes"]), intercept=np.array([-5.5]))
    found = quality(model, Chunked(X, labels, 3000, classes=np.array(["no", "yes"])))
    check_calibration(found.calibration, p, labels, np.ones(20_000))
    assert len(found.calibration.predicted) >= 10
    assert found.uneven


def test_separated_classes_are_named(rng):
    X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + np.array([0, 50])])
    labels = np.repeat([0, 1, 2], 50)
    model = model_of("classification", "logistic", [[1, 0], [-1, 0], [0, 1.0]], ["a", "b", "c"])
    assert quality(model, Chunked(X, labels, 40, classes=np.array(["a", "b", "c"]))).separated == ["c"]
    two = model_of("classification", "logistic", [0, 1.0], ["a", "c"])
    assert quality(two, Chunked(X[50:], labels[50:] // 2, 40, classes=np.array(["a", "c"]))).separated == ["c"]
    assert quality(two, Chunked(X[50:], np.tile([0, 1], 50), 40, classes=np.array(["a", "c"]))).separated == []


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9])
def test_a_threshold_moves_predictions_and_what_is_counted(rows, threshold):
    X, y, weight = rows
    labels = (y > 0).astype(int)
    model = replace(model_of("classification", "logistic", [1, -1, 0.5, 0], ["no", "yes"]), threshold=threshold)
    expected = model.predict_proba(X)[:, 1] >= threshold
    assert_array_equal(model.predict(X) == "yes", expected)
    found = quality(model, Chunked(X, labels, 70, weight, np.array(["no", "yes"])))
    assert_allclose(found.confusion, metrics.confusion_matrix(labels, expected, sample_weight=weight))


def test_several_classes(rows):
    X, y, weight = rows
    labels = np.digitize(y, [-1, 1])
    data = Chunked(X, labels, 50, weight, np.array(["low", "mid", "top"]))
    model = model_of(
        "classification", "logistic", [[-1, 1, 0, 0], [0, 0, 0, 0.1], [1, -1, 0.5, 0]], ["low", "mid", "top"]
    )
    found, z = quality(model, data), model.margins(X)
    assert set(found.scores) == {"accuracy", "log_loss", "deviance_explained"}
    expected = metrics.precision_recall_fscore_support(labels, z.argmax(axis=1), sample_weight=weight)
    for i, one in enumerate(found.by_class):
        assert_allclose((one.precision, one.recall, one.f1, one.weight), [part[i] for part in expected])
    assert_allclose(found.confusion, metrics.confusion_matrix(labels, z.argmax(axis=1), sample_weight=weight))
    for i, label in enumerate(("low", "mid", "top")):
        assert_allclose(found.curves[label].auc, metrics.roc_auc_score(labels == i, z[:, i], sample_weight=weight))


def test_many_scores_are_rounded_without_harm(rng, monkeypatch):
    monkeypatch.setattr(curves, "KEPT", 4000)
    z = rng.normal(size=20_000) * np.exp(rng.normal(size=20_000))
    positive = rng.random(20_000) < 1 / (1 + np.exp(-z))
    table = ScoreTable()
    for i in range(0, 20_000, 700):
        table.add(z[i : i + 700], positive[i : i + 700], np.ones(len(z[i : i + 700])))
        assert sum(len(part) for part, _ in table._parts) < 20_000
    assert_allclose(table.auc, metrics.roc_auc_score(positive, z), atol=1e-4)
    assert_allclose(table.weights.sum(axis=1), [(~positive).sum(), positive.sum()])


def test_rounding_keeps_the_order(rng):
    z = np.sort(rng.normal(size=1000) * np.exp(5 * rng.normal(size=1000)))
    assert np.all(np.diff(curves.rounded(z)) >= 0)
    assert_allclose(curves.rounded(z), z, rtol=2.0**-9)


def test_predictions_without_end_are_one_sentence():
    model = model_of("regression", "poisson", [1000.0])
    with pytest.raises(DataError, match="too large to be numbers"), np.errstate(over="ignore"):
        quality(model, Chunked(np.ones((3, 1)), np.ones(3), 2))


def test_a_sample_of_many_rows_is_even(rng):
    y = np.arange(20_000.0)
    found = quality(model_of("regression", "squared", [1.0]), Chunked(y[:, None], y, 999))
    assert len(found.sample) == SAMPLE
    assert abs(np.mean(found.sample[:, 0]) / y.mean() - 1) < 0.1
    assert len(np.unique(found.sample[:, 0])) == SAMPLE


numbers = st.lists(st.floats(-1e12, 1e12).filter(lambda v: v == 0 or abs(v) > 1e-12), min_size=1, max_size=60)


@given(numbers, st.integers(1, 60))
def test_a_histogram_does_not_depend_on_chunks(values, cut):
    values = np.array(values)
    whole = histogram_of(values)
    assert len(whole.counts) <= MOST_BINS
    assert_array_equal(np.histogram(values, whole.edges)[0][:-1], whole.counts[:-1])
    if cut < len(values):
        parts = histogram_of(values[:cut]) + histogram_of(values[cut:])
        assert parts.counts.sum() == len(values)
        assert (parts.exponent, parts.first) == (whole.exponent, whole.first)
        assert_array_equal(parts.counts, whole.counts)


@pytest.mark.parametrize("exposed", [False, True])
def test_means_of_tenths_and_the_lorenz_curve_are_those_of_sorted_rows(exposed):
    rng = np.random.default_rng(0)
    X, weight, years = rng.normal(size=(200, 3)), rng.uniform(0.5, 2.0, 200), rng.uniform(0.1, 3.0, 200)
    years = years if exposed else np.ones(200)
    y = rng.poisson(years * np.exp(X[:, 0]))
    beside = {"exposure": years} if exposed else {}
    fitted = riata.SparseRegressor(loss="poisson", alpha=0.01).fit(X, y, weight, **beside)
    found = quality(fitted.to_model(), fitted._dataset(X, y, weight, **beside, reset=False)).means
    order = np.argsort(fitted.predict(X))  # for an exposure of 1
    rows, whole = (np.append(0.0, np.cumsum(part[order]) / part.sum()) for part in (weight * years, weight * y))
    assert_allclose(found.lorenz(), [rows, whole], atol=1e-12)
    tenth = np.floor(10 * rows[:-1]).astype(int)
    size, sums = (np.bincount(tenth, part[order]) for part in (weight * years, weight * y))
    assert_allclose(found.groups().observed, sums / size)
    assert_allclose(np.average(found.groups().predicted, weights=size), np.average(y / years, weights=weight * years))
