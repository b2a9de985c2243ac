"""What passes ask of the rows of a chunk on a device; here for dense rows, by array-API functions alone.

| ask                    | get                                                        | from, to         |
| `margins(w)`           | x_i . w for every row                                      | host, device     |
| `slopes(U)`            | U X, a vector of all features for each row of U            | device, host     |
| `sums(shift, u, D)`    | sums of u a, D a and D a^2 over rows, a = x - shift        | both, host       |
| `columns(numbers)`     | some columns as a dense array                              | host, device     |

Whatever the rows hold, sums are made in float64: a certificate needs the digits, and they cost nothing where
reading the rows takes the time.
"""

from abc import ABC, abstractmethod

import numpy as np

from riata.arrays import namespace, to_host

BLOCK_BYTES = 1 << 28  # of a float64 copy of some rows, made while they are multiplied


class DeviceRows(ABC):
    """Rows of features on a device."""

    shape: tuple[int, int]
    dense: bool

    @abstractmethod
    def margins(self, w: np.ndarray): ...

    @abstractmethod
    def slopes(self, U) -> np.ndarray: ...

    @abstractmethod
    def sums(self, shift: np.ndarray, u, curvature) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...

    @abstractmethod
    def columns(self, numbers: np.ndarray, rows: slice = slice(None)): ...

    def prepare(self, numbers: np.ndarray) -> None:  # noqa: B027 -- a device may do without
        """Expect margins over these columns: a device may hold a copy of them that is quicker to read."""

    @abstractmethod
    def __getitem__(self, rows) -> "DeviceRows":
        """Some rows: a slice, or their numbers."""

    @abstractmethod
    def narrowed(self, numbers: np.ndarray) -> "DeviceRows":
        """The rows with some columns alone."""

    @abstractmethod
    def dense_rows(self, array) -> "DeviceRows":
        """Rows of another array on the same device."""

    def blocks(self, width: int) -> list[slice]:
        """Runs of rows of which `width` columns in float64 make a block."""
        step = max(1, BLOCK_BYTES // (8 * max(1, width)))
        return [slice(i, min(i + step, self.shape[0])) for i in range(0, self.shape[0], step)]


class DenseRows(DeviceRows):
    """A dense array on a device, float32 or float64."""

    dense = True

    def __init__(self, X):
        self.array, self.shape = X, tuple(X.shape)

    def margins(self, w):
        support = np.flatnonzero(w)
        xp = namespace(self.array)
        return self.columns(support) @ xp.asarray(w[support])

    def slopes(self, U):
        return sum(to_host(U[:, rows] @ self._float64(rows)) for rows in self.blocks(self.shape[1]))

    def sums(self, shift, u, curvature):
        xp = namespace(self.array)
        shift, total = xp.asarray(shift), np.zeros((3, self.shape[1]))
        for rows in self.blocks(self.shape[1]):
            a = self._float64(rows) - shift
            total += to_host(xp.stack([u[rows] @ a, curvature[rows] @ a, curvature[rows] @ (a * a)]))
        return tuple(total)

    def columns(self, numbers, rows=slice(None)):
        xp = namespace(self.array)
        return xp.astype(xp.take(self.array[rows, :], xp.asarray(numbers), axis=1), xp.float64)

    def __getitem__(self, rows):
        xp = namespace(self.array)
        taken = self.array[rows, :] if isinstance(rows, slice) else xp.take(self.array, xp.asarray(rows), axis=0)
        return type(self)(taken)

    def narrowed(self, numbers):
        xp = namespace(self.array)
        return type(self)(xp.take(self.array, xp.asarray(numbers), axis=1))

    def dense_rows(self, array):
        return type(self)(array)

    def _float64(self, rows):
        xp = namespace(self.array)
        return xp.astype(self.array[rows, :], xp.float64)
