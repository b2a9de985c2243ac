"""What decides the fold of a row: its class, its group, its time, a column of fold numbers, or pairs of rows given."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.folds import FoldPlan, Folds, fold_of, hashed
from riata.data.row_marks import Mark
from riata.data.row_numbers import RowNumbers
from riata.errors import DataError, OptionError
from riata.outcome.folds_used import FoldKind, FoldsUsed

MOST_BALANCED = 100_000  # groups whose sizes are evened out; folds of more are even by chance
MOST_COUNTS = 10_000_000  # of rows by group and class, for folds with the same share of every class
MOST_FOLDS = 1000
SORTED_AT_ONCE = 1 << 22  # numbers


def row_numbers(data: Dataset, of: Callable[[Chunk], np.ndarray], dtype: Any) -> RowNumbers:
    """A number for every row of a dataset: one pass."""
    return RowNumbers(dtype, data.row_values(of))


def stratified(strata: RowNumbers, n_folds: int, seed: int = 0) -> Folds:
    """Folds with the same share of every class, to one row: a row's fold is by a hash of its place in its class."""
    codes, seen = RowNumbers(_type_of(n_folds)), Counter[int]()
    filled = np.zeros(n_folds, dtype=bool)
    for run in strata.runs():
        folds = np.empty(len(run), dtype=np.int64)
        for one in np.unique(run).tolist():
            mine = np.flatnonzero(run == one)
            folds[mine] = fold_of(seen[one] + np.arange(len(mine)), n_folds, seed + one)
            seen[one] += len(mine)
        codes.append(folds)
        filled[folds] = True
    if not filled.all():  # each class has fewer rows than there are folds
        codes = RowNumbers(_type_of(n_folds), [_dealt(strata.all(), n_folds, seed)])
    return Folds(FoldPlan.partition(FoldsUsed(FoldKind.CLASSES, n_folds, stratified=True, seed=seed)), codes)


def _dealt(strata: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of every row, dealt in turn, class after class: none is empty where there are as many rows."""
    folds = np.empty(len(strata), dtype=np.int64)
    folds[np.argsort(strata, kind="stable")] = (np.arange(len(strata)) + seed) % n_folds
    return folds


def grouped(
    mark: Mark,
    n_folds: int,
    seed: int = 0,
    *,
    strata: RowNumbers | None = None,
    by_value: bool = False,
    at_random: bool = False,
) -> Folds:
    """Folds that hold every group as a whole.

    They are made as even as whole groups allow, in rows or (`strata`) in the rows of every class, the largest groups
    first, as scikit-learn's GroupKFold and StratifiedGroupKFold do; `at_random` takes groups in a random order, for
    halves that are to differ from seed to seed. By value, or with very many groups, a hash of the group decides.
    """
    used = FoldsUsed(FoldKind.GROUPS, n_folds, mark.column, seed=seed)
    counted = None if by_value else _counted(mark.numbers)
    if counted is None:
        codes = RowNumbers(_type_of(n_folds), (hash_fold(run, n_folds, seed) for run in mark.numbers.runs()))
        return Folds(FoldPlan.partition(used), codes)
    groups, counts = counted
    if len(groups) < n_folds:
        raise OptionError(
            f"{n_folds} folds need as many groups, and {mark.column!r} has {len(groups)} different "
            f"value{'' if len(groups) == 1 else 's'}: take fewer folds"
        )
    chance = hashed(groups, seed)
    by_class = None if strata is None or at_random else _by_class(mark.numbers, strata, groups)
    if by_class is None:
        order = np.argsort(chance) if at_random else np.lexsort((chance, -counts))
        fold = _lightest_first(counts, order, n_folds)
    else:
        used = replace(used, stratified=True)
        fold = _most_alike(by_class, np.lexsort((chance, -by_class.std(axis=1))), n_folds)
    codes = RowNumbers(_type_of(n_folds), (fold[np.searchsorted(groups, run)] for run in mark.numbers.runs()))
    return Folds(FoldPlan.partition(used), codes)


def hash_fold(groups: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """The fold of a group by its value alone, which is the same in all data."""
    return (hashed(groups, seed) % np.uint64(n_folds)).astype(np.int64)


def _counted(numbers: RowNumbers) -> tuple[np.ndarray, np.ndarray] | None:
    """The groups in order and how many rows each has; None where there are too many."""
    groups, counts = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    for run in numbers.runs():
        theirs, their_counts = np.unique(run, return_counts=True)
        groups, place = np.unique(np.concatenate([groups, theirs]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([counts, their_counts])).astype(np.int64)
        if len(groups) > MOST_BALANCED:
            return None
    return groups, counts


def _by_class(numbers: RowNumbers, strata: RowNumbers, groups: np.ndarray) -> np.ndarray | None:
    """How many rows of each class every group has; None where that would be too many numbers."""
    n_classes = 1 + max((int(run.max()) for run in strata.runs()), default=0)
    if len(groups) * n_classes > MOST_COUNTS:
        return None
    counts = np.zeros(len(groups) * n_classes, dtype=np.int64)
    for run, classes in zip(numbers.runs(), strata.runs(), strict=True):
        counts += np.bincount(np.searchsorted(groups, run) * n_classes + classes, minlength=len(counts))
    return counts.reshape(len(groups), n_classes)


def _lightest_first(counts: np.ndarray, order: np.ndarray, n_folds: int) -> np.ndarray:
    """The fold of every group: each goes to the fold that has the fewest rows so far."""
    fold, sizes = np.empty(len(counts), dtype=np.int64), [(0, i) for i in range(n_folds)]
    for group in order:
        rows, lightest = heapq.heappop(sizes)
        fold[group] = lightest
        heapq.heappush(sizes, (rows + int(counts[group]), lightest))
    return fold


def _most_alike(by_class: np.ndarray, order: np.ndarray, n_folds: int) -> np.ndarray:
    """The fold of every group: each goes where the shares of classes then differ least between folds."""
    totals = by_class.sum(axis=0)
    shares = by_class[:, totals > 0] / totals[totals > 0]
    rows, sizes = by_class.sum(axis=1), np.zeros(n_folds, dtype=np.int64)
    have = np.zeros((n_folds, shares.shape[1]))
    fold = np.empty(len(by_class), dtype=np.int64)
    for group in order:
        more = shares[group]
        squares = (have**2).sum(axis=0) + 2.0 * have * more + more**2  # if it went to each of the folds
        mean = (have.sum(axis=0) + more) / n_folds
        unlike = np.sqrt(np.maximum(squares / n_folds - mean**2, 0.0)).mean(axis=1)
        best = np.flatnonzero(unlike <= unlike.min() + 1e-9)
        chosen = best[np.argmin(sizes[best])]
        fold[group] = chosen
        have[chosen] += more
        sizes[chosen] += rows[group]
    return fold


def forward(mark: Mark, n_folds: int, gap: float = 0.0, gap_said: str | None = None) -> Folds:
    """Blocks of rows in time, of about the same size: each is scored by models of the rows before it, less a gap.

    Blocks begin where those of scikit-learn's TimeSeriesSplit do, and rows of the same time are in the same block.
    """
    n_rows = len(mark.numbers)
    size = n_rows // (n_folds + 1)
    starts = order_statistics(mark.numbers, [n_rows - (n_folds - i) * size for i in range(n_folds)]) if size else []
    if not size or any(a == b for a, b in pairwise(starts)):
        raise OptionError(
            f"{n_folds} folds forward in time need {n_folds + 1} blocks of rows, and {mark.column!r} has too few "
            "different times for that: take fewer folds (cv)"
        )
    limits = [start - gap for start in starts]
    edges = np.unique([*starts, *limits])
    code = np.arange(len(edges) + 1)  # code i has the times from edge i - 1 on, up to edge i
    learns = np.array([code <= np.searchsorted(edges, limit) for limit in limits])
    begins = np.searchsorted(edges, starts) + 1
    scores = np.array([(code >= a) & (code < b) for a, b in pairwise([*begins, len(edges) + 1])])
    plan = FoldPlan(learns, scores, FoldsUsed(FoldKind.TIME, n_folds, mark.column, gap=gap_said))
    return _folds(plan, mark.numbers, lambda run: np.searchsorted(edges, run, side="right"))


def order_statistics(numbers: RowNumbers, ranks: list[int]) -> list[float]:
    """The numbers at these ranks, from 0, if all were sorted; in bounded memory."""
    if len(numbers) <= SORTED_AT_ONCE:
        return [float(value) for value in np.sort(numbers.all())[ranks]]
    return [_order_statistic(numbers, rank) for rank in ranks]


def _order_statistic(numbers: RowNumbers, rank: int) -> float:
    """The number at a rank, by 16 bits at a time: the next ones are counted of numbers that begin with those found."""
    found = 0
    for shift in (48, 32, 16, 0):
        counts = np.zeros(1 << 16, dtype=np.int64)
        for run in numbers.runs():
            keys = _as_ordered_bits(run)
            heads = keys >> np.uint64(shift)
            alike = heads if shift == 48 else heads[heads >> np.uint64(16) == found]
            counts += np.bincount((alike & np.uint64(0xFFFF)).astype(np.int64), minlength=len(counts))
        below = np.cumsum(counts)
        place = int(np.searchsorted(below, rank, side="right"))
        rank -= int(below[place] - counts[place])
        found = found << 16 | place
    bits = np.uint64(found)
    return float((bits ^ SIGN if bits & SIGN else ~bits).view(np.float64))


SIGN = np.uint64(1 << 63)


def _as_ordered_bits(values: np.ndarray) -> np.ndarray:
    """Whole numbers in the same order as these."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits ^ SIGN)


def numbered(mark: Mark) -> Folds:
    """Folds as a column of numbers says; rows of -1 are always learnt from and never scored."""
    values = np.empty(0, dtype=np.int64)
    for run in mark.numbers.runs():
        values = np.union1d(values, run)
        if len(values) > MOST_FOLDS:
            raise DataError(f"{mark.column!r} has more than {MOST_FOLDS} different values: too many for folds")
    names = values[values != -1]
    if len(names) < 2 or (names < 0).any():
        raise DataError(
            f"{mark.column!r} must number at least 2 folds, from 0 or 1 on (-1: never held out), and it holds "
            f"{', '.join(map(str, values[:5]))}"
        )
    return _folds(
        FoldPlan.numbered(values.tolist(), mark.column), mark.numbers, lambda run: np.searchsorted(values, run)
    )


def as_given(pairs: Iterable[Any], n_rows: int, name: str | None = None, kept: np.ndarray | None = None) -> Folds:
    """Folds as pairs (rows to learn from, rows to score) say, by their positions or as masks.

    `kept` says which of the rows that the pairs count are there, where some have no weight.
    """
    counted = n_rows if kept is None else len(kept)
    pairs = list(islice(pairs, MOST_FOLDS + 1))
    if len(pairs) > MOST_FOLDS:
        raise OptionError(f"{name or 'cv'} makes more than {MOST_FOLDS} folds, each a model of its own: make fewer")
    checked = [_checked_pair(pair, counted, number) for number, pair in enumerate(pairs, 1)]
    if len(checked) < 2:
        raise OptionError(f"cv must give at least 2 folds, and it gives {len(checked)}")
    codes = np.zeros(counted, dtype=np.int64)
    for learnt, scored in checked:
        codes = np.unique(codes * 3 + _states(learnt, scored, counted), return_inverse=True)[1]
    one_of_each = np.unique(codes, return_index=True)[1]  # the rows of a code are in the same state in every fold
    states = np.array([_states(learnt, scored, counted)[one_of_each] for learnt, scored in checked])
    plan = FoldPlan(states == 1, states == 2, FoldsUsed(FoldKind.SPLITTER, len(checked), name))
    codes = codes if kept is None else codes[kept]
    return _folds(plan, RowNumbers(_type_of(plan.n_codes), [codes]), lambda run: run)


def _checked_pair(pair: Any, n_rows: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a pair, which must be there."""
    try:
        learnt, scored = (np.asarray(rows) for rows in pair)
    except (TypeError, ValueError):
        raise OptionError(
            "cv must be a number of folds, a splitter of scikit-learn, one fold number for each row, or pairs (rows "
            f"to learn from, rows to score), not {pair!r}"
        ) from None
    for rows, what in ((learnt, "learn from"), (scored, "score")):
        if rows.shape == (0,):
            raise OptionError(f"fold {number} of cv has no rows to {what}: give it some, or leave it out")
        masked = rows.dtype == bool and rows.shape == (n_rows,)
        numbers = rows.ndim == 1 and rows.dtype.kind in "iu"
        if not masked and not (numbers and -1 < rows.min() <= rows.max() < n_rows):
            raise OptionError(f"fold {number} of cv names rows that are not there: positions go from 0 to {n_rows - 1}")
    if _states(learnt, np.empty(0, dtype=np.int64), n_rows)[scored].any():
        raise OptionError(f"fold {number} of cv scores rows that it learns from, which makes scores too good")
    return learnt, scored


def _states(learnt: np.ndarray, scored: np.ndarray, n_rows: int) -> np.ndarray:
    """What a fold does with every row: nothing (0), learns from it (1), or scores it (2)."""
    states = np.zeros(n_rows, dtype=np.int8)
    states[learnt], states[scored] = 1, 2
    return states


def _folds(plan: FoldPlan, numbers: RowNumbers, code_of: Callable[[np.ndarray], np.ndarray]) -> Folds:
    """The folds of a plan, without codes that no row has; every fold must learn from some rows and score some."""
    counts = np.zeros(plan.n_codes, dtype=np.int64)
    for run in numbers.runs():
        counts += np.bincount(code_of(run), minlength=plan.n_codes)
    for rows, what in ((plan.learns, "learn from"), (plan.scores, "score")):
        without = np.flatnonzero(~rows[:, counts > 0].any(axis=1))
        if len(without):
            raise OptionError(f"fold {without[0] + 1} of {plan.n_folds} has no rows to {what}: take other folds (cv)")
    place = np.cumsum(counts > 0) - 1
    dtype = _type_of(int(place[-1]) + 1)
    codes = RowNumbers(dtype, (place[code_of(run)] for run in numbers.runs()))
    there = replace(plan, learns=plan.learns[:, counts > 0], scores=plan.scores[:, counts > 0])
    return Folds(there, codes)


def _type_of(n_codes: int) -> np.dtype[Any]:
    """The smallest type for so many codes."""
    return np.min_scalar_type(max(n_codes - 1, 0))
