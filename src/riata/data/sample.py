"""A sample of the rows, in memory: a first look at data that takes long to read."""

import numpy as np

from riata.data.chunk import Chunk, joined
from riata.data.dataset import Dataset
from riata.data.remote import Remote

SHARE = 16  # one row in so many
RUNS = 1024  # that rows elsewhere are cut into
LEAST_ROWS = 8192  # fewer say too little about the rest
FEWEST = 4  # times fewer will do where chunks or the budget allow no more


def sample_rows(data: Dataset, memory: int | None, seed: int | None) -> Dataset | None:
    """Random rows (in memory) or random chunks (elsewhere), one in sixteen; None where that says too little.

    A sample takes at most a quarter of the memory budget. It costs a sixteenth of a pass, or less. That of rows that
    are elsewhere stays there; it is made of runs of rows that do not depend on how they are cut into chunks.
    """
    if data.n_rows < SHARE * LEAST_ROWS:
        return None
    rng = np.random.default_rng(seed)
    if isinstance(data, Remote):
        room = float("inf") if memory is None else memory // 8
        n_runs = int(min(RUNS // SHARE, room / (data.row_bytes * data.n_rows / RUNS)))
        if n_runs * data.n_rows // RUNS < LEAST_ROWS:
            return None
        return data.some_rows(_in_runs(rng, n_runs, data.n_rows)).persisted(_itself)
    if data.cheap_passes:
        rows = np.sort(rng.choice(data.n_rows, data.n_rows // SHARE, replace=False))
        data.ledger.count(len(rows))
        return data.take(rows).apart()
    chunks: list[Chunk] = []
    room = float("inf") if memory is None else memory // 8  # it is held twice while it is put together
    for chunk in data.visit(np.sort(rng.permutation(data.n_chunks)[: max(1, data.n_chunks // SHARE)])):
        room -= sum(part.nbytes for part in chunk)
        if room < 0:
            break
        chunks.append(chunk)
    if sum(chunk.n_rows for chunk in chunks) < LEAST_ROWS // FEWEST:
        return None
    return data.held(joined(chunks))


def _itself(chunk):
    return chunk


def _in_runs(rng, n_runs, n_rows):
    """Whether rows are in the sample: that is so for whole runs of them."""
    chosen = np.zeros(RUNS, dtype=bool)
    chosen[rng.permutation(RUNS)[:n_runs]] = True
    return lambda positions: chosen[positions * RUNS // n_rows]
