"""Second-order statistics of the candidates of solver 'online' (see `solvers.online.top_k`), from sparse rows."""

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.prefetch import fetch_memory
from riata.kernels.rows import CsrRows

UNSEEN, SEEN, CANDIDATE = 0, 1, 2  # marks of features


@compiled(nogil=True)
def add_products(
    rows: CsrRows,
    plain: bool,
    visits: np.ndarray,
    marks: np.ndarray,
    place_of: np.ndarray,
    curvatures: np.ndarray,
    responses: np.ndarray,
    xx: np.ndarray,
    xy: np.ndarray,
) -> None:
    """Add curvature * x x' and response * x of the visited rows, where x are their candidates and, last, a one.

    `place_of` has the place of every candidate in xx and xy: what a row costs is the square of how many candidates it
    has, however many there are. Each product of two of them is added once, on either side of the diagonal of xx. Which
    features are candidates is looked up in `marks`, which have a byte each and stay near the processor; features of
    these rows become SEEN there.
    """
    indptr, indices, data, shrink = rows
    width, flat = uint64(xy.shape[0]), xx.reshape(xx.size)
    longest = 0
    for i in visits:
        longest = max(longest, indptr[i + 1] - indptr[i])
    places, values = np.empty(longest + 1, dtype=np.uint64), np.empty(longest + 1)
    for t in range(visits.shape[0]):
        i = visits[t]
        if t + 1 < visits.shape[0]:
            fetch_memory(rows, visits[t + 1], marks)
        n = uint64(0)
        for p in range(uint64(indptr[i]), uint64(indptr[i + 1])):
            j = uint64(indices[p])
            mark = marks[j]
            if mark == UNSEEN:
                marks[j] = SEEN
            places[n] = p  # without a branch, of which the processor could not know where it goes
            n += uint64(mark == CANDIDATE)
        for a in range(n):
            p = places[a]
            j = uint64(indices[p])
            places[a], values[a] = uint64(place_of[j]), data[p] if plain else data[p] * shrink[j]
        places[n], values[n] = width - uint64(1), 1.0
        n += uint64(1)
        h, u = curvatures[t], responses[t]
        for a in range(n):
            place, scaled = places[a], h * values[a]
            xy[place] += u * values[a]
            row = place * width
            for b in range(a + uint64(1)):
                flat[row + places[b]] += scaled * values[b]


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
