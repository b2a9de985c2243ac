"""Places where chunks can lie and be summed: a GPU, or the host in its stead, where the same steps are tested."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any
from weakref import finalize

import numpy as np

from riata.data.chunk import Chunk
from riata.errors import OptionError
from riata.matrices.cuda import CudaDense, CudaSparse, cupy, nbytes_on_gpu, rows_on_gpu
from riata.matrices.matrix import Matrix
from riata.matrices.reference import reference

PINNED: dict[int, int] = {}  # from the first address to the last of host arrays whose pages stay put
SPARE = 0.25  # of the free memory of a GPU: left for what passes make on the way


class Host:
    """NumPy, or another library of the array API, in place of a GPU."""

    def __init__(self, xp: Any = np, room: float = float("inf")) -> None:
        self._xp, self.room = xp, room

    def rows(self, X: Any) -> Matrix:
        return reference(X, self._xp)

    def vector(self, values):
        return self._xp.asarray(np.asarray(values, dtype=np.float64))

    def nbytes(self, X) -> int:
        return nbytes_on_gpu(X)

    def pin(self, array) -> None:
        """Nothing to do: it is where it is needed."""

    def uploaded(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for X, y, weight in chunks:
            yield Chunk(self.rows(X.array), self.vector(y), self.vector(weight))


class Gpu:
    """The GPU that CuPy has chosen."""

    def __init__(self) -> None:
        cupy()

    @property
    def room(self) -> float:
        """Bytes that data may take: what is free, and within the limit of CuPy's pool, less a share to work in."""
        cp = cupy()
        pool = cp.get_default_memory_pool()
        free = cp.cuda.runtime.memGetInfo()[0] + pool.free_bytes()
        limit = pool.get_limit()
        return (1.0 - SPARE) * (min(free, limit - pool.used_bytes()) if limit else free)

    def rows(self, X: Any) -> Matrix:
        return rows_on_gpu(X)

    def vector(self, values):
        return cupy().asarray(values, dtype=np.float64)

    def nbytes(self, X) -> int:
        return nbytes_on_gpu(X)

    def pin(self, array) -> None:
        """Let copies of this array go at full speed, if the system allows: its pages stay put while it is in use."""
        runtime, start = cupy().cuda.runtime, array.ctypes.data
        if _is_pinned(array):
            return
        with suppress(runtime.CUDARuntimeError):  # of a read-only map, say: copies are then staged
            runtime.hostRegister(start, array.nbytes, 0)
            PINNED[start] = start + array.nbytes
            finalize(array if array.base is None else array.base, _unpin, start)

    def uploaded(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Chunks on the GPU, the next one on its way while one is in use."""
        stream = cupy().cuda.Stream(non_blocking=True)
        stages: tuple[dict, dict] = {}, {}
        coming = None
        for i, chunk in enumerate(chunks):
            following = self._sent(chunk, stream, stages[i % 2])
            if coming is not None:
                yield _arrived(*coming)
            coming = following
        if coming is not None:
            yield _arrived(*coming)

    def _sent(self, chunk: Chunk, stream, stage):
        """The arrays of a chunk, still on their way, and an event that says when they have come."""
        X, y, weight = chunk
        parts = X.contiguous().parts()
        arrays = [parts["indptr"].astype(np.int64), parts["indices"], parts["data"]] if X.sparse else [parts["X"]]
        sent = [self._copied(array, stream, stage, i) for i, array in enumerate([*arrays, y, weight])]
        return sent, X.shape, stream.record()

    def _copied(self, array, stream, stage, place):
        cp, start = cupy(), array.ctypes.data
        if not _is_pinned(array):
            if place not in stage or stage[place].nbytes < array.nbytes:
                stage[place] = np.frombuffer(cp.cuda.alloc_pinned_memory(array.nbytes), np.uint8, array.nbytes)
            stage[place][: array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            start = stage[place].ctypes.data
        copy = cp.empty(array.shape, array.dtype)
        copy.data.copy_from_host_async(start, array.nbytes, stream)
        return copy


def _is_pinned(array) -> bool:
    start = array.ctypes.data
    return any(low <= start and start + array.nbytes <= high for low, high in PINNED.items())


def _unpin(start) -> None:
    del PINNED[start]
    with suppress(Exception):  # at the end of a process the driver may be gone before the array is
        cupy().cuda.runtime.hostUnregister(start)


def _arrived(arrays, shape, event) -> Chunk:
    cupy().cuda.get_current_stream().wait_event(event)
    *X, y, weight = arrays
    return Chunk(CudaDense(X[0]) if len(X) == 1 else CudaSparse(tuple(X), shape), y, weight)


def place_named(device: str):
    """The place that the user's word stands for."""
    if device != "cuda":
        raise OptionError(f"device must be 'cuda' or nothing, not {device!r}")
    return Gpu()
