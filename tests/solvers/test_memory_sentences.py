"""Who gives as much memory as a refusal asks for is not refused again."""

import re

import numpy as np
import pytest

import riata
from riata.errors import OptionError

WIDE = 260


def refused_then_followed(spec, memory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, WIDE))
    y = X @ rng.normal(size=WIDE) + rng.normal(size=400)
    data = riata.open(X, y)
    with pytest.raises(OptionError) as refusal:
        riata.train(data, riata.Spec(**spec, memory=memory))
    asked = max(int(number) for number in re.findall(r"(\d+) MB", str(refusal.value)))
    return str(refusal.value), riata.train(data, riata.Spec(**spec, memory=f"{asked}MB"))


@pytest.mark.parametrize("ratio", [0.05, 0.001])
def test_features_that_want_to_be_in_the_model(ratio):
    sentence, trained = refused_then_followed({"alpha_ratio": ratio, "solver": "exact"}, 10_000)
    assert "want to be in the model" in sentence
    assert np.count_nonzero(trained.coef)


@pytest.mark.parametrize("k", [3, 20])
def test_best_k(k):
    sentence, trained = refused_then_followed({"k": k}, 10_000)
    assert f"best k = {k} of {WIDE} features needs about" in sentence
    assert np.count_nonzero(trained.coef) == k


def test_best_k_of_groups():
    groups = np.arange(WIDE) // 5
    sentence, trained = refused_then_followed({"k": 2, "groups": groups.tolist()}, 10_000)
    assert "groups need the products" in sentence
    assert np.count_nonzero(trained.coef) == 10


@pytest.mark.parametrize("k", [100, 250])
def test_statistics_of_online_candidates(k):
    sentence, trained = refused_then_followed({"k": k, "solver": "online", "max_passes": 1}, 50_000)
    assert f"for the products of k={k} features" in sentence
    assert 0 < np.count_nonzero(trained.coef) <= k
