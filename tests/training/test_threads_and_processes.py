"""Fits at the same time, in threads and in processes, are the fits that one would be alone."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed

import riata
from riata.threads import _blas_libraries, one_blas_thread

N_THREADS = 8
HOW = {
    "exact": {"alpha_ratio": 0.05},
    "best-k": {"k": 5},
    "online": {"alpha": 0.01, "solver": "online", "random_state": 0},
    "saga": {"alpha_ratio": 0.05, "solver": "saga", "max_passes": 3, "random_state": 0},
    "omp": {"k": 4, "solver": "omp"},
}


@pytest.fixture(scope="module")
def rows():
    """Enough of them for BLAS to use threads, if it were let."""
    rng = np.random.default_rng(20261116)
    X = rng.normal(size=(2000, 80))
    return X, X[:, :6].sum(axis=1) + rng.normal(size=2000)


def fitted(how, X, y):
    model = riata.SparseRegressor(**how).fit(X, y)
    return np.append(model.coef_, model.intercept_)


@pytest.mark.filterwarnings("ignore:.*pass")  # few of them are enough here
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_eight_threads_that_fit_at_once_have_the_bits_of_one(layout, rows):
    X, y = layout(rows[0] * (np.abs(rows[0]) > 1.5)), rows[1]
    alone = {name: fitted(how, X, y) for name, how in HOW.items()}
    with ThreadPoolExecutor(N_THREADS) as threads:  # all kinds of fits side by side
        asked = [(name, threads.submit(fitted, HOW[name], X, y)) for _ in range(4) for name in HOW]
        assert [name for name, found in asked if not np.array_equal(found.result(), alone[name])] == []


def test_processes_of_joblib_find_what_this_one_does(rows):
    """After a fit in this process, whose threads and locks the others must not depend on."""
    X, y = rows
    alone = fitted(HOW["exact"], X, y)
    found = Parallel(n_jobs=2)(delayed(fitted)(HOW["exact"], X, y) for _ in range(2))
    assert all(np.array_equal(one, alone) for one in found)


def test_blas_keeps_to_one_thread_whichever_thread_asks():
    """As a fit in a server's worker does, whatever the main thread has asked for before."""
    library = next((one for one in _blas_libraries() if one.internal_api == "openblas" and one.num_threads > 1), None)
    if library is None:
        pytest.skip("no OpenBLAS of several threads")
    before = library.num_threads
    library.set_num_threads(before)  # from here on threadpoolctl may listen to this thread only

    def asked():
        with one_blas_thread():
            return library.num_threads

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(asked).result() == 1
    assert library.num_threads == before
    with one_blas_thread():
        assert library.num_threads == 1
    assert library.num_threads == before
