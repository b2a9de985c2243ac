"""Features whose coefficients no row limits are named, and no others."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import riata
from riata.model.quality import quality


def rows_with_a_word(rng, n=600, of_one_class=20, of_the_other=0, inverted=False, value=1.0):
    """Rows of which some have a word, by their classes."""
    X = rng.normal(size=(n, 4))
    y = rng.random(n) < 1 / (1 + np.exp(X[:, 1] - X[:, 0]))
    word = np.zeros(n)
    word[rng.permutation(np.flatnonzero(y))[:of_one_class]] = value
    word[rng.permutation(np.flatnonzero(~y))[:of_the_other]] = value
    return np.column_stack([X, word.max() - word if inverted else word]), y


def unlimited(X, y, **options):
    model = riata.SparseClassifier(**options).fit(X, y).to_model()
    assert "x4" in model.names
    return quality(model, model.rows(X, y)).unlimited


@pytest.mark.parametrize("value", [1.0, 1e-4, 3e5])
@pytest.mark.parametrize("inverted", [False, True])
def test_a_word_of_one_class(rng, inverted, value):
    X, y = rows_with_a_word(rng, inverted=inverted, value=value)
    assert unlimited(X, y, k=3) == ["x4"]
    assert unlimited(sp.csr_array(X), y, k=3) == ["x4"]
    assert unlimited(X, y, k="auto") == []  # which has a ridge then


def test_a_word_of_few_among_many_rows(rng):
    X, y = rows_with_a_word(rng, n=50_000, of_one_class=10)
    assert unlimited(X, y, k=3) == ["x4"]
    assert unlimited(X, y, k=3, class_weight="balanced") == ["x4"]


@pytest.mark.parametrize("options", [{"k": 3, "ridge": 0.01}, {"k": 3, "ridge": 1e-5}, {"alpha": 1e-3}])
def test_a_penalty_limits_it(rng, options):
    X, y = rows_with_a_word(rng)
    assert unlimited(X, y, **options) == []


def test_without_the_penalty_it_is_again(rng):
    X, y = rows_with_a_word(rng)
    assert unlimited(X, y, alpha=1e-3, debias=True) == ["x4"]


@pytest.mark.parametrize("n", [300, 20_000])
def test_one_row_that_speaks_against_it(rng, n):
    X, y = rows_with_a_word(rng, n=n, of_one_class=100, of_the_other=1)
    assert unlimited(X, y, k=3) == []


def test_words_that_are_certain_only_together(rng):
    """Rows with the first word are of one class unless they have the second, which is of the other alone."""
    X, y = rows_with_a_word(rng, of_one_class=60, of_the_other=10)
    X = np.column_stack([X, (X[:, 4] > 0) & ~y])
    assert unlimited(X, y, k=4) == ["x4", "x5"]


def test_a_class_of_several_with_a_level_of_its_own(rng):
    codes = rng.integers(0, 3, 900)
    frame = pd.DataFrame(rng.normal(size=(900, 2)) + codes[:, None], columns=["a", "b"])
    frame["level"] = np.where((codes == 2) & (rng.random(900) < 0.2), "only two", "any")
    frame["kind"] = codes.astype(str)
    data = riata.open(frame, target="kind")
    model = riata.SparseClassifier(k=2).fit(data).to_model()
    found = quality(model, data)
    assert found.separated == []
    assert [name for name in found.unlimited if "level" in name] == found.unlimited != []


def test_classes_in_an_order_share_one_margin(rng):
    """That of the classes whose rows are all to one side was looked for among as many as there are classes."""
    X = rng.normal(size=(200, 5))
    y = np.digitize(X[:, 0], [-0.5, 0.0, 0.5])
    model = riata.SparseClassifier(k=2, loss="ordinal").fit(X, y).to_model()
    found = quality(model, model.rows(X, y))
    assert found.separated
    assert found.unlimited == []
