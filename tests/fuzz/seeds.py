"""A small table, and the files that hold it: every mutation begins at one of these."""

import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

N_ROWS = 12  # few, so that tries are quick and every change is of something


def numbers() -> tuple[np.ndarray, np.ndarray]:
    """X and y."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS, 4))
    return X, X[:, 0] - 2.0 * X[:, 1] + 0.1 * rng.normal(size=N_ROWS)


def wide() -> np.ndarray:
    """Many features and a target after them: more than best k looks at in its first round."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 300))
    return np.column_stack([X, X[:, :6].sum(axis=1) + rng.normal(size=40)])


def alike() -> np.ndarray:
    """Features that are hard to tell apart, and a target after them: a search of all models of some of them lasts."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 1)) + 0.7 * rng.normal(size=(40, 30))
    return np.column_stack([X, 0.3 * X[:, :12].sum(axis=1) + rng.normal(size=40)])


def of_kinds() -> bytes:
    """Text with targets of several kinds: grades, times to events, counts and yes or no."""
    rng = np.random.default_rng(5)
    lines = ["a,level,strata,weighed,grade,time,event,count,yes,y"]
    for i, x in enumerate(rng.normal(size=36).round(3)):
        grade = int(np.clip(round(2 + x + rng.normal()), 1, 4))
        time, count = round(float(rng.exponential(np.exp(x))) + 0.1, 3), rng.poisson(np.exp(0.3 * x))
        cells = [
            x,
            "uvw"[i % 3],
            "st"[i % 2],
            f"{50 + i % 7} kg",
            grade,
            time,
            i % 3 and 1,
            count,
            "ny"[int(x > 0)],
            2 * x,
        ]
        lines.append(",".join(map(str, cells)))
    return ("\n".join(lines) + "\n").encode()


def csr() -> sp.csr_array:
    return sp.random_array((N_ROWS, 9), density=0.4, format="csr", rng=np.random.default_rng(3))


def table(plain: bool = False) -> pa.Table:
    """A column of every kind that becomes features, some values missing; of those that all formats have, if plain."""
    X, y = numbers()
    S = csr()
    begin = datetime(2024, 1, 31, 22, tzinfo=UTC)
    words = ["red", "green", "blue sky", "grün", None, ""]
    rows = range(N_ROWS)
    offsets = pa.array(S.indptr, pa.int32())
    found = pa.table({
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
    return found.drop_columns(["level", "doc_indices", "doc_values"]) if plain else found


def text_table(separator: str = ",") -> bytes:
    """The columns of a text file, with quotes where there must be."""
    columns = ["y", "a", "b", "whole", "word", "day", "flag"]
    rows = table().select(columns).to_pylist()
    lines = [columns, *([str("" if value is None else value) for value in row.values()] for row in rows)]
    return "\n".join(separator.join(_quoted(field, separator) for field in line) for line in lines).encode() + b"\n"


def _quoted(field: str, separator: str) -> str:
    return f'"{field}"' if separator in field or " " in field else field


def dialects() -> dict[str, bytes]:
    """Tables of text as other programs write them."""
    plain = text_table().decode()
    lines = [line.split(",") for line in plain.replace('"', "").splitlines()]
    commas = "\n".join(";".join(field.replace(".", ",") for field in line) for line in lines) + "\n"
    quoted = "\r\n".join(",".join(f'"{field.replace(" ", chr(10))}"' for field in line) for line in lines) + "\r\n"
    return {
        "of UTF-16": plain.encode("utf-16"),
        "of Latin-1": plain.encode("latin-1"),
        "with decimal commas": commas.encode(),
        "with quoted lines": quoted.encode(),
    }


def records() -> list[dict[str, Any]]:
    """The rows as JSON has them: dates are text, and some fields are objects and lists."""
    kept = table(plain=True).to_pylist()
    for row in kept:
        row["when"], row["day"] = row["when"].isoformat(), row["day"].isoformat()
        row["place"] = {"city": row["word"], "size": row["a"]}
    return kept


def excel() -> bytes:
    """A workbook, but for the time of writing always the same."""
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    rows = table(plain=True).drop_columns(["vector"]).to_pylist()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append([v.replace(tzinfo=None) if isinstance(v, datetime) else v for v in row.values()])
    book.save(out)
    with zipfile.ZipFile(out) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return zipped(
        {name: re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2024-01-01T00:00:00Z", text) for name, text in members.items()}
    )


def orc(rows: pa.Table, compression: str = "uncompressed") -> bytes:
    from pyarrow import orc

    out = pa.BufferOutputStream()
    orc.write_table(rows, out, compression=compression)
    return out.getvalue().to_pybytes()


AVRO_SYNC = b"\xa5" * 16
AVRO_FIELDS = {
    "y": "double", "a": "float", "b": ["null", "double"], "whole": "int", "word": ["null", "string"],
    "level": {"type": "enum", "name": "Level", "symbols": ["low", "high"]},
    "when": {"type": "long", "logicalType": "timestamp-micros"}, "day": {"type": "int", "logicalType": "date"},
    "flag": "boolean", "vector": {"type": "array", "items": "float"},
    "place": {"type": "record", "name": "Place", "fields": [{"name": "city", "type": ["null", "string"]}]},
}  # fmt: skip


def avro(codec: str = "null") -> bytes:
    import fastavro

    fields = [{"name": name, "type": kind} for name, kind in AVRO_FIELDS.items()]
    rows = table(plain=True).to_pylist()
    more = [row | {"level": "low" if row["flag"] else "high", "place": {"city": row["word"]}} for row in rows]
    out = io.BytesIO()
    fastavro.writer(
        out, {"type": "record", "name": "Row", "fields": fields}, more, codec, sync_marker=AVRO_SYNC, sync_interval=500
    )
    return out.getvalue()


def avro_parts() -> tuple[bytes, bytes]:
    """The schema of the file, and what follows its header."""
    whole = avro()
    fields = [{"name": name, "type": kind} for name, kind in AVRO_FIELDS.items()]
    schema = json.dumps({"type": "record", "name": "Row", "fields": fields}).encode()
    return schema, whole[whole.index(AVRO_SYNC) + len(AVRO_SYNC) :]


def avro_file(schema: bytes, body: bytes) -> bytes:
    """A file whose header has this schema."""
    entries = {b"avro.codec": b"null", b"avro.schema": schema}
    named = b"".join(_avro_long(len(part)) + part for entry in entries.items() for part in entry)
    return b"Obj\x01" + _avro_long(len(entries)) + named + _avro_long(0) + AVRO_SYNC + body


def _avro_long(number: int) -> bytes:
    """A number in zigzag code, seven bits a byte."""
    left, out = number << 1, bytearray()
    while left >= 128:
        out.append(left & 127 | 128)
        left >>= 7
    return bytes([*out, left])


def svmlight() -> bytes:
    S, (_, y) = csr(), numbers()
    lines = []
    for i in range(N_ROWS):
        at = slice(S.indptr[i], S.indptr[i + 1])
        pairs = " ".join(f"{j + 1}:{v:.4g}" for j, v in zip(S.indices[at], S.data[at], strict=True))
        lines.append(f"{y[i]:.4g} {pairs}{' # a comment' if i % 9 == 4 else ''}")
    return "\n".join(lines).encode() + b"\n"


def vowpal_wabbit() -> bytes:
    """Lines with an importance, a tag, two namespaces and names of several bytes a letter."""
    S, (_, y) = csr(), numbers()
    lines = []
    for i in range(N_ROWS):
        at = slice(S.indptr[i], S.indptr[i + 1])
        pairs = " ".join(f"é{j}:{v:.4g}" for j, v in zip(S.indices[at], S.data[at], strict=True))
        lines.append(f"{y[i]:.4g} {1 + i % 2} 'row{i}|n:0.5 {pairs} |c level={i % 3} :{i % 5}")
    return "\n".join(lines).encode() + b"\n"


def libffm() -> bytes:
    S, (_, y) = csr(), numbers()
    rows = [slice(S.indptr[i], S.indptr[i + 1]) for i in range(N_ROWS)]
    triples = [" ".join(f"{j % 2}:{j}:{v:.4g}" for j, v in zip(S.indices[at], S.data[at], strict=True)) for at in rows]
    return "".join(f"{target:.4g} {row}\n" for target, row in zip(y, triples, strict=True)).encode()


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
    pq.write_table(rows, out, row_group_size=7, **options)
    return out.getvalue().to_pybytes()
