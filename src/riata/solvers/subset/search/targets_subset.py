"""The search for k columns with the least squared loss of several targets at once, in memory, on their products.

Each target has weights of its own, A h_S with A = H_SS^-1, and all have the same residuals v of the columns outside:
twice the loss decreases by |c_j|^2 / v_j when column j enters, with the products c_j of its residual with each target,
and increases by |w_i|^2 / A_ii when column i leaves; for both at once, with the weights W of the members in the
regression of the columns outside, as in `kernels.subset`,

    gain(i, j) = |c_j + w_i W_ij / A_ii|^2 / (v_j + W_ij^2 / A_ii) - |w_i|^2 / A_ii.
"""

import numpy as np

from riata.scipy_later import linalg
from riata.solvers.subset.search.group_subset import Factor, GroupOutlook, GroupSubset
from riata.solvers.subset.search.subset import COLLINEAR


class TargetsSubset(GroupSubset):
    """A set of columns, each of which is a group; h is columns x targets, and so are weights."""

    def __init__(self, H: np.ndarray, h: np.ndarray, min_gain: float):
        super().__init__(H, h, np.arange(len(h)), min_gain)

    def _outlook(self, members: list[int]) -> GroupOutlook:
        factor = self._factor(members)
        support, y = factor.columns, factor.below(self._h[factor.columns])
        c, v, _ = self._residuals(factor, y)
        gains = np.where(v > COLLINEAR, np.sum(c * c, axis=1) / np.maximum(v, COLLINEAR), 0.0)
        gains[members] = -np.inf
        weights = linalg.solve_triangular(factor.R, y, check_finite=False) if len(support) else y
        order = np.argsort(support)
        return GroupOutlook(support[order], weights[order], float(np.sum(y * y)), gains)

    def _residuals(self, factor: Factor, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """c and v of all columns, and Z."""
        Z = factor.below(self._H[factor.columns])
        return self._h - Z.T @ y, self._H.diagonal() - np.sum(Z * Z, axis=0), Z

    def _swap_gains(self) -> np.ndarray:
        factor = self._factor(self.members)
        if not 0 < len(factor.columns) == len(self.members):  # a column that leaves may let in what it explained
            return super()._swap_gains()
        y = factor.below(self._h[factor.columns])
        c, v, Z = self._residuals(factor, y)
        order = np.argsort(factor.columns)  # that of the members
        inverse = linalg.solve_triangular(factor.R, np.eye(len(y)), check_finite=False)[order]  # of R
        w, W = inverse @ y, inverse @ Z
        D = 1.0 / np.sum(inverse**2, axis=1, keepdims=True)  # 1 / A_ii
        costs, share = np.sum(w * w, axis=1, keepdims=True) * D, W * D
        products = np.sum(c * c, axis=1) + (2.0 * (w @ c.T) + costs * W) * share  # |c_j + w_i W_ij / A_ii|^2
        left = v + W * share
        return np.where(left > COLLINEAR, products / np.maximum(left, COLLINEAR), 0.0) - costs

    def _costs(self) -> list[float]:
        factor = self._factor(self.members)
        inverse = np.sum(factor.below(np.eye(len(factor.columns))) ** 2, axis=0)  # the diagonal of A
        each = np.sum(self.outlook.weights**2, axis=1) / inverse[np.argsort(factor.columns)]
        of_column = dict(zip(self.outlook.support.tolist(), each.tolist(), strict=True))
        return [of_column.get(member, 0.0) for member in self.members]
