"""What changes of a support would gain, by the quadratic F(w) ~ const + w'Hw / 2 - h'w (`local_quadratic`)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riata.kernels.subset import swap_gains
from riata.solvers.subset.local.hessian import NOTHING, Hessian
from riata.solvers.subset.local.refit import least, solved
from riata.solvers.subset.search.subset import COLLINEAR
from riata.threads import one_blas_thread


class Outlook(NamedTuple):
    """The best weights on a support, and what changes of the support would gain, by the quadratic."""

    weights: np.ndarray  # of its features, in units of the quadratic
    reduction: float  # twice the reduction of the quadratic from w = 0
    gains: np.ndarray  # for every feature outside, twice the reduction by its best swap or addition; -inf inside
    partners: np.ndarray  # the place in the support of the feature that leaves for it; -1 if none has to
    close: np.ndarray = NOTHING  # features outside that the support explains, of which it leaves most first


def swap_outlook(hessian: Hessian, h: np.ndarray, support: np.ndarray, among: np.ndarray, may_grow: bool) -> Outlook:
    """The best weights on a support, and the gain of every feature outside: a pass if rows of H are missing.

    `among` is H among the support; where that may grow, gains are those of additions.
    """
    A, (weights, reduction) = solved(among, np.eye(len(support))), least(among, h[support])
    gains, partners, left = np.full(len(h), -np.inf), np.full(len(h), -1), np.empty(len(h))
    for of, rows in hessian.row_blocks(support):
        gains[of], partners[of], left[of] = _swap_gains(A, weights, rows, h[of], hessian.diagonal[of], may_grow)
    gains[support] = -np.inf
    left[support] = np.inf
    close = np.flatnonzero((left <= COLLINEAR) & (hessian.diagonal > 0.0))
    return Outlook(weights, reduction, gains, partners, close[np.argsort(-left[close], kind="stable")])


def _swap_gains(
    A: np.ndarray, weights: np.ndarray, rows: np.ndarray, h: np.ndarray, diagonal: np.ndarray, may_grow: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The gains of some features, the places in the support of those that leave for them, and what it leaves of each.

    `rows` are the rows of H of the support for these features, and A is the inverse of H among the support.
    """
    with one_blas_thread():
        W = A @ rows
    c = h - weights @ rows
    v = diagonal - np.einsum("sj,sj->j", rows, W)
    if may_grow:
        return np.where(v > COLLINEAR, c**2 / np.maximum(v, COLLINEAR), -np.inf), np.full(len(v), -1), v
    gains, partners = np.full(len(c), -np.inf), np.zeros(len(c), dtype=np.int64)
    swap_gains(W, A.diagonal().copy(), weights, c, v, COLLINEAR, gains, partners)
    return gains, partners, v


def rough_outlook(hessian: Hessian, h: np.ndarray, support: np.ndarray, weights: np.ndarray) -> Outlook:
    """An outlook from slopes alone, given the best weights: gains are those of additions, as if the support were
    uncorrelated with the features outside. A quick pass, or none if all rows of H are in memory."""
    c = h - hessian.times(support, weights)
    gains = np.where(hessian.diagonal > 0, c**2, -np.inf)
    gains[support] = -np.inf
    return Outlook(weights, float(weights @ h[support]), gains, np.broadcast_to(np.int64(-1), len(c)))


def largest_slopes(
    hessian: Hessian, h: np.ndarray, supports: Sequence[np.ndarray], weights: Sequence[np.ndarray]
) -> np.ndarray:
    """For each feature the largest square of its slope, over models with these supports and weights: one pass.

    That is its gain as an addition, if the features of a support are not correlated with it; -inf in all of them.
    """
    W = np.zeros((len(h), len(supports)))
    for column, (support, own) in enumerate(zip(supports, weights, strict=True)):
        W[support, column] = own
    products = hessian.times_columns(W)
    squares = np.where((W != 0) | (hessian.diagonal == 0)[:, None], -np.inf, (h[:, None] - products) ** 2)
    return squares.max(axis=1, initial=-np.inf)


def matching_pursuit(hessian: Hessian, h: np.ndarray, k: int, min_gain: float) -> np.ndarray:
    """The support of orthogonal matching pursuit among all features: a pass for every feature."""
    support, weights = np.empty(0, dtype=np.int64), np.empty(0)
    while len(support) < k:
        gains = rough_outlook(hessian, h, support, weights).gains
        best = int(np.argmax(gains))
        if gains[best] <= min_gain:
            break
        support = np.append(support, best)
        weights = solved(hessian.rows_of(support)[:, support], h[support])
    return support
