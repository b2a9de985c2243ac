"""The least curvature of rows in Newton steps, as a share of the largest: more after a step that went too far.

Where a loss is nearly flat its quadratic promises much and a step throws margins far off; with more curvature steps are
shorter, and gain what they promise.
"""

POOR, GOOD = 0.25, 0.75  # shares of the gain that a quadratic promised
LEAST, FACTOR = 1e-3, 10.0


def next_damping(damping: float, gained: float, promised: float) -> float:
    """That of the next step, after one that gained so much of what it promised."""
    kept = gained / promised if promised > 0.0 else 1.0
    if kept < POOR:
        return min(max(FACTOR * damping, LEAST), 1.0)
    if kept > GOOD:
        return damping / FACTOR if damping > LEAST else 0.0
    return damping
