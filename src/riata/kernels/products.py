"""Weighted products of sparse columns, row by row."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def csr_products(indptr, indices, data, weight, place, n_left, n_right, symmetric):
    """sum_i d_i a_i b_i', sum_i d_i a_i and sum_i d_i b_i.

    `place[0, j]` is the position of column j among the left ones or -1, `place[1, j]` among the right ones. Where the
    two sets are the same, only the half that is needed is multiplied.
    """
    products, left_sum, right_sum = np.zeros((n_left, n_right)), np.zeros(n_left), np.zeros(n_right)
    at = np.empty((2, max(n_left, n_right)), dtype=np.int64)
    values = np.empty((2, max(n_left, n_right)))
    for i in range(weight.shape[0]):
        lefts = rights = 0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if place[0, j] >= 0:
                at[0, lefts] = place[0, j]
                values[0, lefts] = data[p] * weight[i]
                lefts += 1
            if place[1, j] >= 0:
                at[1, rights] = place[1, j]
                values[1, rights] = data[p]
                rights += 1
        for q in range(rights):
            right_sum[at[1, q]] += values[1, q] * weight[i]
        for p in range(lefts):
            left_sum[at[0, p]] += values[0, p]
            row = products[at[0, p]]
            factor = values[0, p]
            for q in range(p if symmetric else 0, rights):
                row[at[1, q]] += factor * values[1, q]
    if symmetric:
        for p in range(n_left):
            for q in range(p):
                both = products[p, q] + products[q, p]
                products[p, q] = both
                products[q, p] = both
    return products, left_sum, right_sum
