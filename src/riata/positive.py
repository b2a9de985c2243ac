"""Squares of matrices, and their inverses: by SciPy, or by NumPy in small work, which does without SciPy's import."""

import numpy as np

from riata.scipy_later import linalg
from riata.small_work import of_thread


def upper_squares(A: np.ndarray) -> np.ndarray:
    """The upper half of A'A, for half the work of a product; below it lies anything."""
    squares: np.ndarray = linalg.blas.dsyrk(1.0, A.T) if of_thread.work is None else A.T @ A
    return squares


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
