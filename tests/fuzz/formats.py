"""Every kind of file that riata reads: how a hostile one is made, and the commands that it is given to."""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fuzz import seeds, structured
from fuzz.byte_mutations import mutated

Rng = np.random.Generator
Make = Callable[[Rng | None], bytes]
MEMORY = "64MB"
QUICK = ["--alpha-ratio", "0.1", "--max-passes", "4", "--memory", MEMORY, "--quiet"]
ALPHA, K = ("--alpha-ratio", "0.1"), ("--k", "2")
SAVING: dict[str, tuple[str, ...]] = {  # solvers whose checkpoints differ, and what they are asked
    **{solver: ("matrix", solver, *ALPHA) for solver in ("online", "ftrl", "svrg", "saga")},
    **{solver: ("matrix", solver, *K) for solver in ("hsg-ht", "sketch")},
    # small or narrow data would be done before anything is saved
    "exact": ("wide", "exact", "--alpha-ratio", "0.01", "--loss", "huber:0.001"),
    "exact squared": ("wide", "exact", "--alpha-ratio", "0.01", "--loss", "squared", "--penalty", "mcp"),
    "best-k": ("wide", "best-k", *K, "--loss", "huber"),
    "best-k squared": ("wide", "best-k", *K, "--loss", "squared"),
    "certify": ("alike", "best-k", "--k", "6", "--ridge", "0.01", "--certify"),
}
MATRICES: dict[str, Callable[[], np.ndarray]] = {
    "matrix": lambda: np.column_stack([*seeds.numbers()]), "wide": seeds.wide, "alike": seeds.alike,
}  # fmt: skip


@dataclass(frozen=True)
class Format:
    """A kind of file."""

    name: str
    file: str  # what it is called
    make: Make  # a hostile one; without a generator, a good one
    commands: Callable[[Path, Path], list[list[str]]]  # of its path and a folder to write to
    turns: int = 10  # how often it is tried where others are: less where a try takes as long as many of others


def fit_and_predict(*options: str) -> Callable[[Path, Path], list[list[str]]]:
    """A fit to the file, then predictions of the file by the model."""

    def commands(path: Path, out: Path) -> list[list[str]]:
        model = str(out / "model.json")
        return [
            ["fit", str(path), *options, *QUICK, "--out", model],
            ["predict", model, str(path), "--memory", MEMORY, "--out", str(out / "predictions.csv")],
        ]

    return commands


def only_fit(path: Path, out: Path) -> list[list[str]]:
    return [["fit", str(path), *QUICK, "--out", str(out / "model.json")]]


def use_model(rows: Path) -> Callable[[Path, Path], list[list[str]]]:
    def commands(path: Path, out: Path) -> list[list[str]]:
        return [
            ["predict", str(path), str(rows), "--out", str(out / "predictions.csv")],
            ["inspect", str(path)],
            *([["inspect", str(path), "--sql"]] if rows.stem in IN_SQL else []),
            ["evaluate", str(path), str(rows)],
        ]

    return commands


def resume(workshop: Path, case: str) -> Callable[[Path, Path], list[list[str]]]:
    def commands(path: Path, out: Path) -> list[list[str]]:
        return [[*checkpointing(workshop, case, path.parent), "--resume", "--out", str(out / "model.json")]]

    return commands


def checkpointing(workshop: Path, case: str, folder: Path) -> list[str]:
    """A fit that saves its state after every pass."""
    rows, solver, *strength = SAVING[case]
    target = MATRICES[rows]().shape[1] - 1
    return ["fit", str(workshop / f"{rows}.npy"), "--target", str(target), "--solver", solver, *strength,
            "--max-passes", "12" if rows == "alike" else "6", "--tol", "1e-14", "--task", "regression",
            "--memory", MEMORY, "--quiet", "--checkpoint", str(folder), "--every", "0"]  # fmt: skip


def catalogue(workshop: Path) -> list[Format]:
    """All formats; files that only riata writes are taken from the workshop."""
    plain, csr, tabbed = seeds.text_table(), seeds.svmlight(), seeds.text_table("\t")
    rows, matrix = seeds.table(), seeds.npy(np.column_stack([*seeds.numbers()]))
    records, book = seeds.records(), seeds.excel()
    by_y = fit_and_predict("--target", "y")
    bare = fit_and_predict()
    found = [
        Format("csv", "rows.csv", _text(plain), by_y, turns=5),
        Format("tsv", "rows.tsv", _text(tabbed), by_y, turns=5),
        *(
            Format(f"csv.{name}", f"rows.csv.{name}", _compressed(pack, plain), by_y)
            for name, pack in COMPRESSIONS.items()
        ),
        *(Format(f"csv {name}", "rows.csv", _text(data), by_y, turns=2) for name, data in seeds.dialects().items()),
        Format("json lines", "rows.jsonl", lambda rng: _json_lines(records, rng), by_y),
        Format("json array", "rows.json", lambda rng: _json_array(records, rng), by_y),
        Format("excel", "rows.xlsx", lambda rng: _excel(book, rng), by_y, turns=3),
        Format("orc", "rows.orc", lambda rng: _orc(seeds.table(plain=True), rng), by_y, turns=1),
        Format("avro", "rows.avro", lambda rng: _avro(rng), by_y),
        Format("svmlight", "rows.svm", _text(csr), bare),
        Format("svmlight.gz", "rows.svm.gz", _compressed(COMPRESSIONS["gz"], csr), bare),
        Format("vowpal wabbit", "rows.vw", _text(seeds.vowpal_wabbit()), bare),
        Format("libffm", "rows.ffm", _text(seeds.libffm()), bare),
        Format("npy", "rows.npy", lambda rng: _npy(matrix, rng), fit_and_predict("--target", "4")),
        Format("npz", "rows.npz", lambda rng: _npz(seeds.dense_parts(), rng), bare),
        Format("sparse npz", "rows.npz", lambda rng: _npz(seeds.csr_parts(), rng), bare),
        Format("statistics", "rows.npz", lambda rng: _npz(_arrays(workshop / "statistics.npz"), rng), only_fit),
        Format("parquet", "rows.parquet", lambda rng: _parquet(rows, rng), by_y, turns=5),
        Format("arrow", "rows.arrow", lambda rng: _ipc(rows, rng), by_y, turns=5),
        *(
            Format(f"converted {kind}", "rows.arrow", _converted(workshop / f"{kind}.arrow"), bare)
            for kind in ("dense", "sparse", "targets")
        ),
        *(
            Format(
                f"model of {kind}",
                "model.json",
                _document(workshop / f"{kind}.json"),
                use_model(workshop / f"{kind}.{ending}"),
            )
            for kind, ending in MODELS.items()
        ),
        *(
            Format(
                f"checkpoint of {case}",
                "checkpoint.npz",
                _checkpoint(workshop / case / "checkpoint.npz"),
                resume(workshop, case),
                turns=1 if case == "best-k" else 10,
            )
            for case in SAVING
        ),
    ]
    return found


OF_KINDS = {  # models of other kinds, all of the same rows
    "ordinal": ("grade", "--loss", "ordinal", "--features", "a,level"),
    "cox": ("time", "--event", "event", "--strata", "strata", "--features", "a,level"),
    "crosses": ("y", "--cross", "level,strata", "--interaction", "a,level", "--features", "a,level,strata"),
    "quantiles": ("y", "--loss", "quantile:0.2,0.8", "--features", "a,weighed"),
    "exposure": ("count", "--loss", "poisson", "--exposure", "time", "--features", "a,level"),
    "hashed": ("yes", "--solver", "sketch", "--k", "3", "--features", "a,level,strata"),
}
IN_SQL = ("ordinal", "cox", "quantiles", "exposure")
MODELS = {"table": "parquet", "targets": "parquet", "words": "csv", "svm": "svm"} | dict.fromkeys(OF_KINDS, "csv")
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lambda data: lzma.compress(data, preset=0),  # others clear megabytes first
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def fill(workshop: Path, run: Callable[[list[str]], Any]) -> None:
    """Make the files that only riata writes, by its own commands."""
    (workshop / "table.parquet").write_bytes(seeds.parquet(seeds.table()))
    (workshop / "words.csv").write_bytes(seeds.text_table().replace(b",flag", b",kind").replace(b"True", b"maybe"))
    (workshop / "svm.svm").write_bytes(seeds.svmlight())
    for name, make in MATRICES.items():
        (workshop / f"{name}.npy").write_bytes(seeds.npy(make()))
    table, words, svm = (str(workshop / name) for name in ("table.parquet", "words.csv", "svm.svm"))
    run(["statistics", table, str(workshop / "statistics.npz"), "--target", "y", "--cv", "2"])
    run(["convert", table, str(workshop / "dense.arrow"), "--target", "y", "--drop", "doc_indices,doc_values"])
    run(["convert", svm, str(workshop / "sparse.arrow")])
    run(["convert", table, str(workshop / "targets.arrow"), "--target", "y,a", "--features", "b,whole"])
    run(["fit", str(workshop / "targets.arrow"), *QUICK, "--out", str(workshop / "targets.json")])
    shutil.copy(table, workshop / "targets.parquet")
    run(["fit", table, "--target", "y", *QUICK, "--out", str(workshop / "table.json")])
    run(["fit", words, "--target", "kind", *QUICK, "--out", str(workshop / "words.json")])
    run(["fit", svm, *QUICK, "--out", str(workshop / "svm.json")])
    for kind, (target, *words_of_kind) in OF_KINDS.items():
        rows = workshop / f"{kind}.csv"
        rows.write_bytes(seeds.of_kinds())
        strength = QUICK[2 if "--k" in words_of_kind else 0 :]
        run(["fit", str(rows), "--target", target, *words_of_kind, *strength, "--out", str(workshop / f"{kind}.json")])
    for case in SAVING:
        run([*checkpointing(workshop, case, workshop / case), "--out", os.devnull])


def _text(plain: bytes) -> Make:
    return lambda rng: plain if rng is None else structured.text(plain, rng)


def _compressed(pack: Callable[[bytes], bytes], plain: bytes) -> Make:
    """Text damaged before it is compressed, compressed text that is damaged, and text that only claims to be."""
    packed = pack(plain)

    def make(rng: Rng | None) -> bytes:
        if rng is None:
            return packed
        what = rng.random()
        if what < 0.7:
            return mutated(packed, rng)
        if what < 0.8:
            return pack(structured.text(plain, rng))
        if what < 0.85:
            return plain if rng.random() < 0.1 else rng.bytes(int(rng.integers(200)))
        head, rest = plain[: len(plain) // 2], plain[len(plain) // 2 :]
        return pack(head) + (mutated(pack(rest), rng) if rng.random() < 0.5 else pack(rest))

    return make


def _npy(data: bytes, rng: Rng | None) -> bytes:
    if rng is None:
        return data
    what = rng.random()
    if what < 0.5:
        return mutated(data, rng)
    if what < 0.8:
        return structured.npy_header(data, rng)
    return seeds.npy(structured.array(np.load(io.BytesIO(data)), rng))


def _npz(parts: dict[str, Any], rng: Rng | None) -> bytes:
    if rng is None:
        return seeds.npz(parts)
    what = rng.random()
    packed = seeds.npz(parts, compressed=rng.random() < 0.5)
    if what < 0.4:
        return mutated(packed, rng)
    if what < 0.6:
        return structured.archive(packed, rng, mutated)
    if what < 0.7:
        return structured.archive(packed, rng, structured.npy_header)
    return seeds.npz(structured.arrays(parts, rng))


@cache
def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of an archive; whoever changes one makes a copy of it."""
    with np.load(path) as file:
        return {name: file[name] for name in file}


@cache
def _bytes(path: Path) -> bytes:
    return path.read_bytes()


def _parquet(rows: pa.Table, rng: Rng | None) -> bytes:
    if rng is None:
        return seeds.parquet(rows)
    if rng.random() < 0.4:
        try:
            return seeds.parquet(structured.columns(rows, rng))
        except pa.ArrowException:  # a type or a value that Parquet has not
            return mutated(seeds.parquet(rows), rng)
    options = {"compression": ("none", "snappy", "zstd", "gzip")[rng.integers(4)], "use_dictionary": rng.random() < 0.5}
    return mutated(seeds.parquet(rows, **options), rng)


def _json_lines(records: list[dict[str, Any]], rng: Rng | None) -> bytes:
    """Lines one of which is of wrong values, or text with wrong bytes."""
    lines = [json.dumps(record).encode() for record in records]
    if rng is None:
        return b"\n".join(lines) + b"\n"
    if rng.random() < 0.5:
        at = int(rng.integers(len(lines)))
        lines[at] = structured.document(lines[at], rng).replace(b"\n", b"")
        return b"\n".join(lines)
    return structured.text(b"\n".join(lines), rng)


def _json_array(records: list[dict[str, Any]], rng: Rng | None) -> bytes:
    plain = json.dumps(records, indent=1 if rng is None or rng.random() < 0.5 else None).encode()
    if rng is None:
        return plain
    return structured.document(plain, rng) if rng.random() < 0.6 else structured.text(plain, rng)


def _excel(book: bytes, rng: Rng | None) -> bytes:
    if rng is None:
        return book
    what = rng.random()
    if what < 0.3:
        return mutated(book, rng)
    return structured.archive(book, rng, structured.markup if what < 0.8 else mutated)


def _orc(rows: pa.Table, rng: Rng | None) -> bytes:
    if rng is None:
        return seeds.orc(rows)
    if rng.random() < 0.3:
        try:
            return seeds.orc(structured.columns(rows, rng))
        except (pa.ArrowException, NotImplementedError):  # a type that ORC has not
            return mutated(seeds.orc(rows), rng)
    return mutated(seeds.orc(rows, ("uncompressed", "snappy", "zstd", "zlib")[rng.integers(4)]), rng)


def _avro(rng: Rng | None) -> bytes:
    if rng is None:
        return seeds.avro()
    what = rng.random()
    if what < 0.4:
        return mutated(seeds.avro(("null", "deflate")[rng.integers(2)]), rng)
    if what < 0.7:
        schema, body = seeds.avro_parts()
        return seeds.avro_file(json.dumps(structured.tree(json.loads(schema), rng)).encode(), body)
    schema, body = seeds.avro_parts()
    return seeds.avro_file(schema, mutated(body, rng))


def _ipc(rows: pa.Table, rng: Rng | None) -> bytes:
    if rng is None:
        return seeds.ipc(rows)
    what = rng.random()
    if what < 0.3:
        return seeds.ipc(structured.columns(rows, rng))
    if what < 0.7:
        return structured.buffers(seeds.ipc(rows), rows, rng)
    return mutated(seeds.ipc(rows, (None, "lz4", "zstd")[rng.integers(3)]), rng)


def _converted(path: Path) -> Make:
    def make(rng: Rng | None) -> bytes:
        if rng is None:
            return _bytes(path)
        with pa.ipc.open_file(pa.BufferReader(_bytes(path))) as reader:
            rows = reader.read_all()
        what = rng.random()
        if what < 0.35:
            facts = structured.tree(json.loads(rows.schema.metadata[b"riata"]), rng)
            return seeds.ipc(rows.replace_schema_metadata({"riata": json.dumps(facts).encode()}))
        if what < 0.6:
            return structured.buffers(_bytes(path), rows, rng)
        if what < 0.75:
            return seeds.ipc(structured.columns(rows, rng).replace_schema_metadata(rows.schema.metadata))
        return mutated(_bytes(path), rng)

    return make


def _document(path: Path) -> Make:
    return lambda rng: _bytes(path) if rng is None else structured.document(_bytes(path), rng)


def _checkpoint(path: Path) -> Make:
    """Damaged checkpoints, and whole ones of wrong arrays and facts, whose digest says that they are whole."""
    from riata.training.checkpoint import _digest

    def make(rng: Rng | None) -> bytes:
        if rng is None:
            return _bytes(path)
        if rng.random() < 0.2:
            return mutated(_bytes(path), rng)
        parts = dict(_arrays(path))
        parts.pop("digest")
        facts = json.loads(parts.pop("facts").tobytes())
        if rng.random() < 0.6:
            parts = structured.arrays(parts, rng)
        else:
            facts["facts"] = structured.tree(facts["facts"], rng)
        text = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        named = {name.removeprefix("array."): np.asarray(values) for name, values in parts.items()}
        try:
            digest = np.frombuffer(_digest(text, named), np.uint8)
        except (TypeError, ValueError, BufferError):
            digest = np.zeros(32, np.uint8)
        return seeds.npz(parts | {"facts": text, "digest": digest})

    return make
