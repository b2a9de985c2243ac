"""Models of many alphas in one compiled loop have the certificates that passes give, or are not kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from convex_problems import make
from path_gaps import gaps_by_passes
from riata.data.gram import gram_of
from riata.data.in_memory import InMemory
from riata.solvers.convex import alpha_path
from riata.solvers.convex.compiled_paths import covariance_path, models_ahead
from riata.solvers.convex.compiled_paths.column_path import ColumnPath
from riata.solvers.convex.compiled_paths.covariance_path import CovariancePath
from riata.training.paths.path import GrowingPath, path_of_margin
from riata.training.spec import Spec

TOL = 1e-7


def data_of(loss, layout=np.asarray, dtype=np.float64, n=150, weighted=False, flipped=False):
    X, y = make(loss, n=n, d=60, seed=5, dtype=dtype)
    rng = np.random.default_rng(0)
    if layout is not np.asarray:
        X = X * (rng.random(X.shape) < 0.3)
    X = -X if flipped else X
    weight = rng.integers(0, 4, size=n).astype(float) if weighted else None
    return InMemory(layout(X.astype(dtype)), y, weight)


@pytest.fixture
def asked(monkeypatch):
    """Who proposed how many models; what blocks of alphas find is an error."""
    proposals = []
    for proposer in (ColumnPath, CovariancePath):

        def counted(self, *args, its_own=proposer.proposed):
            found = its_own(self, *args)
            proposals.append((type(self), 0 if found is None else len(found.coefs)))
            return found

        monkeypatch.setattr(proposer, "proposed", counted)
    return proposals


@pytest.mark.parametrize(
    ("options", "rows", "proposer"),
    [
        ({"loss": "squared"}, {}, CovariancePath),
        ({"loss": "squared", "standardize": False, "fit_intercept": False}, {"weighted": True}, CovariancePath),
        (
            {"loss": "squared", "l1_ratio": 0.6, "nonnegative": True},
            {"dtype": np.float32, "flipped": True},
            CovariancePath,
        ),
        ({"loss": "squared", "penalty_factors": np.r_[0.0, np.linspace(0.5, 2.0, 59)]}, {}, CovariancePath),
        ({"loss": "squared", "l1_ratio": 0.6}, {"layout": sp.csr_array, "weighted": True}, CovariancePath),
        ({"loss": "logistic"}, {"weighted": True}, ColumnPath),
        ({"loss": "logistic", "l1_ratio": 0.6, "fit_intercept": False}, {"layout": sp.csr_array}, ColumnPath),
        ({"loss": "logistic", "nonnegative": True}, {"dtype": np.float32, "flipped": True}, ColumnPath),
        ({"loss": "poisson", "standardize": False}, {"layout": sp.csr_array}, ColumnPath),
        ({"loss": "huber", "penalty_factors": np.linspace(0.5, 2.0, 60)}, {}, ColumnPath),
    ],
)
def test_every_model_has_the_gap_that_it_is_told_to_have(options, rows, proposer, asked, monkeypatch):
    monkeypatch.setattr(alpha_path, "_solve_block", None)  # all models are to be proposed
    spec, data = Spec(tol=TOL, **options), data_of(options["loss"], **rows)
    path = path_of_margin(data, spec, length=30, reach=0.05)
    assert {who for who, _ in asked} == {proposer}
    assert sum(n for _, n in asked) >= len(path) - 2  # the first are those of the empty model
    gaps = gaps_by_passes(data, spec, path)
    assert np.all(gaps <= TOL)
    assert_allclose(path.gaps, gaps, atol=1e-3 * TOL)
    assert path.n_selected[-1] >= 2


@pytest.mark.parametrize(("name", "value"), [("FEW_COLUMNS", 59), ("SPARSE", 0.1)])
def test_sparse_columns_that_are_many_or_hardly_filled_are_gone_along(name, value, asked, monkeypatch):
    monkeypatch.setattr(covariance_path, name, value)
    spec, data = Spec(tol=TOL, loss="squared", l1_ratio=0.6), data_of("squared", sp.csr_array, weighted=True)
    path = path_of_margin(data, spec, length=30, reach=0.05)
    assert {who for who, _ in asked} == {ColumnPath}
    assert np.all(gaps_by_passes(data, spec, path) <= TOL)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_models_are_those_of_blocks_of_alphas(loss, monkeypatch):
    data, spec = data_of(loss), Spec(loss=loss, tol=1e-10)
    told = path_of_margin(data, spec, length=15, reach=0.05)
    monkeypatch.setattr(models_ahead.ModelsAhead, "of", lambda *_: None)
    assert_allclose(told.coefs, path_of_margin(data, spec, length=15, reach=0.05).coefs, atol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_what_a_pass_does_not_confirm_is_not_kept(loss, asked, monkeypatch):
    for proposer in (ColumnPath, CovariancePath):

        def wrong(self, *args, its_own=proposer.proposed):
            found = its_own(self, *args)
            return found._replace(coefs=0.9 * found.coefs)

        monkeypatch.setattr(proposer, "proposed", wrong)
    data, spec = data_of(loss), Spec(loss=loss, tol=TOL)
    path = path_of_margin(data, spec, length=20, reach=0.05)
    assert len(asked) == models_ahead.FAILURES  # nobody is asked again
    assert np.all(gaps_by_passes(data, spec, path) <= TOL)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_columns_that_are_far_from_zero_are_left_to_passes(loss, asked):
    data = data_of(loss)
    far = InMemory(data.X + 1e5, *data.targets())
    path = path_of_margin(far, Spec(loss=loss, tol=1e-6), length=10, reach=0.1)
    assert not asked
    assert path.converged


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_copies_of_a_column_leave_no_rounding_in_the_model(loss):
    data = data_of(loss)
    twins = InMemory(np.hstack([data.X, data.X]), *data.targets())
    spec = Spec(loss=loss, tol=TOL)
    path = path_of_margin(twins, spec, length=15, reach=0.1)
    assert np.all(gaps_by_passes(twins, spec, path) <= TOL)
    largest = np.abs(path.coefs * twins.moments.scale).max(axis=1, keepdims=True)
    used = path.coefs != 0.0
    assert np.all(np.abs(path.coefs * twins.moments.scale)[used] > 1e-13 * np.broadcast_to(largest, used.shape)[used])


def test_summary_rows_count_as_the_rows_that_they_stand_for(asked, monkeypatch):
    """Of d + 2 of them most columns get known, and their products are no nearer to singular than those of all rows."""
    monkeypatch.setattr(alpha_path, "_solve_block", None)
    X, y = make("squared", n=150, d=20, seed=5)
    rows = gram_of(InMemory(X, y)).as_data()
    assert rows.n_rows <= 22
    assert rows.n_observed == 150
    spec = Spec(tol=TOL)
    path = path_of_margin(rows, spec, length=30, reach=0.001)
    assert path.n_selected[-1] > 0.75 * rows.n_rows
    assert sum(n for _, n in asked) >= len(path) - 2
    assert np.all(gaps_by_passes(InMemory(X, y), spec, path) <= 1.01 * TOL)


def test_a_path_whose_gap_changes_on_the_way_is_as_long_as_any_other(asked):
    """A few models are proposed at a time; what it is worth to know columns goes with all that are to be made."""
    options = {"loss": "squared", "l1_ratio": 0.6}
    path = GrowingPath(data_of("squared", sp.csr_array), Spec(tol=TOL, **options), length=30, reach=0.05)
    path.loosen(1000.0, 1e-3)
    while path.grow():
        pass
    assert {who for who, _ in asked} == {CovariancePath}
    assert sum(n for _, n in asked) >= path.n_models - 2
