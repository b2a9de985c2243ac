"""What operating systems do differently, each with a way to go on where it is missing.

Nothing else in riata imports modules or calls functions that only some systems have.
"""

import ctypes
import mmap
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LARGE_ARRAY = 4 << 20  # bytes; one so large is the system's again when it is gone, and twice that at the end of a heap
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # as malloc.h has them


def peak_rss_mb() -> float | None:
    """The most memory this process has held so far, in MB; None where the system does not tell."""
    with suppress(OSError, IndexError):  # the other way counts the process that started this one, too
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return round(int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6, 1)
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1)  # bytes there, kilobytes elsewhere


def free_arrays_at_once() -> None:
    """Let malloc give large arrays back when they are gone. Only GNU's can be told; the others do as they like."""
    with suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, LARGE_ARRAY)  # which also keeps it from learning to hold more back
        libc.mallopt(M_TRIM_THRESHOLD, 2 * LARGE_ARRAY)


def file_without_name(folder: str | None = None) -> IO[bytes]:
    """A temporary file that is gone when nobody has it open or mapped, and when the process is, however that ends.

    It has no name from the beginning where a system can do that; Windows takes its name away with the last handle.
    """
    return tempfile.TemporaryFile(dir=folder, prefix="riata-")


def forget_pages(mapped: mmap.mmap, start: int = 0, length: int | None = None) -> None:
    """Give back the memory of a part of a mapped file: what was read counts as the process's while it stays mapped.

    The part begins at the page that `start` is in. Without such advice the system takes pages back when it needs them.
    """
    if not (hasattr(mapped, "madvise") and hasattr(mmap, "MADV_DONTNEED")):
        return
    begin = start - start % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, begin, (len(mapped) if length is None else start + length) - begin)
