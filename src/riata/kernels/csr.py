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
        before = -1
        for p in range(start, stop):
            j = indices[p]
            if j < 0 or j >= width:
                return OUT_OF_RANGE, i
            if j <= before and found == SOUND:
                found, where = DISORDERED, i
            before = j
    return found, where
