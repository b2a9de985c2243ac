"""The last step of solver 'online' for k features: from candidates to k of them, by statistics of the rows so far.

Around the margin z of a row, the loss is u (x . w - z) + h / 2 (x . w - z)^2 with its slope u and its curvature h (the
squared loss exactly so). Summed over rows that is a quadratic of the candidates' weights,
    w'Aw / 2 - c'w,    A = sum h x x',    c = sum (h z - u) x,
with a column of ones for the intercept. The column of a candidate counts from the row on which it became one, as if it
had been zero before: A stays positive semi-definite, and recent candidates are at a disadvantage.

Most rows of a log tell little: their slopes are small. Of many rows, those count by a sample in which a row of slope u
has its place with probability p = 2 |u| / (root mean square of u), within a quarter and 1, and then counts 1 / p times.
Noise of c is in the squares of its slopes: sum of u^2 / p. A row of |u| = a rms, a <= 1/2, adds less than
(a / 2 - a^2) rms^2, at most a sixteenth of the mean square, to what it would be with all rows.
"""

from contextlib import nullcontext

import numpy as np

from riata.kernels.candidates import OF_MARK, add_products, eliminate, move_products, rows_that_count, unpack
from riata.kernels.rows import DenseRows, Rows, leaves_zeros_out
from riata.scipy_later import linalg
from riata.solvers.saved_checks import check_set
from riata.solvers.stochastic.method import MethodMemory
from riata.threads import one_blas_thread

MANY = 2000  # columns, from which on threads of BLAS pay: beside other work, they mostly wait for each other
RIDGE = 1e-4  # relative to the diagonal: columns of candidates may be equal
SEEN = 0xFF00  # of a mark
FIRST_ROWS = 50_000  # which all count: they take no time
LEAST_SHARE, TYPICAL = 0.25, 2.0  # of rows behind: the least probability; that of a row is so many times |u| / rms


def memory(n_candidates: int, n_features: int) -> MethodMemory:
    """The statistics before the first row, without candidates. The intercept is the last column of xx and xy.

    xx has the lower half of A, row after row. Candidates are in order, and so are their places. Features with a mark
    (see `kernels.candidates`), which were seen in any row, may become candidates: of millions, the others are not
    looked at. `place_of` has the place of every feature among the candidates, -1 for others; margins are counted from
    the `centre`.
    """
    m = n_candidates + 1
    return {
        "candidates": np.full(n_candidates, -1), "xx": np.zeros(m * (m + 1) // 2), "xy": np.zeros(m),
        "marks": np.zeros(-(-n_features // OF_MARK), dtype=np.uint16),
        "place_of": np.full(n_features, -1, dtype=np.int32), "centre": np.zeros(1),
        "slope": np.zeros(1), "n_rows": np.zeros(1, dtype=np.int64),
    }  # fmt: skip


def bytes_needed(n_candidates: int) -> int:
    """What the statistics of so many candidates take, with the inverse that the last cut makes of them."""
    m = n_candidates + 1
    return 8 * (m * (m + 1) // 2 + m * m)


def most_candidates(n_bytes: float) -> int:
    """How many candidates there is room for."""
    return int(np.sqrt(max(n_bytes, 0.0) / 12.0)) - 2


def check(state: MethodMemory) -> None:
    """Refuse candidates that have other places than theirs, or are out of order, and marks of others."""
    there = state["candidates"][state["candidates"] >= 0]
    placed = np.flatnonzero(state["place_of"] >= 0)
    check_set(placed, "place_of", there)
    marked = np.zeros_like(state["marks"])
    _mark(marked, there)
    in_order = np.array_equal(state["place_of"][there], np.arange(len(there))) and (np.diff(there) > 0).all()
    if not in_order or not np.array_equal(marked, state["marks"] & ~np.uint16(SEEN)):
        raise ValueError("'candidates' do not go with their places and marks")


def _mark(marks: np.ndarray, candidates: np.ndarray) -> None:
    """Mark these features as candidates, and no others."""
    marks &= np.uint16(SEEN)
    np.bitwise_or.at(marks, candidates // OF_MARK, (1 << candidates % OF_MARK).astype(np.uint16))


def columns(rows: DenseRows, visits: np.ndarray, features: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """These columns of the visited rows, less their `shift`, and a column of ones."""
    block = rows.X[np.ix_(visits, features)]
    return np.column_stack([block * rows.shrink[features] - shift[features], np.ones(len(visits))])


def sampled(state: MethodMemory, u: np.ndarray) -> tuple[np.ndarray | slice, np.ndarray | float]:
    """Which of the next rows, with these slopes times weights, count, and how many times: by their numbers alone."""
    first = int(state["n_rows"][0])
    state["n_rows"] += len(u)
    slope = float(state["slope"][0])
    if first + len(u) <= FIRST_ROWS or slope == 0.0:
        return slice(None), 1.0
    taken, times = np.empty(len(u), np.int64), np.empty(len(u))
    n = rows_that_count(u, first, max(FIRST_ROWS - first, 0), LEAST_SHARE, TYPICAL / slope, taken, times)
    return taken[:n], times[:n]


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
    if leaves_zeros_out(rows):
        add_products(
            rows, plain, visits, state["marks"], state["place_of"], weight * curvatures, weight * responses,
            state["xx"], state["xy"],
        )  # fmt: skip
        return
    state["marks"] |= np.uint16(SEEN)
    there = _columns_there(state)
    X = columns(rows, visits, state["candidates"][there[:-1]], shift)
    products = X.T @ ((weight * curvatures)[:, None] * X)
    at, of = np.tril_indices(len(there))
    state["xx"][_packed(there[at], there[of])] += products[at, of]
    state["xy"][there] += X.T @ (weight * responses)


def _columns_there(state: MethodMemory) -> np.ndarray:
    """The places of all candidates, and of the intercept."""
    return np.append(np.flatnonzero(state["candidates"] >= 0), len(state["candidates"]))


def _packed(i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Where the products of columns i and j <= i are in xx."""
    at: np.ndarray = i * (i + 1) // 2 + j
    return at


def _squares(state: MethodMemory) -> np.ndarray:
    """The diagonal of A."""
    places = np.arange(len(state["xy"]))
    squares: np.ndarray = state["xx"][_packed(places, places)]
    return squares


def move_columns(state: MethodMemory, moved: np.ndarray) -> None:
    """Count columns from elsewhere, `moved` further on: the statistics of x - moved, by those of x and of ones."""
    there, xx, xy = _columns_there(state), state["xx"], state["xy"]
    by = np.append(moved[state["candidates"][there[:-1]]], 0.0)
    at, of = np.tril_indices(len(there))
    packed = _packed(there[at], there[of])
    A = np.empty((len(there), len(there)))
    A[at, of] = A[of, at] = xx[packed]
    A -= np.outer(by, A[-1])
    A -= np.outer(A[:, -1], by)
    xx[packed] = A[at, of]
    xy[there] -= by * xy[-1]


def replace_candidates(state: MethodMemory, wanted: np.ndarray) -> None:
    """Make `wanted`, in order, the candidates: the statistics of new ones are zero."""
    candidates, place_of, m = state["candidates"], state["place_of"], len(state["candidates"])
    before = candidates[candidates >= 0]
    if np.array_equal(before, wanted):
        return
    new = np.flatnonzero(place_of[wanted] >= 0)  # the places of those that stay, as they will be
    old = place_of[wanted[new]]
    move_products(state["xx"], np.append(old, m), np.append(new, m), m + 1)
    xy = state["xy"][old]
    state["xy"][:m] = 0.0
    state["xy"][new] = xy
    place_of[before] = -1
    place_of[wanted] = np.arange(len(wanted))
    candidates[:] = -1
    candidates[: len(wanted)] = wanted
    _mark(state["marks"], wanted)


def places_of_candidates(state: MethodMemory) -> np.ndarray:
    """The places of candidates that rows have had since they became such."""
    return np.flatnonzero((state["candidates"] >= 0) & (_squares(state)[:-1] > 0.0))


def cut(state: MethodMemory, k: int, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray, float]:
    """(features, weights, intercept) of the k candidates that backward elimination leaves."""
    places = places_of_candidates(state)
    n = len(places)
    if fit_intercept:
        places = np.append(places, len(state["candidates"]))
    scale = np.sqrt(_squares(state)[places])
    A = np.empty((len(places), len(places)))  # for thousands of candidates it has hundreds of megabytes
    unpack(state["xx"], places, scale, A)
    A[np.arange(n), np.arange(n)] += RIDGE
    kept, v = backward(A, state["xy"][places] / scale, min(k, n), n)
    weights = v / scale[kept]
    chosen = kept < n
    return state["candidates"][places[kept[chosen]]], weights[chosen], float(weights[~chosen].sum())


def backward(A: np.ndarray, c: np.ndarray, k: int, n_free: int) -> tuple[np.ndarray, np.ndarray]:
    """Backward elimination of the first `n_free` variables of min v'Av / 2 - c'v, until k of them remain.

    Returns the variables that remain, and their values; A is lost.
    """
    P, v = _inverse(A, c)
    alive = np.arange(len(c)) < n_free
    n_dropped = max(n_free - k, 0)
    eliminate(P, v, alive, np.empty(n_dropped, np.int64), np.empty((n_dropped, len(c))))
    kept = np.flatnonzero(alive | (np.arange(len(c)) >= n_free))
    return kept, v[kept]


def _inverse(A: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lower half of P, the inverse of A, in the place of A; and P c."""
    with one_blas_thread() if len(c) < MANY else nullcontext():
        factor, failed = linalg.lapack.dpotrf(A.T, lower=0, clean=0, overwrite_a=1)  # LAPACK has rows as columns
        upper, _ = linalg.lapack.dpotri(factor, lower=0, overwrite_c=1)
        if failed:  # the ridge keeps it from that, unless some number is none: which is told where a model is checked
            upper[:] = np.nan
        return upper.T, linalg.blas.dsymv(1.0, upper, c, lower=0)
