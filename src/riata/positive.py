"""Squares of matrices, and their inverses: by SciPy, or by NumPy in small work, which does without SciPy's import."""

import numpy as np

from riata.scipy_later import linalg
from riata.small_work import of_thread

BLOCK = 128  # rows and columns


def upper_squares(A: np.ndarray) -> np.ndarray:
    """The upper half of A'A, for half the work of a product; below it lies anything."""
    return linalg.blas.dsyrk(1.0, A.T) if of_thread.work is None else A.T @ A


def mirrored(upper: np.ndarray) -> np.ndarray:
    """The symmetric matrix of this upper half, in its place and in the order of rows: block by block, for the cache."""
    n = len(upper)
    for i in range(0, n, BLOCK):
        j = min(i + BLOCK, n)
        own = np.triu(upper[i:j, i:j])
        upper[i:j, i:j] = own + np.triu(own, 1).T
        upper[j:, i:j] = upper[i:j, j:].T
    return upper if upper.flags.c_contiguous else upper.T


def solve_positive(H: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """H^-1 right, from the upper half of H; None if H is not positive definite."""
    if not len(right):
        return right
    x: np.ndarray
    if of_thread.work is None:
        _, x, failed = linalg.lapack.dposv(H.T, right, lower=1)  # the transpose is in LAPACK's order of columns
        return None if failed else x
    try:
        inverse = np.linalg.inv(np.linalg.cholesky(H, upper=True))  # of a triangle, as exact as solving by it
    except np.linalg.LinAlgError:
        return None
    x = inverse @ (inverse.T @ right)
    return x


class Factor:
    """The triangle L with H = LL', from the upper half of H."""

    def __init__(self, L: np.ndarray, inverse: bool) -> None:
        self._L, self._inverse = L, inverse  # in small work, its inverse

    @classmethod
    def of(cls, H: np.ndarray) -> "Factor | None":
        """None if H is not positive definite."""
        if of_thread.work is None and len(H):
            L, failed = linalg.lapack.dpotrf(H.T, lower=1, clean=0)  # the transpose is in LAPACK's order of columns
            return None if failed else cls(L, inverse=False)
        try:
            return cls(np.linalg.inv(np.linalg.cholesky(H, upper=True).T), inverse=True)
        except np.linalg.LinAlgError:
            return None

    def below(self, right: np.ndarray) -> np.ndarray:
        """L^-1 right."""
        return self._solved(right, transposed=False)

    def above(self, right: np.ndarray) -> np.ndarray:
        """L^-T right."""
        return self._solved(right, transposed=True)

    def _solved(self, right: np.ndarray, transposed: bool) -> np.ndarray:
        if self._inverse:
            return (self._L.T if transposed else self._L) @ right
        if right.size:
            solved, _ = linalg.lapack.dtrtrs(self._L, right, lower=1, trans=int(transposed))
            return solved
        return right
