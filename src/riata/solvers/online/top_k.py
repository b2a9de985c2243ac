"""The last step of solver 'online' for k features: from candidates to k of them, by statistics of the rows so far.

Around the margin z of a row, the loss is u (x . w - z) + h / 2 (x . w - z)^2 with its slope u and its curvature h (the
squared loss exactly so). Summed over rows that is a quadratic of the candidates' weights,
    w'Aw / 2 - c'w,    A = sum h x x',    c = sum (h z - u) x,
with a column of ones for the intercept. The column of a candidate counts from the row on which it became one, as if it
had been zero before: A stays positive semi-definite, and recent candidates are at a disadvantage.
"""

import numpy as np

from riata.kernels.candidates import CANDIDATE, SEEN, UNSEEN, add_products, eliminate
from riata.kernels.rows import DenseRows, Rows, leaves_zeros_out
from riata.solvers.saved_checks import check_set
from riata.solvers.stochastic.method import MethodMemory

RIDGE = 1e-4  # relative to the diagonal: columns of candidates may be equal


def memory(n_candidates: int, n_features: int) -> MethodMemory:
    """The statistics before the first row, without candidates. The intercept is the last entry of xx and xy.

    The product of two columns is the sum of both of its entries in xx, so that each row adds to one of them. Features
    with a mark, which were seen in any row, may become candidates: of millions, the others are not looked at.
    `place_of` has the place of every feature among the candidates, -1 for others; margins are counted from the
    `centre`.
    """
    m = n_candidates + 1
    return {
        "candidates": np.full(n_candidates, -1), "xx": np.zeros((m, m)), "xy": np.zeros(m),
        "marks": np.zeros(n_features, dtype=np.uint8), "place_of": np.full(n_features, -1, dtype=np.int32),
        "centre": np.zeros(1),
    }  # fmt: skip


def check(state: MethodMemory) -> None:
    """Refuse marks of candidates that have no place."""
    check_set(np.flatnonzero(state["marks"] == CANDIDATE), "marks", np.flatnonzero(state["place_of"] >= 0))


def columns(rows: DenseRows, visits: np.ndarray, features: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """These columns of the visited rows, less their `shift`, and a column of ones."""
    block = rows.X[np.ix_(visits, features)]
    return np.column_stack([block * rows.shrink[features] - shift[features], np.ones(len(visits))])


def gather(
    state: MethodMemory,
    rows: Rows,
    plain: bool,
    visits: np.ndarray,
    shift: np.ndarray,
    weight: np.ndarray,
    curvatures: np.ndarray,
    responses: np.ndarray,
) -> None:
    """Add rows to the statistics; `responses` are h z - u. Places without a candidate stay zero.

    Sparse columns count from zero, so that a row adds something only for the candidates that it has.
    """
    taken = np.append(state["candidates"] >= 0, True)
    if leaves_zeros_out(rows):
        add_products(
            rows, plain, visits, state["marks"], state["place_of"], weight * curvatures, weight * responses,
            state["xx"], state["xy"],
        )  # fmt: skip
        return
    marks = state["marks"]
    marks[marks == UNSEEN] = SEEN
    X = columns(rows, visits, state["candidates"][taken[:-1]], shift)
    state["xx"][np.ix_(taken, taken)] += np.tril(X.T @ ((weight * curvatures)[:, None] * X))
    state["xy"][taken] += X.T @ (weight * responses)


def move_columns(state: MethodMemory, moved: np.ndarray) -> None:
    """Count columns from elsewhere, `moved` further on: the statistics of x - moved, by those of x and of ones."""
    by = np.append(np.where(state["candidates"] >= 0, moved[state["candidates"]], 0.0), 0.0)
    xx, xy = state["xx"], state["xy"]
    A = xx + xx.T - np.diag(np.diag(xx))
    A -= np.outer(by, A[-1])
    A -= np.outer(A[:, -1], by)
    xx[:] = np.tril(A)
    xy -= by * xy[-1]


def replace_candidates(state: MethodMemory, wanted: np.ndarray) -> None:
    """Make `wanted` the candidates: new ones take the places of those that leave, with statistics of zero."""
    candidates, own = state["candidates"], state["place_of"][wanted]
    free = np.ones(len(candidates), dtype=bool)
    free[own[own >= 0]] = False
    places, newcomers = np.flatnonzero(free), wanted[own < 0]
    leaving = places[candidates[places] >= 0]  # those without a candidate are zero
    state["place_of"][candidates[leaving]] = -1
    state["marks"][candidates[leaving]] = SEEN
    state["place_of"][newcomers] = places[: len(newcomers)]
    state["marks"][newcomers] = CANDIDATE
    candidates[places] = -1
    candidates[places[: len(newcomers)]] = newcomers
    state["xx"][leaving, :] = 0.0
    state["xx"][:, leaving] = 0.0
    state["xy"][leaving] = 0.0


def places_of_candidates(state: MethodMemory) -> np.ndarray:
    """The places of candidates that rows have had since they became such."""
    return np.flatnonzero((state["candidates"] >= 0) & (np.diag(state["xx"])[:-1] > 0.0))


def cut(state: MethodMemory, k: int, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """(features, weights, intercept) of the k candidates that backward elimination leaves."""
    places = places_of_candidates(state)
    n = len(places)
    if fit_intercept:
        places = np.append(places, len(state["candidates"]))
    halves, c = state["xx"][np.ix_(places, places)], state["xy"][places]
    A, scale = halves + halves.T - np.diag(np.diag(halves)), np.sqrt(np.diag(halves))
    A = A / np.outer(scale, scale) + RIDGE * np.diag(np.arange(len(places)) < n)
    kept, v = backward(A, c / scale, min(k, n), n)
    weights = v / scale[kept]
    chosen = kept < n
    return state["candidates"][places[kept[chosen]]], weights[chosen], float(weights[~chosen].sum())


def backward(A: np.ndarray, c: np.ndarray, k: int, n_free: int) -> tuple[np.ndarray, np.ndarray]:
    """Backward elimination of the first `n_free` variables of min v'Av / 2 - c'v, until k of them remain.

    Returns the variables that remain, and their values.
    """
    P = np.linalg.inv(A)
    v = P @ c
    alive = np.arange(len(c)) < n_free
    eliminate(P, v, alive, n_free - k)
    kept = np.flatnonzero(alive | (np.arange(len(c)) >= n_free))
    return kept, v[kept]
