"""Reported passes are what was read: for every solver, from memory, from chunks and files, for one and several classes.

The sources here count on their own what they hand out, and not through the ledger.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import riata
from chunked import Chunked
from riata.data.in_memory import InMemory
from riata.data.out_of_core import OutOfCore
from riata.solvers.registry import SOLVERS

N = 120
SETTINGS = {"alpha": {"alpha": 0.1}, "k": {"k": 3}, "alpha or k": {"k": 3}}


class CountingChunks(Chunked):
    """Chunks as of a file, which count the rows that leave them."""

    handed_out = 0

    def visit(self, order=None):
        for chunk in super().visit(order):
            self.handed_out += chunk.n_rows
            yield chunk


class CountingMemory(InMemory):
    """Rows in memory, which count those that are summed, visited or gathered, in copies for folds and classes too."""

    handed_out = 0

    def visit(self, order=None):
        for chunk in super().visit(order):
            self.handed_out += chunk.n_rows
            yield chunk

    def sum(self, f):
        self.handed_out += self.n_rows
        return super().sum(f)

    def sum_of_products(self, f):
        self.handed_out += self.n_rows
        return super().sum_of_products(f)

    def gather(self, columns):
        self.handed_out += self.n_rows
        return super().gather(columns)

    def map(self, f):
        return _Seen(self, *f(self.chunk))


class _Seen(CountingMemory):
    """The same rows with other targets or weights."""

    def __init__(self, data: CountingMemory, X, y, weight, offset):
        super().__init__(X, y, weight, offset=offset, facts=data.facts.but(classes=None), ledger=data.ledger)
        self._data = data

    @property
    def handed_out(self):
        return self._data.handed_out

    @handed_out.setter
    def handed_out(self, n_rows):
        self._data.handed_out = n_rows

    def with_own_ledger(self):
        """Rows were copied, which is one reading of them; the copy is another matter."""
        self._data.handed_out += self.n_rows
        self._data = CountingMemory(self.X, *self.targets())
        return super().with_own_ledger()


def problem(rng, n_classes):
    X = rng.normal(size=(N, 6)) + np.arange(6)
    z = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=N)
    return X, z if n_classes == 0 else np.digitize(z, np.quantile(z, np.linspace(0, 1, n_classes + 1)[1:-1]))


def fitted(data, solver, n_classes, **options):
    kind = riata.SparseClassifier if n_classes else riata.SparseRegressor
    settings = SETTINGS[SOLVERS[solver].takes] | options
    if SOLVERS[solver].stochastic:
        settings |= {"max_passes": 3, "random_state": 0}
    return kind(solver=solver, **settings).fit(data)


def equal_passes(model, data):
    monitored = data.ledger.rows_monitored
    assert_allclose(model.n_passes_, (data.handed_out - monitored) / N)
    return monitored


@pytest.mark.filterwarnings("ignore:solver")
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_from_chunks_every_row_that_is_read_is_reported(solver, n_classes, rng):
    X, y = problem(rng, n_classes)
    data = CountingChunks(X, y.astype(float), 17, classes=np.arange(n_classes) if n_classes else None)
    assert equal_passes(fitted(data, solver, n_classes), data) == 0


@pytest.mark.filterwarnings("ignore:solver")
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "cd"])  # which moves over columns, not rows
def test_from_memory_too_but_for_what_only_watches(solver, n_classes, rng):
    X, y = problem(rng, n_classes)
    data = CountingMemory(X, y.astype(float), classes=np.arange(n_classes) if n_classes else None)
    equal_passes(fitted(data, solver, n_classes), data)


@pytest.mark.parametrize("setting", ["alpha", "k"])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_cross_validation_reports_what_it_reads(setting, loss, rng):
    X, y = problem(rng, 0)
    data = CountingChunks(X, y, 17)
    options = {setting: "auto", "cv": 3, "n_alphas": 5, "k_max": 2, "random_state": 0}
    assert equal_passes(riata.SparseRegressor(loss=loss, tol=1e-4, **options).fit(data), data) == 0


@pytest.mark.filterwarnings("ignore:quantiles cross")
@pytest.mark.parametrize(
    "asked",
    [
        {"loss": "quantile:0.3"},
        {"loss": "quantile:0.3,0.7"},
        {"loss": "huber", "offset": True},
        {"penalty": "unilasso"},
        {"penalty": "adaptive", "debias": 0.5},
        {"solver": "online", "polish": True, "n_classes": 2},
    ],
    ids=str,
)
def test_passes_beside_those_of_a_solver_count(asked, rng):
    n_classes, offset = asked.get("n_classes", 0), asked.get("offset", False)
    X, y = problem(rng, n_classes)
    data = CountingChunks(X, y.astype(float), 17, classes=np.arange(n_classes) if n_classes else None)
    if offset:
        data = CountingMemory(X, y, offset=rng.normal(size=N))
    options = {name: value for name, value in asked.items() if name not in ("n_classes", "offset")}
    kind = riata.SparseClassifier if n_classes else riata.SparseRegressor
    equal_passes(kind(alpha=0.1, tol=1e-3, random_state=0, **options).fit(data), data)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("solver", ["exact", "best-k", "online"])
def test_from_a_file(solver, n_classes, rng, tmp_path, monkeypatch):
    monkeypatch.setattr("riata.data.opening.rows.in_memory_bytes", lambda memory: 0)  # nothing fits in memory
    X, y = problem(rng, n_classes)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    handed_out, encode = [0], OutOfCore._encode

    def counting(self, *arguments):
        chunk = encode(self, *arguments)
        handed_out[0] += chunk.n_rows
        return chunk

    monkeypatch.setattr(OutOfCore, "_encode", counting)
    task = "classification" if n_classes else "regression"
    data = riata.open(tmp_path / "rows.npy", target=6, task=task)
    assert isinstance(data, OutOfCore)
    model = fitted(data, solver, n_classes)
    assert_allclose(model.n_passes_, handed_out[0] / N)


def test_a_fit_reports_its_own_passes_alone(rng):
    X, y = problem(rng, 0)
    data = CountingChunks(X, y, 17)
    riata.SparseRegressor(alpha=0.1).fit(data)
    before = data.handed_out
    model = riata.SparseRegressor(k=2).fit(data)
    assert_allclose(model.n_passes_, (data.handed_out - before) / N)
