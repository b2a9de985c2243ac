"""What solver 'online' keeps of every feature: a line of numbers (see `kernels.online`)."""

from typing import Any

import numpy as np

from riata.kernels.online import HOLD_SQUARE, LANES, SHIFT, SQUARES, SUMS, WIDTH
from riata.solvers.stochastic.method import MethodMemory

AT_ONCE = 1 << 12  # features whose deviations are found at a time: what is made on the way stays in the cache
PARTS: dict[str, Any] = {
    "z": slice(LANES), "hold_square": HOLD_SQUARE, "sums": SUMS, "squares": SQUARES, "shift": SHIFT,
}  # fmt: skip


def lines_of_zeros(n_features: int) -> np.ndarray:
    """A row of WIDTH zeros for every feature, aligned with the cache: reading it takes one cache line, not two."""
    flat = np.zeros((n_features + 1) * WIDTH)
    start = -(flat.ctypes.data // flat.itemsize) % WIDTH
    return flat[start : start + n_features * WIDTH].reshape(n_features, WIDTH)


def of_features(memory: MethodMemory, name: str) -> np.ndarray:
    """One of the PARTS of the numbers of every feature, to read or to write."""
    return memory["block"][:, PARTS[name]]


def deviations_of(block: np.ndarray, memory: MethodMemory) -> np.ndarray:
    """The deviations of the features whose numbers are in a block."""
    total, deviations = max(memory["total"][0], 1e-300), np.empty(len(block))
    for start in range(0, len(block), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        mean, square = (block[some, PARTS[name]] / total for name in ("sums", "squares"))
        np.sqrt(np.maximum(square - mean**2, 0.0), out=deviations[some])
    return deviations
