"""The same rows as every kind of source that riata opens."""

import bz2
import gzip
import lzma
from pathlib import Path

import duckdb
import fastavro
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.dataset as pads
import pyarrow.feather
import pyarrow.parquet as pq
import scipy.sparse as sp
from pyarrow import orc
from sklearn.datasets import dump_svmlight_file

N_ROWS, N_FEATURES = 150, 6


def make_rows(rng):
    """A dense matrix with exact zeros, and a target."""
    X = rng.normal(size=(N_ROWS, N_FEATURES)) * (rng.random((N_ROWS, N_FEATURES)) < 0.7)
    y = X @ np.array([1.5, 0.0, -2.0, 0.0, 0.7, 0.0]) + 0.1 * rng.normal(size=N_ROWS) + 3.0
    return X, y


def table_of(X, y) -> pa.Table:
    return pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})


def _write(path: Path, write):
    write(path)
    return str(path)


def _parquet_folder(X, y, tmp):
    folder = tmp / "folder"
    folder.mkdir()
    for i, rows in enumerate(np.array_split(np.arange(len(y)), 10)):
        pq.write_table(table_of(X[rows], y[rows]), folder / f"part-{i:02}.parquet")
    return str(folder)


def _csv(X, y, tmp, suffix=""):
    openers = {"": open, ".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    path = tmp / f"rows.csv{suffix}"
    with pa.BufferOutputStream() as buffer:
        pacsv.write_csv(table_of(X, y), buffer)
        content = buffer.getvalue().to_pybytes()
    if suffix == ".zst":
        content = pa.compress(content, "zstd", asbytes=True)
        path.write_bytes(content)
    else:
        with openers[suffix](path, "wb") as file:
            file.write(content)
    return str(path)


def _tsv(X, y, tmp):
    path = tmp / "rows.tsv"
    pacsv.write_csv(table_of(X, y), path, pacsv.WriteOptions(delimiter="\t"))
    return str(path)


def _svmlight(X, y, tmp, zero_based=True, compress=None):
    path = tmp / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based)
    if compress is None:
        return str(path)
    opener = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}[compress]
    with opener(f"{path}.{compress}", "wb") as file:
        file.write(path.read_bytes())
    return f"{path}.{compress}"


def _named(X, y, tmp, name, before, prefix):
    pairs = [" ".join(f"{prefix}{j}:{value!r}" for j, value in enumerate(row) if value) for row in X.tolist()]
    content = "".join(f"{target!r} {before}{row}\n" for target, row in zip(y.tolist(), pairs, strict=True)).encode()
    (tmp / name).write_bytes(pa.compress(content, "zstd", asbytes=True) if name.endswith("zst") else content)
    return str(tmp / name)


def _npz(X, y, tmp):
    np.savez_compressed(tmp / "rows.npz", X=X, y=y)
    return str(tmp / "rows.npz")


def _sparse_npz(X, y, tmp):
    m = sp.csr_array(X)
    np.savez(tmp / "csr.npz", data=m.data, indices=m.indices, indptr=m.indptr, shape=m.shape, format=b"csr", y=y)
    return str(tmp / "csr.npz")


def _pairs(X, y, tmp):
    m = sp.csr_array(X)
    lists = {
        "doc_indices": [m.indices[a:b].tolist() for a, b in zip(m.indptr, m.indptr[1:], strict=False)],
        "doc_values": [m.data[a:b].tolist() for a, b in zip(m.indptr, m.indptr[1:], strict=False)],
    }
    return _write(tmp / "pairs.parquet", lambda path: pq.write_table(pa.table(lists | {"y": y}), path))


def _generator(X, y, tmp):
    return ((X[i : i + 40], y[i : i + 40]) for i in range(0, len(y), 40))


def _table_generator(X, y, tmp):
    return (table_of(X[i : i + 40], y[i : i + 40]) for i in range(0, len(y), 40))


def _npy(X, y, tmp, order="C"):
    np.save(tmp / "y.npy", y)
    return _write(tmp / "rows.npy", lambda path: np.save(path, np.asarray(X, order=order)))


def _json(X, y, tmp, name, **how):
    path = tmp / name
    content = table_of(X, y).to_pandas().to_json(orient="records", double_precision=15, **how).encode()
    if path.suffix == ".zst":
        content = pa.compress(content, "zstd", asbytes=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


def _orc(X, y, tmp):
    return _write(tmp / "r.orc", lambda path: orc.write_table(table_of(X, y), path, stripe_size=4096))


def _avro(X, y, tmp, codec="null"):
    table = table_of(X, y)
    fields = [{"name": name, "type": "double"} for name in table.schema.names]
    with open(tmp / "r.avro", "wb") as file:
        schema = {"type": "record", "name": "row", "fields": fields}
        fastavro.writer(file, schema, table.to_pylist(), codec=codec, sync_interval=500)
    return str(tmp / "r.avro")


def _excel(X, y, tmp):
    path = tmp / "r.xlsx"
    table_of(X, y).to_pandas().to_excel(path, index=False, sheet_name="rows")
    return str(path)


# name -> (source, target) of the rows
SOURCES = {
    "numpy": lambda X, y, tmp: (X, y),
    "numpy with a column": lambda X, y, tmp: (np.column_stack([X, y]), N_FEATURES),
    "memory map": lambda X, y, tmp: (np.load(_npy(X, y, tmp), mmap_mode="r"), y),
    "csr": lambda X, y, tmp: (sp.csr_array(X), y),
    "csr int64": lambda X, y, tmp: (_wide_indices(sp.csr_array(X)), y),
    "csc": lambda X, y, tmp: (sp.csc_array(X), y),
    "coo": lambda X, y, tmp: (sp.coo_array(X), y),
    "pandas": lambda X, y, tmp: (table_of(X, y).to_pandas(), "y"),
    "pandas and array": lambda X, y, tmp: (table_of(X, y).to_pandas().drop(columns="y"), y),
    "polars": lambda X, y, tmp: (_polars(table_of(X, y)), "y"),
    "arrow table": lambda X, y, tmp: (table_of(X, y), "y"),
    "arrow reader": lambda X, y, tmp: (table_of(X, y).to_reader(max_chunksize=40), "y"),
    "arrow dataset": lambda X, y, tmp: (pads.dataset(_parquet_folder(X, y, tmp)), "y"),
    "parquet": lambda X, y, tmp: (
        _write(tmp / "r.parquet", lambda p: pq.write_table(table_of(X, y), p, row_group_size=64)), "y"),
    "parquet folder": lambda X, y, tmp: (_parquet_folder(X, y, tmp), "y"),
    "parquet glob": lambda X, y, tmp: (_parquet_folder(X, y, tmp) + "/part-*.parquet", "y"),
    "parquet pairs": lambda X, y, tmp: (_pairs(X, y, tmp), "y"),
    "ipc": lambda X, y, tmp: (
        _write(tmp / "r.arrow", lambda p: pa.feather.write_feather(table_of(X, y), p, chunksize=64)), "y"),
    "csv": lambda X, y, tmp: (_csv(X, y, tmp), "y"),
    "csv.gz": lambda X, y, tmp: (_csv(X, y, tmp, ".gz"), "y"),
    "csv.zst": lambda X, y, tmp: (_csv(X, y, tmp, ".zst"), "y"),
    "tsv": lambda X, y, tmp: (_tsv(X, y, tmp), "y"),
    "json lines": lambda X, y, tmp: (_json(X, y, tmp, "r.jsonl", lines=True), "y"),
    "json lines.gz": lambda X, y, tmp: (_json(X, y, tmp, "r.ndjson.gz", lines=True), "y"),
    "json lines.zst": lambda X, y, tmp: (_json(X, y, tmp, "r.json.zst", lines=True), "y"),
    "json array": lambda X, y, tmp: (_json(X, y, tmp, "r.json"), "y"),
    "json array, indented": lambda X, y, tmp: (_json(X, y, tmp, "r.json", indent=2), "y"),
    "json array.gz": lambda X, y, tmp: (_json(X, y, tmp, "r.json.gz"), "y"),
    "json without an ending": lambda X, y, tmp: (_json(X, y, tmp, "r.txt", lines=True), "y"),
    "orc": lambda X, y, tmp: (_orc(X, y, tmp), "y"),
    "avro": lambda X, y, tmp: (_avro(X, y, tmp), "y"),
    "avro, deflated": lambda X, y, tmp: (_avro(X, y, tmp, "deflate"), "y"),
    "excel": lambda X, y, tmp: (_excel(X, y, tmp), "y"),
    "excel sheet": lambda X, y, tmp: (_excel(X, y, tmp) + "#rows", "y"),
    "duckdb query": lambda X, y, tmp: (f"duckdb:SELECT * FROM '{_csv(X, y, tmp)}'", "y"),
    "duckdb relation": lambda X, y, tmp: (duckdb.read_csv(_csv(X, y, tmp)), "y"),
    "svmlight from 0": lambda X, y, tmp: (_svmlight(X, y, tmp), None),
    "svmlight from 1": lambda X, y, tmp: (_svmlight(X, y, tmp, zero_based=False), None),
    "svmlight.gz": lambda X, y, tmp: (_svmlight(X, y, tmp, compress="gz"), None),
    "svmlight.bz2": lambda X, y, tmp: (_svmlight(X, y, tmp, compress="bz2"), None),
    "svmlight.xz": lambda X, y, tmp: (_svmlight(X, y, tmp, compress="xz"), None),
    "vowpal wabbit.zst": lambda X, y, tmp: (_named(X, y, tmp, "r.vw.zst", "| ", "x"), None),
    "libffm": lambda X, y, tmp: (_named(X, y, tmp, "r.ffm", "", "0:"), None),
    "npy": lambda X, y, tmp: (_npy(X, y, tmp), str(tmp / "y.npy")),
    "npy by columns": lambda X, y, tmp: (_npy(X, y, tmp, order="F"), y),
    "npz": lambda X, y, tmp: (_npz(X, y, tmp), None),
    "npz csr": lambda X, y, tmp: (_sparse_npz(X, y, tmp), None),
    "generator of arrays": lambda X, y, tmp: (_generator(X, y, tmp), None),
    "generator of tables": lambda X, y, tmp: (_table_generator(X, y, tmp), "y"),
}  # fmt: skip


def _wide_indices(m):
    m.indices, m.indptr = m.indices.astype(np.int64), m.indptr.astype(np.int64)
    return m


def _polars(table):
    import polars

    return polars.from_arrow(table)


def frame_of_everything(rng, n=400) -> pd.DataFrame:
    """One column of each kind, with missing values."""
    days = pd.Timestamp("2013-01-01") + pd.to_timedelta(rng.integers(0, 400 * 24, n), unit="h")
    frame = pd.DataFrame({
        "number": rng.normal(size=n),
        "whole": rng.integers(0, 50, n),
        "flag": rng.random(n) < 0.4,
        "carrier": rng.choice(["UA", "AA", "DL"], n),
        "day": days,
        "review": rng.choice(["not good at all", "very good", "Good, really good!", "bad"], n),
        "y": rng.normal(size=n),
    })  # fmt: skip
    frame.loc[::7, "number"] = np.nan
    frame.loc[::11, "carrier"] = None
    frame.loc[::13, "day"] = pd.NaT
    frame.loc[5, "y"] = np.nan
    return frame
