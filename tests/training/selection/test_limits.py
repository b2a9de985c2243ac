"""Coefficients that no row limits are noticed, and a chosen k then has a ridge."""

import numpy as np
import pytest

from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.training.fitting import fit
from riata.training.selection.limits import without_limit
from riata.training.spec import Spec
from riata.training.train import train


def rows(rng, n=400, one_class=True):
    """Noisy classes beside an indicator, all of whose rows are of one class, or but for one of them."""
    X = rng.normal(size=(n, 3)) * [1.0, 30.0, 1e-3]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    level = np.zeros(n)
    level[:40], y[:40] = 1.0, 1.0
    y[0] = 1.0 if one_class else -1.0
    return np.column_stack([X, level]), y


@pytest.mark.parametrize("make", [InMemory, lambda X, y: Chunked(X, y, 37)], ids=["in memory", "from disk"])
@pytest.mark.parametrize("loss", ["logistic", "probit", "cloglog"])
def test_a_level_of_one_class_has_no_limit_and_one_other_row_gives_it_one(make, loss, rng):
    for one_class in (True, False):
        data = make(*rows(rng, one_class=one_class))
        found = fit(data, Spec(k=4, loss=loss)).result
        assert without_limit(data, LOSSES[loss], found.coef, found.intercept) == one_class


def test_scales_and_weights_do_not_matter(rng):
    X, y = rows(rng, one_class=False)
    for scale, weight in ((1e-6, 1.0), (1e6, 1.0), (1.0, 1e-6), (1.0, 1e6)):
        data = InMemory(X * scale, y, np.full(len(y), weight))
        found = fit(data, Spec(k=4, loss="logistic")).result
        assert not without_limit(data, LOSSES["logistic"], found.coef, found.intercept)


def test_a_chosen_k_has_a_ridge_where_rows_do_not_limit_it(rng):
    X, y = rows(rng)
    data = InMemory(X, (y > 0).astype(float), classes=np.array(["no", "yes"]))
    trained = train(data, Spec(k="auto", loss="logistic"))
    assert trained.coef[0, 3] != 0.0
    assert abs(trained.coef[0, 3]) < 8.0
    assert trained.course.ridges[0] > 0.0
