"""What a file is, by its first bytes: one of the formats that riata reads, or something else, named for what it is."""

import json
import re

from riata.errors import DataError

# what riata reads: the name of a format in words, and an ending for it
WORDS = {
    "parquet": ("a Parquet file", ".parquet"),
    "ipc": ("an Arrow file", ".arrow"),
    "csv": ("CSV text", ".csv"),
    "svmlight": ("svmlight text", ".svm"),
    "vowpal wabbit": ("text of Vowpal Wabbit", ".vw"),
    "libffm": ("text of libffm", ".ffm"),
    "npy": ("a NumPy array", ".npy"),
    "npz": ("an archive of NumPy arrays", ".npz"),
    "json": ("JSON text", ".jsonl"),
    "orc": ("an ORC file", ".orc"),
    "avro": ("an Avro file", ".avro"),
    "excel": ("an Excel workbook", ".xlsx"),
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "ipc", b"\x93NUMPY": "npy", b"ORC": "orc", b"Obj\x01": "avro"}
EXPORT = "save its table as Parquet or CSV"
OTHERS = {
    b"%PDF": f"a PDF document: {EXPORT}",
    b"SQLite format 3\0": f"an SQLite database: {EXPORT}",
    b"\xff\xff\xff\xff": "an Arrow stream, not a file: write it with pyarrow.ipc.new_file",
    b"FEA1": "a Feather file of version 1: write it again with version 2",
    b"\x89HDF": f"an HDF5 file: {EXPORT}",
    b"\xd0\xcf\x11\xe0": f"a document of an old Office program, such as .xls: {EXPORT}",
    b"MATLAB 5.0": f"a file of MATLAB: {EXPORT}",
    b"<stata_dta>": f"a file of Stata: {EXPORT}",
    b"$FL2@(#)": f"a file of SPSS: {EXPORT}",
    b"RDX3\n": f"a file of R: {EXPORT}",
    b"RDX2\n": f"a file of R: {EXPORT}",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF89a": "a picture",
    b"\x7fELF": "a program",
    b"7z\xbc\xaf": "an archive: unpack it, and give what is inside",
    b"Rar!\x1a": "an archive: unpack it, and give what is inside",
    b"\x1f\x8b": "compressed by gzip: give it the ending .gz after that of its format",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard: give it the ending .zst after that of its format",
    b"BZh91AY&SY": "compressed by bzip2: give it the ending .bz2 after that of its format",
    b"\xfd7zXZ": "compressed by xz: give it the ending .xz after that of its format",
}
TEXTS = ("csv", "svmlight", "vowpal wabbit", "libffm", "json")
PICKLES = tuple(bytes([0x80, version]) for version in range(2, 6))
BOM = b"\xef\xbb\xbf"


def known_formats() -> str:
    return (
        "Parquet, ORC, Avro, Arrow IPC (Feather), CSV, TSV, JSON, Excel (.xlsx), svmlight, Vowpal Wabbit, libffm, .npy "
        "and .npz"
    )


def kind_by_content(head: bytes, path: str) -> str | None:
    """The format that these first bytes belong to; None where they do not tell. What riata cannot read is refused."""
    for magic, kind in MAGIC.items():
        if head.startswith(magic) and _is_binary(head):  # a column may be called PAR1
            return kind
    if head.startswith(b"PK\x03\x04"):
        return _kind_of_zip(head, path)
    if (what := _other(head)) is not None:
        raise DataError(f"{path} is {what}; riata reads {known_formats()}")
    return "json" if is_json(head) else None


def check_content(head: bytes, kind: str, path: str) -> None:
    """Refuse a file whose first bytes say that it is not of the format that its name says."""
    found = kind_by_content(head, path)
    if found is None and kind not in TEXTS and _is_table_of_text(head):
        found = "csv"
    if found is None or found == kind:
        return
    what, ending = WORDS[found]
    raise DataError(f"{path} is {what}, not {WORDS[kind][0]} as its ending says: give it the ending {ending}")


def _kind_of_zip(head: bytes, path: str) -> str | None:
    """What kind of zip archive this is, by the names of its first files."""
    if b"xl/" in head:
        return "excel"
    documents = {b"word/": "a Word document", b"ppt/": "slides of PowerPoint"}
    for folder, what in documents.items():
        if folder in head:
            raise DataError(f"{path} is {what}: {EXPORT}; riata reads {known_formats()}")
    if b"vnd.oasis.opendocument" in head[:200]:
        raise DataError(f"{path} is an OpenDocument file: {EXPORT}; riata reads {known_formats()}")
    if b".npy" in head:
        return "npz"
    raise DataError(f"{path} is a zip archive: unpack it, and give what is inside; riata reads {known_formats()}")


def _is_binary(head: bytes) -> bool:
    """Whether there are bytes at the beginning that no text has."""
    return any(byte < 9 for byte in head[:512])


def _is_table_of_text(head: bytes) -> bool:
    """Whether these bytes are lines of text, the first of which has a separator."""
    first, end, _ = head.partition(b"\n")
    return bool(end) and not _is_binary(head) and any(mark in first for mark in b",;\t|")


def _other(head: bytes) -> str | None:
    """What a file is that riata does not read, in words."""
    if head[8:12] == b"DUCK":
        return "a DuckDB database: give a query, duckdb:FILE:SELECT ..."
    if head.startswith(PICKLES):
        return f"a pickle of Python, which could run any program when it is opened: {EXPORT}"
    if (what := next((what for magic, what in OTHERS.items() if head.startswith(magic)), None)) is not None:
        return what
    text = head.removeprefix(BOM).lstrip()[:200].lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return "a page of HTML, perhaps the message of a server in place of the file"
    if text.startswith(b"<?xml"):
        return f"XML: {EXPORT}"
    if text.startswith(b"version https://git-lfs"):
        return "a pointer of Git LFS: fetch the file itself with git lfs pull"
    return None


def is_json(head: bytes) -> bool:
    """Whether text begins like JSON: with an object on its first line, or with an array of objects."""
    text = head.removeprefix(BOM).lstrip()
    if text[:1] == b"[":
        return text[1:].lstrip()[:1] in (b"{", b"]")
    line = text.split(b"\n", 1)[0]
    if line[:1] != b"{":
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:  # a long line that was cut, or an object over several lines
        return line[1:].lstrip()[:1] in (b'"', b"")


def is_vowpal_wabbit(line: bytes) -> bool:
    """Whether a line is Vowpal Wabbit's: a label, a bar, and a namespace or features, unlike cells between bars."""
    before, bar, features = line.partition(b"|")
    words = before.split()
    if words and (before.endswith(words[-1]) or words[-1].startswith(b"'")):
        words.pop()  # a tag
    labelled = 1 <= len(words) <= 3 and all(re.fullmatch(rb"[-+]?[0-9.]+(e[-+]?[0-9]+)?", word, re.I) for word in words)
    return bool(bar) and labelled and any(len(part.split()) > 1 for part in features.split(b"|"))
