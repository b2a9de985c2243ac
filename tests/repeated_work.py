"""What a process holds after work that it has done again and again: a service opens files and fits models for days.

    python tests/repeated_work.py FOLDER 'file csv' 'damaged csv.gz' 'in memory' ...

prints, for each kind of work, what grew in every round of `TIMES` repetitions, and by how much. The first repetitions
load code, start threads and fill what is kept on purpose, so they tell nothing.
"""

import contextlib
import ctypes
import gc
import io
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import riata

sys.path.insert(0, str(Path(__file__).parent / "data"))
from catalogue import SOURCES, make_rows

TIMES = 6
ROUNDS = 4
ALLOWED = {  # more after so many repetitions: less than one of each, or than anything that was worth to keep
    "handles": TIMES // 2,
    "maps": TIMES // 2,
    "threads": TIMES // 2,
    "objects": 8 * TIMES,
    "small blocks": 60 * TIMES,
    "bytes of malloc": 8_000 * TIMES,
    "bytes of Arrow": TIMES // 2,
}
X, Y = make_rows(np.random.default_rng(3))
LABELS = np.where(Y > 3, "more", "less")
Work = Callable[[], object]
# sources whose rows can be had once, or that open a file as others do
ONCE = (
    "arrow reader", "generator of arrays", "generator of tables", "duckdb relation", "numpy with a column",
    "memory map", "excel sheet", "parquet glob", "npy by columns", "csr int64",
)  # fmt: skip


def of_files(name: str) -> bool:
    """Whether a source is one file that can be damaged."""
    in_memory = ("numpy", "cs", "coo", "pandas", "polars", "arrow", "duckdb")
    return name != "parquet folder" and (name.startswith("csv") or not name.startswith(in_memory))


def from_source(name: str, folder: Path) -> Work:
    """Rows opened, fitted and predicted."""
    data, target = SOURCES[name](X, Y, folder)

    def work() -> None:
        rows = data.copy() if isinstance(data, pd.DataFrame) else data  # a frame keeps hundreds of references to itself
        opened = riata.open(rows, target=target, cache=False)
        model = riata.train(opened, riata.Spec(alpha=0.1)).to_model()
        model.predict(rows)

    return work


def damaged(name: str, folder: Path) -> Work:
    """A file cut short, or with other bytes in its middle, refused."""
    data, target = SOURCES[name](X, Y, folder)
    content = bytearray(Path(data).read_bytes())
    middle = len(content) // 2
    kinds = [bytes(content[:middle]), bytes(content[:middle] + b"\xff\x00" * 8 + content[middle + 16 :])]

    def work() -> None:
        for bad in kinds:
            Path(data).unlink()
            Path(data).write_bytes(bad)
            try:
                riata.train(riata.open(data, target=target, cache=False), riata.Spec(alpha=0.1))
            except riata.errors.RiataError:
                continue

    return work


def of_estimators(**options: object) -> Work:
    def work() -> None:
        riata.SparseRegressor(**options).fit(X, Y).predict(X)

    return work


def classes(**options: object) -> Work:
    def work() -> None:
        riata.SparseClassifier(**options).fit(X, LABELS).predict_proba(X)

    return work


def from_disk(**options: object) -> Callable[[Path], Work]:
    def make(folder: Path) -> Work:
        path = SOURCES["csv"](X, Y, folder)[0]
        return lambda: riata.train(riata.open(path, target="y"), riata.Spec(**options)).to_model()

    return make


def of_models(folder: Path) -> Work:
    path = SOURCES["csv"](X, Y, folder)[0]
    riata.train(riata.open(path, target="y"), riata.Spec(alpha=0.1)).to_model().save(folder / "model.json")

    def work() -> None:
        model = riata.load_model(folder / "model.json")
        model.predict(path)
        model.save(folder / "again.json")

    return work


def of_paths(folder: Path) -> Work:
    path = SOURCES["csv"](X, Y, folder)[0]

    def work() -> None:
        opened = riata.open(path, target="y")
        riata.path(opened, riata.Spec(), length=20)
        riata.k_path(opened, riata.Spec(), 3)

    return work


def of_pages(folder: Path) -> Work:
    import matplotlib.pyplot as plt

    fitted = riata.SparseRegressor(k="auto").fit(X, Y)

    def work() -> None:
        riata.write_report(fitted, folder / "report.html")
        fitted._repr_html_()
        for draw in (riata.plot.coefficients, riata.plot.convergence, riata.plot.selection):
            plt.close(draw(fitted).figure_)

    return work


def of_command_line(folder: Path) -> Work:
    from riata.cli import main

    path = SOURCES["csv"](X, Y, folder)[0]
    model = str(folder / "model.json")

    def work() -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            for words in (["fit", path, "--target", "y", "--alpha", "0.1", "--out", model], ["evaluate", model, path]):
                main(words, standalone_mode=False)

    return work


def keeping(what: Callable[[], object]) -> Callable[[Path], Work]:
    """Work that keeps something each time, which must be noticed."""
    kept: list[object] = []
    return lambda folder: lambda: kept.append(what())


WRONG: dict[str, Callable[[Path], Work]] = {
    "keeps handles": keeping(lambda: os.open(os.devnull, os.O_RDONLY)),
    "keeps threads": keeping(lambda: threading.Thread(target=threading.Event().wait, daemon=True).start()),
    "keeps objects": keeping(lambda: [[] for _ in range(20)]),
    "keeps bytes": keeping(lambda: bytes(20_000)),
    "keeps rows of Arrow": keeping(lambda: pa.array(Y).slice(3).take(pa.array([1, 2]))),
}
OTHERS: dict[str, Callable[[Path], Work]] = {
    "squared loss in memory": lambda folder: of_estimators(alpha=0.1),
    "classes in memory": lambda folder: classes(alpha=0.1),
    "huber loss in memory": lambda folder: of_estimators(alpha=0.1, loss="huber"),
    "best k in memory": lambda folder: of_estimators(k=2),
    "best k of classes in memory": lambda folder: classes(k=2),
    "k chosen in memory": lambda folder: of_estimators(k="auto"),
    "alpha chosen in memory": lambda folder: of_estimators(alpha="auto"),
    "online in memory": lambda folder: of_estimators(alpha=0.1, solver="online"),
    "online from disk": from_disk(alpha=0.1, solver="online"),
    "best k from disk": from_disk(k=2),
    "alpha chosen from disk": from_disk(alpha="auto"),
    "models": of_models,
    "paths": of_paths,
    "reports and plots": of_pages,
    "commands": of_command_line,
}


class _MallInfo(ctypes.Structure):
    """What glibc's `mallinfo2` tells, in its order."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keep",
        )
    )


def held() -> dict[str, int]:
    """What this process holds."""
    gc.collect()
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = _MallInfo
    heap = libc.mallinfo2()
    return {
        "handles": len(os.listdir("/proc/self/fd")),
        "maps": len(Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()),
        "threads": len(os.listdir("/proc/self/task")),
        "objects": len(gc.get_objects()),
        "small blocks": sys.getallocatedblocks(),
        "bytes of malloc": heap.uordblks + heap.hblkhd,
        "bytes of Arrow": pa.total_allocated_bytes(),
    }


def work_of(kind: str, folder: Path) -> Work:
    what, _, name = kind.partition(" ")
    if what == "rows":
        return from_source(name, folder)
    return damaged(name, folder) if what == "damaged" else (OTHERS | WRONG)[kind](folder)


def grown(work: Work) -> dict[str, int]:
    """What grew by more than is allowed in each of `ROUNDS` rounds, as caches do not that are emptied now and then."""
    for _ in range(TIMES):
        work()
    least: dict[str, int] = {}
    for _ in range(ROUNDS):
        before = held()
        for _ in range(TIMES):
            work()
        more = {what: now - before[what] for what, now in held().items()}
        least = {what: min(more[what], least.get(what, more[what])) for what in more}
        if all(least[what] <= ALLOWED[what] for what in least):
            return {}
    return {what: count for what, count in least.items() if count > ALLOWED[what]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for i, kind in enumerate(sys.argv[2:]):
        folder = Path(sys.argv[1]) / str(i)
        folder.mkdir(parents=True)
        sys.stdout.write(json.dumps([kind, grown(work_of(kind, folder))]) + "\n")
        sys.stdout.flush()
