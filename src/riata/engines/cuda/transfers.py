"""Where chunks are stored and summed: on a GPU, and how they get there."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Protocol
from weakref import finalize, ref

import numpy as np

from riata.data.chunk import Chunk
from riata.errors import OptionError
from riata.matrices.cuda import CudaDense, CudaSparse, cupy, nbytes_on_gpu, rows_on_gpu
from riata.matrices.matrix import Matrix

Buffers = dict[int, np.ndarray]  # pinned memory for the arrays of a chunk, by their number
PINNED: dict[int, int] = {}  # address ranges (start: stop) of host arrays with page-locked memory
SPARE = 0.25  # the share of the free memory of a GPU that is left for temporary arrays


class Place(Protocol):
    """A memory for chunks, and the way of sending them there."""

    @property
    def room(self) -> float:
        """How many bytes of data fit."""

    def rows(self, X: Any) -> Matrix:
        """Rows of a host matrix, sent there."""

    def vector(self, values: Any) -> Any:
        """A vector of float64, sent there."""

    def nbytes(self, X: Any) -> int:
        """The size of a host matrix once it is there."""

    def pin(self, array: np.ndarray) -> None:
        """Prepare a host array for fast copies."""

    def uploaded(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """The chunks, sent there one after the other."""


class Gpu:
    """The current GPU of CuPy."""

    def __init__(self) -> None:
        cupy()  # fails here if it is missing

    @property
    def room(self) -> float:
        """How many bytes of data fit: what is free and within the limit of CuPy's memory pool, less a spare share."""
        cp = cupy()
        pool = cp.get_default_memory_pool()
        free = cp.cuda.runtime.memGetInfo()[0] + pool.free_bytes()
        limit = pool.get_limit()
        available: int = min(free, limit - pool.used_bytes()) if limit else free
        return (1.0 - SPARE) * available

    def rows(self, X: Any) -> Matrix:
        return rows_on_gpu(X)

    def vector(self, values: Any) -> Any:
        return cupy().asarray(values, dtype=np.float64)

    def nbytes(self, X: Any) -> int:
        return nbytes_on_gpu(X)

    def pin(self, array: np.ndarray) -> None:
        """Page-lock the memory of this array while it exists, if the system allows, for copies at full speed."""
        runtime, start = cupy().cuda.runtime, array.ctypes.data
        if _is_pinned(array):
            return
        owner = _owner(array)
        with suppress(runtime.CUDARuntimeError):  # such as for a read-only map: copies then go through a buffer
            runtime.hostRegister(start, array.nbytes, 0)
            PINNED[start] = start + array.nbytes
            finalize(owner, _unpin, start)

    def uploaded(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Chunks on the GPU; the next one is copied while one is in use."""
        stream = cupy().cuda.Stream(non_blocking=True)
        buffers: tuple[Buffers, Buffers] = {}, {}
        copied: list[Any] = [None, None]  # events: all that was in each of the buffers has been copied
        pending = following = None
        try:
            for i, chunk in enumerate(chunks):
                if copied[i % 2] is not None:
                    copied[i % 2].synchronize()
                following = self._sent(chunk, stream, buffers[i % 2])
                copied[i % 2] = following[2]
                if pending is not None:
                    yield _arrived(*pending)
                pending = following
            if pending is not None:
                yield _arrived(*pending)
        finally:
            stream.synchronize()  # where a pass is left: host memory and arrays that are copied are freed only then

    def _sent(self, chunk: Chunk, stream: Any, buffers: Buffers) -> tuple[list[Any], tuple[int, int], Any, int]:
        """The arrays of a chunk on the GPU, its shape, an event that occurs when they have been copied, and how many of
        them are the matrix."""
        X, *others = chunk.arrays
        parts = X.contiguous().parts()
        arrays = [parts["indptr"].astype(np.int64), parts["indices"], parts["data"]] if X.sparse else [parts["X"]]
        sent = [self._copied(array, stream, buffers, i) for i, array in enumerate([*arrays, *others])]
        return sent, X.shape, stream.record(), len(arrays)

    def _copied(self, array: np.ndarray, stream: Any, buffers: Buffers, i: int) -> Any:
        """An array on the GPU, whose copy is under way: from its own memory if that is pinned, else from a buffer."""
        cp, start = cupy(), array.ctypes.data
        if not _is_pinned(array):
            if i not in buffers or buffers[i].nbytes < array.nbytes:
                buffers[i] = np.frombuffer(cp.cuda.alloc_pinned_memory(array.nbytes), np.uint8, array.nbytes)
            buffers[i][: array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            start = buffers[i].ctypes.data
        copy = cp.empty(array.shape, array.dtype)
        stream.wait_event(cp.cuda.get_current_stream().record())  # that has used up what was in this memory before
        copy.data.copy_from_host_async(start, array.nbytes, stream)
        return copy


def _owner(array: np.ndarray) -> Any:
    """Whose end is that of the memory of an array, or before: what it is a view of, unless that cannot be watched."""
    owner = array if array.base is None else array.base
    try:
        ref(owner)
    except TypeError:  # bytes, as of large arrays that were pickled
        return array
    return owner


def _is_pinned(array: np.ndarray) -> bool:
    start = array.ctypes.data
    return any(low <= start and start + array.nbytes <= high for low, high in PINNED.items())


def _unpin(start: int) -> None:
    del PINNED[start]
    with suppress(Exception):  # when the process ends, the driver may be unloaded before the array is freed
        cupy().cuda.runtime.hostUnregister(start)


def _arrived(arrays: list[Any], shape: tuple[int, int], event: Any, n_of_matrix: int) -> Chunk:
    """A chunk of these arrays, once they have been copied."""
    cupy().cuda.get_current_stream().wait_event(event)
    X, others = arrays[:n_of_matrix], arrays[n_of_matrix:]
    return Chunk(CudaDense(X[0]) if len(X) == 1 else CudaSparse((X[0], X[1], X[2]), shape), *others)


HERE = "cpu"  # the device that is no other place


def place_named(device: str) -> Place:
    """The place of the option `device`."""
    if device != "cuda":
        raise OptionError(f"device must be 'cuda' or 'cpu', not {device!r}")
    return Gpu()
