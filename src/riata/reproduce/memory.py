"""Peak memory of one algorithm in a process of its own: what it needs above a tiny fit in the same process.

The paper's batch methods hold all rows in memory. Its stochastic methods, and riata's online, take rows as they come,
one step's worth at a time, and hold these and what they remember between steps. riata's exact and best-k read a file in
a budget of memory. Rows are dense, and made up as they are needed.

    python -m riata.reproduce.memory fobos 1000x100 2000x100    prints the peak in MB: at first, and after each shape
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from riata.data.budget import return_memory_early
from riata.data.chunk import Chunk
from riata.data.in_memory import InMemory
from riata.data.opening.open import open_data
from riata.errors import RiataError
from riata.machine import peak_rss_mb
from riata.reproduce.algorithms import ALGORITHMS, SETTING
from riata.reproduce.rows import Rows
from riata.training.fitting import fit
from riata.training.spec import Spec
from riata.training.streaming.streams import open_stream
from riata.units import parse_bytes

BUDGET = "64MB"
ALPHA, K = 0.1, 5
PORTION = 1 << 22  # bytes of rows that are made at once for a file
IN_MEMORY, FROM_FILE = ("cd", "subgd"), ("exact", "best-k")


@dataclass(frozen=True)
class MemoryCell:
    """Which algorithm to weigh, on rows of which shapes, from small to large: a peak only ever rises."""

    algorithm: str
    along: str  # "n" or "d": what grows
    shapes: tuple[tuple[int, int], ...]
    alone = False

    @property
    def key(self) -> str:
        return f"memory-{self.algorithm}-{self.along}"

    def run(self, rows: Rows) -> dict[str, Any]:
        shapes = [f"{n}x{d}" for n, d in self.shapes]
        command = [sys.executable, "-m", "riata.reproduce.memory", self.algorithm, *shapes]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RiataError(f"memory of {self.algorithm} could not be measured: {done.stderr.strip()[-500:]}")
        before, *peaks = json.loads(done.stdout)
        measured = [
            {"n": n, "d": d, "before_mb": before, "peak_mb": peak}
            for (n, d), peak in zip(self.shapes, peaks, strict=True)
        ]
        return {"kind": "memory", "algorithm": self.algorithm, "along": self.along, "measured": measured}


def portions(n: int, d: int, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Normal rows and labels, `size` rows at a time."""
    rng = np.random.default_rng(0)
    for start in range(0, n, size):
        X = rng.standard_normal((min(size, n - start), d), dtype=np.float32)
        yield X, np.where(X[:, 0] > 0, 1.0, -1.0)


def spec_of(algorithm: str) -> Spec:
    """The algorithm at a fixed strength; a few passes tell what methods that hold all rows need."""
    how = ALGORITHMS[algorithm]
    options: dict[str, Any] = {"alpha": ALPHA} if how.takes == "alpha" else {"k": K}
    options |= {"max_passes": 2} if algorithm in IN_MEMORY else {}
    return replace(Spec(**SETTING, **how.options, **options, seed=0), rounds=False)


def learn(algorithm: str, n: int, d: int, folder: Path) -> None:
    """Fit n rows of d features, holding no more of them than the algorithm must."""
    spec = spec_of(algorithm)
    if algorithm in IN_MEMORY:
        fit(InMemory(*next(portions(n, d, n))), spec)
    elif algorithm in FROM_FILE:
        path = write_rows(folder / f"{n}x{d}.npy", n, d)
        fit(open_data(str(path), str(d), memory=BUDGET), replace(spec, memory=parse_bytes(BUDGET)))
        path.unlink()
    else:
        stream = open_stream(spec, d)
        for X, y in portions(n, d, ALGORITHMS[algorithm].rows_per_step):
            stream.learn(Chunk(X, y, np.ones(len(y))))


def write_rows(path: Path, n: int, d: int) -> Path:
    """The same rows as a .npy file, the label in the last column."""
    with path.open("wb") as file:
        head = {"descr": "<f4", "fortran_order": False, "shape": (n, d + 1)}
        np.lib.format.write_array_header_1_0(file, head)
        for X, y in portions(n, d, max(1, PORTION // (4 * d))):
            np.column_stack([X, y.astype(np.float32)]).tofile(file)
    return path


def main(algorithm: str, *shapes: str) -> None:
    return_memory_early()
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for shape in ("200x20", *shapes):
            n, d = map(int, shape.split("x"))
            learn(algorithm, n, d, Path(folder))
            peak = peak_rss_mb()
            if peak is None:
                raise RiataError("this system does not tell how much memory a process has held")
            peaks.append(peak)
    sys.stdout.write(json.dumps(peaks))


if __name__ == "__main__":
    main(*sys.argv[1:])
