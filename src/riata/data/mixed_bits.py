"""Numbers that look random, each of which depends on a whole number alone: the same in all passes, on all workers."""

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # odd, and its bits have no pattern


def mixed_bits(numbers: np.ndarray) -> np.ndarray:
    """64 bits, each of which depends on every bit of a number: the end of SplitMix64 (Steele, Lea & Flood, 2014)."""
    with np.errstate(over="ignore"):
        x = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed: np.ndarray = x ^ (x >> np.uint64(31))
    return mixed
