"""Well-formed files of wrong content: what a parser takes, and only a check of meaning can refuse."""

import json
import math
import re
import zipfile
from collections.abc import Callable
from copy import deepcopy
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz.byte_mutations import mutated
from fuzz.seeds import N_ROWS, zipped

PLAIN: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 2**31, 2**63, -(2**70), 10**400, 0.5, 1e308, -1e308, 5e-324, math.nan, math.inf,
    -math.inf, "", "a", "nan", "NaN", "1e999", "\x00", "\ud800", "x" * 400, "number", "category", "date", "sparse",
    [], [1], [None], [[1.0]], ["a", "a"], {}, {"a": 1}, {"kind": "number"},
)  # fmt: skip
DTYPES = ("<f8", ">f8", "<f4", "<f2", "<i8", "<i4", "<u1", "<u8", "?", "<c16", "<U4", "S3", "<M8[s]", "<g")
TOKENS = (
    b"", b"nan", b"inf", b"-inf", b"1e309", b"1e-400", b"1e308", b"-1e308", b"NA", b"\"", b"\"\"", b"\"a", b",",
    b"\t", b"\n",
    b"\r", b"\r\n", b"\x00", b"\xff\xfe", b"\xc3", b"\xe9t\xe9", b"\xed\xa0\x80", b"0x10", b"1_000", b"1,5", b"9" * 40,
    b"x" * 300, b":", b"1:", b":1", b"0:1", b"-1:1", b"99999999999:1", b"9223372036854775807:1", b"2:nan",
    b"qid:3", b"#",
    b"2024-13-45", b"2024-02-30T25:00", b"9999999-01-01", b"true", b"=1+1", b"\xef\xbb\xbf", b"1 2", b"  ", b"\x1b[31m",
)  # fmt: skip

XML_WORDS = (
    b"A1", b"ZZZ99", b"XFD1048576", b"A99999999", b"-1", b"s", b"n", b"b", b"d", b"e", b"str", b"inlineStr", b"99999",
    b"&lt;", b"&#0;", b"&nope;", b"<a/>", b"2024-99-99T00:00:00", b"1e400", b"rId9", b"../../etc/passwd",
    b"application/xml", b"1" * 400,
)  # fmt: skip


def text(data: bytes, rng: np.random.Generator) -> bytes:
    """A field, a separator or a line replaced by something that no field, separator or line should be."""
    if rng.random() < 0.3:
        return mutated(data, rng)
    for _ in range(rng.integers(1, 4)):
        ends = [i for i, c in enumerate(data) if c in b",\t\n: ;"] or [0]
        at = ends[rng.integers(len(ends))]
        after = [i for i in ends if i > at][: 1 + int(rng.integers(3))]
        stop = after[-1] if after and rng.random() < 0.7 else at + 1
        token = TOKENS[rng.integers(len(TOKENS))] * (1 if rng.random() < 0.95 else int(rng.integers(2, 2000)))
        data = data[: at + int(rng.random() < 0.6)] + token + data[stop:]
    return data


def markup(data: bytes, rng: np.random.Generator) -> bytes:
    """XML in which some text between tags, or within quotes, is another, or a tag is lost or there twice."""
    for _ in range(rng.integers(1, 4)):
        ends = [match.span() for match in re.finditer(rb'>[^<]+<|"[^"]*"|<[^>]*>', data)]
        if not ends:
            break
        start, stop = ends[rng.integers(len(ends))]
        what = rng.random()
        if data[start : start + 1] == b"<":
            new = data[start:stop] * (2 if what < 0.5 else 0)
        else:
            words = XML_WORDS if what < 0.4 else TOKENS
            new = data[start : start + 1] + words[rng.integers(len(words))] + data[stop - 1 : stop]
        data = data[:start] + new + data[stop:]
    return data


def tree(value: Any, rng: np.random.Generator, share: float = 0.0) -> Any:
    """A document of which one to three nodes are of another type or value, lost, there twice or elsewhere."""
    for _ in range(rng.integers(1, 4)):
        nodes = list(_nodes(value))
        holder, key = nodes[rng.integers(len(nodes))]
        what = rng.random()
        if what < 0.6:
            holder[key] = deepcopy(PLAIN[rng.integers(len(PLAIN))])
        elif what < 0.7:
            other, there = nodes[rng.integers(len(nodes))]
            holder[key] = json.loads(json.dumps(other[there]))
        elif what < 0.85:
            del holder[key]
        elif isinstance(holder, list):
            holder.insert(int(rng.integers(len(holder) + 1)), json.loads(json.dumps(holder[key])))
        else:
            holder[f"{key}s"] = json.loads(json.dumps(holder[key]))
        if not isinstance(value, dict) or not value:
            break
    return value


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += [(value, key), *_nodes(inner)]
    return found


def document(plain: bytes, rng: np.random.Generator) -> bytes:
    """JSON of wrong types as often as JSON with wrong bytes."""
    if rng.random() < 0.25:
        return mutated(plain, rng)
    try:
        return json.dumps(tree(json.loads(plain), rng), indent=1).encode(errors="surrogatepass")
    except ValueError:  # a number too long to be written
        return plain


def array(values: Any, rng: np.random.Generator) -> np.ndarray:
    """An array of another type, shape, length or content."""
    values = np.asarray(values)
    what = rng.integers(8)
    with np.errstate(all="ignore"):
        if what == 0:
            try:
                return values.astype(DTYPES[rng.integers(len(DTYPES))])
            except (TypeError, ValueError, RuntimeError, OverflowError):
                return np.zeros(values.shape, DTYPES[rng.integers(len(DTYPES))])
        if what == 1:
            return values.reshape(-1)[: int(rng.integers(values.size + 1))]
        if what == 2:
            return values.reshape(*rng.permutation([1, values.size]), *[1] * int(rng.integers(3)))
        if what == 3:
            return np.concatenate([values.reshape(-1)] * 2)
        if what == 4:
            return np.asfortranarray(values)[..., None] if rng.random() < 0.5 else np.asfortranarray(values)
        if what == 5 and values.size:
            return np.asarray(values.reshape(-1)[int(rng.integers(values.size))])
        if what == 6:
            return np.empty((0,) * int(rng.integers(4)), values.dtype)
        flat = values.copy().reshape(-1)
        if flat.size and flat.dtype.kind in "iuf":
            special = [0, 1, -1, 2**31 - 1, 2**62] if flat.dtype.kind != "f" else [np.nan, np.inf, 1e308, -1e308, 0.0]
            for _ in range(rng.integers(1, 4)):
                flat[rng.integers(flat.size)] = np.array(special[rng.integers(5)]).astype(flat.dtype)
        return flat.reshape(values.shape)


def arrays(parts: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Arrays of which one to three are wrong, lost, or under another name."""
    parts = dict(parts)
    for _ in range(rng.integers(1, 4)):
        if not parts:
            break
        name = list(parts)[rng.integers(len(parts))]
        what = rng.random()
        if what < 0.75:
            parts[name] = array(parts[name], rng)
        elif what < 0.85:
            del parts[name]
        else:
            other = list(parts)[rng.integers(len(parts))]
            parts[other], parts[name] = parts[name], parts[other]
    return parts


def npy_header(data: bytes, rng: np.random.Generator) -> bytes:
    """An .npy file whose header says something else about the same bytes."""
    start = 10 + int.from_bytes(data[8:10], "little")
    n = N_ROWS
    shapes = ("()", f"({n},)", f"({n}, 5)", f"(5, {n})", "(2**62, 8)", "(10**12, 10**12)", "(-1, 5)", f"({n}, 0)",
              "(0, 5)",
              "(1000000000, 5)", f"({n}, 1000000000)", f"({n}.0, 5)", f"({n}, 5, 1, 1)", "(True, 5)", f"{n}",
              f"[{n}, 5]", "None")  # fmt: skip
    descrs = (
        *(repr(d) for d in DTYPES),
        "'O'",
        "'|V8'",
        "[('a', '<f8')]",
        "'<f80'",
        "'U999999999'",
        "1",
        "'('",
        "'<i0'",
        "''",
    )
    header = {
        "'descr'": descrs[rng.integers(len(descrs))] if rng.random() < 0.5 else "'<f8'",
        "'fortran_order'": ("True", "False", "1", "None")[rng.integers(4)] if rng.random() < 0.3 else "False",
        "'shape'": shapes[rng.integers(len(shapes))] if rng.random() < 0.7 else f"({n}, 5)",
    }
    if rng.random() < 0.1:
        header.pop(list(header)[rng.integers(3)])
    words = ("{" + ", ".join(f"{key}: {value}" for key, value in header.items()) + ", }\n").encode()
    if rng.random() < 0.1:
        words = (b"(" * 5000, b"{" * 100, b"__import__('os')\n", b"\xff" * 30, b"")[rng.integers(5)]
    version = (b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x04\x00", b"\x00\x00")[
        rng.integers(5) if rng.random() < 0.2 else 0
    ]
    size = len(words) if rng.random() < 0.9 else int(rng.integers(2**16))
    return data[:6] + version + size.to_bytes(2 if version == b"\x01\x00" else 4, "little") + words + data[start:]


def archive(data: bytes, rng: np.random.Generator, inner: Callable[[bytes, np.random.Generator], bytes]) -> bytes:
    """A zip archive one of whose members was changed before it was packed."""
    with zipfile.ZipFile(BytesIO(data)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    chosen = list(members)[rng.integers(len(members))]
    return zipped(members | {chosen: inner(members[chosen], rng)})


def buffers(data: bytes, rows: pa.Table, rng: np.random.Generator) -> bytes:
    """The file of a table in one of whose buffers (offsets, validity, values) there are wrong bytes."""
    column = rows.column(int(rng.integers(rows.num_columns))).combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    parts = [part for part in column.buffers() if part is not None and part.size]
    content = parts[rng.integers(len(parts))].to_pybytes()
    at = data.find(content)
    if at < 0:
        return mutated(data, rng)
    wrong = mutated(content, rng)[: len(content)].ljust(len(content), b"\0")
    return data[:at] + wrong + data[at + len(content) :]


def columns(rows: pa.Table, rng: np.random.Generator) -> pa.Table:
    """A table of which a column is of another type, lost, all null, or under another name."""
    i = int(rng.integers(rows.num_columns))
    name, column = rows.column_names[i], rows.column(i)
    kinds = (
        pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.float16(), pa.float32(), pa.int8(),
        pa.uint64(), pa.decimal128(38, 10), pa.date64(), pa.time32("s"), pa.duration("ns"), pa.bool_(),
        pa.timestamp("ns"),
        pa.large_list(pa.float64()), pa.list_(pa.int64()), pa.struct([("a", pa.int8())]), pa.null(),
        pa.dictionary(pa.int8(), pa.float64()), pa.map_(pa.string(), pa.int8()), pa.list_(pa.list_(pa.int8())),
        pa.list_(pa.float32(), 2), pa.list_(pa.bool_()), pa.list_(pa.decimal128(9, 2)), pa.list_(pa.uint64()),
    )  # fmt: skip
    kind = kinds[rng.integers(len(kinds))]
    what = rng.random()
    if what < 0.45:
        try:
            column = column.cast(kind, safe=False)
        except (pa.ArrowException, ValueError):
            column = pa.chunked_array([pa.nulls(len(column), kind)])
        return rows.set_column(i, name, column)
    if what < 0.6:
        return rows.set_column(i, name, _special_column(len(column), rng))
    if what < 0.75:
        return rows.set_column(i, name, pa.nulls(len(column), column.type))
    if what < 0.85:
        return rows.drop_columns([name])
    return rows.rename_columns([("y", "", "a", "x" * 300, "\x00", "\x1b[2J")[rng.integers(6)] if j == i else other
                                for j, other in enumerate(rows.column_names)])  # fmt: skip


def _special_column(n_rows: int, rng: np.random.Generator) -> pa.Array:
    """Values at the ends of what a type can hold."""
    columns = (
        pa.array([math.nan, math.inf, -math.inf, 0.0, None]),
        pa.array([1e308, -1e308, 5e-324]),
        pa.array([2**64 - 1, 0, None], pa.uint64()),
        pa.array([-(2**63), 2**63 - 1], pa.int64()),
        pa.array([2**62, -(2**62), 0, None], pa.int64()).view(pa.timestamp("us")),
        pa.array([2**62, -(2**62)], pa.int64()).view(pa.timestamp("s", "Europe/Paris")),
        pa.array([2**62, 5, None], pa.int64()).view(pa.timestamp("ns", "no/where")),
        pa.array([2**31 - 1, -(2**31), None], pa.int32()).view(pa.date32()),
        pa.array([2**62, -1], pa.int64()).view(pa.date64()),
        pa.array([2**62, -1], pa.int64()).view(pa.time64("ns")),
        pa.array([2**62, -(2**62), None], pa.int64()).view(pa.duration("s")),
        pa.array([[math.nan], [1.0, 2.0], [], None]),
        pa.array([[-1, 5], [2**62], [0, 0, 0]], pa.list_(pa.int64())),
        pa.array(["", "\x00", "x" * 5000, "nan", "1e999", None]),
        pa.array(["2024-02-30", "2024-01-01T00:00:00Z", "9999-12-31"]),
        pa.array([b"\xff\xfe", b""], pa.binary()),
    )
    values = columns[rng.integers(len(columns))]
    return values.take(pa.array(np.arange(n_rows) % len(values)))
