"""The memory that commands of riata need, above what a process holds that has run the first of them before.

    python tests/peak_memory.py '["fit", "few.npy", ...]' '["fit", "many.npy", ...]'

prints for each command how far the peak rose above what was held before it, in MB, and whether a loop was compiled
meanwhile. What would make that vary with anything but the command is fixed: code is imported before, threads and heaps
have one number.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FIXED = {  # a heap for every thread would hold back memory of its own
    "MALLOC_ARENA_MAX": "1",
    "LOKY_MAX_CPU_COUNT": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
}
TRIES = 3


def peaks_mb(*commands: list[str]) -> list[float]:
    """MB above what was held before, for each command; the first is run once before that, to have all code loaded.

    To compile a loop takes tens of MB, once: where one was, all is measured again (unless nothing keeps it).
    """
    arguments = [json.dumps(words) for words in commands]
    for _ in range(TRIES):
        done = subprocess.run(
            [sys.executable, __file__, *arguments], env=os.environ | FIXED, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-3000:]
        peaks, compiled = json.loads(done.stdout.splitlines()[-1])
        if not compiled:
            break
    if None in peaks:
        pytest.skip("this system does not tell how much memory a process has held")
    return peaks


def _run(words: list[str]) -> float | None:
    """How far the peak rose during a command; None where the system does not tell."""
    from riata.cli import main
    from riata.machine import peak_rss_mb

    with contextlib.suppress(OSError):  # on Linux the most held can be set to what is held now; elsewhere it only rises
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = peak_rss_mb()
    with contextlib.redirect_stdout(io.StringIO()):
        main(words, standalone_mode=False)
    after = peak_rss_mb()
    return None if before is None or after is None else round(after - before, 1)


if __name__ == "__main__":
    from riata.kernels import disk_cache

    commands = [json.loads(words) for words in sys.argv[1:]]
    _run(commands[0])
    compiled: list[bool] = []
    disk_cache.announce = lambda: compiled.append(True)  # type: ignore[assignment]
    peaks = [_run(words) for words in commands]
    sys.stdout.write(json.dumps([peaks, bool(compiled)]) + "\n")
