"""Memory as a parameter: how a budget is shared out.

A chunk takes a thirty-second part of the budget. At any moment there are about a dozen like it: those in use on each
core and what a pass makes of them, the one read ahead, the batch it is encoded from, and the one being decoded. Data
that needs less than a quarter of the budget once encoded is simply held in memory.
"""

import math

import pyarrow as pa

from riata.errors import OptionError
from riata.machine import free_arrays_at_once
from riata.units import parse_bytes

DEFAULT_MEMORY = "512MB"
SMALLEST = 10**6
LARGEST_CHUNK = 64 << 20  # larger chunks save nothing
LARGEST_BLOCK = 4 << 20  # of a file read at once


def parse_memory(memory: int | str | None) -> int:
    """The budget in bytes."""
    n_bytes = parse_bytes(DEFAULT_MEMORY if memory is None else memory) or 0
    if n_bytes < SMALLEST:
        raise OptionError(f"memory must be at least 1MB, not {memory}")
    return n_bytes


def return_memory_early() -> None:
    """Let Arrow and NumPy give memory back at once: for a process that is riata's own, where peak memory counts."""
    if "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())
        pa.jemalloc_set_decay_ms(0)
    else:
        pa.set_memory_pool(pa.system_memory_pool())
    free_arrays_at_once()


def chunk_bytes(memory: int) -> int:
    """How large the encoded rows of a chunk may be."""
    return min(memory // 32, LARGEST_CHUNK)


def held_bytes(memory: int) -> int:
    """How large data may be that is held in memory as a whole."""
    return memory // 4


def block_bytes(memory: int) -> int:
    """How many bytes of a text file are parsed at once."""
    return min(max(memory // 64, 1 << 16), LARGEST_BLOCK)


def in_words(n_bytes: float) -> str:
    """1234567 -> '1.2 MB'."""
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = min(int(math.log(max(n_bytes, 1.0), 1000)), len(units) - 1)
    return f"{n_bytes / 1000**power:.{min(power, 1)}f} {units[power]}"
