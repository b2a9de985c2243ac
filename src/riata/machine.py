"""What operating systems do differently, each with a way to go on where it is missing.

Nothing else in riata imports modules or calls functions that only some systems have.
"""

import ctypes
import mmap
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LARGE_ARRAY = 4 << 20  # bytes; one so large is the system's again when it is gone, and twice that at the end of a heap
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # as malloc.h has them


def usable_cores() -> int:
    """How many cores this process may use: those it is bound to, or fewer where a container has a quota of time.

    LOKY_MAX_CPU_COUNT lowers it further, as it does for everything that goes by joblib.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [cores, *_quotas()]
    with suppress(ValueError):
        limits.append(int(os.environ.get("LOKY_MAX_CPU_COUNT", "")))
    return max(1, min(limits))


def _quotas() -> Iterator[int]:
    """The cores that Linux's control groups leave, as their second version and their first write them."""
    groups = Path("/sys/fs/cgroup")
    with suppress(OSError, ValueError):
        quota, period = (groups / "cpu.max").read_text(encoding="ascii").split()
        yield -(-int(quota) // int(period))  # "max" is no number
    with suppress(OSError, ValueError):
        quota, period = ((groups / "cpu" / f"cpu.cfs_{name}_us").read_text("ascii") for name in ("quota", "period"))
        if int(quota) > 0:
            yield -(-int(quota) // int(period))


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
