"""The paths of all folds and of all rows, made side by side on all cores, until held-out rows say that it is enough.

Every few alphas the models of each fold are scored on the rows that it has not seen. Once the last ones are clearly
worse than one before them, no further models are made: at small alphas they cost most and say least.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.outcome.path_end import EndReason
from riata.small_work import of_thread
from riata.threads import n_cores, one_blas_thread
from riata.training.paths.model_events import model_made
from riata.training.paths.model_path import ModelPath
from riata.training.paths.path import GrowingPath
from riata.training.selection.scoring import HeldOut, held_out
from riata.training.spec import Spec
from riata.training.stages.relaxing import relaxed, shares_tried

AT_A_TIME = 5  # alphas between two looks at the scores
PATIENCE = 5  # models in a row that are worse
CLEARLY = 2.0  # standard errors of the difference, over folds
ROUGHER, MOST_ROUGH = 1000.0, 1e-3  # times the gap asked for, and how much that may be, of the loss: see `_FoldPath`
MOST_COPIED = 1 << 31  # bytes, in place of a budget: each fold holds a copy of its rows

FoldRows = tuple[Dataset, Dataset]  # those it learns from, and those it is scored on


def fits_side_by_side(data: Dataset, n_folds: int, memory: int | None) -> bool:
    """Whether all folds can be in memory at once."""
    if not isinstance(data, InMemory):
        return False
    return data.chunk.X.nbytes * n_folds <= (MOST_COPIED if memory is None else memory // 2)


def paths_side_by_side(
    data: Dataset,
    spec: Spec,
    folds: Sequence[FoldRows],
    length: int,
    reach: float | None,
) -> tuple[ModelPath, list[HeldOut]]:
    """The path of all rows, and the scores of each fold's models for the same alphas."""
    whole = GrowingPath(data, spec, length=length, reach=reach)
    parts = [_FoldPath(*rows, spec, whole.alphas) for rows in folds]
    threads = n_cores() if of_thread.work is None else 1  # what is interpreted is counted in one thread
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        while whole.n_models < len(whole.alphas) and whole.ended is None:
            n = min(whole.n_models + AT_A_TIME, len(whole.alphas))
            tasks: list[Callable[[], None]] = [
                partial(_grow_to, whole, n),
                *(partial(part.grow_to, n) for part in parts),
            ]
            for _ in pool.map(_call, tasks) if threads > 1 else map(_call, tasks):
                pass
            model_made(whole.n_models, len(whole.alphas))
            if all(map(_have_turned, np.array([part.scores[:, : whole.n_models] for part in parts]).swapaxes(0, 1))):
                whole.end(EndReason.TURNED)
    models = whole.models()
    for part in parts:
        data.ledger.count(part.rows_read)
    return models, [HeldOut(part.scores[:, : len(models)].ravel(), part.weight) for part in parts]


class _FoldPath:
    """The models of one fold, and their scores on the rows that it has not seen.

    They are as precise as scores can tell. A gap of g moves margins by sqrt(2 g / c) at most, in the root mean square,
    where c is the curvature of the loss; and a row's loss by as much times its slope. For a likelihood the squares of
    slopes are c in the mean: so losses move by sqrt(2 g), and where g is a thousandth of them that is about a twentieth
    of what they differ by from row to row: of the standard error, too, however many rows there are. The loss is that of
    the rows that were learnt: it falls with their curvature where a model learns them by heart.
    """

    def __init__(self, learnt: Dataset, scored: Dataset, spec: Spec, alphas: np.ndarray) -> None:
        # ledgers of their own: threads would get in each other's way
        self._learnt, self._scored = learnt.with_own_ledger(), scored.with_own_ledger()
        self._path, self._spec = GrowingPath(self._learnt, spec, alphas, only_scored=True), spec
        self._path.loosen(ROUGHER, MOST_ROUGH)
        self.scores = np.empty((max(1, len(shares_tried(spec))), 0))  # a row for each share that debias tries
        self.weight = 0.0

    @property
    def rows_read(self) -> int:
        return int(self._learnt.ledger.rows_read + self._scored.ledger.rows_read)

    def grow_to(self, n: int) -> None:
        """Make and score models until there are n."""
        _grow_to(self._path, n)
        models = self._path.models(first=self.scores.shape[1])
        if shares := shares_tried(self._spec):
            models = relaxed(models, self._learnt, self._spec).one_after_the_other(shares)
        found = held_out(self._scored, models, self._spec.loss_function, self._learnt)
        self.scores = np.hstack([self.scores, found.scores.reshape(len(self.scores), -1)])
        self.weight = found.weight
        self._path.loosen(ROUGHER, MOST_ROUGH)


def _grow_to(path: GrowingPath, n: int) -> None:
    """Make models until there are n, or the path has come to its end."""
    while path.n_models < n and path.grow():
        pass


def _call(task: Callable[[], None]) -> None:
    task()


def _have_turned(scores: np.ndarray) -> bool:
    """Whether the last models, one column each, are clearly worse than the best one, by the same folds."""
    n_folds, n = scores.shape
    best = int(np.argmin(scores.mean(axis=0)))
    if n - 1 - best < PATIENCE:
        return False
    worse = scores[:, -PATIENCE:] - scores[:, [best]]
    errors = worse.std(axis=0, ddof=1) / np.sqrt(n_folds)
    return bool(np.all(worse.mean(axis=0) > CLEARLY * errors))
