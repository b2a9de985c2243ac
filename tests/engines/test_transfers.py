"""Copies to a GPU, by a stand-in that makes them as late as CUDA may: whatever comes in between, they are right."""

import gc
import pickle
from types import SimpleNamespace
from weakref import finalize

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from riata.data.chunk import Chunk
from riata.data.in_memory import InMemory
from riata.engines.cuda import transfers
from riata.engines.cuda.transfers import PINNED, Gpu, _is_pinned


class LateStream:
    """Work that waits until somebody has to have it done."""

    def __init__(self):
        self.work = []

    def do(self, n=None):
        for _ in range(len(self.work) if n is None else n):
            self.work.pop(0)()

    synchronize = do

    def record(self):
        done = []
        self.work.append(lambda: done.append(True))

        def synchronize():
            while not done:
                self.do(1)

        return SimpleNamespace(synchronize=synchronize)

    def wait_event(self, event):
        self.work.append(event.synchronize)


class LateGpu:
    """The part of CuPy that transfers use; memory that is freed is used again at once, as that of its pool is."""

    def __init__(self):
        self.current, self.streams, self.free, self.registered = LateStream(), [], {}, []
        runtime = SimpleNamespace(
            CUDARuntimeError=OSError, hostRegister=self._register, hostUnregister=self.registered.remove
        )
        self.cuda = SimpleNamespace(
            Stream=self._stream, get_current_stream=lambda: self.current, alloc_pinned_memory=bytearray, runtime=runtime
        )

    def _register(self, start, nbytes, flags):
        self.registered.append(start)

    def _stream(self, non_blocking):
        self.streams.append(LateStream())
        return self.streams[-1]

    def empty(self, shape, dtype):
        size = int(np.prod(shape)) * dtype.itemsize
        free = self.free.setdefault(size, [])
        memory = free.pop() if free else np.zeros(size, dtype=np.uint8)
        array = SimpleArray(memory.view(dtype).reshape(shape))
        finalize(array, free.append, memory)
        return array


class SimpleArray:
    """An array there."""

    def __init__(self, values):
        self.values = values

    @property
    def data(self):
        return self

    def copy_from_host_async(self, start, nbytes, stream):
        host = (np.ctypeslib.ctypes.c_uint8 * nbytes).from_address(start)
        there = self.values.reshape(-1).view(np.uint8)
        stream.work.append(lambda: np.copyto(there, host))


@pytest.fixture
def gpu(monkeypatch):
    found = LateGpu()
    monkeypatch.setattr(transfers, "cupy", lambda: found)
    monkeypatch.setattr(transfers, "CudaDense", lambda array: array)
    monkeypatch.setattr(transfers, "Chunk", lambda X, y, weight: SimpleNamespace(X=X, y=y, weight=weight))
    return found


def chunks(rng, sizes):
    for rows in sizes:
        yield InMemory(rng.normal(size=(rows, 4)), rng.normal(size=rows), rng.uniform(1.0, 2.0, size=rows)).chunk


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("sizes", [[7] * 9, [7, 7, 10, 10, 13, 13, 4, 4]])
def test_copies_are_right_where_nobody_waits_for_them(gpu, rng, sizes, held):
    """Kernels are queued and nothing is fetched; chunks are dropped, and their memory used again, or held."""
    sent, found, kept = list(chunks(rng, sizes)), [], []
    for there in Gpu().uploaded(iter(sent)):
        for array in (there.X, there.y, there.weight):
            values = array.values
            gpu.current.work.append(lambda values=values: found.append(values.copy()))
        kept += [there] * held
        del there, array
    gpu.current.do()
    expected = [array for chunk in sent for array in (chunk.X.array, *chunk.arrays[1:])]
    for ours, known in zip(found, expected, strict=True):
        assert_array_equal(ours, known)


def test_a_pass_that_is_left_ends_its_copies(gpu, rng):
    there = Gpu().uploaded(chunks(rng, [7] * 5))
    next(there)
    assert gpu.streams[0].work
    there.close()
    assert not gpu.streams[0].work


def test_a_pass_whose_source_fails_ends_its_copies(gpu, rng):
    def failing():
        yield from chunks(rng, [7, 7])
        raise ValueError("a damaged chunk")

    with pytest.raises(ValueError, match="a damaged chunk"):
        list(Gpu().uploaded(failing()))
    assert not gpu.streams[0].work


KINDS = {
    "own": lambda array: array,
    "view": lambda array: array[5:],
    "pickled": lambda array: pickle.loads(pickle.dumps(array, protocol=4)),  # a view of bytes, which nothing can watch
    "bytearray": lambda array: np.frombuffer(bytearray(array.tobytes())),
}


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_pinned_for_as_long_as_it_is_there(gpu, rng, kind):
    array, place = KINDS[kind](rng.normal(size=2000)), Gpu()
    for _ in range(2):  # once is enough
        place.pin(array)
        assert gpu.registered == list(PINNED) == [array.ctypes.data]
    assert _is_pinned(array[10:20])
    sent = Chunk(InMemory(array.reshape(-1, 5), np.zeros(len(array) // 5)).chunk.X, array[:100], array[:100])
    [there] = place.uploaded([sent])
    assert_array_equal(there.y.values, array[:100])
    del array, sent, there
    gc.collect()
    assert gpu.registered == []
    assert PINNED == {}


def test_memory_that_cannot_be_pinned_is_copied_through_a_buffer(gpu, rng, monkeypatch):
    def refused(start, nbytes, flags):
        raise OSError

    monkeypatch.setattr(gpu.cuda.runtime, "hostRegister", refused)
    array = rng.normal(size=10)
    Gpu().pin(array)
    assert PINNED == {}
