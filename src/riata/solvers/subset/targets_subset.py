"""The search for k columns with the least squared loss of several targets at once, in memory, on their products.

Each target has weights of its own, A h_S with A = H_SS^-1, and all have the same residuals v of the columns outside:
twice the loss decreases by |c_j|^2 / v_j when column j enters, with the products c_j of its residual with each target,
and increases by |w_i|^2 / A_ii when column i leaves.
"""

import numpy as np

from riata.scipy_later import linalg
from riata.solvers.subset.group_subset import GroupOutlook, GroupSubset, independent_columns
from riata.solvers.subset.subset import COLLINEAR


class TargetsSubset(GroupSubset):
    """A set of columns, each of which is a group; h is columns x targets, and so are weights."""

    def __init__(self, H: np.ndarray, h: np.ndarray, min_gain: float):
        super().__init__(H, h, np.arange(len(h)), min_gain)

    def _outlook(self, members: list[int]) -> GroupOutlook:
        inside = np.array(members, dtype=np.int64)
        places, R = independent_columns(self._H[np.ix_(inside, inside)])
        support = inside[places]
        rows = self._H[support]
        A = linalg.cho_solve((R, False), np.eye(len(support))) if len(support) else np.empty((0, 0))
        weights = A @ self._h[support]
        c = self._h - rows.T @ weights
        v = self._H.diagonal() - np.einsum("sj,sj->j", rows, A @ rows)
        gains = np.where(v > COLLINEAR, np.sum(c * c, axis=1) / np.maximum(v, COLLINEAR), 0.0)
        gains[inside] = -np.inf
        costs = np.zeros(len(inside))
        costs[places] = np.sum(weights**2, axis=1) / A.diagonal()
        return GroupOutlook(support, weights, float(np.sum(weights * self._h[support])), gains, costs)
