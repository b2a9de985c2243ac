"""Pictures hold what the model holds, and follow scikit-learn's convention for displays."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

import riata
from riata import plot
from riata.errors import MissingPackageError, OptionError
from riata.plot.convergence_display import ConvergenceDisplay
from riata.training.driver import Record


@pytest.fixture
def ax():
    return Figure().subplots()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 6))
    return X, X @ [2.0, 0, -1, 0, 0.5, 0] + rng.normal(size=120)


@pytest.fixture(scope="module")
def searched(rows):
    return riata.SparseRegressor(alpha="auto", n_alphas=20, cv=3).fit(*rows)


@pytest.fixture(scope="module")
def classes(rows):
    X, y = rows
    one_against_the_rest = riata.SparseClassifier(alpha="auto", n_alphas=8, select="bic", loss="logistic")
    return one_against_the_rest.fit(X, np.digitize(y, [-1, 1]))


def test_a_path_has_a_line_per_feature(searched, ax):
    display = plot.path(searched, ax=ax, named=2)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    used = np.flatnonzero(np.any(searched.path_.coefs != 0, axis=0))
    assert len(display.lines_) == len(used)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["x0", "x2"]
    line = next(line for line in display.lines_ if line.get_label() == "x0")
    assert_allclose(line.get_ydata(), searched.path_.coefs[:, 0] * searched.scale_[0])


def test_a_display_can_be_drawn_again(searched):
    first, second = Figure().subplots(2)
    display = plot.selection(searched, ax=first)
    assert_allclose(display.line_.get_ydata(), searched.selection_.scores)
    assert display.plot(ax=second) is display
    assert display.ax_ is second


def test_classes_have_paths_of_their_own(classes, ax):
    with pytest.raises(OptionError, match="give label one of 0, 1, 2"):
        plot.path(classes, ax=ax)
    assert "class 2" in plot.path(classes, label=2, ax=ax).ax_.get_title()
    with pytest.raises(OptionError, match="give label one of 0, 1, 2"):
        plot.coefficients(classes, ax=ax)
    assert len(plot.coefficients(classes, label=0, ax=ax).bars_) == np.count_nonzero(np.any(classes.coef_ != 0, axis=0))
    assert len(plot.convergence(classes, ax=ax).lines_) == 3


def test_convergence(rows, ax):
    model = riata.SparseRegressor(alpha=0.1).fit(*rows)
    line = plot.convergence(model, ax=ax).lines_[0]
    assert_allclose(line.get_ydata(), [record.gap for record in model.history_])
    values = plot.convergence(model, measure="n_selected", ax=ax).lines_[0].get_ydata()
    assert values[-1] == np.count_nonzero(model.coef_)
    with pytest.raises(OptionError, match="measure must be one of"):
        plot.convergence(model, measure="loss", ax=ax)
    online = riata.SparseRegressor(k=2, solver="l0-sgd", standardize=False).partial_fit(*rows)
    with pytest.raises(OptionError, match="no history"):
        plot.convergence(online, ax=ax)
    with pytest.raises(OptionError, match="no path"):
        plot.path(model, ax=ax)


def test_an_objective_that_moves_by_rounding_is_a_flat_line(ax):
    values = [1573.25, np.nextafter(1573.25, 2000.0), 1573.25]
    history = [Record(float(i), i, 0.1, F, None, 3) for i, F in enumerate(values, 1)]
    ConvergenceDisplay(histories=[history], labels=[""], measure="objective").plot(ax=ax)
    low, high = ax.get_ylim()
    assert high - low > 1.0
    assert low < 1573.25 < high


def test_coefficients_with_whiskers(rows, ax):
    model = riata.SparseRegressor(k=3).fit(*rows)
    found = riata.stability_selection(riata.SparseRegressor(k=3), *rows, rounds=3)
    display = plot.coefficients(model, stability=found, ax=ax)
    widths = sorted(bar.get_width() for bar in display.bars_)
    assert_allclose(widths, np.sort((model.coef_ * model.scale_)[model.get_support()]))
    assert display.bars_.errorbar is not None
    assert_allclose(display.errors, found.spread[0, model.get_support()] * model.scale_[model.get_support()])


def test_stability(rows, ax):
    found = riata.stability_selection(riata.SparseRegressor(k=3), *rows, rounds=3)
    display = plot.stability(found, list("abcdef"), ax=ax)
    assert_allclose([bar.get_width() for bar in display.bars_], -np.sort(-found.frequencies[found.frequencies > 0]))
    assert plot.stability(found, ax=ax).ax_ is ax
    with pytest.raises(OptionError, match=r"what riata\.stability_selection"):
        plot.stability(riata.SparseRegressor(k=3), ax=ax)


def test_tests_of_two_classes(rows, ax):
    X, y = rows
    model = riata.SparseClassifier(k=2).fit(X, y > 0)
    display = plot.roc(model, (X, y > 0), ax=ax)
    assert display.ax_ is ax
    assert_allclose(display.roc_auc, roc_auc_score(y > 0, model.decision_function(X)))
    assert plot.precision_recall(model, (X, y > 0), ax=ax).average_precision > 0.8
    assert len(plot.calibration(model, (X, y > 0), ax=ax).prob_true) > 2
    assert plot.confusion(model.to_model(), (X, y > 0), ax=ax).confusion_matrix.sum() == 120
    with pytest.raises(OptionError, match="no residuals"):
        plot.residuals(model, (X, y > 0), ax=ax)


def test_rows_may_be_given_as_scikit_learns_displays_take_them(rows, searched, ax):
    X, y = rows
    model = riata.SparseClassifier(k=2).fit(X, y > 0)
    assert plot.roc(model, X, y > 0, ax=ax).roc_auc == plot.roc(model, (X, y > 0), ax=ax).roc_auc
    assert plot.confusion(model, X, y > 0, ax=ax).confusion_matrix.sum() == 120
    assert len(plot.residuals(searched, X, y, ax=ax).y_true) == 120


def test_tests_of_a_regression_and_of_several_classes(rows, searched, classes, ax):
    X, y = rows
    assert len(plot.residuals(searched, (X, y), ax=ax).y_true) == 120
    with pytest.raises(OptionError, match="no classes"):
        plot.roc(searched, (X, y), ax=ax)
    labels = np.digitize(y, [-1, 1])
    with pytest.raises(OptionError, match="give label one of"):
        plot.roc(classes, (X, labels), ax=ax)
    assert plot.roc(classes, (X, labels), label=2, ax=ax).roc_auc > 0.8
    with pytest.raises(OptionError, match="test must be a Dataset"):
        plot.roc(classes, X, ax=ax)


def test_without_matplotlib_it_is_one_sentence(searched, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delattr("matplotlib.pyplot", raising=False)
    with pytest.raises(MissingPackageError, match="pip install 'riata"):
        plot.path(searched)


def test_a_lorenz_curve_of_counts(rows, ax):
    X, _ = rows
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 0]))
    model = riata.SparseRegressor(loss="poisson", alpha=0.01).fit(X, counts)
    display = plot.lorenz(model, (X, counts), ax=ax)
    order = np.argsort(model.predict(X))
    assert_allclose(display.line_.get_ydata(), np.append(0.0, np.cumsum(counts[order]) / counts.sum()), atol=1e-12)
    assert 0.2 < display.gini < 1.0
    with pytest.raises(OptionError, match="a Lorenz curve is of counts and amounts"):
        plot.lorenz(riata.SparseRegressor(k=1).fit(X, counts), (X, counts), ax=ax)


def test_survival_curves(rows, ax):
    X, y = rows
    times = np.rec.fromarrays([y > -1.0, np.exp(y)], names="event, time")
    model = riata.SparseSurvival(alpha=0.05).fit(X, times)
    display = plot.survival(model, X[:3], labels="abc", ax=ax)
    curves = model.predict_survival_function(X[:3], return_array=True)
    assert_allclose([line.get_ydata()[1:] for line in display.lines_], curves)
    assert_allclose(plot.survival(model.to_model(), X[:3], ax=ax).survival, curves)
    for wrong, sentence in (({"X": X}, "120 curves cannot be told apart"), ({"X": X[:2], "labels": "a"}, "1 labels")):
        with pytest.raises(OptionError, match=sentence):
            plot.survival(model, **wrong, ax=ax)
    with pytest.raises(OptionError, match="this is a regression"):
        plot.survival(riata.SparseRegressor(k=1).fit(X, y), X[:3], ax=ax)
