"""Second-order statistics of the candidates of solver 'online' (see `solvers.online.top_k`), from sparse rows."""

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.rows import CsrRows


@compiled(nogil=True)
def add_products(
    rows: CsrRows,
    visits: np.ndarray,
    place_of: np.ndarray,
    curvatures: np.ndarray,
    responses: np.ndarray,
    xx: np.ndarray,
    xy: np.ndarray,
    seen: np.ndarray,
) -> None:
    """Add curvature * x x' and response * x of the visited rows, where x are their candidates and, last, a one.

    `place_of` has the place of every feature in xx and xy, -1 for one that is no candidate: what a row costs is the
    square of how many candidates it has, however many there are. Features of these rows are marked in `seen`.
    """
    indptr, indices, data, shrink = rows
    last = xy.shape[0] - 1
    longest = 0
    for i in visits:
        longest = max(longest, indptr[i + 1] - indptr[i])
    places, values = np.empty(longest + 1, dtype=np.int64), np.empty(longest + 1)
    for t in range(visits.shape[0]):
        i = visits[t]
        n = 0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            seen[j] = True
            place = place_of[j]
            if place >= 0:
                places[n], values[n] = place, data[p] * shrink[j]
                n += 1
        places[n], values[n] = last, 1.0
        n += 1
        h, u = curvatures[t], responses[t]
        for a in range(n):
            row, scaled = places[a], h * values[a]
            xy[row] += u * values[a]
            for b in range(n):
                xx[row, places[b]] += scaled * values[b]


@compiled(nogil=True)
def eliminate(P: np.ndarray, v: np.ndarray, alive: np.ndarray, n_drop: int) -> None:
    """Drop the cheapest variable of min v'Av / 2 - c'v so many times; P, the inverse of A, and v = P c change in place.

    Dropping j costs v_j^2 / (2 P_jj). Only those that are `alive` at the beginning may be dropped.
    """
    n = v.shape[0]
    there = np.ones(n, dtype=np.bool_)
    for _ in range(n_drop):
        j, least = -1, np.inf
        for i in range(n):
            if alive[i] and v[i] * v[i] < least * P[i, i]:
                j, least = i, v[i] * v[i] / P[i, i]
        if j < 0:
            break
        alive[j] = there[j] = False
        pivot, value = P[j], v[j] / P[j, j]
        for i in range(n):
            if there[i]:
                share = P[i, j] / P[j, j]
                v[i] -= P[i, j] * value
                for m in range(n):
                    P[i, m] -= share * pivot[m]
