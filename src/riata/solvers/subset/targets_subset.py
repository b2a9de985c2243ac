"""The search for k columns with the least squared loss of several targets at once, in memory, on their products.

Each target has weights of its own, A h_S with A = H_SS^-1, and all have the same residuals v of the columns outside:
twice the loss decreases by |c_j|^2 / v_j when column j enters, with the products c_j of its residual with each target,
and increases by |w_i|^2 / A_ii when column i leaves.
"""

import numpy as np

from riata.scipy_later import linalg
from riata.solvers.subset.group_subset import GroupOutlook, GroupSubset
from riata.solvers.subset.subset import COLLINEAR


class TargetsSubset(GroupSubset):
    """A set of columns, each of which is a group; h is columns x targets, and so are weights."""

    def __init__(self, H: np.ndarray, h: np.ndarray, min_gain: float):
        super().__init__(H, h, np.arange(len(h)), min_gain)

    def _outlook(self, members: list[int]) -> GroupOutlook:
        factor = self._factor(members)
        support, y = factor.columns, factor.below(self._h[factor.columns])
        Z = factor.below(self._H[support])
        c, v = self._h - Z.T @ y, self._H.diagonal() - np.sum(Z * Z, axis=0)
        gains = np.where(v > COLLINEAR, np.sum(c * c, axis=1) / np.maximum(v, COLLINEAR), 0.0)
        gains[members] = -np.inf
        weights = linalg.solve_triangular(factor.R, y, check_finite=False) if len(support) else y
        order = np.argsort(support)
        return GroupOutlook(support[order], weights[order], float(np.sum(y * y)), gains)

    def _costs(self) -> list[float]:
        factor = self._factor(self.members)
        inverse = np.sum(factor.below(np.eye(len(factor.columns))) ** 2, axis=0)  # the diagonal of A
        each = np.sum(self.outlook.weights**2, axis=1) / inverse[np.argsort(factor.columns)]
        of_column = dict(zip(self.outlook.support.tolist(), each.tolist(), strict=True))
        return [of_column.get(member, 0.0) for member in self.members]
