"""About how many different values a column has, in 16 kB: HyperLogLog (Flajolet et al., 2007)."""

import numpy as np

from riata.data.mixed_bits import GOLDEN, mixed_bits

BITS = 14  # 2^14 registers: an error of 0.8 %
REST = 64 - BITS


class DistinctCount:
    """Counts different 64-bit hashes: in each register, the longest run of zeros that was seen."""

    def __init__(self) -> None:
        self.registers = np.zeros(1 << BITS, dtype=np.uint8)

    def add(self, hashes: np.ndarray) -> None:
        register = (hashes & np.uint64((1 << BITS) - 1)).astype(np.int64)
        rest = (hashes >> np.uint64(BITS)).astype(np.float64)
        np.maximum.at(self.registers, register, (REST + 1 - np.frexp(rest)[1]).astype(np.uint8))

    def merge(self, later: "DistinctCount") -> None:
        np.maximum(self.registers, later.registers, out=self.registers)

    @property
    def count(self) -> int:
        """The estimate; by empty registers where there are many of them, which is nearly exact."""
        m = len(self.registers)
        estimate = 0.7213 / (1 + 1.079 / m) * m**2 / np.ldexp(1.0, -self.registers.astype(np.int64)).sum()
        empty = int((self.registers == 0).sum())
        return round(float(m * np.log(m / empty) if empty and estimate <= 2.5 * m else estimate))


def scattered(values: np.ndarray) -> np.ndarray:
    """64-bit hashes of whole numbers."""
    return mixed_bits(values.astype(np.int64).view(np.uint64) + GOLDEN)
