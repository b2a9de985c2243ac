"""Best k: what it says it has proved is true, and nothing about the data's form changes the answer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from chunked import Chunked
from naive_l0 import best_subset, best_swap, refit
from problems import LAYOUTS, SMOOTH
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.kernels.products import narrow_products
from riata.losses import LOSSES
from riata.outcome.proofs import SwapOptimal, ZeroLoss
from riata.solvers.iterate import Options
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.search.candidates import HELD, ROW_COPIES, room_for
from riata.training.fitting import fit, make_problem
from riata.training.spec import Spec
from subset_problems import SmallSubset, every_optimum


def correlated(rng, n=120, d=14, k=4):
    """Columns that share a factor, on different scales and means: forward selection alone goes wrong."""
    X = (rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(n, 1))) * 10.0 ** rng.uniform(-2, 2, d) + rng.normal(size=d)
    w = np.zeros(d)
    w[rng.choice(d, k, replace=False)] = rng.choice([-1.0, 1.0], k)
    return X, X / X.std(axis=0) @ w + 0.5 * rng.normal(size=n)


def labels(rng, y):
    """Signs that a linear model of y cannot tell apart without errors."""
    return np.where(y + y.std() * rng.normal(size=len(y)) > np.median(y), 1.0, -1.0)


def fitted(data, k, **options):
    return fit(data, Spec(k=k, solver="best-k", **options)).result


def support_of(result):
    return np.flatnonzero(result.coef)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_no_swap_improves_what_is_returned(seed, fit_intercept):
    X, y = correlated(np.random.default_rng(seed), d=30)
    result = fitted(InMemory(X, y), 5, fit_intercept=fit_intercept)
    F, w, b = refit(X, y, support_of(result), fit_intercept=fit_intercept)
    assert result.converged
    assert result.proof == SwapOptimal(k=5, n_others=25, size=5)
    assert_allclose(result.objective, F, rtol=1e-9)
    assert_allclose(result.coef[support_of(result)], w, rtol=1e-6)
    assert_allclose(result.intercept, b, atol=1e-7 * np.abs(y).max())
    assert best_swap(X, y, support_of(result), fit_intercept=fit_intercept) >= F - 1e-9 * y.var()


def test_it_usually_is_the_best_of_all_subsets():
    found = []
    for seed in range(10):
        X, y = correlated(np.random.default_rng(seed), d=12)
        F, _ = best_subset(X, y, 3)
        found.append(fitted(InMemory(X, y), 3).objective <= F + 1e-9)
    assert sum(found) >= 9


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_neither_layout_nor_chunks_matter(rng, layout, loss):
    X, y = correlated(rng, d=40)
    X = np.round(X * 8) / 8 * (rng.random(X.shape) < 0.4)  # exact in float32, and sparse
    y = labels(rng, y) if loss == "logistic" else y
    reference = fitted(InMemory(X, y), 6, loss=loss)
    for data in [InMemory(LAYOUTS[layout](X), y)] + [Chunked(LAYOUTS[layout](X), y, rows) for rows in (1, 7, 1000)]:
        result = fitted(data, 6, loss=loss)
        assert_allclose(result.coef, reference.coef, rtol=1e-6)
        assert_allclose(result.objective, reference.objective, rtol=1e-9)


def test_weights_are_repetitions(rng):
    X, y = correlated(rng)
    times = rng.integers(0, 4, len(y))
    weighted = fitted(InMemory(X, y, times), 4)
    repeated = fitted(InMemory(np.repeat(X, times, axis=0), np.repeat(y, times)), 4)
    assert_allclose(weighted.coef, repeated.coef, rtol=1e-8)
    assert_allclose(weighted.objective, repeated.objective, rtol=1e-9)


def test_columns_in_another_order_and_scale_give_the_same_model(rng):
    X, y = correlated(rng, d=40)
    order, scale = rng.permutation(40), 2.0 ** rng.integers(-9, 9, 40)
    reference, other = fitted(InMemory(X, y), 6), fitted(InMemory((X * scale)[:, order], y), 6)
    assert_allclose(other.coef * scale[order], reference.coef[order], rtol=1e-7)


def test_ridge_is_part_of_the_objective(rng):
    X, y = correlated(rng)
    result = fitted(InMemory(X, y), 4, ridge=0.3)
    l2 = 0.3 * X.var(axis=0)
    F, w, _ = refit(X, y, support_of(result), l2=l2)
    assert_allclose(result.objective, F, rtol=1e-9)
    assert_allclose(result.coef[support_of(result)], w, rtol=1e-7)
    assert best_swap(X, y, support_of(result), l2=l2) >= F - 1e-9 * y.var()


def test_duplicates_constants_and_combinations_are_taken_once(rng):
    base = rng.normal(size=(50, 3))
    X = np.column_stack([base, base, np.ones(50), np.zeros(50), base @ [1.0, 2.0, 3.0], 1e6 + base[:, 0]])
    result = fitted(InMemory(X, base @ [1.0, -1.0, 0.5] + 0.1 * rng.normal(size=50)), 6)
    assert len(support_of(result)) == 3
    assert result.proof == SwapOptimal(k=6, n_others=4, size=3)
    assert result.reason == "3 features do as well as 6: no other changes the objective"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_losses_take_copies_once_too(rng, dtype):
    base = rng.normal(size=(200, 5))
    X = np.column_stack([base, base, np.ones(200), base @ [1.0, 2.0, 3.0, 0.0, 1.0], 1e3 + base[:, 0]]).astype(dtype)
    result = fitted(InMemory(X, labels(rng, base @ [1.0, -1.0, 0.5, 0.0, 2.0])), 8, loss="logistic")
    assert len(support_of(result)) == 5
    assert isinstance(result.proof, SwapOptimal)
    assert not result.proof.full
    assert "no further feature" in result.reason


def test_more_features_than_rows(rng):
    X, y = rng.normal(size=(8, 30)), rng.normal(size=8)
    result = fitted(InMemory(X, y), 20)
    assert len(support_of(result)) <= 8
    assert result.objective < 1e-9
    assert_allclose(X @ result.coef + result.intercept, y, atol=1e-4)


@pytest.mark.parametrize("n", [1, 2])
def test_hardly_any_rows(rng, n):
    result = fitted(InMemory(rng.normal(size=(n, 4)), np.arange(n)), 2)
    assert result.objective < 1e-12
    assert len(support_of(result)) == n - 1


def test_a_large_mean_does_not_cost_the_digits(rng):
    X, y = correlated(rng)
    reference = fitted(InMemory(X, y), 4)
    shifted = fitted(InMemory(X + 1e6 * X.std(axis=0), y), 4)
    assert_allclose(shifted.coef, reference.coef, rtol=1e-4)


def test_few_passes_and_little_memory(rng):
    X, y = correlated(rng, d=400, k=10)
    data = Chunked(X, y, 50)
    assert fitted(data, 10).passes <= 10
    tight = fitted(data, 10, memory=ROW_COPIES * 8 * 400 * 30)
    assert tight.proof == SwapOptimal(k=10, n_others=390, size=10)
    with pytest.raises(OptionError, match="memory"):
        fitted(data, 10, memory=10_000)


@pytest.mark.parametrize("loss", [name for name in SMOOTH if not LOSSES[name].quadratic])
def test_other_losses_are_refitted_and_no_swap_improves_them(rng, loss):
    X, y = correlated(rng, n=150, d=12)
    y = labels(rng, y) if LOSSES[loss].labels else np.round(np.abs(y))
    y = y if LOSSES[loss].takes(np.zeros(1))[0] else y + 0.5
    y = y / y.max() if LOSSES[loss].of_shares else y
    result = fitted(InMemory(X, y), 3, loss=loss)
    standard = X / X.std(axis=0)  # the same models, easier for the naive fits
    F, w, _ = refit(standard, y, support_of(result), loss=LOSSES[loss])
    assert isinstance(result.proof, SwapOptimal)
    assert result.proof.n_refitted is not None
    assert "no swap" in result.reason
    assert_allclose(result.objective, F, rtol=1e-7)
    assert_allclose((result.coef * X.std(axis=0))[support_of(result)], w, rtol=1e-3)
    assert best_swap(standard, y, support_of(result), loss=LOSSES[loss]) >= F - 1e-7
    falls = np.diff([record.objective for record in result.history])
    assert (falls <= 0).all()


def test_refits_read_the_data_where_they_do_not_fit_the_memory(rng):
    X, y = correlated(rng, n=3000, d=12)
    y = labels(rng, y)
    reference = fitted(InMemory(X, y), 3, loss="logistic")
    tight = fitted(Chunked(X, y, 500), 3, loss="logistic", memory=20_000)
    assert_allclose(tight.coef, reference.coef, rtol=1e-6)
    assert tight.passes > fitted(Chunked(X, y, 500), 3, loss="logistic").passes


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_rows_that_contradict_each_other_are_all_that_is_left_of_the_loss(seed):
    X = np.random.default_rng(seed).normal(size=(60, 80))
    y = np.sign(X[:, 0] + X[:, 1])
    X, y = np.vstack([X, X[:4]]), np.append(y, -y[:4])  # the other rows bend nothing in the end: H has rank four
    result = fitted(InMemory(X, y), 15, loss="logistic")
    assert_allclose(result.objective, 8 * np.log(2) / 64, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_with_few_rows_it_is_never_worse_than_matching_pursuit(seed):
    X, y = correlated(np.random.default_rng(seed), n=40, d=600, k=12)
    X = X / X.std(axis=0)
    pursued = fit(InMemory(X, y), Spec(k=15, solver="omp")).result
    assert fitted(InMemory(X, y), 15).objective <= pursued.objective * (1 + 1e-9)


def test_products_of_a_few_columns_are_those_of_all_rows_and_tiles(rng):
    A, X = rng.normal(size=(23, 3)), rng.normal(size=(23, 1100)).astype(np.float32)
    for width in (1100, 1099):  # of rows that go on with a target
        assert_allclose(narrow_products(A, X, width), A.T @ X[:, :width], atol=1e-12)


@pytest.mark.parametrize("k", [3, 10, 30])
def test_what_every_feature_takes_is_part_of_the_budget(k):
    d, memory = 1_000_000, 256_000_000
    at_once = room_for(k, d, Options(1, memory=memory)).at_once
    assert 0.7 * memory <= HELD * 8 * d + ROW_COPIES * 8 * k * at_once <= memory


def test_separated_classes_end(rng):
    X = rng.normal(size=(40, 6))
    result = fitted(InMemory(X, np.sign(X[:, 2])), 2, loss="logistic")
    assert result.objective < 1e-6
    assert result.proof == ZeroLoss()
    assert "zero" in result.reason
    assert np.isfinite(result.coef).all()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_that_never_vary_give_the_empty_model(loss):
    result = fitted(InMemory(np.ones((6, 3)), np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])), 2, loss=loss)
    assert not result.coef.any()
    assert result.converged


@pytest.mark.parametrize(
    ("loss", "k", "ridge", "seeds"), [("squared", 6, 0.0, (78, 117, 305)), ("logistic", 4, 0.01, (2, 21))]
)
def test_searches_from_nothing_leave_supports_that_no_swap_improves(loss, k, ridge, seeds):
    """All swaps, additions and pairs end too high on these tangled columns."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 12)) @ (0.9 * rng.normal(size=(12, 12)) + np.eye(12))
        y = X @ rng.normal(size=12) + 3.0 * rng.normal(size=40)
        y = np.where(y > np.median(y), 1.0, -1.0) if loss == "logistic" else y
        case = SmallSubset(X, y, np.ones(40), Spec(k=k, loss=loss, ridge=ridge))
        assert fit(case.data(), case.spec).result.objective <= every_optimum(case)[0] * (1 + 1e-9)


@pytest.mark.parametrize("in_memory", [True, False])
def test_an_outlook_in_blocks_of_columns_is_the_same(rng, in_memory):
    X, y = correlated(rng, d=50)
    data = InMemory(X, labels(rng, y)) if in_memory else Chunked(X, labels(rng, y), 31)
    problem, _ = make_problem(data, Spec(k=4, loss="logistic", ridge=0.1))
    w = np.zeros(50)
    w[[3, 8]] = 0.1, -0.2
    for support, candidates in ((np.array([2, 3, 8, 40]), np.arange(45)), (np.array([3, 8]), np.arange(0))):
        whole, blocks = (
            LocalQuadratic.at(problem, w, 0.3, candidates, at_once=n).outlook(support, 4) for n in (None, 7)
        )
        outside = np.setdiff1d(np.arange(50), support)
        assert_allclose(blocks.gains[outside], whole.gains[outside], atol=1e-7)  # without the damping
        assert (blocks.partners[outside] == whole.partners[outside]).all()
        assert_allclose(blocks.weights, whole.weights, atol=1e-7)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_fit_that_has_no_room_for_all_products_is_swap_optimal_too(rng, loss):
    """There is room for a few candidates, and for the products of a support with some columns at a time."""
    X, y = correlated(rng, d=3000)
    y = labels(rng, y) if loss == "logistic" else y
    whole, tight = (fitted(InMemory(X, y), 5, loss=loss, memory=memory) for memory in (None, 400_000))
    assert room_for(5, 3000, Options(1, memory=400_000)).at_once < 3000
    assert tight.stop.reason == whole.stop.reason
    assert tight.objective < 1.2 * whole.objective
