"""Memory for arrays that are made anew for every block of a file: the system clears what it gives, which takes time."""

import weakref
from contextlib import suppress

import numpy as np

ALIGNMENT = 64  # bytes


class ReusedMemory:
    """Gives room for arrays, and takes it back when nobody has any of them, or of what was cut from them, any more."""

    def __init__(self) -> None:
        self._free: list[np.ndarray] = []  # to take one and to put one back is safe in any thread

    def __reduce__(self) -> tuple[type["ReusedMemory"], tuple[()]]:
        """What is free stays in this process."""
        return ReusedMemory, ()

    def arrays(self, *kinds: tuple[int, type[np.generic]]) -> list[np.ndarray]:
        """Arrays of such (lengths, types), side by side, with anything in them.

        The last may be longer than what is ever written to: memory that nobody has written to is not there.
        """
        sizes = [n * np.dtype(kind).itemsize for n, kind in kinds]
        starts = np.cumsum([0, *(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)]).tolist()
        room = self._room(starts[-1])
        # all that is cut from an array holds on to it as long as it has another owner that is no array
        whole = np.frombuffer(room.data, np.uint8)
        weakref.finalize(whole, self._free.append, room).atexit = False
        spans = zip(starts, sizes, strict=False)
        return [whole[a : a + size].view(kind) for (a, size), (_, kind) in zip(spans, kinds, strict=True)]

    def _room(self, size: int) -> np.ndarray:
        """Some that is free and large enough; smaller ones are given up."""
        with suppress(IndexError):  # another thread may have taken the last
            while len(room := self._free.pop()) < size:
                pass
            return room
        return np.empty(size + size // 8, np.uint8)
