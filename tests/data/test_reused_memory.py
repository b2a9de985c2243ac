"""Memory that is used again when nobody has it any more, and never before."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa

from riata.data.formats.reused_memory import ReusedMemory


def address(array):
    return array.__array_interface__["data"][0]


def test_arrays_are_as_asked_and_do_not_overlap():
    numbers, places, text = ReusedMemory().arrays((3, np.float64), (5, np.int32), (7, np.uint8))
    assert (numbers.dtype, len(numbers), places.dtype, len(places), len(text)) == (np.float64, 3, np.int32, 5, 7)
    numbers[:], places[:], text[:] = 1.5, 2, 3
    assert (numbers == 1.5).all()
    assert (places == 2).all()


def test_room_is_used_again_only_when_the_last_part_of_it_is_gone():
    memory = ReusedMemory()
    numbers, text = memory.arrays((100, np.float64), (100, np.uint8))
    where = address(numbers)
    numbers[:] = 7.0
    kept = pa.py_buffer(numbers[10:20])  # as Arrow holds on to an array
    del numbers, text
    (other,) = memory.arrays((100, np.float64))
    other[:] = 0.0
    assert address(other) != where
    assert (np.frombuffer(kept, np.float64) == 7.0).all()
    del kept
    (again,) = memory.arrays((90, np.float64))
    assert address(again) == where


def test_room_that_is_too_small_is_given_up():
    memory = ReusedMemory()
    memory.arrays((10, np.float64))
    (more,) = memory.arrays((1000, np.float64))
    assert len(more) == 1000
    del more
    assert [len(room) >= 8000 for room in memory._free] == [True]


def test_what_is_free_is_not_sent_elsewhere():
    memory = ReusedMemory()
    memory.arrays((100_000, np.float64))
    assert len(pickle.dumps(memory)) < 1000


def test_threads_never_share_room():
    memory = ReusedMemory()

    def use(number):
        wrong = 0
        for _ in range(200):
            numbers, _ = memory.arrays((50, np.int64), (10, np.uint8))
            numbers[:] = number
            wrong += int((numbers != number).sum())
        return wrong

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(use, range(4))) == 0
