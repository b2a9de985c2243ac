"""What cannot be read is one sentence with the file, the row and the column; or is skipped and counted where asked."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from riata.data.opening.open import open_data
from riata.data.out_of_core import OutOfCore
from riata.data.statistics import statistics_of
from riata.errors import DataError, OptionError

ROWS = "a,b,y\n" + "".join(f"{i},{i % 7},{i}\n" for i in range(300_000))

NAMES = [f"n{i}" for i in range(1100)]


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def parquet(folder, name, **columns):
    pq.write_table(pa.table(columns), folder / name)
    return str(folder / name)


def truncated_parquet(folder):
    path = folder / "cut.parquet"
    pq.write_table(pa.table({"a": np.arange(1000.0), "y": np.arange(1000.0)}), path)
    path.write_bytes(path.read_bytes()[:-100])
    return str(path)


def damaged_parquet(folder):
    path = folder / "holes.parquet"
    pq.write_table(
        pa.table({"a": np.random.default_rng(0).normal(size=5000), "y": np.arange(5000.0)}),
        path,
        write_page_checksum=True,
    )
    content = bytearray(path.read_bytes())
    content[100:2000] = b"\0" * 1900
    path.write_bytes(content)
    return str(path)


def bad_date(folder):
    days = [f"2021-01-{1 + i % 28:02}" for i in range(70_010)]
    days[70_002] = "2021-02-30"
    return parquet(folder, "d.parquet", a=days, y=np.arange(70_010.0))


def types_change(folder):
    parquet(folder, "1.parquet", a=[1.0], y=[1.0])
    parquet(folder, "2.parquet", a=["one"], y=[2.0])
    return str(folder / "*.parquet")


def column_is_lost(folder):
    parquet(folder, "1.parquet", a=[1.0], y=[1.0])
    parquet(folder, "2.parquet", y=[2.0])
    return str(folder / "*.parquet")


def the_same_column_twice(folder):
    path = folder / "x.arrow"
    table = pa.table([[1.0], [2.0], [3.0]], names=["a", "a", "y"])
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


def empty_folder(folder):
    (folder / "empty").mkdir()
    return str(folder / "empty")


CASES = {
    "wrong number of fields": (lambda f: write(f, "x.csv", ROWS + "1,2\n"), r"x.csv, line 300002: 2 fields .* has 3"),
    "not a number": (lambda f: write(f, "x.csv", ROWS + "1,red,3\n"), r"x.csv, line 300002: column 'b' holds 'red'"),
    "compressed": (lambda f: write(f, "x.csv.gz", gzip.compress((ROWS + "1,red,3\n").encode())), "line 300002"),
    "cut gzip": (lambda f: write(f, "x.csv.gz", gzip.compress(ROWS.encode())[:-2000]), "x.csv.gz"),
    "infinite": (lambda f: write(f, "x.csv", "a,y\n1,2\ninf,3\n"), r"x.csv, line 3: column 'a' holds an infinite"),
    "svmlight out of order": (lambda f: write(f, "x.svm", "1 2:1\n0 3:1 2:1\n"), "x.svm, line 2: .* must increase"),
    "svmlight no number": (lambda f: write(f, "x.svm", "# c\n1 2:1\n0 3:1 4:z\n"), "x.svm, line 3: .* not a number"),
    "svmlight no pair": (lambda f: write(f, "x.svm", "1 2:1\n0 3\n"), "line 2: .* index:value"),
    "svmlight no label": (lambda f: write(f, "x.svm", "1 2:1\nred 3:1\n"), "line 2: .* begin with a number"),
    "truncated parquet": (truncated_parquet, "cut.parquet is damaged or cut short"),
    "damaged parquet": (damaged_parquet, "holes.parquet is damaged or cut short"),
    "types change": (types_change, "column 'a' is double in .*1.parquet but string in .*2.parquet"),
    "a column is lost": (column_is_lost, "2.parquet lacks the column 'a'"),
    "empty folder": (empty_folder, "holds no file"),
    "glob without a match": (lambda f: str(f / "*.nothing"), "matches no file"),
    "several formats": (lambda f: [write(f, "a.csv", ROWS), write(f, "b.svm", "1 1:1\n"), str(f)][-1], "several"),
    "no such scheme": (lambda f: "nowhere://bucket/x.csv", "nowhere"),
    "ragged list": (lambda f: parquet(f, "l.parquet", v=[[1], [1, 2]], y=[1.0, 2.0]), "row 2: 'v' has 2 numbers"),
    "missing list": (lambda f: parquet(f, "l.parquet", v=[[1.0], None], y=[1.0, 2.0]), "row 2: 'v' has no list"),
    "negative weight": (lambda f: parquet(f, "w.parquet", a=[1.0, 2.0], w=[1, -1], y=[1.0, 2.0]), "row 2: the weight"),
    "no rows": (lambda f: write(f, "x.csv", "a,y\n"), "no rows"),
    "no targets": (lambda f: parquet(f, "n.parquet", a=[1.0], y=pa.array([None], pa.float64())), "1 have no target"),
    "array with NaN": (lambda f: np.array([[1.0, 2.0], [np.nan, 3.0]]), "row 2: column 0 of X is nan"),
    "bad date": (bad_date, r"d.parquet, row 70003: column 'a' holds '2021-02-30', which is no date"),
    "the same column twice": (the_same_column_twice, "more than one column called 'a'"),
    "identifiers as target": (lambda f: parquet(f, "i.parquet", a=np.ones(1100), y=NAMES), "more than 1000 values"),
    "comments only": (lambda f: write(f, "c.txt", "# hi\n"), "c.txt"),
    "text in an array": (lambda f: np.array([["a", "b"]]), "holds no numbers"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_sentence_says_what_and_where(case, tmp_path):
    make, sentence = CASES[case]
    source = make(tmp_path)
    target = [1.0, 2.0] if isinstance(source, np.ndarray) else None if str(source).endswith("svm") else "y"
    with pytest.raises(DataError, match=sentence):
        open_data(source, target, weight="w" if case == "negative weight" else None)


def test_bad_rows_are_skipped_and_counted(tmp_path):
    csv = write(tmp_path, "x.csv", "a,b,y\n1,2,3\n4,5\n6,red,7\n8,9,10\n" + "1,2,3\n" * 20)
    data = open_data(csv, "y", on_error="skip", task="regression", features=["a"])
    assert data.n_rows == 23  # a column that is not read cannot be bad
    numbers = "a,b,y\n" + "1,2,3\n" * 300_000 + "4,5\n6,red,7\n8,9,10\n"
    data = open_data(write(tmp_path, "n.csv", numbers), "y", on_error="skip", task="regression", memory="4MB")
    assert data.n_rows == 300_001
    assert any(note.startswith("2 rows could not be read") for note in data.profile.notes)
    svm = write(tmp_path, "x.svm", "1 1:1\n2 3:1 2:1\nx 1:1\n3 1:2\n4 3\n")
    data = open_data(svm, on_error="skip", task="regression")
    assert data.targets()[0].tolist() == [1, 3]
    assert any(note.startswith("3 rows could not be read") for note in data.profile.notes)


def test_a_file_that_changes_between_passes_is_noticed(tmp_path, larger_than_memory):
    path = write(tmp_path, "x.csv", "a,y\n" + "1,2\n3,5\n4,4\n" * 50)
    data = open_data(path, "y", cache=False, memory="1MB")
    assert sum(c.n_rows for c in data.visit()) == 150
    write(tmp_path, "x.csv", "a,y\n" + "1,2\n3,5\n4,4\n" * 51)
    with pytest.raises(DataError, match=r"x.csv changed"):
        list(data.visit())


def test_encoded_rows_are_not_read_again_from_the_source(tmp_path, larger_than_memory):
    path = write(tmp_path, "x.csv", "a,y\n" + "1,2\n3,5\n4,4\n" * 50)
    data = open_data(path, "y", memory="1MB")
    list(data.visit())
    write(tmp_path, "x.csv", "gone")
    assert sum(c.n_rows for c in data.visit()) == 150


def test_a_cache_that_cannot_be_written_is_explained(tmp_path, larger_than_memory):
    data = open_data(write(tmp_path, "x.csv", "a,y\n1,2\n3,5\n4,4\n"), "y", cache=str(tmp_path / "absent"))
    with pytest.raises(DataError, match="cache=False"):
        list(data.visit())


@pytest.mark.parametrize("option", [{"task": "guess"}, {"on_error": "cry"}, {"memory": "some"}, {"memory": 1000}])
def test_options_that_make_no_sense(option):
    with pytest.raises(OptionError):
        open_data(pd.DataFrame({"a": [1.0], "y": [1.0]}), "y", **option)


@pytest.mark.parametrize("option", [{"drop": ["a"]}, {"crosses": [("a", "b")]}, {"categorical": ["a"]}], ids=str)
def test_options_of_columns_are_for_columns(option):
    with pytest.raises(OptionError, match="would do nothing"):
        open_data(np.eye(3), [1.0, 2.0, 4.0], **option)
    with pytest.raises(OptionError, match="would do nothing"):
        open_data("digits49", **option)


def test_a_data_set_by_name_has_its_target():
    with pytest.raises(OptionError, match="target would do nothing"):
        open_data("digits49", "y")


def test_options_that_there_are_not_are_refused():
    with pytest.raises(OptionError, match="no option 'bogus'"):
        open_data(pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, 2.0]}), "y", bogus=3)


def test_a_file_may_have_a_wildcard_in_its_name(tmp_path):
    write(tmp_path, "data1.csv", "b,y\n1,2\n")
    path = write(tmp_path, "data[1].csv", "a,y\n1,2\n3,5\n4,4\n")
    assert open_data(path, "y").feature_names == ["a"]


def test_a_stream_without_a_cache_can_be_read_once(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    data = open_data(((X[i : i + 10], y[i : i + 10]) for i in range(0, 50, 10)), cache=False)
    assert isinstance(data, OutOfCore)
    assert np.concatenate([chunk.y for chunk in data.visit()]).tolist() == y.tolist()
    with pytest.raises(DataError, match="only once"):
        list(data.visit())


def test_what_does_not_grow_is_not_followed(tmp_path, rng):
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    statistics_of(open_data(X, y)).save(tmp_path / "sums.npz")
    for source, target in ((X, y), (str(tmp_path / "sums.npz"), None)):
        with pytest.raises(OptionError, match="follow would do nothing"):
            open_data(source, target, follow=True)
