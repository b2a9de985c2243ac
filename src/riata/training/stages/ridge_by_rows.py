"""A ridge fit of more features than rows, by way of as many features as rows.

With columns Z, counted from their means in units of their deviations, and the factor L L' = Z Z', the best coefficients
are v = Z' L^-T f, where f are those of a ridge fit of the rows of L: margins and |v| are the same.
"""

import numpy as np

from riata.arrays import to_host
from riata.data.in_memory import InMemory
from riata.objective import Problem, empty_intercept
from riata.penalties import Cardinality
from riata.scipy_later import linalg
from riata.solvers.subset.local.refit import Refits

FEW_ROWS = 2000  # up to which products of all pairs of rows cost less than some hundreds of passes
BLOCK = 1 << 22  # entries of columns that are made at a time
JITTER = 1e-11  # of the mean square of a row: centred rows add up to nothing, so that Z Z' is singular


def goes_by_rows(problem: Problem) -> bool:
    """Whether the rows are in memory, dense, and fewer than the features."""
    data = problem.data
    return isinstance(data, InMemory) and not data.chunk.X.sparse and data.n_rows <= min(FEW_ROWS, data.n_features)


def ridge_by_rows(problem: Problem, ridge: float, memory: int | None) -> np.ndarray:
    """Coefficients of columns of unit deviation at the minimum of mean loss + ridge / 2 |v|^2."""
    data = problem.data
    assert isinstance(data, InMemory)
    n, d = data.n_rows, data.n_features
    products, every = np.zeros((n, n)), np.arange(d)
    blocks = np.array_split(every, -(-n * d // BLOCK))
    for block in blocks:
        Z = _columns(problem, block)
        products += Z @ Z.T
    products.ravel()[:: n + 1] += JITTER * np.trace(products) / n
    L = np.linalg.cholesky(products)
    y, weight = data.targets()
    rotated = Problem(InMemory(L, y, weight), problem.loss, Cardinality(n, ridge), problem.fit_intercept)
    start = np.zeros(n), float(empty_intercept(rotated))
    rows = np.arange(n)
    f = Refits(rotated, rows, memory).fit([rows], [start])[0].coef
    u = linalg.solve_triangular(L, f, lower=True, trans="T")
    return np.concatenate([_columns(problem, block).T @ u for block in blocks])


def _columns(problem: Problem, block: np.ndarray) -> np.ndarray:
    """Some columns of Z: without an intercept they are counted from zero."""
    assert isinstance(problem.data, InMemory)
    moments = problem.data.moments
    Z = to_host(problem.data.chunk.X.columns(block)).astype(np.float64)
    return (Z - moments.mean[block] if problem.fit_intercept else Z) / moments.scale[block]
