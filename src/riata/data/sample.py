"""A sample of the rows, in memory: a first look at data that takes long to read."""

import numpy as np
import scipy.sparse as sp

from riata.data.chunk import Chunk, joined
from riata.data.dataset import Dataset

SHARE = 16  # one row in so many
LEAST_ROWS = 8192  # fewer say too little about the rest


def sample_rows(data: Dataset, memory: int | None, seed: int | None) -> Dataset | None:
    """Random rows (in memory) or random chunks (elsewhere), one in sixteen; None where that says too little.

    A sample takes at most a quarter of the memory budget. It costs a sixteenth of a pass, or less.
    """
    if data.n_rows < SHARE * LEAST_ROWS:
        return None
    rng = np.random.default_rng(seed)
    if data.in_memory:
        rows = np.sort(rng.choice(data.n_rows, data.n_rows // SHARE, replace=False))
        data.rows_read += len(rows)
        return data.take(rows)
    chunks: list[Chunk] = []
    room = float("inf") if memory is None else memory // 8  # it is held twice while it is put together
    for chunk in data.visit(np.sort(rng.permutation(data.n_chunks)[: max(1, data.n_chunks // SHARE)])):
        room -= sum(_nbytes(part) for part in chunk)
        if room < 0:
            break
        chunks.append(chunk)
    if sum(chunk.n_rows for chunk in chunks) < LEAST_ROWS:
        return None
    return data.held(joined(chunks))


def _nbytes(array) -> int:
    return array.data.nbytes + array.indices.nbytes if sp.issparse(array) else array.nbytes
