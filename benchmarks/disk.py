"""The exact Lasso from a file far larger than the budget: its time against that of reading the file once per pass.

    python benchmarks/disk.py [--gigabytes 8] [--memory 256MB] [--folder /tmp]

The aim is at most 1.5, with no more memory than a fit to 100 rows and the budget. The file, float32 .npy of correlated
columns of which fifty matter, is made first and deleted at the end. Reading once is reading its bytes by as many
threads as there are cores, and nothing else: from the disk, with the page cache emptied all the time, and from the
page cache, where reading is copying and what counts is the processor. The seconds are those of `riata fit`: its start
too, and in the first line the first look at the columns, one more pass, whose result is kept between runs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from numpy.lib.format import write_array_header_1_0

N_FEATURES, STEP, MATTER = 1000, 5_000, 50
BLOCK = 8 << 20  # bytes read at once, about a chunk of the fit
FORGET_SECONDS = 0.5


def write_rows(path: Path, n_rows: int) -> None:
    """Rows x = noise + a common factor of ten, the target last."""
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(10, N_FEATURES)).astype(np.float32)
    with path.open("wb") as file:
        shape = (n_rows, N_FEATURES + 1)
        write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
        for start in range(0, n_rows, STEP):
            n = min(STEP, n_rows - start)
            X = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
            X += 0.5 * rng.standard_normal((n, 10), dtype=np.float32) @ loadings
            y = X[:, ::20] @ np.linspace(-1.0, 1.0, MATTER, dtype=np.float32) + rng.standard_normal(n, dtype=np.float32)
            np.column_stack([X, y]).tofile(file)


def fit(path: Path, memory: str) -> dict:
    """What `riata fit` says of itself, in a process of its own."""
    command = [sys.executable, "-c", "from riata.cli import main; main()", "fit", str(path), "--task", "regression",
               "--target", str(N_FEATURES), "--alpha-ratio", "0.01", "--memory", memory, "--json",
               "--out", str(path.with_suffix(".json"))]  # fmt: skip
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def reading_seconds(path: Path) -> float:
    """The bytes of a file once, read into a buffer of each of as many threads as there are cores."""
    blocks = range(0, path.stat().st_size, BLOCK)
    own = threading.local()
    with path.open("rb") as file, ThreadPoolExecutor(os.cpu_count()) as threads:

        def read(start):
            if not hasattr(own, "buffer"):
                own.buffer = bytearray(BLOCK)
            return os.preadv(file.fileno(), [own.buffer], start)

        started = time.perf_counter()
        assert sum(threads.map(read, blocks)) == path.stat().st_size
        return time.perf_counter() - started


@contextmanager
def forgotten(path: Path):
    """A context in which the system keeps nothing of a file in its page cache, as if memory were small."""
    done = threading.Event()

    def forget():
        with path.open("rb") as file:
            while not done.wait(FORGET_SECONDS):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        time.sleep(2 * FORGET_SECONDS)
        yield
    finally:
        done.set()
        thread.join()


def measured(path: Path, memory: str) -> tuple[dict, float]:
    """A fit, and the seconds of reading: the quicker of a reading before and one after it."""
    before = reading_seconds(path)
    found = fit(path, memory)
    return found, min(before, reading_seconds(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--memory", default="256MB")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    print("| from | GB | rows | features chosen | gap | passes | seconds | reading once s | ratio | above idle MB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        few, path = Path(folder) / "few.npy", Path(folder) / "rows.npy"
        write_rows(few, 100)
        n_rows = int(options.gigabytes * 1e9 / (4 * (N_FEATURES + 1)))
        write_rows(path, n_rows)
        os.sync()  # or the disk would be busy writing while it is read
        idle = fit(few, options.memory)
        for place, context, looks in (("disk", forgotten(path), 1), ("page cache", nullcontext(), 0)):
            with context:
                found, once = measured(path, options.memory)
            found["passes"] += looks
            ratio = found["seconds"] / (found["passes"] * once)
            print(
                f"| {place} | {options.gigabytes:g} | {n_rows} | {found['n_selected']} | {found['gap']:.0e} | "
                f"{found['passes']:g} | {found['seconds']:.1f} | {once:.2f} | {ratio:.2f} | "
                f"{found['peak_rss_mb'] - idle['peak_rss_mb']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
