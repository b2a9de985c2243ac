"""About how many different values a column has, in at most 16 kB: HyperLogLog (Flajolet et al., 2007)."""

import numpy as np

from riata.data.mixed_bits import GOLDEN, mixed_bits

BITS = 14  # 2^14 registers: an error of 0.8 %
REST = 64 - BITS
FEW = 1024  # hashes that are kept themselves: a table may have tens of thousands of columns, and few rows


class DistinctCount:
    """Counts different 64-bit hashes: in each register, the longest run of zeros that was seen."""

    def __init__(self) -> None:
        self._few = np.empty(0, np.uint64)  # all hashes, as long as there are no registers
        self._registers: np.ndarray | None = None

    def add(self, hashes: np.ndarray) -> None:
        if self._registers is None and len(hashes) <= FEW:
            together = np.union1d(self._few, hashes)
            if len(together) <= FEW:
                self._few = together
                return
        _put(self._at_length(), hashes)

    def merge(self, later: "DistinctCount") -> None:
        if later._registers is None:
            self.add(later._few)
        else:
            registers = self._at_length()
            np.maximum(registers, later._registers, out=registers)

    @property
    def count(self) -> int:
        """The estimate; by empty registers where there are many of them, which is nearly exact."""
        if self._registers is None:
            return len(self._few)
        m = len(self._registers)
        estimate = 0.7213 / (1 + 1.079 / m) * m**2 / np.ldexp(1.0, -self._registers.astype(np.int64)).sum()
        empty = int((self._registers == 0).sum())
        return round(float(m * np.log(m / empty) if empty and estimate <= 2.5 * m else estimate))

    def _at_length(self) -> np.ndarray:
        """The registers, to which the few hashes are moved where that has not been done."""
        if self._registers is None:
            self._registers = np.zeros(1 << BITS, dtype=np.uint8)
            _put(self._registers, self._few)
            self._few = self._few[:0].copy()
        return self._registers


def _put(registers: np.ndarray, hashes: np.ndarray) -> None:
    """Note the run of zeros of each hash in its register."""
    register = (hashes & np.uint64((1 << BITS) - 1)).astype(np.int64)
    rest = (hashes >> np.uint64(BITS)).astype(np.float64)
    np.maximum.at(registers, register, (REST + 1 - np.frexp(rest)[1]).astype(np.uint8))


def scattered(values: np.ndarray) -> np.ndarray:
    """64-bit hashes of whole numbers."""
    return mixed_bits(values.astype(np.int64).view(np.uint64) + GOLDEN)
