"""Which strings name hash buckets: the first two in each.

There may be more buckets than the cache of the processor holds, and each string asks for another one.
"""

import numpy as np

from riata.kernels.compiled import compiled, uint64
from riata.kernels.prefetch import prefetch

AHEAD = np.uint64(16)  # strings whose buckets are on their way


@compiled(nogil=True)
def note_strings(
    hashes: np.ndarray, shift: int, seen: np.ndarray, known: np.ndarray, found: np.ndarray, places: np.ndarray
) -> int:
    """Let buckets, the upper bits of hashes, note the first two different hashes in each, and that there were more.

    `known` gets the two, and `seen` how many there were, up to 3. Fills `found` with the positions of hashes that were
    noted and `places` with 0 or 1, as which of the two; returns how many.
    """
    n, n_hashes = 0, uint64(len(hashes))
    for i in range(n_hashes):
        if i + AHEAD < n_hashes:
            coming = uint64(hashes[i + AHEAD] >> np.uint64(shift))
            prefetch(seen, coming)
            prefetch(known, coming)
        h = hashes[i]
        b = uint64(h >> np.uint64(shift))
        s = seen[b]
        if s == 3 or (s > 0 and known[b, 0] == h) or (s == 2 and known[b, 1] == h):
            continue
        seen[b] = s + 1
        if s < 2:
            known[b, s] = h
            found[n], places[n] = i, s
            n += 1
    return n
