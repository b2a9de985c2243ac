"""How fast each format is read: a pass of riata against the bytes of the file, pandas, polars and scikit-learn.

    python benchmarks/reading.py [--rows 200000] [--out docs/reading.md]

One table, the same rows in every format: 40 numbers, a category of 20 levels and a target, and word counts as svmlight.
Each figure is the best of three, in MB of the file per second: compare within a row. The last table
is a pass over the encoded rows that a fit keeps, against just reading the mapped bytes and multiplying.
"""

import argparse
import gzip
import io
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather
import pyarrow.parquet as pq
from sklearn.datasets import load_svmlight_file

from riata.data.opening.open import open_data
from riata.data.out_of_core import OutOfCore

N_NUMBERS, N_LEVELS, N_WORDS, WORDS_PER_ROW = 40, 20, 50_000, 80
MEMORY = "64MB"


def write_tables(folder: Path, n_rows: int) -> dict[str, Path]:
    """The same rows in every tabular format."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_NUMBERS)).round(4)
    levels = np.array([f"level{i}" for i in range(N_LEVELS)])
    columns = {f"x{j}": X[:, j] for j in range(N_NUMBERS)}
    table = pa.table(columns | {"c": levels[rng.integers(0, N_LEVELS, n_rows)], "y": X[:, 0] + rng.normal(size=n_rows)})
    paths = {kind: folder / f"rows.{kind}" for kind in ("parquet", "arrow", "csv", "csv.gz", "npy")}
    pq.write_table(table, paths["parquet"])
    pa.feather.write_feather(table, paths["arrow"], compression="uncompressed")
    pacsv.write_csv(table, paths["csv"])
    paths["csv.gz"].write_bytes(gzip.compress(paths["csv"].read_bytes(), 1))
    np.save(paths["npy"], np.column_stack([X, table["y"].to_numpy()]))
    return paths


def write_svmlight(folder: Path, n_rows: int) -> Path:
    """Word counts as svmlight text."""
    rng = np.random.default_rng(0)
    path = folder / "words.svm"
    with path.open("w") as file:
        for _ in range(n_rows):
            words = np.unique((N_WORDS * rng.random(WORDS_PER_ROW) ** 3).astype(int) + 1)
            counts = rng.integers(1, 4, len(words))
            file.write("1 " + " ".join(f"{word}:{count}" for word, count in zip(words, counts, strict=True)) + "\n")
    return path


def best_of(f, repeats=3) -> float:
    """The shortest time of some runs."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        f()
        times.append(time.perf_counter() - started)
    return min(times)


def touch(path: Path) -> None:
    """Read all bytes of a file."""
    block = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(block):
            pass


def one_pass(data: OutOfCore) -> float:
    """Decode, encode and touch every number."""
    return data.sum(lambda chunk: float(chunk.X.array.sum()) + float(chunk.y.sum()))


def dataset(path: Path) -> OutOfCore:
    """The rows, read anew in every pass."""
    target = {".npy": str(N_NUMBERS), ".svm": None}.get(path.suffix, "y")
    data = open_data(str(path), target, memory=MEMORY, cache=False, task="regression")
    assert isinstance(data, OutOfCore), "give more rows: these fit in memory"
    return data


PEERS = {
    "parquet": {"pandas": pd.read_parquet, "polars": pl.read_parquet},
    "arrow": {"pandas": pd.read_feather, "polars": pl.read_ipc},
    "csv": {"pandas": pd.read_csv, "polars": pl.read_csv},
    "csv.gz": {"pandas": pd.read_csv, "polars": pl.read_csv},
    "npy": {"numpy": np.load},
    "svm": {"scikit-learn": lambda path: load_svmlight_file(str(path))},
}


def formats_table(paths: dict[str, Path]) -> str:
    out = io.StringIO()
    out.write("| format | file, MB | bytes alone | a pass of riata | the same into memory by others |\n")
    out.write("| --- | --- | --- | --- | --- |\n")
    for kind, path in paths.items():
        size = path.stat().st_size / 1e6
        data = dataset(path)
        seconds = {"bytes": best_of(lambda path=path: touch(path)), "riata": best_of(lambda data=data: one_pass(data))}
        peers = ", ".join(f"{name} {size / best_of(lambda read=read, path=path: read(path)):.0f}"
                          for name, read in PEERS[kind].items())  # fmt: skip
        out.write(
            f"| {kind} | {size:.0f} | {size / seconds['bytes']:.0f} | {size / seconds['riata']:.0f} | {peers} |\n"
        )
    return out.getvalue()


def encoded_table(paths: dict[str, Path]) -> str:
    """Passes over the kept rows, in MB of encoded rows per second."""
    out = io.StringIO()
    out.write("| rows | encoded, MB | mapped bytes and products | a pass of riata | share |\n")
    out.write("| --- | --- | --- | --- | --- |\n")
    for name, kind in (("dense", "npy"), ("sparse", "svm")):
        target = {"npy": str(N_NUMBERS), "svm": None}[kind]
        data = open_data(str(paths[kind]), target, memory=MEMORY, task="regression")
        data._caching = True  # an .npy file needs no cache; here its encoded form is what is measured
        w = np.ones(data.n_features, dtype=data.encoding.dtype)
        multiply = lambda chunk, w=w: (chunk.X.array @ w).sum()  # noqa: E731
        data.sum(multiply)
        rows = data._rows
        plain = best_of(lambda rows=rows, f=multiply: [f(rows.chunk(i)) for i in range(rows.n_chunks)])
        ours = best_of(lambda data=data, f=multiply: data.sum(f))
        size = rows.n_bytes / 1e6
        out.write(f"| {name} | {size:.0f} | {size / plain:.0f} | {size / ours:.0f} | {plain / ours:.2f} |\n")
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RIATA_CACHE"] = folder
        paths = write_tables(Path(folder), options.rows)
        paths["svm"] = write_svmlight(Path(folder), options.rows // 2)
        report = (
            f"MB per second, {options.rows:,} rows, {os.cpu_count()} cores, best of three.\n\n"
            f"{formats_table(paths)}\nLater passes, over the encoded rows:\n\n{encoded_table(paths)}"
        )
    print(report)
    if options.out:
        options.out.write_text(report)


if __name__ == "__main__":
    main()
