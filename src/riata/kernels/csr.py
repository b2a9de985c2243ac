"""What compiled loops take for granted of sparse rows, looked at for real: one pass over the indices."""

import numpy as np

from riata.kernels.compiled import compiled

SOUND, DISORDERED, OUT_OF_RANGE, BROKEN = range(4)


@compiled(nogil=True)
def worst_fault(indptr: np.ndarray, indices: np.ndarray, width: int) -> tuple[int, int]:
    """(fault, row): broken or out of range at the first row that is so; otherwise disordered or twice, or sound."""
    found, where = SOUND, 0
    if indptr[0] != 0:
        return BROKEN, 0
    for i in range(indptr.shape[0] - 1):
        start, stop = indptr[i], indptr[i + 1]
        if stop < start or stop > indices.shape[0]:
            return BROKEN, i
        row = indices[start:stop]
        rises = True
        for p in range(row.shape[0] - 1):
            rises &= row[p] < row[p + 1]
        if rises and (start == stop or (row[0] >= 0 and row[-1] < width)):
            continue
        for p in range(row.shape[0]):
            if row[p] < 0 or row[p] >= width:
                return OUT_OF_RANGE, i
        if found == SOUND:
            found, where = DISORDERED, i
    return found, where
