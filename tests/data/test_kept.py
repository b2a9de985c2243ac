"""What is kept: profiles between runs, encoded rows in a converted file, nothing else."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from catalogue import frame_of_everything
from numpy.testing import assert_allclose

from riata.data import encoded_file
from riata.data.encoding import Encoding
from riata.data.opening import profile_cache as profiles
from riata.data.opening.convert import convert
from riata.data.opening.open import open_data
from riata.data.out_of_core import OutOfCore
from riata.data.read_ahead import ahead
from riata.data.row_events import watching
from riata.errors import DataError


def test_a_profile_is_made_once_per_content_and_question(tmp_path, rng, monkeypatch):
    path = tmp_path / "rows.parquet"
    frame = frame_of_everything(rng)
    frame.to_parquet(path)
    passes = []
    learn = profiles.learn_profile
    monkeypatch.setattr(profiles, "learn_profile", lambda *args: passes.append(1) or learn(*args))
    first, second = open_data(str(path), "y"), open_data(str(path), "y")
    assert len(passes) == 1
    assert first.encoding == second.encoding
    open_data(str(path), "y", drop=["flag"])
    assert len(passes) == 2
    frame.iloc[:200].to_parquet(path)
    assert open_data(str(path), "y").n_rows < first.n_rows
    assert len(passes) == 3


def test_files_of_the_same_name_have_profiles_of_their_own(tmp_path, monkeypatch):
    for folder, levels in (("first", ("a", "b")), ("second", ("c", "d"))):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "data.csv"
        path.write_text("level,y\n" + "".join(f"{levels[i % 2]},{i}\n" for i in range(20)))
        os.utime(path, ns=(10**18, 10**18))
        monkeypatch.chdir(tmp_path / folder)
        assert open_data("data.csv", "y").feature_names == [f"level={levels[1]}"]


def test_each_column_of_an_array_as_target_has_a_profile_of_its_own(tmp_path, rng):
    np.save(tmp_path / "rows.npy", np.column_stack([rng.normal(size=50), rng.integers(0, 2, 50), np.arange(50)]))
    path = str(tmp_path / "rows.npy")
    assert [open_data(path, column).classes is None for column in (0, 1, 2)] == [True, False, True]


def test_features_that_a_file_is_said_to_have_are_no_others_later(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:2\n2 2:1\n4 3:1\n")
    path = str(tmp_path / "rows.svm")
    assert [open_data(path, n_features=n).n_features for n in (7, None, 9)] == [7, 3, 9]


def test_profiles_are_nobody_elses(tmp_path, rng):
    frame_of_everything(rng).to_parquet(tmp_path / "rows.parquet")
    open_data(str(tmp_path / "rows.parquet"), "y")
    folder = tmp_path / "cache" / "profiles"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


@pytest.mark.parametrize("columns", [["number", "whole", "flag"], ["number", "carrier", "review"]])
def test_a_converted_file_holds_the_same_rows(tmp_path, rng, columns, request):
    frame = frame_of_everything(rng)[[*columns, "y"]]
    data = open_data(frame, "y", text=["review"] if "review" in columns else [])
    convert(data, tmp_path / "rows.arrow")
    request.getfixturevalue("larger_than_memory")
    again = open_data(str(tmp_path / "rows.arrow"))
    assert isinstance(again, OutOfCore)
    assert list(again.feature_names) == list(data.feature_names)
    assert again.encoding == data.encoding
    assert_allclose(again.moments.mean, data.moments.mean)
    assert next(again.visit()).X.sparse == sp.issparse(data.X)
    with pa.ipc.open_file(pa.memory_map(str(tmp_path / "rows.arrow"))) as reader:  # any Arrow reader can open it
        assert reader.schema.names[:2] == ["y", "weight"]
        assert Encoding.from_json(json.loads(reader.schema.metadata[b"riata"])["encoding"]) == data.encoding


def test_an_encoding_of_much_text_is_compressed_in_a_converted_file(tmp_path, rng, monkeypatch):
    """Every view of the file has a copy of it."""
    data = open_data(frame_of_everything(rng)[["number", "carrier", "y"]], "y")
    convert(data, tmp_path / "plain.arrow")
    monkeypatch.setattr(encoded_file, "MOST_PLAIN", 100)
    convert(data, tmp_path / "packed.arrow")
    plain, packed = (pa.ipc.open_file(tmp_path / f"{name}.arrow").read_all() for name in ("plain", "packed"))
    assert packed.equals(plain)
    entry = packed.schema.metadata[b"riata"]
    assert len(entry) < len(plain.schema.metadata[b"riata"])
    again = open_data(str(tmp_path / "packed.arrow"))
    assert again.encoding == data.encoding
    damage = {"too long": entry[:4] + b"\xff" + entry[5:], "cut": entry[:-9], "no size": entry[:9], "none": entry[:12]}
    damage["more than memory"] = entry[:10] + b"\x01" + entry[11:]
    for name, wrong in damage.items():
        path = tmp_path / f"{name}.arrow"
        with pa.ipc.new_file(path, packed.schema.with_metadata({b"riata": wrong})) as writer:
            writer.write_table(packed.replace_schema_metadata({b"riata": wrong}))
        with pytest.raises(DataError, match=r"TB, more than the budget" if "memory" in name else "is damaged"):
            open_data(str(path))


CHILD = """
import os, sys
from riata.data.opening import rows
from riata.data.opening.open import open_data
from riata.data import out_of_core as outofcore
rows.in_memory_bytes = lambda memory: 0
outofcore.ROW_OVERHEAD = 1 << 12
data = open_data(sys.argv[1], "y", cache=sys.argv[2], memory="1MB")
for chunk in data.visit():
    pass
if sys.argv[3] == "raise":
    raise KeyboardInterrupt
if sys.argv[3] == "kill":
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("end", ["normal", "raise", "kill"])
def test_no_temporary_file_outlives_the_process(tmp_path, rng, end):
    frame_of_everything(rng).to_parquet(tmp_path / "rows.parquet")
    folder = tmp_path / "kept"
    folder.mkdir()
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(tmp_path / "rows.parquet"), str(folder), end]
    result = subprocess.run(command, capture_output=True, check=False)
    assert (result.returncode == 0) == (end == "normal"), result.stderr
    assert os.listdir(folder) == []


def test_reading_ahead_keeps_order_and_raises_where_the_item_would_be():
    def items():
        yield from range(5)
        raise KeyError("five")

    reader = ahead(items())
    assert [next(reader) for _ in range(5)] == list(range(5))
    with pytest.raises(KeyError):
        next(reader)


def test_reading_ahead_stops_when_nobody_listens():
    closed = []

    def items():
        try:
            yield from range(1000)
        finally:
            closed.append(True)

    reader = ahead(items())
    assert next(reader) == 0
    reader.close()
    assert closed == [True]


@pytest.mark.parametrize("depth", [1, 3])
def test_no_more_is_begun_than_there_is_a_place_for(depth):
    begun = []

    def items():
        for i in range(20):
            begun.append(i)
            yield i

    reader = ahead(items(), depth)
    for i in range(10):
        assert next(reader) == i
        assert len(begun) <= i + 1 + depth
    reader.close()


def test_a_watcher_hears_of_every_row(larger_than_memory):
    heard: dict[str, int] = {}

    def watcher(what, rows, total):
        heard[what] = heard.get(what, 0) + rows
        assert total in (300, None)

    with watching(watcher):
        data = open_data(pa.table({"a": np.arange(300.0), "y": np.arange(300.0)}), "y", memory="1MB")
        list(data.visit())
        data.sum(lambda chunk: chunk.n_rows)
    list(data.visit())
    assert heard == {"looking at the columns": 300, "reading rows": 600}


def test_empty_chunks_are_not_shown(larger_than_memory):
    y = np.where(np.arange(300) < 200, np.nan, 1.0 * np.arange(300))
    data = open_data(pa.table({"a": np.arange(300.0), "y": y}), "y", memory="1MB")
    for _ in range(2):
        chunks = list(data.visit())
        assert all(chunk.n_rows for chunk in chunks)
        assert sum(chunk.n_rows for chunk in chunks) == 100 == data.sum(lambda chunk: chunk.n_rows)
    shuffled = np.concatenate([chunk.y for chunk in data.visit(np.arange(data.n_chunks)[::-1])])
    assert sorted(shuffled) == list(range(200, 300))
