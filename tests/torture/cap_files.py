"""Files that are larger than a budget of memory: every shape of data in every format that can hold it.

Each is made in two sizes: a large one, and a small one of the same kind, to have all code loaded before memory is
measured.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import scipy.sparse as sp

Columns = dict[str, Any]
SPARSE, TABLE = ("npz", "svm"), ("csv", "csv.gz", "parquet", "jsonl")
CONVERTED = "converted"
STEP = 20_000  # rows made at a time


def tall(n: int, rng: np.random.Generator) -> Columns:
    X = rng.normal(size=(n, 20)).round(3)
    return {f"x{j}": X[:, j] for j in range(20)} | {"y": X[:, 0] - X[:, 1] + rng.normal(size=n)}


def categories(n: int, rng: np.random.Generator) -> Columns:
    """Two columns of very many levels with long names, one of some."""
    found = {name: [f"{name}-with-a-long-name-{i}" for i in rng.integers(0, levels, n)] for name, levels in
             (("person", 1_000_000), ("street", 100_000), ("town", 3_000))}  # fmt: skip
    return found | {"x": rng.normal(size=n).round(3), "y": rng.normal(size=n)}


def texts(n: int, rng: np.random.Generator) -> Columns:
    """Words most of which are met once or twice, beside some that are met again and again."""
    rare, usual = rng.integers(0, 3_000_000, (n, 12)), rng.zipf(1.3, (n, 12)) % 20_000
    words = [" ".join([*(f"r{i}" for i in a), *(f"u{i}" for i in b)]) for a, b in zip(rare, usual, strict=True)]
    return {"words": words, "town": [f"t{i}" for i in rng.integers(0, 3_000, n)], "y": rng.normal(size=n)}


# With how many rows: of tall ones, as many as are neither within the least budget nor, with the largest one, loaded; of
# texts, as many as have more words than are counted at a time with any budget.
TABLES: dict[str, tuple[Callable[[int, np.random.Generator], Columns], int]] = {
    "tall": (tall, 400_000), "categories": (categories, 250_000), "text": (texts, 60_000)
}  # fmt: skip
TALL_ARRAY = (600_000, 20)
WIDE, WIDE_TABLE = (400, 40_000), (400, 10_000)
SPARSE_ROWS, SPARSE_WIDTH, PER_ROW = 100_000, 200_000, 60
SMALL = 3_000  # rows: too many to be interpreted
SMALL_TABLES = {"categories": 15_000}  # of which as many levels are hashed as of the large one
KINDS = {
    "tall": ("npy", *TABLE, CONVERTED), "wide": ("npy", *TABLE, CONVERTED), "sparse": (*SPARSE, CONVERTED),
    "categories": (*TABLE, CONVERTED), "text": (*TABLE, CONVERTED),
}  # fmt: skip


def make(shape: str, kind: str, path: Path, small: bool, convert: Callable[[Path, Path], None]) -> None:
    """Write a file of a shape and a kind; `convert` makes a converted file of another."""
    rng = np.random.default_rng([0, int(small)])
    if kind == CONVERTED:
        other = "npz" if shape == "sparse" else "npy" if shape == "wide" else "parquet"
        before = path.with_name(f"{path.stem}-before.{other}")
        make(shape, other, before, small, convert)
        convert(before, path)
        before.unlink()
    elif shape == "sparse":
        _sparse(path, kind, small, rng)
    elif kind == "npy":
        few, many = ((SMALL, 20), TALL_ARRAY) if shape == "tall" else ((2000, 60), WIDE)
        n, width = few if small else many
        X = rng.normal(size=(n, width + 1)).astype(np.float64 if shape == "tall" else np.float32)
        X[:, 0] += X[:, 1]
        np.save(path, X)
    elif shape == "wide":
        n, width = (SMALL, 60) if small else WIDE_TABLE
        X = rng.normal(size=(n, width)).round(3)
        _table(path, kind, iter([{f"x{j}": X[:, j] for j in range(width)} | {"y": X[:, 0] + X[:, 1]}]))
    else:
        columns, n = TABLES[shape]
        n = SMALL_TABLES.get(shape, SMALL) if small else n
        _table(path, kind, (columns(min(STEP, n - i), rng) for i in range(0, n, STEP)))


def _table(path: Path, kind: str, parts: Iterator[Columns]) -> None:
    if kind == "jsonl":
        with open(path, "w", encoding="utf-8") as file:
            for part in parts:
                values = [c.tolist() if isinstance(c, np.ndarray) else c for c in part.values()]
                file.writelines(
                    json.dumps(dict(zip(part, row, strict=True))) + "\n" for row in zip(*values, strict=True)
                )
        return
    first = pa.table(next(parts))
    file: Any = gzip.open(path, "wb", 1) if kind == "csv.gz" else open(path, "wb")  # noqa: SIM115
    writer: Any = pq.ParquetWriter(file, first.schema) if kind == "parquet" else pacsv.CSVWriter(file, first.schema)
    with file, writer:
        writer.write_table(first)
        for part in parts:
            writer.write_table(pa.table(part))


def _sparse(path: Path, kind: str, small: bool, rng: np.random.Generator) -> None:
    n, width = (SMALL, 300) if small else (SPARSE_ROWS, SPARSE_WIDTH)
    per_row = PER_ROW // 10 if small else PER_ROW
    indices = np.sort(width * rng.random((n, per_row)) ** 3, axis=1).astype(np.int32) // per_row * per_row
    indices += np.arange(per_row, dtype=np.int32)  # no index twice in a row
    indices = np.sort(indices % width, axis=1)
    S = sp.csr_array((rng.normal(size=n * per_row).round(3), indices.ravel(), np.arange(0, n * per_row + 1, per_row)),
                     shape=(n, width))  # fmt: skip
    S.sum_duplicates()
    y = (S[:, [0]].toarray() - S[:, [1]].toarray()).ravel() + rng.normal(size=n)
    if kind == "npz":
        np.savez(path, indptr=S.indptr, indices=S.indices, data=S.data, shape=S.shape, format=b"csr", y=y)
        return
    with open(path, "w", encoding="ascii") as file:
        for i in range(n):
            a, b = S.indptr[i], S.indptr[i + 1]
            pairs = " ".join(
                f"{j + 1}:{v:.3f}" for j, v in zip(S.indices[a:b].tolist(), S.data[a:b].tolist(), strict=True)
            )
            file.write(f"{y[i]:.4f} {pairs}\n")
