"""Every loss: derivatives by finite differences, the conjugate by Fenchel and Young, the compiled twin too."""

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from chunked import Chunked
from host_place import Host
from problems import targets
from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.errors import OptionError
from riata.kernels import losses as compiled
from riata.losses import LOSSES, Softmax, loss_of, recalled_loss
from riata.objective import Problem, elastic_net, first_order, mean_loss

Z = np.linspace(-4.0, 4.0, 23)  # meets no kink of the second derivatives


COMPILED = [name for name, loss in LOSSES.items() if loss.code is not None]
EVERY = [*LOSSES, "tweedie:1.05", "tweedie:1.9", "negative-binomial:0.2", "negative-binomial:50", "quantile:0.9",
         *(loss_of(f"quantile:{level}").smoothed(width) for level in (0.5, 0.95) for width in (0.5, 0.01))]  # fmt: skip


@pytest.fixture(params=EVERY)
def case(request):
    rng = np.random.default_rng(0)
    loss = loss_of(request.param) if isinstance(request.param, str) else request.param
    return loss, targets(loss, rng.normal(size=len(Z)), rng), rng


def test_derivatives_are_those_of_the_value(case):
    loss, y, _ = case
    h = 1e-6
    assert_allclose(loss.derivative(y, Z), (loss.value(y, Z + h) - loss.value(y, Z - h)) / (2 * h), atol=1e-7)
    if "second derivative" not in loss.has:
        return  # there is a kink in its place
    slopes = (loss.derivative(y, Z + h) - loss.derivative(y, Z - h)) / (2 * h)
    assert_allclose(loss.second_derivative(y, Z), slopes, atol=1e-7)
    assert np.all(loss.second_derivative(y, Z) <= loss.curvature)


def test_fenchel_young_holds_with_equality_at_the_derivative(case):
    loss, y, rng = case
    u = loss.derivative(y, Z)
    assert_allclose(loss.value(y, Z) + loss.conjugate(y, u), u * Z, atol=1e-12)
    assert_allclose(loss.conjugate(y, np.zeros_like(y)), 0.0, atol=1e-12)
    elsewhere = rng.normal(size=len(Z))
    assert np.all(loss.value(y, elsewhere) + loss.conjugate(y, u) >= u * elsewhere - 1e-12)


def test_the_constant_is_the_best_one(case):
    loss, y, _ = case
    if loss.constant(y.mean()) is None:
        pytest.skip("the mean of the target does not tell")
    best = minimize_scalar(lambda z: np.mean(loss.value(y, z)))
    assert_allclose(loss.constant(y.mean()), best.x, atol=1e-6)


@njit
def _each(code, y, z, out):
    for i in range(len(y)):
        out[0, i] = compiled.value(code, y[i], z[i])
        out[1, i] = compiled.derivative(code, y[i], z[i])
        out[2, i] = compiled.second_derivative(code, y[i], z[i])
        out[3, i], out[4, i] = compiled.value_and_derivative(code, y[i], z[i])
        out[5, i], out[6, i], out[7, i] = compiled.value_and_both_derivatives(code, y[i], z[i])


@pytest.mark.parametrize("case", COMPILED, indirect=True)
def test_the_compiled_twin_is_the_same(case):
    loss, y, _ = case
    for z in (Z, 50.0 * Z):
        out = np.empty((8, len(y)))
        _each(compiled.code_of(loss), y, z, out)
        curvature = np.zeros(len(y)) if loss.kinked else loss.second_derivative(y, z)
        expected = [loss.value(y, z), loss.derivative(y, z), curvature]
        rounding = 1e-15 if loss.half_deviance and not loss.labels else 1e-300  # of a difference of larger numbers
        assert_allclose(out, [*expected, *expected[:2], *expected], rtol=1e-12, atol=rounding)


@pytest.mark.parametrize("case", COMPILED, indirect=True)
def test_margins_that_overflow_stay_finite(case):
    loss, y, _ = case
    out = np.empty((8, len(y)))
    _each(compiled.code_of(loss), y, np.full(len(y), 1e4), out)
    assert np.isfinite(out).all()


def test_every_code_has_a_twin_and_no_other_is_taken():
    assert sorted(LOSSES[name].code for name in COMPILED) == sorted([*compiled.CODES, *compiled.CODES_OF_PAIRS])
    for code in (None, 12, -1):
        with pytest.raises(ValueError, match=f"loss 'softmax' has the code {code}, and no compiled loss has it"):
            compiled.code_of(type("Coded", (Softmax,), {"code": code})())


def test_a_name_tells_the_parameter():
    assert loss_of("tweedie") == loss_of("tweedie:1.5") != loss_of("tweedie:1.7")
    assert loss_of(loss_of("negative-binomial:2.5").name).theta == 2.5
    assert recalled_loss("tweedie:1.7", LOSSES["poisson"].link).power == 1.7


@pytest.mark.parametrize(
    ("name", "sentence"),
    {
        "tweedie:2.5": "lies between 1 and 2, and 2.5 does not: at 1 take loss 'poisson', at 2 'gamma'",
        "negative-binomial:0": "theta of a negative binomial loss is positive and finite, not 0",
        "quantile:1": "the level of a quantile lies between 0 and 1, and 1 does not",
        "tweedie:": "there is no loss 'tweedie:'",
        "tweedie:nan": "there is no loss 'tweedie:nan'",
        "poisson:2": "there is no loss 'poisson:2'",
    }.items(),
)
def test_parameters_that_make_no_loss_are_refused(name, sentence):
    with pytest.raises(OptionError, match=sentence):
        loss_of(name)


# Several margins per row.


LAYOUTS = {"dense": np.asarray, "csr": sp.csr_array}


def slope_by_differences(F, x, h=1e-6):
    """dF/dx, one entry after the other."""
    steps = [h * (np.arange(x.size) == i).reshape(x.shape) for i in range(x.size)]
    return np.array([(F(x + step) - F(x - step)) / (2 * h) for step in steps]).reshape(x.shape)


@pytest.mark.parametrize("chunk_rows", [40, 7])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_several_margins_slope_as_differences_say(layout, chunk_rows):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.6), rng.integers(0, 3, 40) * 1.0, rng.random(40)
    W, b = rng.normal(size=(5, 3)), rng.normal(size=3)
    problem = Problem(Chunked(LAYOUTS[layout](X), y, chunk_rows, weight), Softmax(), elastic_net(0.1))
    at = first_order(problem, W, b)
    assert at.by_w.shape == (5, 3)
    p = np.exp(X @ W + b)
    expected = -np.average(np.log(p[np.arange(40), y.astype(int)] / p.sum(axis=1)), weights=weight)
    assert_allclose([at.loss, mean_loss(problem, W, b)], expected, rtol=1e-12)
    assert_allclose(mean_loss(problem, None, b), mean_loss(problem, 0.0 * W, b), rtol=1e-12)
    assert_allclose(at.by_w, slope_by_differences(lambda W: mean_loss(problem, W, b), W), atol=1e-8)
    assert_allclose(at.by_b, slope_by_differences(lambda b: mean_loss(problem, W, b), b), atol=1e-8)


def test_several_margins_on_the_stand_in_for_a_gpu():
    strict, rng = pytest.importorskip("array_api_strict"), np.random.default_rng(0)
    data = InMemory(rng.normal(size=(30, 4)), rng.integers(0, 3, 30) * 1.0)
    W, b = rng.normal(size=(4, 3)), rng.normal(size=3)
    here, there = (
        first_order(Problem(rows, Softmax(), elastic_net(0.1)), W, b) for rows in (data, on_device(data, Host(strict)))
    )
    assert_allclose(there.by_w, here.by_w, rtol=1e-12)
    assert_allclose(there.by_b, here.by_b, rtol=1e-12)
