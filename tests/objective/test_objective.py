"""The objective, its gradient and its certificate."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from chunked import Chunked
from problems import LAYOUTS, small
from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.objective import (
    Problem,
    alpha_max,
    duality_gap,
    elastic_net,
    empty_intercept,
    empty_start,
    first_order,
    gap_unit,
    objective,
)
from riata.penalties import ElasticNet
from riata.training.fitting import fit
from riata.training.offsets import with_offsets
from riata.training.spec import Spec

STRENGTHS = {"l1": (0.05, 1.0), "elastic net": (0.1, 0.3), "weak": (1e-4, 1.0)}


def problem_of(loss, layout="dense", alpha=0.05, l1_ratio=1.0, fit_intercept=True, standardize=True):
    data = small(loss).data(layout)
    scale = data.moments.scale if standardize else 1.0
    return Problem(data, LOSSES[loss], elastic_net(alpha, l1_ratio, scale), fit_intercept, scale)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_gradient_matches_finite_differences(loss, layout, rng):
    problem = problem_of(loss, layout, alpha=0.0)
    w, b, h = rng.normal(size=12), 0.3, 1e-6
    at = first_order(problem, w, b)
    slopes = [(objective(problem, w + h * e, b) - objective(problem, w - h * e, b)) / (2 * h) for e in np.eye(12)]
    assert_allclose(at.by_w, slopes, rtol=1e-4, atol=1e-5)
    assert_allclose(at.by_b, (objective(problem, w, b + h) - objective(problem, w, b - h)) / (2 * h), rtol=1e-4)
    assert_allclose(at.loss, objective(problem, w, b), rtol=1e-6)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_gap_bounds_the_distance_to_the_minimum_everywhere(loss, fit_intercept, strength, rng):
    alpha, l1_ratio = STRENGTHS[strength]
    problem = problem_of(loss, "dense", alpha, l1_ratio, fit_intercept)
    solved = fit(problem.data, Spec(alpha=alpha, l1_ratio=l1_ratio, loss=loss, fit_intercept=fit_intercept, tol=1e-9))
    minimum = solved.result.objective
    assert solved.result.gap <= 1e-9
    for size in [0.0, 1e-6, 1e-3, 0.1, 3.0]:
        w = solved.result.coef + size * rng.normal(size=12)
        b = fit_intercept * (solved.result.intercept + size * rng.normal())
        gap = duality_gap(problem, w, first_order(problem, w, b))
        assert objective(problem, w, b) - minimum <= gap + 1e-9


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", [name for name in LOSSES if LOSSES[name].labels or name == "squared"])
def test_the_moments_tell_what_a_pass_at_the_empty_model_would(loss, layout, fit_intercept):
    chunk = small(loss).data(layout).chunk
    data = Chunked(chunk.X.array, chunk.y, 17, chunk.weight)
    for alpha in (0.01, 10.0):
        problem = Problem(data, LOSSES[loss], elastic_net(alpha), fit_intercept)
        w, b, at = empty_start(problem)
        assert data.passes == 1
        read = first_order(problem, w, b)
        data.ledger.rows_read = data.n_rows
        assert_allclose(at.by_w, read.by_w, atol=1e-12)
        assert_allclose([at.loss, at.by_b], [read.loss, read.by_b], atol=1e-12)
        assert_allclose(
            duality_gap(problem, w, at), duality_gap(problem, w, read), atol=1e-6 if fit_intercept else 1e-12
        )


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_at_alpha_max_the_model_is_empty_and_just_below_it_is_not(loss, fit_intercept, l1_ratio, standardize):
    problem = problem_of(loss, alpha=1.0, l1_ratio=l1_ratio, fit_intercept=fit_intercept, standardize=standardize)
    largest = alpha_max(problem)
    spec = {"l1_ratio": l1_ratio, "loss": loss, "fit_intercept": fit_intercept, "standardize": standardize}
    at = fit(problem.data, Spec(alpha=largest * (1 + 1e-9), **spec, tol=1e-10)).result
    below = fit(problem.data, Spec(alpha=largest * 0.99, **spec, tol=1e-10)).result
    assert np.count_nonzero(at.coef) == 0
    assert_allclose(at.intercept, empty_intercept(problem), atol=1e-5)
    assert np.count_nonzero(below.coef) == 1


def test_the_unit_of_gaps_is_found_once():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20.0)
    data = InMemory(X, y, offset=np.linspace(0.0, 1.0, 20))
    seen, spec = with_offsets(data, Spec(loss="poisson", alpha=0.1))
    problem = Problem(seen, spec.loss_function, ElasticNet(0.1))
    unit, passes = gap_unit(problem), seen.passes
    assert passes > 0
    assert gap_unit(problem) == unit
    assert seen.passes == passes
    assert gap_unit(replace(problem, data=InMemory(X, 2.0 * y), loss=LOSSES["poisson"])) != unit
