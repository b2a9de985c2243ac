"""Cross-validation of the squared loss from the products of columns, made in one reading of the rows.

Let q_i = (1, x_i - m, y_i - m_y) with any centre m. For every fold A = sum_i s_i q_i q_i' is all that the squared loss
can know of its rows: those of several folds add up, and the squared error of a model (w, b) on a fold is c'Ac with
c = (m_y - m.w - b, -w, 1). Other folds' products are turned back into rows for the solvers: with A about its own mean
and R'R = A, the d + 1 rows of R have the products of all rows, so they have the same models.
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpstrf

from riata.data.budget import parse_memory
from riata.data.dataset import Dataset
from riata.data.folds import fold_of
from riata.data.memory import InMemory
from riata.fitting import Spec
from riata.selection.paths import ModelPath
from riata.selection.scoring import HeldOut

BLOCK_ROWS = 2048
WIDEST_IN_MEMORY = 500  # features; with more, reading rows again is cheaper than all their products


def products_serve(data: Dataset, spec: Spec, n_folds: int) -> bool:
    """Whether the products of all columns fit half of the memory, and cost less than the passes that they save."""
    d = data.n_features
    fit = 8 * (n_folds + 3) * (d + 2) ** 2 <= parse_memory(spec.memory) // 2
    cheap = not data.in_memory or (isinstance(data, InMemory) and d <= WIDEST_IN_MEMORY and not sp.issparse(data.X))
    return spec.loss == "squared" and data.n_rows >= 2 * d and fit and cheap


class FoldProducts:
    """The products of every fold: one pass, and the moments' to centre."""

    def __init__(self, data: Dataset, n_folds: int, seed: int):
        moments, d = data.moments, data.n_features
        self._centre, self._y_centre = moments.mean, moments.y_mean
        shape, centres = (n_folds, d + 2, d + 2), (self._centre, self._y_centre)

        def products(run):
            folds = np.zeros(shape)
            for start, chunk in run:
                for i in range(0, chunk.n_rows, BLOCK_ROWS):
                    block = chunk.rows(slice(i, i + BLOCK_ROWS))
                    its_folds = fold_of(np.arange(start + i, start + i + block.n_rows), n_folds, seed)
                    _add_products(folds, block, its_folds, *centres)
            return folds

        self._folds = data.sum_runs(products)

    def rows_without(self, fold: int | None, spec: Spec) -> "StandIn":
        """Rows that stand for those outside a fold, or for all of them."""
        return StandIn(sum(A for i, A in enumerate(self._folds) if i != fold), self._centre, self._y_centre, spec)

    def held_out(self, fold: int, path: ModelPath) -> HeldOut:
        """The mean squared error of every model on a fold: no pass."""
        shifts = self._y_centre - path.coefs @ self._centre - path.intercepts
        C = np.column_stack([shifts, -path.coefs, np.ones(len(path))])
        A = self._folds[fold]
        return HeldOut(np.maximum(np.einsum("mi,mi->m", C @ A, C), 0.0) / A[0, 0], float(A[0, 0]))


def _add_products(folds, block, its_folds, centre, y_centre):
    """Add what the rows of a block bring to each fold."""
    X = block.X.toarray() if sp.issparse(block.X) else block.X
    q = np.column_stack([np.ones(len(X)), X - centre, block.y - y_centre])
    q *= np.sqrt(block.weight)[:, None]
    for fold, A in enumerate(folds):
        rows = q[its_folds == fold]
        A += rows.T @ rows


class StandIn:
    """d + 1 rows with the products A of many: standardised columns, and no need of an intercept."""

    def __init__(self, A, centre, y_centre, spec: Spec):
        weight, shift = A[0, 0], A[0] / A[0, 0]
        self._mean, self._y_mean = centre + shift[1:-1], y_centre + shift[-1]
        about_mean = A[1:, 1:] - weight * np.outer(shift[1:], shift[1:])
        means = np.append(self._mean, self._y_mean)
        deviations = np.sqrt(np.maximum(np.diag(about_mean), 0.0) / weight)
        varies = deviations > 1e-12 * np.abs(means)
        self.y_varies = bool(varies[-1])
        units = np.where(varies, deviations, 1.0)
        if not spec.fit_intercept:
            about_mean = about_mean + weight * np.outer(means, means)
        R = _root(about_mean / weight / np.outer(units, units)) * np.sqrt(len(A) - 1)
        self._scale = units[:-1] if spec.standardize else np.ones(len(units) - 1)
        self._fit_intercept = spec.fit_intercept
        self.data = InMemory(R[:, :-1] * (units[:-1] / self._scale), R[:, -1] * units[-1])
        self.spec = replace(spec, fit_intercept=False, standardize=False)

    def in_units_of_the_data(self, path: ModelPath) -> ModelPath:
        """A path along these rows as one along those they stand for."""
        coefs = path.coefs / self._scale
        intercepts = self._y_mean - coefs @ self._mean if self._fit_intercept else np.zeros(len(path))
        return replace(path, coefs=coefs, intercepts=intercepts)


def _root(A):
    """R with R'R = A, for A of any rank: Cholesky with pivots."""
    R, pivots, rank, _ = dpstrf(A)
    R = np.triu(R)
    R[rank:] = 0.0
    root = np.empty_like(R)
    root[:, pivots - 1] = R
    return root
