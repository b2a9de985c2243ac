"""A small table, and the files that hold it: every mutation begins at one of these."""

import io
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

N_ROWS = 24


def numbers() -> tuple[np.ndarray, np.ndarray]:
    """X and y."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS, 4))
    return X, X[:, 0] - 2.0 * X[:, 1] + 0.1 * rng.normal(size=N_ROWS)


def csr() -> sp.csr_array:
    return sp.random_array((N_ROWS, 9), density=0.4, format="csr", rng=np.random.default_rng(3))


def table() -> pa.Table:
    """A column of every kind that becomes features, some values missing."""
    X, y = numbers()
    S = csr()
    begin = datetime(2024, 1, 31, 22, tzinfo=UTC)
    words = ["red", "green", "blue sky", "grün", None, ""]
    rows = range(N_ROWS)
    offsets = pa.array(S.indptr, pa.int32())
    return pa.table({
        "y": y,
        "a": X[:, 0],
        "b": pa.array([None if i % 7 == 3 else float(x) for i, x in enumerate(X[:, 1])]),
        "whole": pa.array([i % 5 for i in rows], pa.int16()),
        "word": pa.array([words[i % 6] for i in rows]),
        "level": pa.array([words[i % 4] for i in rows]).dictionary_encode(),
        "when": pa.array([begin + timedelta(hours=31 * i) for i in rows], pa.timestamp("us", "UTC")),
        "day": pa.array([(begin + timedelta(days=i)).date() for i in rows]),
        "flag": pa.array([i % 3 == 0 for i in rows]),
        "vector": pa.array([[float(i), 1.0, -2.5] for i in rows], pa.list_(pa.float32())),
        "doc_indices": pa.ListArray.from_arrays(offsets, pa.array(S.indices, pa.int32())),
        "doc_values": pa.ListArray.from_arrays(offsets, pa.array(S.data)),
    })  # fmt: skip


def text_table(separator: str = ",") -> bytes:
    """The columns of a text file, with quotes where there must be."""
    columns = ["y", "a", "b", "whole", "word", "day", "flag"]
    rows = table().select(columns).to_pylist()
    lines = [columns, *([str("" if value is None else value) for value in row.values()] for row in rows)]
    return "\n".join(separator.join(_quoted(field, separator) for field in line) for line in lines).encode() + b"\n"


def _quoted(field: str, separator: str) -> str:
    return f'"{field}"' if separator in field or " " in field else field


def svmlight() -> bytes:
    S, (_, y) = csr(), numbers()
    lines = []
    for i in range(N_ROWS):
        at = slice(S.indptr[i], S.indptr[i + 1])
        pairs = " ".join(f"{j + 1}:{v:.4g}" for j, v in zip(S.indices[at], S.data[at], strict=True))
        lines.append(f"{y[i]:.4g} {pairs}{' # a comment' if i % 9 == 4 else ''}")
    return "\n".join(lines).encode() + b"\n"


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npz(arrays: dict[str, Any], compressed: bool = False) -> bytes:
    """As NumPy writes it, but for the time of writing, so that it is always the same."""
    return zipped({f"{name}.npy": npy(values) for name, values in arrays.items()}, compressed)


def zipped(members: dict[str, bytes], compressed: bool = True) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, archive.compression)
    return out.getvalue()


def csr_parts() -> dict[str, Any]:
    S = csr()
    return {
        "indices": S.indices, "indptr": S.indptr, "data": S.data, "shape": np.array(S.shape), "format": b"csr",
        "y": numbers()[1],
    }  # fmt: skip


def dense_parts() -> dict[str, Any]:
    X, y = numbers()
    return {"X": X, "y": y, "feature_names": np.array(["a", "b", "c", "d"])}


def ipc(rows: pa.Table, compression: str | None = None) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_file(out, rows.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(rows)
    return out.getvalue().to_pybytes()


def parquet(rows: pa.Table, **options: Any) -> bytes:
    out = pa.BufferOutputStream()
    pq.write_table(rows, out, row_group_size=11, **options)
    return out.getvalue().to_pybytes()
