"""Where nobody gave a budget, a search takes what it needs if that is free, and no more."""

import numpy as np
import pytest

import riata
from riata.errors import OptionError
from riata.solvers.subset import memory_untold
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD, budget_for


@pytest.fixture
def free(monkeypatch):
    """A function that sets what is free."""
    return lambda n_bytes: monkeypatch.setattr(memory_untold, "free_memory", lambda: n_bytes)


@pytest.mark.parametrize("need", [1, MEMORY_UNTOLD, 3 * MEMORY_UNTOLD, 100 * MEMORY_UNTOLD])
@pytest.mark.parametrize("available", [None, 0, MEMORY_UNTOLD, 8 * MEMORY_UNTOLD])
def test_the_budget_follows_from_the_need_and_from_what_is_free(free, need, available):
    free(available)
    budget = budget_for(need, None)
    assert budget == MEMORY_UNTOLD or budget == min(need, available // 2)
    assert budget >= min(need, (available or 0) // 2)
    assert budget_for(need, 12345) == 12345


@pytest.mark.parametrize("more", [{}, {"groups": (np.arange(60) // 3).tolist()}], ids=["features", "groups"])
def test_a_search_is_refused_only_where_too_little_is_free(free, monkeypatch, more):
    monkeypatch.setattr(memory_untold, "MEMORY_UNTOLD", 1000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 60))
    data, spec = riata.open(X, X[:, 0] - X[:, 7] + 0.1 * rng.normal(size=100)), riata.Spec(k=2, **more)
    free(1 << 20)
    coef = riata.train(data, spec).coef
    assert coef[..., [0, 7]].all()
    free(1 << 10)
    with pytest.raises(OptionError, match="give it more"):
        riata.train(data, spec)
