"""`riata.path` and `riata.k_path` see rows as `riata.train` does, however they were opened."""

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import DataError, OptionError

N, PRECISE = 300, 1e-9


@pytest.fixture
def rows():
    """X, a linear function of it, an offset, and a generator for what is drawn of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 5))
    return X, X[:, 0] - 0.5 * X[:, 1], rng.normal(size=N), rng


def same_as_a_fit(data, **asked):
    """The last models of both paths are those that `train` finds at the same alpha and k."""
    spec = riata.Spec(tol=PRECISE, **asked)
    along = riata.path(data, spec, length=10)
    fitted = riata.train(data, riata.Spec(tol=PRECISE, alpha=along.values[-1], **asked))
    np.testing.assert_allclose(along.coefs[-1], fitted.coef.ravel(), atol=1e-3)
    np.testing.assert_allclose(along.intercepts[-1], fitted.intercept.item(), atol=1e-3)
    if not {"bounds", "groups"} & asked.keys():
        best = riata.train(data, riata.Spec(tol=PRECISE, k=2, **asked))
        np.testing.assert_allclose(riata.k_path(data, spec, 2).coefs[-1], best.coef.ravel(), atol=1e-3)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_offsets_count(rows, loss):
    X, z, offset, rng = rows
    y = z + offset + rng.normal(size=N) if loss == "squared" else rng.poisson(np.exp(z + offset))
    same_as_a_fit(riata.open(X, y, offset=offset, task="regression"), loss=loss)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 3.0}])
def test_two_classes_are_one_margin(rows, class_weight):
    X, z, offset, rng = rows
    labels = np.where(z + 1.0 > rng.logistic(size=N), "yes", "no")
    same_as_a_fit(riata.open(X, labels, offset=offset), loss="logistic", class_weight=class_weight)


@pytest.mark.parametrize(
    "asked",
    [
        {"bounds": {"x0": (0, 0.3)}},
        {"groups": [0, 0, 1, 1, 1], "group_ratio": 0.5},
        {"normalize": "rows", "standardize": False},
    ],
    ids=str,
)
def test_options_count(rows, asked):
    X, z, _, rng = rows
    same_as_a_fit(riata.open(X, z + rng.normal(size=N)), **asked)


def test_columns_by_name(rows):
    X, z, _, rng = rows
    frame = pd.DataFrame({"level": rng.choice(list("abc"), N), "number": X[:, 0], "y": z})
    data = riata.open(frame, "y")
    same_as_a_fit(data, groups="columns")
    always_in = riata.path(data, riata.Spec(penalty_factors={"number": 0}), length=5)
    assert always_in.coefs[0, list(data.feature_names).index("number")] != 0


def test_what_has_no_path(rows):
    X, z, _, rng = rows
    with pytest.raises(OptionError, match="each of 3 classes has its own"):
        riata.path(riata.open(X, rng.choice(list("abc"), N)), riata.Spec(loss="logistic"))
    with pytest.raises(DataError, match="the Poisson loss is for counts"):
        riata.k_path(riata.open(X, z), riata.Spec(loss="poisson"), 2)
    with pytest.raises(OptionError, match="k counts groups that do not overlap"):
        riata.k_path(riata.open(X, z), riata.Spec(groups=[["x0", "x1"], ["x1", "x2"]]), 2)
