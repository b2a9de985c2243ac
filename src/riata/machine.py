"""What only some operating systems offer, each with a fallback for the others.

No other module of riata imports or calls anything that is missing on a supported system.
"""

import ctypes
import mmap
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module everywhere else
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module everywhere else

STATUS, STATM = Path("/proc/self/status"), Path("/proc/self/statm")
PRIVATE = 0o077  # the file mode mask that leaves a file to its owner
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # from malloc.h


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


def memory_mb() -> dict[str, int] | None:
    """Memory in all and free for programs, in MB; None where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    sizes = {line.partition(":")[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
    return {"total": sizes["MemTotal"] // 1000, "available": sizes.get("MemAvailable", 0) // 1000}


def free_memory() -> int | None:
    """The bytes that are free for programs, within what a container may use; None where the system does not tell."""
    known = memory_mb()
    if known is None:
        return None
    return max(0, min([known["available"] * 1_000_000, *_left_to_the_group()]))


def _left_to_the_group() -> Iterator[int]:
    """The bytes that Linux's control groups leave, as their second version and their first write them.

    Pages of files count as used, which the system takes back as soon as somebody needs them.
    """
    groups = Path("/sys/fs/cgroup")
    for folder, limit, used in (
        (groups, "memory.max", "memory.current"),
        (groups / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):  # "max" is no number
            left = int((folder / limit).read_text("ascii")) - int((folder / used).read_text("ascii"))
            yield left + _pages_of_files(folder / "memory.stat")


def _pages_of_files(statistics: Path) -> int:
    """The bytes of files that a control group holds in memory, those of groups below it among them."""
    with suppress(OSError, ValueError):
        sizes = dict(line.split(" ", 1) for line in statistics.read_text("ascii").splitlines())
        prefix = "total_" if "total_inactive_file" in sizes else ""  # which the first version writes beside its own
        return sum(int(sizes.get(f"{prefix}{name}_file", 0)) for name in ("active", "inactive"))
    return 0


def peak_rss_mb() -> float | None:
    """The peak resident memory of this process so far, in MB; None where the system does not report it."""
    with suppress(OSError, IndexError):  # preferred, because getrusage starts from the peak of the parent process
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return round(int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6, 1)
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3), 1)  # bytes on macOS, kilobytes on Linux


def free_arrays_at_once(large: int) -> None:
    """Let malloc return the memory of arrays of so many bytes to the system as soon as they are freed (GNU libc only).

    Smaller ones are in one heap, and not in one for every thread, which nobody else can use once the thread has ended.
    """
    with suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_THRESHOLD, large)  # setting it also stops malloc from raising it by itself
        libc.mallopt(M_TRIM_THRESHOLD, 2 * large)
        libc.mallopt(M_ARENA_MAX, 1)


def return_freed_memory() -> None:
    """Return what malloc keeps of many small objects that were freed to the system (GNU libc only)."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def resident_file_bytes() -> int:
    """How much memory of this process are pages of files, such as machine code of libraries; 0 if nobody tells."""
    try:
        with open(STATM, "rb", buffering=0) as counts:  # asked for often: `read_text` takes several times as long
            return int(counts.read(200).split()[2]) * mmap.PAGESIZE
    except (OSError, ValueError, IndexError):
        return 0


def forget_code_of(library: str) -> None:
    """Release the pages of machine code of a library that was used to start with (Linux only).

    They count as memory of this process once they were read. The system brings those back that are used again.
    """
    with suppress(OSError, AttributeError, ValueError):
        libc = ctypes.CDLL(None)
        for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
            span, access, *_, path = line.split(maxsplit=5)
            if access == "r-xp" and library in Path(path).name:  # which nobody writes to: all of it is in the file
                start, end = (int(number, base=16) for number in span.split("-"))
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)


def file_without_name(folder: str | None = None) -> IO[bytes]:
    """A temporary file that disappears once nobody has it open or mapped, however the process ends.

    On Linux and macOS it never has a name; on Windows its name is deleted with the last handle.
    """
    return tempfile.TemporaryFile(dir=folder, prefix="riata-")


def file_mode_mask() -> int:
    """The permissions that files of this process do not get."""
    with suppress(OSError):
        for line in STATUS.read_bytes().splitlines():
            if line.startswith(b"Umask:"):
                return int(line.split()[1], base=8)
    mask = os.umask(PRIVATE)  # elsewhere to set it is the only way to read it; other threads may make files meanwhile
    os.umask(mask)
    return mask


def after_fork_in_child(f: Callable[[], None]) -> None:
    """Have f called in every process that is forked from this one; where nothing can be forked, never."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=f)


def lock(handle: int, wait: bool = False) -> bool:
    """Lock an open file until this process ends or closes it; whether that went well, as nobody else has it locked.

    Where the system has no such locks, Windows above all, no answer is ever yes: there nobody can remove a file that
    another process has open anyway.
    """
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


@contextmanager
def still_locked(handle: int) -> Iterator[None]:
    """Keep the lock of an open file to the end of the block, even if this handle of it is closed before."""
    if fcntl is None:  # nobody can rename a file on Windows that is still open, and there is no lock to keep
        yield
        return
    another = os.dup(handle)
    try:
        yield
    finally:
        os.close(another)


def hold_still(handle: int) -> bool:
    """Have the system make everyone wait who would write to an open file or cut it short; whether it does.

    That is as long as the file is open or mapped, through copies of this handle, too, and no longer than the system
    lets somebody wait (45 seconds by default). It is refused where somebody has the file open for writing already,
    where it belongs to another user, and by systems other than Linux.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # in place of SIGIO, which would end the process
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError:
        return False
    return True


def forget_pages(mapped: mmap.mmap, start: int = 0, length: int | None = None) -> None:
    """Release the pages of a part of a mapped file, which otherwise count as memory of this process once read.

    The part begins at the start of the page that holds `start`. Where the system offers no such call, it reclaims the
    pages when it needs them.
    """
    if not (hasattr(mapped, "madvise") and hasattr(mmap, "MADV_DONTNEED")):
        return
    begin = start - start % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, begin, (len(mapped) if length is None else start + length) - begin)
