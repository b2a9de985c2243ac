"""Memory as a parameter: "512MB" in words, and how a budget is shared out.

A sixteenth of the budget is the size of a chunk. At any moment there are a few of them: the one in use, the one read
ahead, the batches they are decoded from, and what a solver makes of one. Data that needs less than a quarter of the
budget once encoded is simply held in memory.
"""

import re

from riata.errors import OptionError

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}  # fmt: skip
DEFAULT_MEMORY = "512MB"
SMALLEST = 1 << 20
LARGEST_CHUNK = 64 << 20  # larger chunks save nothing
LARGEST_BLOCK = 4 << 20  # of a file read at once


def parse_memory(memory: int | float | str) -> int:
    """The number of bytes in 268435456, "256MB", "1.5 GB", ..."""
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?B?)\s*", memory.upper())
        unit = match and UNITS.get(match[2] if match[2] in UNITS else match[2] + "B")
        if not match or not unit:
            raise OptionError(f"memory is a number of bytes or like '512MB' or '2GB', not {memory!r}")
        memory = float(match[1]) * unit
    if memory < SMALLEST:
        raise OptionError(f"memory must be at least 1MB, not {memory}")
    return int(memory)


def chunk_bytes(memory: int) -> int:
    """How large the encoded rows of a chunk may be."""
    return min(memory // 16, LARGEST_CHUNK)


def held_bytes(memory: int) -> int:
    """How large data may be that is held in memory as a whole."""
    return memory // 4


def block_bytes(memory: int) -> int:
    """How many bytes of a text file are parsed at once."""
    return min(max(memory // 64, 1 << 16), LARGEST_BLOCK)


def in_words(n_bytes: float) -> str:
    """1234567 -> '1.2 MB'."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            break
        n_bytes /= 1000
    else:
        unit = "TB"
    return f"{n_bytes:.0f} {unit}" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
