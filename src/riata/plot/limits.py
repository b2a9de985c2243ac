"""Where an axis begins and ends: never so near to each other that a chart would show rounding."""

import numpy as np

RESOLUTION = 1e-10  # of a number: what differs by less does so by rounding


def limits(values: np.ndarray, margin: float) -> tuple[float, float]:
    """Ends of an axis: a little room around these numbers, and much around numbers that differ by rounding alone."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    air = margin * (high - low) if high - low > RESOLUTION * size else 0.5 * size or 1.0
    return low - air, high + air
