"""Arrays in .npy files are read as they lie: mapped, the target wherever it is among the columns."""

import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from riata.data.formats import npy
from riata.data.opening.open import open_data
from riata.errors import DataError
from riata.losses.squared import Squared
from riata.machine import hold_still
from riata.objective import first_order_part

N_ROWS, N_FEATURES = 4000, 6


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    return X, X[:, 0] - X[:, 2] + rng.normal(size=N_ROWS).astype(np.float32)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("target", [0, 3, N_FEATURES])
def test_a_pass_is_that_over_the_features_alone(target, order, rows, tmp_path, larger_than_memory):
    X, y = rows
    np.save(tmp_path / "rows.npy", np.asarray(np.insert(X, target, y, axis=1), order=order))
    data = open_data(tmp_path / "rows.npy", target, task="regression", memory="1MB")
    assert data.n_chunks > 5
    w = np.linspace(-1, 1, N_FEATURES)
    totals, slopes = data.sum(first_order_part(Squared(), w, 0.5))
    u = X.astype(np.float64) @ w + 0.5 - y
    assert_allclose(slopes.sum(axis=0), u @ X, rtol=1e-10)
    assert_allclose(totals[1], 0.5 * u @ u)
    assert_allclose(data.moments.mean, X.mean(axis=0, dtype=np.float64), atol=1e-12)
    assert_allclose(data.moments.cross, (y - y.mean(dtype=np.float64)) @ X.astype(np.float64), rtol=1e-9)


def test_rows_without_a_target_are_left_out(rows, tmp_path, larger_than_memory):
    X, y = rows
    y[::7] = np.nan
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    data = open_data(tmp_path / "rows.npy", N_FEATURES, task="regression", memory="1MB")
    there = ~np.isnan(y)
    assert data.n_rows == there.sum()
    assert_allclose(
        data.sum(lambda chunk: chunk.X.array.sum(axis=0, dtype=np.float64)), X[there].sum(axis=0), rtol=1e-4
    )


def test_a_file_that_is_cut_short_or_changes_is_not_read_on(rows, tmp_path, larger_than_memory):
    X, y = rows
    path = tmp_path / "rows.npy"
    np.save(path, np.column_stack([X, y]))
    data = open_data(path, N_FEATURES, task="regression", memory="1MB")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(DataError, match=r"rows.npy changed while it was being read"):
        data.sum(lambda chunk: chunk.n_rows)
    with pytest.raises(DataError, match=r"rows.npy is damaged or cut short"):
        open_data(path, N_FEATURES, task="regression", memory="1MB")


@pytest.mark.parametrize("held", [True, False], ids=["held still", "not held"])
def test_a_file_that_is_cut_short_while_a_chunk_of_it_is_in_use_ends_no_process(
    held, rows, tmp_path, larger_than_memory, monkeypatch
):
    """Another process cuts it: it waits until the chunk is done with, or the chunk is a copy. Then it is noticed."""
    if not held:  # as where the file belongs to another user
        monkeypatch.setattr(npy, "hold_still", lambda handle: False)
    X, y = rows
    path = tmp_path / "rows.npy"
    np.save(path, np.column_stack([X, y]))
    data = open_data(path, N_FEATURES, task="regression", memory="1MB")
    chunks = data.visit(range(data.n_chunks))
    chunk = next(chunks)
    cut = subprocess.Popen([sys.executable, "-c", f"import os; os.truncate({str(path)!r}, 200)"])
    if sys.platform != "linux" or not held:
        cut.wait()
    else:
        time.sleep(0.5)  # by then it has been cut, or waits
    assert_allclose(chunk.X.array, X[: chunk.n_rows])  # all of it can be read
    del chunk
    with pytest.raises(DataError, match=r"rows.npy changed while it was being read"):
        for _ in chunks:
            pass
    assert cut.wait(timeout=30) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux makes writers wait")
def test_whoever_cuts_a_file_waits_until_it_is_no_longer_mapped(tmp_path):
    path = tmp_path / "rows.npy"
    path.write_bytes(bytes(8192))
    with open(path, "rb") as handle:
        held = hold_still(handle.fileno())
        mapped = np.memmap(handle, np.uint8, "r")
    if not held:
        pytest.skip("this file system does not let files be held")
    with open(path, "rb") as other:
        assert hold_still(other.fileno())  # readers do not wait for each other
    cut = subprocess.Popen([sys.executable, "-c", f"import os; os.truncate({str(path)!r}, 0)"])
    with pytest.raises(subprocess.TimeoutExpired):
        cut.wait(timeout=1.0)
    assert mapped.sum() == 0
    del mapped
    assert cut.wait(timeout=30) == 0
    assert path.stat().st_size == 0
