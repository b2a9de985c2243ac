"""A file that is not what its name says is named for what it is."""

import bz2
import gzip
import io
import lzma
import pickle
import sqlite3
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.errors import DataError

TABLE = pa.table({"a": [1.0, 2.0, 3.0], "y": [1.0, 3.0, 5.0]})
TEXT = b"a,y\n1,1\n2,3\n3,5\n"


def buffered(write) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "content")
    return buffer.getvalue()


def stream_of(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def database(folder) -> bytes:
    with sqlite3.connect(folder / "rows.db") as connection:
        connection.execute("create table t (a real)")
    connection.close()
    return (folder / "rows.db").read_bytes()


READ = {  # what riata reads under its own ending
    "a Parquet file": lambda folder: buffered(lambda file: pq.write_table(TABLE, file)),
    "an Arrow file": lambda folder: buffered(lambda file: pa.feather.write_feather(TABLE, file, compression="lz4")),
    "a NumPy array": lambda folder: buffered(lambda file: np.save(file, np.eye(3))),
    "an archive of NumPy arrays": lambda folder: buffered(lambda file: np.savez(file, X=np.eye(3))),
    "JSON text": lambda folder: b'{"a": 1, "y": 2}\n{"a": 1, "y": 2}\n',
}
OTHERS = {
    "a PDF document": lambda folder: b"%PDF-1.7\n...",
    "an SQLite database": database,
    "a pickle of Python": lambda folder: pickle.dumps({"a": [1, 2]}),
    "a zip archive": lambda folder: archive("rows.csv"),
    "a Word document": lambda folder: archive("[Content_Types].xml", "word/document.xml"),
    "a page of HTML": lambda folder: b"\n<!DOCTYPE html>\n<html><body>404</body></html>",
    "XML": lambda folder: b"<?xml version='1.0'?><rows/>",
    "an Arrow stream": lambda folder: stream_of(TABLE),
    "a picture": lambda folder: b"\x89PNG\r\n\x1a\n\0\0\0",
    "an HDF5 file": lambda folder: b"\x89HDF\r\n\x1a\n\0\0",
    "an old Office program": lambda folder: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
    "a file of R": lambda folder: b"RDX3\nX\n\0\0",
    "compressed by gzip": lambda folder: gzip.compress(TEXT),
    "compressed by bzip2": lambda folder: bz2.compress(TEXT),
    "compressed by xz": lambda folder: lzma.compress(TEXT),
    "compressed by Zstandard": lambda folder: pa.compress(TEXT, "zstd", asbytes=True),
    "a pointer of Git LFS": lambda folder: b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
}


@pytest.mark.parametrize("ending", ["csv", "parquet", "svm", "npy", "arrow", "jsonl", "dat"])
@pytest.mark.parametrize("what", OTHERS)
def test_what_riata_does_not_read_is_named(tmp_path, what, ending):
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(OTHERS[what](tmp_path))
    with pytest.raises(DataError) as raised:
        riata.open(path, "y")
    assert f"rows.{ending} is " in str(raised.value)
    assert what in str(raised.value)


@pytest.mark.parametrize("ending", ["parquet", "xlsx", "arrow", "npy", "npz", "orc", "avro"])
def test_text_under_the_ending_of_another_format_is_named(tmp_path, ending):
    for what, content, wanted in (("CSV text", TEXT, ".csv"), ("JSON text", READ["JSON text"](tmp_path), ".jsonl")):
        (tmp_path / f"rows.{ending}").write_bytes(content)
        with pytest.raises(DataError, match=rf"is {what}, not .* as its ending says: give it the ending \{wanted}"):
            riata.open(tmp_path / f"rows.{ending}", target="y")


@pytest.mark.parametrize("what", READ)
def test_another_format_than_the_ending_says_is_named(tmp_path, what):
    (tmp_path / "rows.csv").write_bytes(READ[what](tmp_path))
    with pytest.raises(DataError, match=f"rows.csv is {what}, not CSV text as its ending says: give it the ending"):
        riata.open(tmp_path / "rows.csv", "y")
    result = CliRunner().invoke(main, ["profile", str(tmp_path / "rows.csv"), "--target", "y"])
    assert result.exit_code == 2
    assert what in result.stderr


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_text_that_is_not_compressed_as_its_ending_says(tmp_path, ending):
    (tmp_path / f"rows.csv{ending}").write_bytes(TEXT)
    with pytest.raises(DataError, match="is not compressed by"):
        riata.open(tmp_path / f"rows.csv{ending}", "y")


def test_a_column_may_be_called_like_a_format(tmp_path):
    for name in ("PAR1", "ARROW1", "GIF89", "RDX", "BZh", "[a]", "{a}"):
        (tmp_path / "rows.csv").write_bytes(TEXT.replace(b"a", name.encode(), 1))
        assert list(riata.open(tmp_path / "rows.csv", "y").feature_names) == [name]
