"""Sparse rows as three arrays are those of SciPy, which is imported only where it is asked for."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from riata.matrices.csr import CsrMatrix
from riata.matrices.csr_parts import CsrParts, StackedRows


def drawn(rng, n_rows, dtype=np.float64, indices=np.int32):
    X = sp.random_array((n_rows, 30), density=0.2, format="csr", rng=rng, dtype=dtype)
    return CsrParts(X.data, X.indices.astype(indices), X.indptr.astype(indices), X.shape)


def same(parts, X):
    assert parts.shape == X.shape
    assert parts.nnz == X.nnz
    assert_array_equal(parts.matrix().toarray(), X.toarray())


def test_rows_are_those_of_scipy(rng):
    parts = drawn(rng, 50)
    same(CsrParts.of(parts.matrix()), parts.matrix())
    for start, stop in ((0, 50), (7, 20), (3, 3), (50, 50)):
        same(parts.rows(start, stop), parts.matrix()[start:stop])
    assert CsrMatrix(parts).csr_parts() is parts
    assert parts.matrix().data is parts.data


@pytest.mark.parametrize("sizes", [(40,), (0, 40), (1, 30, 0, 60, 2), (500, 3, 700)])
@pytest.mark.parametrize("kinds", [(np.int32, np.int32), (np.int32, np.int64)])
def test_stacked_rows_are_those_of_scipy(rng, sizes, kinds):
    rows = [drawn(rng, n, indices=kinds[i % 2]) for i, n in enumerate(sizes)]
    stacked = CsrMatrix(rows[0]).stacked(CsrMatrix(part) for part in rows[1:])
    same(stacked.csr_parts(), sp.vstack([part.matrix() for part in rows]).tocsr())
    found = stacked.csr_parts()
    assert found.indptr.dtype == found.indices.dtype


def test_stacked_rows_hold_numbers_of_either_precision(rng):
    single, double = drawn(rng, 9, np.float32), drawn(rng, 8)
    both = StackedRows(single)
    both.add(double)
    same(both.whole(), sp.vstack([single.matrix(), double.matrix()]).tocsr())
    assert not both.whole().canonical


ONE_PASS = """
import sys, riata
data = riata.open(sys.argv[1], "y", one_pass=True)
riata.train(data, riata.Spec(solver="online", loss="logistic")).to_model().save(sys.argv[1] + ".json")
assert "scipy.sparse" not in sys.modules
"""


def test_rows_that_are_learnt_once_do_without_scipy(rng, tmp_path):
    n = 20_000
    columns = {f"c{j}": rng.integers(0, 50, n).astype(str) for j in range(5)}
    columns |= {"x": rng.normal(size=n), "y": rng.integers(0, 2, n)}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    subprocess.run([sys.executable, "-c", ONE_PASS, tmp_path / "rows.parquet"], check=True)
