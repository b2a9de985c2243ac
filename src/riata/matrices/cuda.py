"""Rows on a GPU, by CuPy. Where array functions are slow, `kernels.cu` runs as fast as the memory can be read.

CuPy multiplies in the precision of its arguments, which are float64 here, so no TF32 can slip in.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from riata.arrays import Array, is_device_array
from riata.errors import DataError, OptionError
from riata.matrices.array_api import ArrayMatrix, intercepts, positions
from riata.matrices.csr import CsrMatrix
from riata.matrices.matrix import ALL, Matrix
from riata.scipy_later import is_sparse
from riata.scipy_later import sparse as sp

THREADS = 256
TILE = 1024  # rows that one thread adds up, or more
C_TYPES = {"f4": "float", "f8": "double", "i4": "int", "i8": "long long"}
COPIED_SHARE = 1 / 8  # of the rows' memory: the most that a copy of the columns in use may take
INSTALL = "pip install 'riata[gpu]'"

Csr = tuple[Any, Any, Any]  # where rows start, column numbers and entries: CuPy arrays


@cache
def cupy() -> Any:
    """CuPy, with a GPU to use; otherwise a sentence that says what is missing."""
    try:
        import cupy
    except ImportError:
        raise OptionError(f"device 'cuda' needs CuPy, which is not installed: {INSTALL}") from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        count = 0
    if count == 0:
        raise OptionError("device 'cuda' needs an NVIDIA GPU and its driver, and CuPy sees none: leave device out")
    return cupy


class CudaDense(ArrayMatrix):
    """A dense CuPy array, rows one after the other."""

    def __init__(self, X: Any):
        super().__init__(cupy().ascontiguousarray(X))
        self._places, self._copy = np.full(self.shape[1], -1), self.array[:, :0]  # of the columns in use: see `prepare`

    def prepare(self, numbers: np.ndarray) -> None:
        if self.array.itemsize * len(numbers) * self.shape[0] <= COPIED_SHARE * self.array.nbytes:
            self._copy = None  # frees its memory first
            self._copy = cupy().take(self.array, cupy().asarray(numbers), axis=1)
            self._places[:] = -1
            self._places[numbers] = np.arange(len(numbers))

    def margins(self, w: np.ndarray, b: Any = 0.0) -> Array:
        if w.ndim == 2:
            return super().margins(w, b)
        cp, n, support = cupy(), self.shape[0], np.flatnonzero(w)
        X, places = self.array, support
        if (self._places[support] >= 0).all():
            X, places = self._copy, self._places[support]
        z, weights = cp.empty(n), cp.asarray(w[support], dtype=cp.float64)
        args = (X, n, X.shape[1], cp.asarray(places), weights, len(support), z)
        _launch(f"margins<{_c(X)}>", _warps(n), args)
        return z + float(b)

    def _slopes(self, U: Array) -> np.ndarray:
        m = U.shape[1]
        if m > 2:
            return super()._slopes(U)
        cp, (n, d) = cupy(), self.shape
        both = cp.zeros((2, n))
        both[:m] = U.T
        width = 4 if d % 4 == 0 else 1
        tile, out = _tiles(n, 2, d)
        grid = (-(-d // (width * THREADS)), len(out))
        _launch(f"two_slopes<{_c(self.array)}, {width}>", grid, (self.array, n, d, both, tile, out))
        return out.sum(axis=0)[:m].get().T

    def sums(self, shift: np.ndarray, u: Array, curvature: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cp, (n, d) = cupy(), self.shape
        tile, out = _tiles(n, 3, d)
        args = (self.array, n, d, cp.asarray(shift), u, curvature, tile, out)
        _launch(f"shifted_sums<{_c(self.array)}>", (-(-d // THREADS), len(out)), args)
        by_u, by_curvature, squares = out.sum(axis=0).get()
        return by_u, by_curvature, squares


class CudaSparse(Matrix):
    """A CSR matrix and its transpose: rows are summed along the one, columns along the other, in a fixed order."""

    sparse = True

    def __init__(self, by_row: Csr, shape: tuple[int, int]):
        self.by_row, self.shape = by_row, shape
        self.by_column = _transposed(*by_row, shape[1])

    @property
    def dtype(self) -> Any:
        return self.by_row[2].dtype

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (*self.by_row, *self.by_column))

    def margins(self, w: np.ndarray, b: Any = 0.0) -> Array:
        cp = cupy()
        W = cp.ascontiguousarray(cp.asarray(w if w.ndim == 2 else w[:, None], dtype=np.float64))
        z = _times(self.by_row, self.shape[0], W) + intercepts(cp, b)
        return z if w.ndim == 2 else z[:, 0]

    def _slopes(self, U: Array) -> np.ndarray:
        return _times(self.by_column, self.shape[1], cupy().ascontiguousarray(U)).get()

    def sums(self, shift: np.ndarray, u: Array, curvature: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        cp, d = cupy(), self.shape[1]
        out = cp.empty((4, d))
        starts, indices, data = self.by_column
        args = (starts, indices, data, d, cp.asarray(shift), u, curvature, out)
        _launch(f"csr_column_sums<{_c(data)}, {_c(indices)}>", _warps(d), args)
        by_u, by_curvature, squares, seen = out.get()
        total = float(curvature.sum())
        full = (starts[1:] - starts[:-1] == self.shape[0]).get()  # where total - seen would be rounding
        unseen = np.where(full, 0.0, total - seen)  # of zeros that are not stored: x - shift is -shift there
        return by_u - float(u.sum()) * shift, by_curvature - total * shift, squares + unseen * np.square(shift)

    def columns(self, numbers: np.ndarray, rows: slice = ALL) -> Array:
        cp, (first, last, _) = cupy(), rows.indices(self.shape[0])
        out = cp.zeros((last - first, len(numbers)))
        starts, indices, data = self.by_column
        args = (starts, indices, data, cp.asarray(numbers, dtype=np.int64), len(numbers), first, last, out)
        if out.size:
            _launch(f"csr_columns<{_c(data)}, {_c(indices)}>", (len(numbers),), args)
        return out

    def __getitem__(self, rows: Any) -> "CudaSparse":
        cp = cupy()
        starts, indices, data = self.by_row
        rows = cp.asarray(np.arange(*rows.indices(self.shape[0])) if isinstance(rows, slice) else positions(rows))
        ends = cp.concatenate([cp.zeros(1, np.int64), cp.cumsum(starts[rows + 1] - starts[rows])])
        which = cp.searchsorted(ends, cp.arange(int(ends[-1])), side="right") - 1
        entries = starts[rows][which] + (cp.arange(len(which)) - ends[which])
        return CudaSparse((ends, indices[entries], data[entries]), (len(rows), self.shape[1]))

    def narrowed(self, numbers: np.ndarray) -> CudaDense:
        return CudaDense(self.columns(numbers))

    def on_host(self) -> Matrix:
        starts, indices, data = (part.get() for part in self.by_row)
        return CsrMatrix(sp.csr_array((data, indices, starts), shape=self.shape))

    def dense(self, array: Array) -> CudaDense:
        return CudaDense(array)


def rows_on_gpu(X: Any) -> Matrix:
    """Rows of a host array or matrix, copied; of an array on the GPU (CuPy, PyTorch, ...), where it lies."""
    cp = cupy()
    if hasattr(X, "indptr"):
        parts = cp.asarray(X.indptr, dtype=np.int64), cp.asarray(X.indices), floats_of(cp.asarray(X.data))
        return CudaSparse(parts, X.shape)
    if is_device_array(X) and not isinstance(X, cp.ndarray):
        X = cp.from_dlpack(X.detach() if hasattr(X, "detach") else X)
    return CudaDense(floats_of(cp.asarray(X)))


def floats_of(array: Array) -> Array:
    """The CuPy array as kernels take it: float32 and float64 as they are, other numbers as float64."""
    if array.dtype.kind not in "biuf":
        raise DataError(f"an array of {array.dtype} holds no real numbers")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def host_array(values: Array) -> np.ndarray:
    """Values from anywhere as a NumPy array."""
    if not is_device_array(values):
        return np.asarray(values)
    return cupy().from_dlpack(values.detach() if hasattr(values, "detach") else values).get()


def nbytes_on_gpu(X: Any) -> int:
    """The bytes that these rows, a NumPy array or a SciPy matrix, take on the GPU."""
    return int(2 * (X.data.nbytes + X.indices.nbytes) + X.indptr.nbytes if is_sparse(X) else X.nbytes)


def _transposed(starts: Any, indices: Any, data: Any, d: int) -> Csr:
    """The CSR form of the transpose: entries sorted by column, rows in order within each."""
    cp = cupy()
    order = cp.argsort(indices, kind="stable")
    rows = cp.searchsorted(starts, order, side="right") - 1
    ends = cp.searchsorted(indices[order], cp.arange(d + 1, dtype=indices.dtype), side="left")
    small = len(starts) - 1 < 2**31
    return ends.astype(np.int64), rows.astype(np.int32 if small else np.int64), data[order]


def _times(matrix: Csr, n: int, V: Array) -> Array:
    """A sparse matrix of n rows times a dense one."""
    cp = cupy()
    starts, indices, data = matrix
    m, kind = V.shape[1], f"<{_c(data)}, {_c(indices)}>"
    out = cp.empty((n, m))
    if m <= 2:
        for c in range(m):
            column, total = cp.ascontiguousarray(V[:, c]), cp.empty(n)
            _launch(f"csr_times_one{kind}", _warps(n), (starts, indices, data, n, column, total))
            out[:, c] = total
    else:
        _launch(f"csr_times_many{kind}", (n,), (starts, indices, data, m, V, out))
    return out


@cache
def _kernel(name: str) -> Any:
    """A compiled kernel; CuPy keeps it on disk for the next process."""
    source = files("riata.matrices").joinpath("kernels.cu").read_text(encoding="utf-8")
    return cupy().RawModule(code=source, options=("--std=c++17",), name_expressions=[name]).get_function(name)


def _launch(name: str, grid: tuple[int, ...], args: tuple[Any, ...]) -> None:
    _kernel(name)(grid, (THREADS,), args)


def _tiles(n: int, sums: int, d: int) -> tuple[int, Any]:
    """The rows of a tile, and an array for `sums` sums of each tile and column; a grid has at most 65,535 tiles."""
    tile = max(TILE, -(-n // 65535))
    return tile, cupy().empty((-(-n // tile), sums, d))


def _warps(n: int) -> tuple[int]:
    """The grid that has a warp (32 threads) for each of n rows."""
    return (-(-n * 32 // THREADS),)


def _c(array: Array) -> str:
    """The C type of its entries."""
    return C_TYPES[array.dtype.str[1:]]
