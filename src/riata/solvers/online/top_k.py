"""The last step of solver 'online' for k features: from candidates to k of them, on statistics gathered on the way.

Around the margin z of a row, the loss is u (x . w - z) + h / 2 (x . w - z)^2 with its slope u and its curvature h (the
squared loss exactly so). Summed over rows that is a quadratic of the candidates' weights,
    w'Aw / 2 - c'w,    A = sum h x x',    c = sum (h z - u) x,
with a column of ones for the intercept. A candidate is counted from the row on which it became one, as if it had been
zero before: A stays a sum of squares, and a young candidate has to be the better for it.
"""

import numpy as np

from riata.kernels.rows import Rows, entries_of

RIDGE = 1e-4  # relative to the diagonal: candidates may be copies of each other


def memory(n_candidates: int) -> dict[str, np.ndarray]:
    """Before the first row: no candidates. The intercept is the last entry of xx and xy."""
    m = n_candidates + 1
    return {"candidates": np.full(n_candidates, -1), "xx": np.zeros((m, m)), "xy": np.zeros(m)}


def columns(rows: Rows, visits, features, shift) -> np.ndarray:
    """These columns of the visited rows, counted from `shift`, and a last one of ones."""
    block = entries_of(rows, visits, features)
    return np.column_stack([block * rows.shrink[features] - shift[features], np.ones(len(visits))])


def gather(state, rows: Rows, visits, shift, weight, curvatures, responses) -> None:
    """Add rows to the statistics; `responses` are h z - u. Places without a candidate stay zero."""
    held = np.append(state["candidates"] >= 0, True)
    X = columns(rows, visits, state["candidates"][held[:-1]], shift)
    state["xx"][np.ix_(held, held)] += X.T @ ((weight * curvatures)[:, None] * X)
    state["xy"][held] += X.T @ (weight * responses)


def replace_candidates(state, wanted: np.ndarray) -> None:
    """Let those go that are no longer wanted; newcomers take their places and start from nothing."""
    held = state["candidates"]
    places = np.flatnonzero(~np.isin(held, wanted))
    newcomers = wanted[~np.isin(wanted, held)]
    held[places] = -1
    held[places[: len(newcomers)]] = newcomers
    state["xx"][places, :] = 0.0
    state["xx"][:, places] = 0.0
    state["xy"][places] = 0.0


def cut(state, k: int, fit_intercept: bool):
    """(features, weights, intercept) of the k candidates that backward elimination leaves."""
    places = np.flatnonzero((state["candidates"] >= 0) & (np.diag(state["xx"])[:-1] > 0.0))
    n = len(places)
    if fit_intercept:
        places = np.append(places, len(state["candidates"]))
    A, c = state["xx"][np.ix_(places, places)], state["xy"][places]
    scale = np.sqrt(np.diag(A))
    A = A / np.outer(scale, scale) + RIDGE * np.diag(np.arange(len(places)) < n)
    kept, v = backward(A, c / scale, min(k, n), n)
    weights = v / scale[kept]
    chosen = kept < n
    return state["candidates"][places[kept[chosen]]], weights[chosen], float(weights[~chosen].sum())


def backward(A, c, k: int, n_free: int):
    """Drop the first `n_free` variables of min v'Av / 2 - c'v one by one, the cheapest first, until k of them remain.

    Dropping j costs v_j^2 / (2 P_jj) with P the inverse of A, which a rank-one step then brings up to date.
    """
    P = np.linalg.inv(A)
    alive = np.arange(len(c)) < n_free
    for _ in range(n_free - k):
        cost = np.where(alive, (P @ c) ** 2 / np.where(alive, np.diag(P), 1.0), np.inf)
        j = int(np.argmin(cost))
        P -= np.outer(P[:, j], P[j] / P[j, j])
        P[:, j] = P[j] = 0.0
        alive[j] = False
    kept = np.flatnonzero(alive | (np.arange(len(c)) >= n_free))
    return kept, (P @ c)[kept]
