"""Concordance of risks with times: of two rows of which it is known whose event came first, how often that one had the
higher risk (Harrell, 1982). Rows of equal risk count half.

A row with an event is compared with all rows of later times, and with those of the same time that are censored. In the
order of time that is a run of rows to the end, which consists of blocks of 1, 2, 4, ... rows, one of a size at most.
The risks of the rows of each block are sorted, so that a search tells how many of them are lower: n log^2 n steps.
"""

from typing import Any

import numpy as np


def concordance(y: np.ndarray, risk: np.ndarray, weight: Any = None) -> float:
    """The share of concordant pairs of rows, for signed times y; NaN where no two rows can be compared.

    A pair counts as often as the product of its weights.
    """
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    order = np.lexsort((y < 0, np.abs(y)))  # at the same time, events come first
    y, weight = y[order], weight[order]
    _, rank = np.unique(np.asarray(risk)[order], return_inverse=True)
    event = np.flatnonzero(y > 0)
    ends = np.searchsorted(np.abs(y), np.abs(y[event]), side="right")
    censored = np.concatenate([[0], np.cumsum(y < 0)])
    start = ends - (censored[ends] - censored[np.searchsorted(np.abs(y), np.abs(y[event]))])  # after the last event
    comparable, lower, no_higher = _later(start, rank[event], rank, weight)
    pairs = float(weight[event] @ comparable)
    return float(weight[event] @ (lower + no_higher)) / (2.0 * pairs) if pairs > 0.0 else float("nan")


def _later(
    start: np.ndarray, of: np.ndarray, rank: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The weight of the rows from `start` on: of all, of those of a lower rank than `of`, of those of no higher one."""
    n, n_ranks = len(rank), int(rank.max(initial=0)) + 1
    place, total = start.copy(), np.zeros((3, len(start)))
    for size in 2 ** np.arange(max(n, 1).bit_length()):
        here = np.flatnonzero((place & size > 0) | ((place == 0) & (2 * size > n)))
        if len(here):
            block = np.arange(n) // size
            key = block * n_ranks + rank
            within = np.argsort(key, kind="stable")
            key, before = key[within], np.concatenate([[0.0], np.cumsum(weight[within])])
            first = (place[here] // size) * n_ranks
            begin, end, low, high = (
                before[np.searchsorted(key, first + at)] for at in (0, n_ranks, of[here], of[here] + 1)
            )
            total[:, here] += end - begin, low - begin, high - begin
        place = np.where(place & size, place + size, place)
    return total[0], total[1], total[2]
