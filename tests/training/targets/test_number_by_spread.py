"""The number of a loss whose name alone is given: where Huber's bends."""

from typing import Any

import numpy as np
import pytest

import riata
from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import loss_of
from riata.training.targets.number_by_spread import number_by_spread


def noisy(unit: float = 1.0, shift: float = 0.0, n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6))
    y = X[:, 0] - X[:, 1] + rng.standard_t(2, size=n)
    y[: n // 20] += 1000.0
    return X, unit * y + shift


def bend_of(data: Dataset, **asked: Any) -> float:
    return float(str(number_by_spread(riata.Spec(loss="huber", **asked), data).loss).partition(":")[2])


@pytest.mark.parametrize(("unit", "shift"), [(1.0, 0.0), (1e-6, 3.0), (1e5, -4e8)])
def test_the_bend_follows_the_unit_of_the_target_and_no_outlier(unit: float, shift: float) -> None:
    X, y = noisy(unit, shift)
    spread = np.subtract(*np.quantile(y, [0.75, 0.25])) / 1.349
    assert bend_of(riata.open(X, y)) == pytest.approx(1.35 * spread, rel=0.03)
    assert spread < 0.1 * y.std()


def test_another_unit_gives_the_same_model() -> None:
    X, y = noisy()
    one, other = (
        riata.SparseRegressor(loss="huber", alpha_ratio=0.1, tol=1e-10).fit(X, unit * y) for unit in (1.0, 1024.0)
    )
    assert max(one.gap_, other.gap_) < 1e-10
    np.testing.assert_allclose(other.coef_, 1024.0 * one.coef_, rtol=2e-2)  # three digits of the bend are kept
    assert min(one.coef_[0], -one.coef_[1]) > 0.7


def test_weights_count_as_rows_that_are_repeated() -> None:
    X, y = noisy(n=300)
    weight = np.random.default_rng(0).integers(1, 4, size=300)
    weighted = riata.open(X, y, weight=weight)
    repeated = riata.open(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert bend_of(weighted) == pytest.approx(bend_of(repeated), rel=0.02)


def test_quartiles_that_are_the_same_leave_the_deviation_and_equal_targets_the_unit() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.where(np.arange(200) < 20, 50.0, 0.0)
    assert bend_of(riata.open(X, y, task="regression")) == pytest.approx(1.35 * y.std(), rel=0.01)
    assert bend_of(riata.open(X, np.ones(200), task="regression")) == 1.35


def test_files_bend_where_arrays_do(tmp_path) -> None:
    X, y = noisy(1e4)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    kept = riata.open(tmp_path / "rows.npy", target=-1, memory="2MB")
    assert bend_of(kept) == bend_of(riata.open(X, y))
    assert 0.5 < bend_of(kept, solver="online", alpha=0.1) / bend_of(kept) < 2.0


def test_the_fit_tells_its_bend_and_a_stream_takes_that_of_its_first_rows() -> None:
    X, y = noisy(1e4)
    model = riata.SparseRegressor(loss="huber", k=2).fit(X, y)
    name = model.to_model().loss
    assert name == f"huber:{bend_of(riata.open(X, y))!r}"
    stream = riata.SparseRegressor(loss="huber", k=2, solver="online").partial_fit(X[:500], y[:500])
    assert stream.partial_fit(X[500:], y[500:]).to_model().loss == f"huber:{bend_of(riata.open(X[:500], y[:500]))!r}"


def test_a_bend_of_its_own() -> None:
    X, y = noisy()
    assert riata.SparseRegressor(loss="huber:2.5", k=2).fit(X, y).to_model().loss == "huber:2.5"
    assert loss_of("huber:2.5").words == "Huber loss (the squared error, but straight beyond 2.5)"
    with pytest.raises(OptionError, match="the bend of a Huber loss is a positive number"):
        loss_of("huber:0")
