"""Where a sequence that converges linearly seems to go to (Anderson's extrapolation)."""

import numpy as np


def extrapolated(history: np.ndarray) -> np.ndarray | None:
    """The limit that the last members of a sequence lead to; None where they tell nothing."""
    moves = np.diff(history, axis=0)
    products = moves @ moves.T
    size = float(np.trace(products))
    if not size > 0.0:
        return None
    try:
        c = np.linalg.solve(products + 1e-12 * size * np.eye(len(products)), np.ones(len(products)))
    except np.linalg.LinAlgError:
        return None
    total = float(c.sum())
    return None if not np.isfinite(total) or abs(total) < 1e-300 else (c / total) @ history[1:]
