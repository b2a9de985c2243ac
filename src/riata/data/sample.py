"""A random sample of the rows, in memory: for a first model of data that takes long to read."""

import numpy as np

from riata.data.chunk import Chunk, joined
from riata.data.dataset import Dataset
from riata.data.folds import Keep
from riata.data.remote import Remote

SHARE = 16  # the sample is one row in so many
RUNS = 1024  # into which the rows of a cluster are divided; the sample consists of some of them
LEAST_ROWS = 8192  # a smaller sample says too little about the rest
LEAST_ENTRIES = 10  # of a column of sparse rows: fewer in a sample say nothing of it, and would be taken for much
FEWEST = 4  # a sample of whole chunks may be this many times smaller, where chunk sizes or the budget allow no more


def sample_rows(data: Dataset, memory: int | None, seed: int | None) -> Dataset | None:
    """One row in sixteen: random rows of data in memory, random chunks of other data; None where that is too few.

    A sample takes at most a quarter of the memory budget, and costs a sixteenth of a pass or less. On a cluster it
    stays on the workers, and consists of runs of rows that do not depend on how the data is divided into chunks.
    Without a seed it has the same rows every time: a fit that draws nothing else gives the same bits when repeated.
    """
    if data.n_rows < SHARE * LEAST_ROWS:
        return None
    rng = np.random.default_rng(seed or 0)
    if isinstance(data, Remote):
        room = float("inf") if memory is None else memory // 8
        n_runs = int(min(RUNS // SHARE, room / (data.row_bytes * data.n_rows / RUNS)))
        if n_runs * data.n_rows // RUNS < LEAST_ROWS:
            return None
        return data.some_rows(_in_runs(rng, n_runs, data.n_rows)).persisted(_itself)
    if data.cheap_passes:
        rows = np.sort(rng.choice(data.n_rows, data.n_rows // SHARE, replace=False))
        data.ledger.count(len(rows))
        return data.take(rows).map(_without_rare).with_own_ledger()
    chunks: list[Chunk] = []
    room = float("inf") if memory is None else memory // 8  # there are two copies while chunks are joined
    for chunk in data.visit(np.sort(rng.permutation(data.n_chunks)[: max(1, data.n_chunks // SHARE)])):
        room -= sum(part.nbytes for part in chunk.arrays)
        if room < 0:
            break
        chunks.append(chunk)
    if sum(chunk.n_rows for chunk in chunks) < LEAST_ROWS // FEWEST:
        return None
    return data.keep_in_memory(_without_rare(joined(chunks)))


def _without_rare(chunk: Chunk) -> Chunk:
    """Sparse rows without the entries of columns that have only a few.

    In a sample that has the one row of a level, its share of the slopes is sixteen times that among all rows: more than
    the penalty, so that it would get a weight beyond reason, from which Newton steps find no way back.
    """
    return chunk._replace(X=chunk.X.without_rare(LEAST_ENTRIES))


def _itself(chunk: Chunk) -> Chunk:
    return chunk


def _in_runs(rng: np.random.Generator, n_runs: int, n_rows: int) -> Keep:
    """A function from positions of rows to whether they are in the sample: `n_runs` random runs of rows are."""
    chosen = np.zeros(RUNS, dtype=bool)
    chosen[rng.permutation(RUNS)[:n_runs]] = True

    def keep(positions: np.ndarray) -> np.ndarray:
        return chosen[positions * RUNS // n_rows]

    return keep
