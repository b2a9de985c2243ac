"""The mean loss (plus ridge) near a point, as a quadratic in the coefficients w, the intercept at its best:

    F(w) ~ const + w'Hw / 2 - h'w,    H = X~' D X~ / sum(s) + diag(l2),    h = H w0 - gradient(w0),

where D holds s_i loss''(y_i, z_i) and X~ is X less its D-weighted means (less nothing where there is no intercept).
For the squared loss this is the loss itself. H is d x d: only the rows of the columns that are asked for are ever made,
one pass for as many as one likes. They decide, exactly and for all d features, what a change of the support is worth.

Everything kept here is in units that give H a unit diagonal; `weights` gives coefficients in the units of the data.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dgemm

from riata.kernels.columns import csr_sums, dense_sums
from riata.kernels.products import csr_products
from riata.kernels.subset import swap_gains
from riata.objective import Problem
from riata.solvers.subset import COLLINEAR, Subset
from riata.threads import one_blas_thread

CONSTANT = 1e-12  # a deviation below this share of the mean is rounding
BLOCK_ROWS = 256  # converted to float64 at a time: stays in the cache until it is multiplied


class Outlook(NamedTuple):
    """What the quadratic says about a support."""

    weights: np.ndarray  # of its features, in units of the quadratic
    fall: float  # twice the fall of the quadratic from w = 0
    gains: np.ndarray  # for every feature outside, twice the fall that its best way in brings; -inf inside
    partners: np.ndarray  # the place in the support of the feature that leaves for it; -1 if none has to


class LocalModel:
    """The quadratic at (w, b): one pass, which also makes the rows of `columns`."""

    def __init__(self, problem: Problem, w, b, columns=()):
        data, self.problem, self.w, self.b = problem.data, problem, w, b
        mean = data.moments.mean
        self._shift = mean if problem.fit_intercept else np.zeros_like(mean)
        columns = np.asarray(columns, dtype=np.int64)
        (loss, total, slope, by_u, by_d, squares), products = data.sum(
            lambda c: (self._sums(c), self._products(c, columns))
        )
        self._by_d, self._total = by_d, total
        self._centre = by_d / total if problem.fit_intercept else np.zeros_like(by_d)  # of x - shift
        self._intercept_step = -slope / total if problem.fit_intercept else 0.0
        n = data.total_weight
        self.loss = float(loss / n)  # at (w, b)
        self._l2 = np.broadcast_to(np.asarray(problem.penalty.l2, dtype=np.float64), w.shape)
        variance = (squares - self._centre * by_d) / n
        variance[variance <= (CONSTANT * mean) ** 2] = 0.0
        norm2 = variance + self._l2
        self._unit = np.sqrt(np.where(norm2 > 0, norm2, 1.0))
        self._diagonal = norm2 / self._unit**2
        self.columns = np.empty(0, dtype=np.int64)
        self._place = np.full(len(w), -1)  # of a column's row in H
        self.H = np.empty((0, len(w)))
        self._store(columns, products)
        gradient = (by_u + self._intercept_step * by_d) / n + self._l2 * w
        support = np.flatnonzero(w)
        self.h = (self._rows(support).T @ (w * self._unit)[support]) - gradient / self._unit

    def fetch(self, columns):
        """Make the rows of H for these columns too: one pass."""
        columns = np.asarray(columns, dtype=np.int64)
        self._store(columns, self.problem.data.sum(lambda chunk: self._products(chunk, columns)))

    def keep(self, columns):
        """Forget the rows of all other columns."""
        columns = np.asarray(columns, dtype=np.int64)
        self.H = self._rows(columns)
        self.columns = columns
        self._place[:] = -1
        self._place[columns] = np.arange(len(columns))

    def subset(self, support, capacity, worthwhile) -> Subset:
        """A search among the columns whose rows are known, from this support; its columns are places in `columns`."""
        search = Subset(self.H[:, self.columns], self.h[self.columns], capacity, worthwhile)
        with one_blas_thread():
            search.restart(self._place[support])
        return search

    def outlook(self, support, k) -> Outlook:
        """The best weights on the support, and what every feature outside would bring."""
        with one_blas_thread():
            return self._outlook(support, k)

    def _outlook(self, support, k):
        rows = self._rows(support)
        factor = cho_factor(rows[:, support]) if len(support) else None
        A = cho_solve(factor, np.eye(len(support))) if factor else np.empty((0, 0))
        weights = A @ self.h[support]
        W = A @ rows
        c = self.h - rows.T @ weights
        v = self._diagonal - np.einsum("sj,sj->j", rows, W)
        gains, partners = swap_gains(W, A.diagonal().copy(), weights, c, v, COLLINEAR)
        if len(support) < k:
            gains, partners = np.where(v > COLLINEAR, c**2 / np.maximum(v, COLLINEAR), -np.inf), np.full(len(v), -1)
        gains[support] = -np.inf
        return Outlook(weights, float(weights @ self.h[support]), gains, partners)

    def coefficients(self, support, weights):
        """(w, b) in the units of the data."""
        w = np.zeros(len(self._unit))
        w[support] = weights / self._unit[support]
        step = w - self.w
        return w, float(self.b + self._intercept_step - (self._centre + self._shift) @ step)

    def _rows(self, columns):
        return self.H[self._place[columns]]

    def _store(self, columns, products):
        """From products of x - shift with x to rows of H."""
        H = products - np.outer(self._by_d[columns], self._shift + self._centre)
        H /= self.problem.data.total_weight * self._unit
        H /= self._unit[columns, None]
        H[np.arange(len(columns)), columns] = self._diagonal[columns]
        self._place[columns] = np.arange(len(self.columns), len(self.columns) + len(columns))
        self.columns = np.append(self.columns, columns)
        self.H = np.concatenate([self.H, H])

    def _by_row(self, chunk):
        """Of every row s loss, s loss' and s loss''."""
        X, y, weight = chunk
        support = np.flatnonzero(self.w)
        z = X[:, support] @ self.w[support] + self.b
        loss = self.problem.loss
        curvature = np.maximum(loss.second_derivative(y, z), loss.least_curvature)
        return weight * loss.value(y, z), weight * loss.derivative(y, z), weight * curvature

    def _sums(self, chunk):
        loss, u, D = self._by_row(chunk)
        X = chunk.X
        if sp.issparse(X):
            sums = csr_sums(X.indptr, X.indices, X.data, self._shift, u, D)
        else:
            sums = dense_sums(X, self._shift, u, D)
        return loss.sum(), D.sum(), u.sum(), *sums

    def _products(self, chunk, columns):
        """sum_i D_i (x_ic - shift_c) x_ij for these columns c and all j. Centring one side is enough for the digits."""
        X, d = chunk.X, chunk.X.shape[1]
        if len(columns) == 0:
            return np.zeros((0, d))
        _, _, D = self._by_row(chunk)
        if sp.issparse(X):
            place = np.full((2, d), -1, dtype=np.int32)
            place[0, columns] = np.arange(len(columns))
            place[1] = np.arange(d)
            products, _, sums = csr_products(X.indptr, X.indices, X.data, D, place, len(columns), d, False)
            return products - np.outer(self._shift[columns], sums)
        left = D[:, None] * (X[:, columns] - self._shift[columns])
        products = np.zeros((d, len(columns)), order="F")
        block = np.empty((BLOCK_ROWS, d))
        for i in range(0, len(X), BLOCK_ROWS):
            rows = block[: len(X[i : i + BLOCK_ROWS])]
            np.copyto(rows, X[i : i + BLOCK_ROWS])
            products = dgemm(1.0, rows.T, left[i : i + BLOCK_ROWS].T, 1.0, products, trans_b=True, overwrite_c=True)
        return products.T
