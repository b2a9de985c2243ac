"""Files that are damaged, cut short or made up are refused in one sentence that names them: every one failed once."""

import bz2
import gzip
import json
import lzma
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from pyarrow import orc

import riata
from fuzz.seeds import avro_file
from riata.data.opening.convert import convert
from riata.data.statistics import statistics_of
from riata.errors import DataError, OptionError, RiataError

TEXT = b"a,b,y\n" + b"".join(b"%d,%d,%d\n" % (i, i * i % 7, i % 5) for i in range(400))
PACK = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda text: pa.compress(text, "zstd", asbytes=True),
}


def refusal(path, **options) -> str:
    """The one sentence about a file."""
    with pytest.raises(RiataError) as caught:
        riata.open(path, **options)
    words = str(caught.value)
    assert Path(path).name in words
    assert "\n" not in words
    return words


@pytest.mark.parametrize("ending", PACK)
def test_compressed_text_tells_where_it_breaks_off(ending, tmp_path):
    path, packed = tmp_path / f"rows.csv.{ending}", PACK[ending](TEXT)
    path.write_bytes(packed)
    assert riata.open(path, target="y").n_rows == 400
    path.write_bytes(packed[:-20])
    assert "line" in refusal(path, target="y")
    half = len(packed) // 2
    path.write_bytes(packed[:half] + bytes(60) + packed[half + 60 :])
    refusal(path, target="y")
    path.write_bytes(TEXT)
    assert "is not compressed by" in refusal(path, target="y")


def header(words: bytes) -> bytes:
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words + bytes(80)


NPY = {
    "wrong magic": b"\x93NUMPI\x01\x00" + bytes(100),
    "unknown version": b"\x93NUMPY\x09\x00" + bytes(100),
    "no header": b"\x93NUMPY\x01\x00",
    "header that does not parse": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 5"),
    "brackets without end": header(b"(" * 5000),
    "unknown type": header(b"{'descr': '<i0', 'fortran_order': False, 'shape': (2, 5)}"),
    "objects": header(b"{'descr': '|O', 'fortran_order': False, 'shape': (2, 5)}"),
    "negative shape": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 5)}"),
    "shape beyond the file": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 5)}"),
    "shape beyond all numbers": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 5)}"),
    "text": header(b"{'descr': '<U2', 'fortran_order': False, 'shape': (2, 5)}"),
    "no columns": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0)}"),
    "infinite": header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 5)}")[:-80]
    + np.array([[1.0, 2.0, np.inf, 0.0, 1.0]] * 2).tobytes(),
}


@pytest.mark.parametrize("damage", NPY)
def test_arrays(damage, tmp_path):
    (tmp_path / "rows.npy").write_bytes(NPY[damage])
    refusal(tmp_path / "rows.npy", target=1)


def parts():
    S = sp.random_array((30, 6), density=0.5, format="csr", rng=np.random.default_rng(0))
    return {
        "indptr": S.indptr, "indices": S.indices, "data": S.data, "shape": np.array(S.shape), "format": b"csr",
        "y": np.arange(30.0),
    }  # fmt: skip


SPARSE = {
    "indices of two dimensions": {"indices": np.zeros((4, 4), int)},
    "indices that are no whole numbers": {"indices": np.zeros(10)},
    "indptr that falls": {"indptr": np.arange(31)[::-1]},
    "indptr beyond the entries": {"indptr": np.arange(31) * 1000},
    "shape of other rows": {"shape": np.array([31, 6])},
    "shape of one number": {"shape": np.array(6)},
    "shape that is no number": {"shape": np.array(["a", "b"])},
    "negative width": {"shape": np.array([30, -6])},
    "another format": {"format": b"csc"},
    "a format that is no text": {"format": np.arange(3)},
    "a format of many numbers": {"format": np.arange(100.0)},
    "a format of several lines": {"format": "csr\n"},
    "a format that is a record": {"format": np.zeros((), np.dtype([("a", "f8")]))},
    "a format of bare bytes": {"format": np.zeros((), "V8")},
    "too few names": {"feature_names": np.array(["a", "b"])},
    "complex numbers": {"data": parts()["data"].astype(complex)},
}


@pytest.mark.parametrize("damage", SPARSE)
def test_sparse_archives(damage, tmp_path):
    np.savez(tmp_path / "rows.npz", **parts() | SPARSE[damage])
    refusal(tmp_path / "rows.npz")


@pytest.mark.parametrize("names", [{}, {"feature_names": np.array("b")}])
def test_an_archive_of_one_column_without_a_second_dimension(names, tmp_path):
    """It was taken for the rows and for an array beside them."""
    x = np.arange(20.0)
    np.savez(tmp_path / "rows.npz", X=x, y=2.0 * x, **names)
    assert riata.open(tmp_path / "rows.npz", target="y").n_features == 1


@pytest.mark.parametrize("shape", ["(True, 6)", "(30.0,)", "[2]", "('a',)", "(None,)", "2"])
@pytest.mark.parametrize("name", ["shape", "indptr", "feature_names"])
def test_an_archive_with_a_header_whose_shape_is_none(name, shape, tmp_path):
    """NumPy takes some of them for shapes, until it counts."""
    np.savez(tmp_path / "rows.npz", **parts() | {"feature_names": np.array(list("abcdef"))})
    with zipfile.ZipFile(tmp_path / "rows.npz") as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    words = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}}}".encode()
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        for member, content in (members | {f"{name}.npy": header(words)}).items():
            archive.writestr(member, content)
    refusal(tmp_path / "rows.npz")


@pytest.mark.parametrize("make", [lambda data: data[:-30], lambda data: data[:90] + b"\0" * 20 + data[110:]])
def test_archives_that_are_cut_or_changed(make, tmp_path):
    np.savez_compressed(tmp_path / "rows.npz", **parts())
    (tmp_path / "rows.npz").write_bytes(make((tmp_path / "rows.npz").read_bytes()))
    refusal(tmp_path / "rows.npz")


def test_an_archive_that_expands_a_thousandfold_is_not_expanded(tmp_path):
    """Its names alone, or one of its rows, would take more than the budget."""
    np.savez_compressed(tmp_path / "names.npz", **parts(), feature_names=np.zeros(10**7, "S1"))
    assert "too much" in refusal(tmp_path / "names.npz", memory="16MB")
    np.savez_compressed(tmp_path / "row.npz", X=np.zeros((3, 2 * 10**6)), y=np.arange(3.0))
    assert "a row of" in refusal(tmp_path / "row.npz", memory="16MB")
    long = np.concatenate([np.zeros(30, int), [2 * 10**6]])
    entries = {"indptr": long, "indices": np.zeros(2 * 10**6, int), "data": np.zeros(2 * 10**6)}
    np.savez_compressed(tmp_path / "entries.npz", **parts() | entries)
    assert "entries" in refusal(tmp_path / "entries.npz", memory="16MB")


def statistics(folder):
    X = np.random.default_rng(0).normal(size=(40, 3))
    statistics_of(riata.open(X, target=X[:, 0] + 1.0, task="regression"), 2).save(folder / "s.npz")
    with np.load(folder / "s.npz") as file:
        return {name: file[name] for name in file}


STATISTICS = {
    "a matrix of another shape": ("xx_0", np.zeros((3, 2))),
    "a mean of two dimensions": ("mean_0", np.zeros((3, 1))),
    "a weight that is an array": ("weight_1", np.ones(2)),
    "a negative weight": ("weight_1", np.array(-1.0)),
    "NaN": ("xy_1", np.array([1.0, np.nan, 0.0])),
    "a mean whose square overflows": ("y_mean_0", np.array(1e200)),
    "text": ("yy_0", np.array("3")),
    "folds of other features": ("mean_1", np.zeros(2)),
    "no folds": ("riata_statistics", np.array(0)),
    "folds that are no number": ("riata_statistics", np.array("two")),
    "more folds than there are": ("riata_statistics", np.array(3)),
    "names of other features": ("feature_names", np.array(["a"])),
    "an encoding that is none": ("encoding", np.array("{}")),
    "a plan of folds that is a number": ("folds", np.array(0.0)),
    "an encoding that is no JSON": ("encoding", np.array("{")),
}


@pytest.mark.parametrize("damage", STATISTICS)
def test_statistics(damage, tmp_path):
    name, wrong = STATISTICS[damage]
    np.savez(tmp_path / "s.npz", **statistics(tmp_path) | {name: wrong})
    with pytest.raises(DataError):
        riata.open(tmp_path / "s.npz")


def test_statistics_of_longer_floats_are_those_of_usual_ones(tmp_path):
    """Compiled code knows no others."""
    parts = statistics(tmp_path)
    models = []
    for kind in (np.float64, np.longdouble):
        np.savez(tmp_path / "s.npz", **{n: v.astype(kind) if v.dtype.kind == "f" else v for n, v in parts.items()})
        models.append(riata.SparseRegressor(alpha_ratio=0.1).fit(riata.open(tmp_path / "s.npz")).coef_)
    np.testing.assert_array_equal(*models)


def test_statistics_beyond_the_budget_are_not_read(tmp_path):
    found = statistics(tmp_path) | {"more": np.zeros(10**6)}
    np.savez_compressed(tmp_path / "s.npz", **found)
    assert "more than the budget" in refusal(tmp_path / "s.npz", memory="2MB")


def test_names_of_arrays_begin_no_line(tmp_path):
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("r\n\x14.npy", b"")
    assert r"r\n\x14" in refusal(tmp_path / "rows.npz")


def test_a_file_that_is_no_archive_after_all(tmp_path):
    statistics(tmp_path)
    content = (tmp_path / "s.npz").read_bytes()
    for at in range(0, len(content), 97):
        (tmp_path / "s.npz").write_bytes(content[:at] + b"\xff" * 3 + content[at + 3 :])
        try:
            riata.open(tmp_path / "s.npz")
        except DataError:
            continue


CONVERTED = {
    "no JSON": b"{",
    "no object": b"3",
    "nothing": b"{}",
    "not UTF-8": b"\xff",
    "rows that are not there": {"n_rows": 10**12},
    "a negative number of rows": {"n_rows": -1},
    "a text for a number": {"row_bytes": "many"},
    "columns": {"columns": 3},
    "encoders": {"encoding": {"encoders": [{"kind": "date"}], "target": None, "weight": None, "single": True}},
}


@pytest.mark.parametrize("damage", CONVERTED)
def test_converted_files(damage, tmp_path):
    (tmp_path / "rows.csv").write_bytes(TEXT)
    convert(riata.open(tmp_path / "rows.csv", target="y"), tmp_path / "rows.arrow")
    with pa.ipc.open_file(tmp_path / "rows.arrow") as reader:
        rows = reader.read_all()
    wrong = CONVERTED[damage]
    if isinstance(wrong, dict):
        wrong = json.dumps(json.loads(rows.schema.metadata[b"riata"]) | wrong).encode()
    rows = rows.replace_schema_metadata({b"riata": wrong})
    with pa.ipc.new_file(tmp_path / "wrong.arrow", rows.schema) as writer:
        writer.write_table(rows)
    refusal(tmp_path / "wrong.arrow")


def test_converted_files_without_targets(tmp_path):
    (tmp_path / "rows.csv").write_bytes(TEXT)
    convert(riata.open(tmp_path / "rows.csv", target="y"), tmp_path / "rows.arrow")
    with pa.ipc.open_file(tmp_path / "rows.arrow") as reader:
        rows = reader.read_all()
    renamed = rows.rename_columns(["z", *rows.column_names[1:]]).replace_schema_metadata(rows.schema.metadata)
    with pa.ipc.new_file(tmp_path / "wrong.arrow", renamed.schema) as writer:
        writer.write_table(renamed)
    assert "it has no column of what is to be predicted" in refusal(tmp_path / "wrong.arrow")


def test_converted_files_whose_targets_are_none_of_their_classes(tmp_path):
    rows = "".join(f"{i},{'ab'[i % 2]}\n" for i in range(30))
    (tmp_path / "rows.csv").write_text("x,y\n" + rows)
    convert(riata.open(tmp_path / "rows.csv", target="y"), tmp_path / "rows.arrow")
    with pa.ipc.open_file(tmp_path / "rows.arrow") as reader:
        table = reader.read_all()
    for wrong in (2.0, -1.0, 0.5):
        changed = table.set_column(0, table.schema.field(0), pa.array([0.0] * 29 + [wrong]))
        with pa.ipc.new_file(tmp_path / "wrong.arrow", changed.schema) as writer:
            writer.write_table(changed)
        with pytest.raises(DataError, match=r"damaged \(a target is not among the classes\); convert the data again"):
            list(riata.open(tmp_path / "wrong.arrow").visit())


@pytest.mark.parametrize("blanks", [" " * 20_000, "\u00a0" * 20_000, "(" * 300 + "1" * 300 + ")" * 300 + "x"])
def test_long_runs_in_text_take_no_hours(blanks, tmp_path):
    """Python's regular expressions would need the cube of their length, or more."""
    path, rows = tmp_path / "rows.csv", "".join(f"{i},{i * i % 7},{i % 5}\n" for i in range(30))
    for text in (f"1,2,3\n{blanks},4,5\n{rows}", f"{blanks},2,3\n{rows}"):
        path.write_text(text, encoding="utf-8")
        assert riata.open(path, target="x2", csv={"header": "no"}).n_rows >= 31
    path.write_text(f"a,{blanks}b,y\n{rows}", encoding="utf-8")
    assert riata.open(path, target="y").n_rows == 30


def test_one_huge_index_is_refused_before_a_fit(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1 100000000:2\n2 1:3\n3 2:1\n")
    rows = riata.open(path, memory="64MB", task="regression")
    with pytest.raises(
        OptionError, match=r"100000000 features need at least 19200 MB, more than the budget of 64\.0 MB"
    ):
        riata.SparseRegressor(alpha=0.1).fit(rows)
    riata.SparseRegressor(k=1, solver="sketch").fit(rows)


def test_a_line_without_end_is_not_read_to_its_end(tmp_path):
    (tmp_path / "rows.svm").write_bytes(b"1 1:1\n1 " + b"2:1 " * 10**6)
    assert "a line is longer than" in refusal(tmp_path / "rows.svm", memory="4MB")


@pytest.mark.parametrize(
    "start", [b'[{"a": "', b'[{"a": 1, "y": 2}, {"a": "', b'{"a": "', b'{"a": 1, "y": 2}\n{"a": "']
)
def test_a_record_without_end_is_not_read_to_its_end(start, tmp_path):
    (tmp_path / "rows.json").write_bytes(start + b"x" * 4 * 10**6)
    refusal(tmp_path / "rows.json", target="y", memory="4MB")


def test_a_header_without_end_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",".join(f"c{i}" for i in range(200_000)) + ",y\n")
    said = refusal(path, target="y", memory="8MB")
    assert "is longer than 125.0 kB" in said


@pytest.mark.parametrize("n_rows", [0, 100])
def test_a_cell_of_parquet_beyond_the_budget_is_refused(n_rows, tmp_path):
    long = pa.table({"a": ["x"] * n_rows + ["x" * 3_000_000], "y": [*range(n_rows + 1)]})
    pq.write_table(long, tmp_path / "rows.parquet")
    assert "takes 3.0 MB, more than a quarter" in refusal(tmp_path / "rows.parquet", target="y", memory="8MB")


@pytest.mark.parametrize("record", [b'{"a": "\xc3(", "y": 3}', b'{"a": "b", "y": 3}'])
def test_json_whose_words_are_no_text(record, tmp_path):
    (tmp_path / "rows.json").write_bytes(b"[" + b", ".join([b'{"a": "c", "y": 1}', record] * 30) + b"]")
    if b"\xc3" in record:
        refusal(tmp_path / "rows.json", target="y")
    else:
        assert riata.open(tmp_path / "rows.json", target="y").n_rows == 60


def test_columns_whose_names_are_no_text(tmp_path):
    table = pa.table({"a": np.arange(9.0), "blüe": np.arange(9.0), "y": np.arange(9.0)})
    with pa.ipc.new_file(tmp_path / "rows.arrow", table.schema) as writer:
        writer.write_table(table)
    content = (tmp_path / "rows.arrow").read_bytes()
    (tmp_path / "rows.arrow").write_bytes(content.replace("ü".encode(), b"\x80a"))
    refusal(tmp_path / "rows.arrow", target="y")


@pytest.mark.parametrize("path", ["a\0b.csv", "x" * 300, "x" * 5000 + ".csv", "~no such user/rows.csv", "~\0"])
def test_paths_that_there_cannot_be(path):
    for read in (
        lambda: riata.open(path, target="y"),
        lambda: riata.load_model(path),
        lambda: riata.load_statistics(path),
    ):
        with pytest.raises(RiataError):
            read()


def test_an_archive_with_a_password_or_of_an_unknown_method(tmp_path):
    np.savez(tmp_path / "rows.npz", **parts())
    content = bytearray((tmp_path / "rows.npz").read_bytes())
    for flag, value in ((6, 1), (8, 99)):  # of every member in the directory at the end of the file
        wrong = bytearray(content)
        at = wrong.find(b"PK\x01\x02")
        while at >= 0:
            wrong[at + 2 + flag] = value
            at = wrong.find(b"PK\x01\x02", at + 1)
        (tmp_path / "rows.npz").write_bytes(wrong)
        assert zipfile.is_zipfile(tmp_path / "rows.npz")
        refusal(tmp_path / "rows.npz")


WORKBOOK = {
    "a tag that does not end": ("xl/worksheets/sheet1.xml", b"</row>", b""),
    "a cell beyond all columns": ("xl/worksheets/sheet1.xml", b'r="A2"', b'r="ZZZZZ2"'),
    "a number that is none": ("xl/worksheets/sheet1.xml", b"<v>3</v>", b"<v>three</v>"),
    "a style that there is not": ("xl/worksheets/sheet1.xml", b'<c r="A2"', b'<c s="99999" r="A2"'),
    "a text that there is not": ("xl/worksheets/sheet1.xml", b't="inlineStr"><is><t>a<', b't="s"><v>99</v><is><t>a<'),
    "no sheet": ("xl/workbook.xml", b"<sheet ", b"<shoot "),
    "no workbook": ("[Content_Types].xml", b"workbook", b"workbench"),
}


@pytest.mark.parametrize("damage", WORKBOOK)
def test_workbooks(damage, tmp_path):
    workbook = openpyxl.Workbook()
    for row in (["a", "b", "y"], *([i, i * i % 7, i % 5] for i in range(40))):
        workbook.active.append(row)
    workbook.save(tmp_path / "rows.xlsx")
    with zipfile.ZipFile(tmp_path / "rows.xlsx") as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    name, old, new = WORKBOOK[damage]
    assert old in members[name]
    members[name] = members[name].replace(old, new)
    with zipfile.ZipFile(tmp_path / "rows.xlsx", "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    try:  # openpyxl makes the best of some of them
        riata.open(tmp_path / "rows.xlsx", target="y")
    except DataError as error:
        assert "rows.xlsx" in str(error)  # noqa: PT017


AVRO = {
    "a field that is no object": {"fields": [3]},
    "a field without a type": {"fields": [{"name": "y"}]},
    "a type that cannot be": {"fields": [{"name": "y", "type": {"type": {}}}]},
    "no fields": {"fields": None},
    "a type that there is not": {"fields": [{"name": "y", "type": "number"}]},
    "a precision beyond all": {
        "fields": [{"name": "y", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10**6}}]
    },
    "no record": {"type": "map", "values": "long"},
    "strings for numbers": {"fields": [{"name": "y", "type": "string"}]},
}


@pytest.mark.parametrize("damage", AVRO)
def test_avro_files_whose_schema_is_none(damage, tmp_path):
    schema = {"type": "record", "name": "Row", "fields": [{"name": "y", "type": "double"}]}
    (tmp_path / "rows.avro").write_bytes(avro_file(json.dumps(schema | AVRO[damage]).encode(), b"\x04\x20" + bytes(16)))
    refusal(tmp_path / "rows.avro", target="y")


@pytest.mark.parametrize("ending", ["orc", "parquet", "arrow"])
def test_columns_of_text_that_is_none(ending, tmp_path):
    """Arrow's readers of ORC and Parquet take any bytes for text."""
    words = pa.array(["red", "green", "blüe"] * 20)
    table = pa.table({"y": np.arange(60.0), "word": words})
    path = tmp_path / f"rows.{ending}"
    if ending == "arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        write = {"orc": orc.write_table, "parquet": partial(pq.write_table, compression="none")}[ending]
        write(table, path)
    riata.open(path, target="y")
    path.write_bytes(path.read_bytes().replace("ü".encode(), b"\xc0a"))
    refusal(path, target="y")


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_json_whose_names_are_no_text(ending, tmp_path):
    record = b'{"a": 1, "\xff\xfe": 2, "y": 3}'
    (tmp_path / f"rows.{ending}").write_bytes(b"[" + record + b"]" if ending == "json" else record + b"\n" + record)
    refusal(tmp_path / f"rows.{ending}", target="y")
