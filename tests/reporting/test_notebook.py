"""What a notebook shows of an estimator."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import riata


@pytest.fixture
def frame(rng):
    return pd.DataFrame(rng.normal(size=(90, 14)), columns=[f"<i>{j}" for j in range(14)])


def shown(estimator) -> str:
    """What Jupyter asks for."""
    html = estimator._repr_mimebundle_()["text/html"]
    assert html.startswith(("<style", "<div"))
    assert len(estimator._repr_html_()) > 0
    return html


def test_before_the_fit_it_is_scikit_learns(frame):
    assert "riata-fit" not in shown(riata.SparseRegressor(k=2))


def test_a_fitted_regression(frame):
    model = riata.SparseRegressor(k=12).fit(frame, 2 * frame["<i>3"] - frame["<i>5"])
    html = shown(model)
    assert "SparseRegressor: 2 of 14 features" in html
    assert html.count('class="bar') == 2
    assert "&lt;i&gt;3" in html
    assert "<i>" not in html.split("sk-container")[0]
    assert "sk-container" in html  # scikit-learn's own is still there
    assert "converged" in html
    assert "text/html" not in _plain(model)


def _plain(model):
    with config_context(display="text"):
        return model._repr_mimebundle_()


def test_more_than_ten_features_several_classes_and_streams(frame):
    X, y = frame.to_numpy(), np.digitize(frame.to_numpy().sum(axis=1), [-2, 2])
    html = shown(riata.SparseClassifier(alpha=0.001, tol=1e-3, loss="logistic").fit(X, y))
    assert html.count('class="bar') == 10
    assert "more</div>" in html
    assert "one against the rest" in html
    stream = riata.SparseRegressor(k=2, solver="l0-sgd", standardize=False).partial_fit(X, X[:, 0])
    assert "learnt from a stream" in shown(stream)


def test_in_a_pipeline_it_is_scikit_learns(frame):
    pipeline = make_pipeline(StandardScaler(), riata.SparseRegressor(k=2)).fit(frame, frame["<i>3"])
    assert "riata-fit" not in pipeline._repr_html_()
