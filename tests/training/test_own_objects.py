"""Objects of one's own, made of array functions outside of riata, go wherever its own do."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import riata
from chunked import Chunked
from host_place import Host
from own_penalties import MCP, Length, Tilted
from riata import SparseClassifier, SparseRegressor
from riata.arrays import namespace
from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.errors import CheckpointError, DataError, OptionError
from riata.losses import LOSSES, Loss
from riata.objective import Problem, duality_gap, elastic_net, empty_intercept, first_order
from riata.penalties import ElasticNet, SeparablePenalty
from riata.training.fitting import fit, make_problem
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

# A penalty.


LASSO = MCP(gamma=np.inf)


def rows(loss="squared", n=200, d=30, seed=0):
    """Columns of different scales and means, five of which matter."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) + 0.3 * rng.normal(size=(n, 1))) * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    z = X[:, :5] @ (np.array([1.5, -1.0, 0.8, 0.5, -0.4]) / X[:, :5].std(axis=0))
    z = z - z.mean() + rng.normal(size=n)
    return X, np.where(z > 0, 1.0, -1.0) if LOSSES[loss].labels else z + 2.0


def mcp_violation(X, y, loss, w, b, alpha, gamma, scale, factors=1.0):
    """The subgradient conditions of mean loss + sum_j factor_j MCP(scale_j w_j), from scratch, in the units of X."""
    u = LOSSES[loss].derivative(y, X @ w + b) / len(y)
    g = X.T @ u / scale
    v = scale * w
    slope = np.where(np.abs(v) < gamma * alpha, np.sign(v) * (alpha - np.abs(v) / gamma), 0.0)
    off = np.where(v == 0.0, np.maximum(np.abs(g) - factors * alpha, 0.0), np.abs(g + factors * slope))
    return max(off.max(), abs(u.sum()))


def naive_mcp(X, y, alpha, gamma, sweeps=5000):
    """Coordinate descent on standardised columns, one after the other: (w, b, F) in the units of X."""
    mean, scale = X.mean(axis=0), X.std(axis=0)
    A, r = (X - mean) / scale, y - y.mean()
    v = np.zeros(A.shape[1])
    for _ in range(sweeps):
        for j in range(len(v)):
            c = A[:, j] @ r / len(y) + v[j]
            new = c if abs(c) > gamma * alpha else np.sign(c) * max(abs(c) - alpha, 0.0) / (1.0 - 1.0 / gamma)
            r -= (new - v[j]) * A[:, j]
            v[j] = new
    w = v / scale
    return w, y.mean() - mean @ w, 0.5 * np.mean(r**2) + MCP(gamma, alpha).value(v)


@pytest.mark.parametrize("factors", [None, np.r_[0.0, np.linspace(0.5, 2.0, 29)]], ids=["alike", "factors"])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
@pytest.mark.parametrize("source", ["memory", "csr", "chunks"])
def test_a_fit_is_stationary(source, loss, standardize, factors):
    X, y = rows(loss)
    make = {
        "memory": InMemory,
        "csr": lambda X, y: InMemory(sp.csr_array(X), y),
        "chunks": lambda X, y: Chunked(X, y, 37),
    }
    spec = Spec(
        penalty=MCP(3.0), alpha_ratio=0.1, loss=loss, standardize=standardize, penalty_factors=factors, tol=1e-9
    )
    fitted = fit(make[source](X, y), spec)
    result, scale = fitted.result, X.std(axis=0) if standardize else 1.0
    assert result.converged, result.reason
    assert "stationary point" in result.reason
    assert result.gap is None
    assert 2 <= np.count_nonzero(result.coef) < 30
    args = (result.coef, result.intercept, fitted.alpha, 3.0, scale, 1.0 if factors is None else factors)
    unit = np.max(np.abs(X.T @ (y - y.mean())) / len(y) / scale)
    assert mcp_violation(X, y, loss, *args) <= 1e-7 * unit


@pytest.mark.parametrize("ratio", [0.5, 0.2, 0.05])
def test_the_objective_is_that_of_naive_descent(ratio):
    X, y = rows()
    fitted = fit(InMemory(X, y), Spec(penalty=MCP(3.0), alpha_ratio=ratio, tol=1e-10))
    w, b, F = naive_mcp(X, y, fitted.alpha, 3.0)
    assert_allclose(fitted.result.objective, F, rtol=1e-9)
    assert_allclose(fitted.result.coef, w, atol=1e-7)
    assert_allclose(fitted.result.intercept, b, atol=1e-7)


@pytest.mark.parametrize("factors", [None, np.linspace(0.5, 2.0, 30)], ids=["alike", "factors"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_without_a_bend_it_is_the_lasso(loss, factors):
    X, y = rows(loss)
    y = np.round(np.abs(y)) if loss == "poisson" else y
    options = {"loss": loss, "alpha_ratio": 0.05, "penalty_factors": factors, "tol": 1e-12}
    ours, known = (fit(InMemory(X, y), Spec(penalty=penalty, **options)) for penalty in (LASSO, None))
    assert ours.alpha == pytest.approx(known.alpha, rel=1e-12)
    assert_allclose(ours.result.coef, known.result.coef, atol=1e-9 * np.abs(known.result.coef).max())
    assert_allclose(ours.result.objective, known.result.objective, rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_one_sign_alone_is_the_nonnegative_lasso(loss):
    X, y = rows(loss)
    known = fit(InMemory(X, y), Spec(loss=loss, nonnegative=True, alpha_ratio=0.1, tol=1e-12))
    ours = fit(InMemory(X, y), Spec(loss=loss, penalty=Tilted(np.inf), alpha_ratio=0.1, tol=1e-12))
    assert ours.alpha == pytest.approx(known.alpha, rel=1e-12)
    assert_allclose(ours.result.coef, known.result.coef, atol=1e-9 * np.abs(known.result.coef).max())


def test_an_elastic_net_may_be_an_object_too():
    X, y = rows()
    known = SparseRegressor(alpha=0.1, l1_ratio=0.4, nonnegative=True).fit(X, y)
    ours = SparseRegressor(alpha=0.1, penalty=ElasticNet(0.4, 0.6, lower=0.0)).fit(X, y)
    assert_array_equal(ours.coef_, known.coef_)
    assert ours.to_model().objective == known.to_model().objective.replace(", no coefficient negative", "")


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_path_is_that_of_single_fits(loss):
    X, y = rows(loss)
    spec = Spec(penalty=MCP(3.0), loss=loss, tol=1e-8)
    for data in (InMemory(X, y), Chunked(X, y, 37)):
        found = path_of_margin(data, spec, length=12, reach=0.1)
        assert found.converged
        assert found.n_selected[0] == 0 < found.n_selected[1]
        for alpha, w, b in zip(found.alphas, found.coefs, found.intercepts, strict=True):
            assert mcp_violation(X, y, loss, w, b, alpha, 3.0, X.std(axis=0)) <= 1e-7 * found.alphas[0]


@pytest.fixture(scope="module", name="client")
def a_cluster():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB") as cluster,
        Client(cluster, set_as_default=True) as client,
    ):
        yield client


@pytest.fixture(scope="module", name="table")
def a_table(tmp_path_factory):
    """Rows in memory, and in a file of many groups of rows."""
    X, y = rows(n=3000)
    file = tmp_path_factory.mktemp("rows") / "rows.parquet"
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    pq.write_table(pa.table(columns), file, row_group_size=500)
    return X, y, file


@pytest.mark.parametrize("strength", [{"alpha": 0.1}, {"alpha": "auto", "n_alphas": 6, "cv": 2}], ids=["alpha", "auto"])
def test_estimators_from_memory_file_and_cluster(table, strength, client):
    """On the cluster at one alpha: there losses are chosen for."""
    X, y, file = table
    options = {"penalty": MCP(3.0), "tol": 1e-9, "random_state": 0, **strength}
    known = SparseRegressor(**options).fit(X, y)
    assert known.converged_
    assert "stationary point" in known.stopped_because_
    assert_array_equal(np.flatnonzero(known.coef_), np.arange(5))
    engines = (None, client) if strength["alpha"] != "auto" else (None,)
    for engine in engines:
        found = SparseRegressor(**options).fit(riata.open(file, target="y", memory="64MB", engine=engine))
        assert found.alpha_ == pytest.approx(known.alpha_, rel=1e-9)
        assert_allclose(found.coef_, known.coef_, atol=1e-6)


def test_a_nearly_unbiased_penalty_keeps_large_coefficients(table):
    X, y, _ = table
    truth = np.array([1.5, -1.0, 0.8, 0.5, -0.4]) / X[:, :5].std(axis=0)
    ours, lasso = (SparseRegressor(alpha=0.1, penalty=penalty).fit(X, y) for penalty in (MCP(3.0), None))
    bias = [np.abs(model.coef_[:5] - truth).max() for model in (ours, lasso)]
    assert bias[0] < 0.5 * bias[1]


def test_on_the_stand_in_for_a_gpu():
    strict = pytest.importorskip("array_api_strict")
    for loss in ("squared", "logistic"):
        data = InMemory(*rows(loss))
        spec = Spec(penalty=MCP(3.0), loss=loss, alpha_ratio=0.1, tol=1e-9)
        here, there = fit(data, spec).result, fit(on_device(data, Host(strict)), spec).result
        assert there.converged
        assert_allclose(there.coef, here.coef, atol=1e-7)


def test_a_classifier_is_saved_and_loaded(tmp_path):
    X, y = rows("logistic")
    model = SparseClassifier(penalty=MCP(3.0), alpha=0.08).fit(X, y)
    model.to_model().save(tmp_path / "model.json")
    loaded = riata.load_model(tmp_path / "model.json")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert "MCP(gamma=3.0, alpha=0.08) of columns scaled to unit deviation" in loaded.objective
    assert loaded.training.parameters["penalty"] == repr(MCP(3.0))
    assert loaded.training.gap is None


def test_a_fit_goes_on_from_its_checkpoint(tmp_path):
    X, y = rows("logistic")
    spec = Spec(penalty=MCP(3.0), loss="logistic", alpha=0.02, tol=1e-10, checkpoint=tmp_path, every=0.0)
    known = fit(InMemory(X, y), replace(spec, checkpoint=None)).result

    def killed(record):
        if record.steps == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fit(InMemory(X, y), spec, killed)
    resumed = fit(InMemory(X, y), replace(spec, resume=True)).result
    assert len(resumed.history) == len(known.history) > 3
    assert_array_equal(resumed.coef, known.coef)
    with pytest.raises(CheckpointError, match="its penalty is 'MCP"):
        fit(InMemory(X, y), replace(spec, penalty=MCP(4.0), resume=True))


BAD = {
    "another solver": ({"solver": "cd"}, "solver 'cd' takes the elastic net, not MCP; take solver 'exact'"),
    "a stochastic solver": ({"solver": "online"}, "solver 'online' takes the elastic net or k, not MCP"),
    "k": ({"alpha": None, "k": 3}, "a penalty object has a strength alpha and no k"),
    "an option of the elastic net": ({"l1_ratio": 0.5}, "l1_ratio would do nothing beside a penalty object"),
    "a limit as an object": ({"penalty": riata.penalties.Cardinality(3)}, "given as k, not as a penalty"),
    "no sum over features": ({"penalty": Length()}, "Length is neither a sum over features"),
    "no such name": ({"penalty": "l7"}, "there is no penalty 'l7'; take 'adaptive'"),
    "a name that says otherwise": ({"penalty": "cardinality"}, "penalty 'cardinality' goes with k"),
    "no penalty at all": ({"penalty": 3.0}, "penalty must be a name or a riata.penalties.Penalty, not 3.0"),
}


@pytest.mark.parametrize("case", BAD)
def test_one_sentence_where_it_does_not_go(case):
    options, sentence = BAD[case]
    with pytest.raises(OptionError, match=sentence):
        SparseRegressor(**{"penalty": MCP(3.0), "alpha": 0.1, **options}).fit(*rows())


def test_a_report_says_which_penalty_it_was(tmp_path):
    X, y = rows()
    model = SparseRegressor(penalty=MCP(3.0), alpha=0.1).fit(X, y)
    riata.write_report(model, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "the penalty MCP of strength 0.1" in text
    assert "sum of the absolute coefficients" not in text


# A loss.


@dataclass(frozen=True)
class LogCosh(Loss):
    """scale^2 log cosh((y - z) / scale): quadratic near, straight far, and smooth in between."""

    scale: float = 1.0
    name = "log-cosh"
    relative = True
    curvature = 1.0
    least_curvature = 1e-4

    def value(self, y, z):
        r = abs(y - z) / self.scale
        xp = namespace(r)
        return self.scale**2 * (r + xp.log1p(xp.exp(-2.0 * r)) - float(np.log(2.0)))

    def derivative(self, y, z):
        return self.scale * namespace(z).tanh((z - y) / self.scale)

    def second_derivative(self, y, z):
        return 1.0 - namespace(z).tanh((z - y) / self.scale) ** 2

    def conjugate(self, y, u):
        t = np.clip(u / self.scale, -1.0 + 1e-16, 1.0 - 1e-16)
        return u * y + 0.5 * self.scale**2 * ((1.0 + t) * np.log1p(t) + (1.0 - t) * np.log1p(-t))


class Rate(LogCosh):
    """The same of a margin whose exponential is predicted, for positive targets."""

    name = "rate"
    link = riata.losses.LINKS["exp"]
    refusal = "rates are positive"

    def takes(self, y):
        return y > 0.0


def outliers(n=300, **how):
    """Rows of which some targets are far off."""
    X, y = rows(n=n, **how)
    y[::17] += 15.0
    return X, y


def lasso_by_scipy(X, y, loss, alpha):
    """The least mean loss + alpha |scale w|_1, w in two parts of one sign each: slow and obvious."""
    A = (X - X.mean(axis=0)) / X.std(axis=0)

    def F(parts):
        up, down = np.split(parts[:-1], 2)
        z = A @ (up - down) + parts[-1]
        u = loss.derivative(y, z) / len(y)
        value = np.mean(loss.value(y, z)) + alpha * (up + down).sum()
        return value, np.concatenate([A.T @ u + alpha, alpha - A.T @ u, [u.sum()]])

    d = X.shape[1]
    bounds = [(0.0, None)] * (2 * d) + [(None, None)]
    options = {"maxiter": 20_000, "maxfun": 10**6, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 50}
    start = np.append(np.zeros(2 * d), loss.link.inverse(y.mean()))
    return minimize(F, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options).fun


def test_the_conjugate_is_that_of_fenchel_and_young():
    loss, rng = LogCosh(0.7), np.random.default_rng(0)
    y, z, elsewhere = rng.normal(size=(3, 50))
    u = loss.derivative(y, z)
    assert_allclose(loss.value(y, z) + loss.conjugate(y, u), u * z, atol=1e-12)
    assert np.all(loss.value(y, elsewhere) + loss.conjugate(y, u) >= u * elsewhere - 1e-12)


@pytest.mark.parametrize("scale", [1.0, 0.3])
@pytest.mark.parametrize("source", ["memory", "csr", "chunks"])
def test_a_fit_reaches_the_least_objective_and_certifies_it(source, scale):
    X, y = outliers()
    make = {
        "memory": InMemory,
        "csr": lambda X, y: InMemory(sp.csr_array(X), y),
        "chunks": lambda X, y: Chunked(X, y, 37),
    }
    loss = LogCosh(scale)
    fitted = fit(make[source](X, y), Spec(loss=loss, alpha_ratio=0.1, tol=1e-10))
    result = fitted.result
    assert result.converged, result.reason
    assert result.gap is not None
    assert 2 <= np.count_nonzero(result.coef) < 30
    assert_allclose(result.objective, lasso_by_scipy(X, y, loss, fitted.alpha), rtol=1e-8)
    assert np.mean(np.abs(y - X @ result.coef - result.intercept) < 5.0) > 0.9  # outliers do not move it


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_certificate_bounds_the_distance_from_the_minimum(fit_intercept):
    X, y = outliers(n=80, d=5)
    X /= X.std(axis=0)
    problem = Problem(InMemory(X, y), LogCosh(), elastic_net(0.1, 0.8), fit_intercept)
    spec = Spec(loss=LogCosh(), alpha=0.1, l1_ratio=0.8, fit_intercept=fit_intercept, standardize=False, tol=1e-12)
    least, rng = fit(problem.data, spec).result.objective, np.random.default_rng(1)
    for size in (0.0, 0.1, 1.0, 10.0):
        w = size * rng.normal(size=5)
        at = first_order(problem, w, size * fit_intercept)
        above = at.loss + problem.penalty.value(w) - least
        assert above <= duality_gap(problem, w, at) + 1e-9


@pytest.mark.parametrize(
    "strength", [{"alpha": 0.1}, {"alpha": "auto", "n_alphas": 6, "cv": 2}, {"k": 5}], ids=["alpha", "auto", "k"]
)
def test_a_loss_from_memory_file_and_cluster(table, strength, client):
    X, y, file = table
    options = {"loss": LogCosh(), "tol": 1e-10, "random_state": 0, **strength}
    known = SparseRegressor(**options).fit(X, y)
    assert known.converged_
    assert set(range(5)) <= set(np.flatnonzero(known.coef_))
    opened = [riata.open(file, target="y", memory="64MB", engine=engine) for engine in (None, client)]
    for data in ((sp.csr_array(X), y), *((rows,) for rows in opened)):
        found = SparseRegressor(**options).fit(*data)
        assert found.alpha_ == (known.alpha_ and pytest.approx(known.alpha_, rel=1e-9))
        assert_allclose(found.coef_, known.coef_, atol=1e-5)


def test_best_k_is_the_best_of_all_pairs():
    X, y = outliers(n=120, d=6)
    loss = LogCosh()
    result = fit(InMemory(X, y), Spec(loss=loss, k=2)).result

    def least(support):
        A = np.column_stack([X[:, support], np.ones(len(y))])
        return minimize(lambda v: np.mean(loss.value(y, A @ v)), np.zeros(3), method="BFGS").fun

    pairs = {(i, j): least([i, j]) for i in range(6) for j in range(i)}
    assert_allclose(result.objective, min(pairs.values()), rtol=1e-6)


def test_a_loss_on_the_stand_in_for_a_gpu():
    strict = pytest.importorskip("array_api_strict")
    data = InMemory(*outliers())
    for strength in ({"alpha_ratio": 0.1}, {"k": 4}):
        spec = Spec(loss=LogCosh(), tol=1e-9, **strength)
        here, there = fit(data, spec).result, fit(on_device(data, Host(strict)), spec).result
        assert there.converged
        assert_allclose(there.coef, here.coef, atol=1e-6)


def test_a_path_of_a_loss_is_that_of_single_fits():
    X, y = outliers()
    spec = Spec(loss=LogCosh(), tol=1e-10)
    found = path_of_margin(Chunked(X, y, 37), spec, length=8, reach=0.1)
    for alpha, w in zip(found.alphas[1:], found.coefs[1:], strict=True):
        assert_allclose(w, fit(InMemory(X, y), replace(spec, alpha=alpha)).result.coef, atol=1e-5)


def test_a_loaded_model_predicts_without_the_class(tmp_path):
    X, y = outliers()
    for loss, target in ((LogCosh(), y), (Rate(), np.exp(0.1 * y))):
        model = SparseRegressor(loss=loss, alpha=0.1).fit(X, target)
        model.to_model().save(tmp_path / "model.json")
        loaded = riata.load_model(tmp_path / "model.json")
        assert (loaded.loss, loaded.link) == (loss.name, loss.link.name)
        assert_allclose(loaded.predict(X), model.predict(X))
        assert_allclose(model.predict(X), loss.link.mean(X @ model.coef_ + model.intercept_))
        assert loaded.training.parameters["loss"] == loss.name
        riata.write_report(loaded, tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text()
        assert f"the mean {loss.name} loss" in text
        assert loss.link.reading() in text


def test_a_fit_of_a_loss_goes_on_from_its_checkpoint(tmp_path):
    X, y = outliers()
    spec = Spec(loss=LogCosh(), alpha=0.05, tol=1e-10, checkpoint=tmp_path, every=0.0)
    known = fit(InMemory(X, y), spec).result
    assert_array_equal(fit(InMemory(X, y), replace(spec, loss=LogCosh(), resume=True)).result.coef, known.coef)
    with pytest.raises(CheckpointError, match="its loss is 'LogCosh"):
        fit(InMemory(X, y), replace(spec, loss=LogCosh(2.0), resume=True))


BAD_LOSSES = {
    "a sweep over rows": ({"solver": "fobos"}, "solver 'fobos' needs a compiled loss, which 'log-cosh' is not"),
    "a sweep over columns": ({"solver": "cd"}, "solver 'cd' needs a compiled loss"),
    "a criterion": ({"alpha": "auto", "select": "bic"}, "loss 'log-cosh' is no likelihood"),
    "targets it does not take": ({"loss": Rate()}, "rates are positive"),
    "no loss at all": (
        {"loss": 3.0},
        "loss must be one of squared, huber, quantile, binomial, poisson, negative-binomial, gamma, tweedie here, not",
    ),
}


@pytest.mark.parametrize("case", BAD_LOSSES)
def test_one_sentence_where_a_loss_does_not_go(case):
    options, sentence = BAD_LOSSES[case]
    with pytest.raises((OptionError, DataError), match=sentence):
        SparseRegressor(**{"loss": LogCosh(), "alpha": 0.1, **options}).fit(*outliers())


def test_a_loss_for_numbers_is_not_for_classes():
    X, y = rows("logistic")
    with pytest.raises(OptionError, match="loss 'log-cosh' is not for classification but for regression"):
        SparseClassifier(loss=LogCosh()).fit(X, y)
    assert not hasattr(SparseClassifier(loss=LogCosh()), "predict_proba")


class Gamma(Loss):
    """y exp(-z) + z - log y - 1: half the deviance of positive amounts, on another scale than margins."""

    name = "gamma"
    link = riata.losses.LINKS["exp"]
    half_deviance = True

    def value(self, y, z):
        xp = namespace(z)
        return y * xp.exp(-z) + z - xp.log(y) - 1.0

    def derivative(self, y, z):
        return 1.0 - y * namespace(z).exp(-z)

    def second_derivative(self, y, z):
        return y * namespace(z).exp(-z)


class Unfinished(Gamma):
    """A log-likelihood: no loss of a row has the least value 0."""

    name = "unfinished"

    def value(self, y, z):
        return y * namespace(z).exp(-z) + z


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("source", [InMemory, lambda X, y: Chunked(X, y, 37)], ids=["memory", "chunks"])
def test_margins_of_a_link_are_found_wherever_they_are(source, unit):
    X, z = rows()
    y = unit * np.exp(0.5 * z)
    data = source(X, y)
    assert_allclose(empty_intercept(Problem(data, Gamma(), elastic_net(0.1))), np.log(y.mean()), rtol=1e-6)
    fitted = fit(data, Spec(loss=Gamma(), alpha_ratio=0.05, tol=1e-9))
    assert fitted.result.converged
    assert_allclose(fitted.result.objective, lasso_by_scipy(X, y, Gamma(), fitted.alpha), rtol=1e-6)


def test_a_loss_that_is_negative_has_no_certificate():
    X, z = rows()
    with pytest.raises(OptionError, match=r"loss 'unfinished' is -\S+ in a row, and certificates need 0 or more"):
        fit(InMemory(X, 1e-3 * np.exp(0.5 * z)), Spec(loss=Unfinished(), alpha_ratio=0.1))


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_convex_penalty_that_tells_its_conjugate_gets_a_certified_gap(loss, standardize, rng):
    X = rng.normal(size=(80, 12)) * np.geomspace(0.1, 10, 12)
    y = X[:, 0] / 0.1 - 0.1 * X[:, -1] + rng.normal(size=80)
    y = y if loss == "squared" else np.sign(y)
    data, options = InMemory(X, y), {"loss": loss, "standardize": standardize, "tol": 1e-9, "alpha_ratio": 0.2}
    lasso, own = (fit(data, Spec(penalty=penalty, **options)) for penalty in (None, Tilted(1.0)))
    assert own.result.gap <= 1e-9
    assert own.result.stop.reason == lasso.result.stop.reason
    assert_allclose(own.result.coef, lasso.result.coef, atol=1e-5 * np.abs(lasso.result.coef).max())
    tilted = fit(data, Spec(penalty=Tilted(2.0), **options))
    least = tilted.result.objective
    for share in (0.0, 0.5, 0.9, 1.2):  # the bound holds wherever it is asked for
        w, b = share * tilted.result.coef, tilted.result.intercept
        at = first_order(make_problem(data, tilted.spec)[0], w, b)
        F = at.loss + make_problem(data, tilted.spec)[0].penalty.value(w)
        assert F - duality_gap(make_problem(data, tilted.spec)[0], w, at) <= least * (1 + 1e-9)


@dataclass(frozen=True)
class Below(SeparablePenalty):
    """alpha max(-sign w, 0): one side of zero is free."""

    sign: float = 1.0
    alpha: float = 1.0

    convex = True

    def values(self, w):
        return self.alpha * np.maximum(-self.sign * w, 0.0)

    def best_value(self, centre, curvature):
        c = self.sign * centre
        return self.sign * np.where(c > 0.0, c, np.minimum(c + self.alpha, 0.0)) / curvature

    def subdifferential(self, w):
        v = self.sign * w
        ends = self.sign * np.where(v > 0.0, 0.0, -self.alpha), self.sign * np.where(v < 0.0, -self.alpha, 0.0)
        return np.minimum(*ends), np.maximum(*ends)

    def conjugates(self, u):
        v = self.sign * u
        return np.where((v <= 0.0) & (v >= -self.alpha), 0.0, np.inf)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_penalty_of_one_side_alone(sign, rng):
    X = rng.normal(size=(60, 5))
    for side in (1.0, -1.0):
        y = side * X @ np.array([1.0, 2.0, 1.0, 1.0, 1.0]) + 0.1 * rng.normal(size=60)
        result = fit(InMemory(X, y), Spec(penalty=Below(sign), alpha=0.1, standardize=False, tol=1e-9)).result
        assert result.converged
        free = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
        assert np.allclose(result.coef, free, atol=1e-6) == (side == sign)
