"""Arrow files that are cut short while rows of them are in use end no process."""

import os
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import riata
from riata.data.encoded_file import EncodedRows
from riata.data.formats import held_file
from riata.data.formats.files import find_files
from riata.data.formats.ipc import Ipc
from riata.data.opening.convert import convert
from riata.errors import DataError

N = 30_000


@pytest.fixture
def at_once(monkeypatch):
    """Every use of a file is of a new view."""
    monkeypatch.setattr(held_file, "SECONDS", -1.0)


@pytest.fixture
def arrow(tmp_path):
    rows = pa.record_batch({"x": np.arange(N) * 0.5, "y": np.arange(N) % 7.0})
    with pa.ipc.new_file(tmp_path / "rows.arrow", rows.schema) as file:
        file.write_batch(rows)
    return str(tmp_path / "rows.arrow")


@pytest.fixture
def converted(arrow, tmp_path):
    convert(riata.open(arrow, "y", memory="1MB"), tmp_path / "converted.arrow")
    return str(tmp_path / "converted.arrow")


def test_a_dataset_between_passes_has_nobody_wait(converted):
    data = riata.open(converted, memory="1MB")
    assert sum(chunk.n_rows for chunk in data.visit()) == N
    data.moments  # noqa: B018 -- another pass
    with open(converted, "ab") as file:  # it would wait for 45 seconds
        file.write(b"more")
    with pytest.raises(DataError, match=r"converted\.arrow changed while it was being read"):
        next(iter(data.visit()))


def cut(path):
    """Another process that cuts a file, by when it has done so or waits."""
    process = subprocess.Popen([sys.executable, "-c", f"import os; os.truncate({path!r}, 200)"])
    time.sleep(0.5)
    return process


def test_rows_of_an_arrow_file_stay_where_they_are(arrow, at_once):
    batches = Ipc(find_files(arrow)).batches(["x"], 1000)
    batch = next(batches)
    cutting = cut(arrow)
    if cutting.poll() is not None:
        pytest.skip("this system does not have others wait")
    assert_array_equal(batch["x"].to_numpy(), np.arange(1000) * 0.5)
    del batch
    batches.close()
    assert cutting.wait(timeout=30) == 0


def test_an_arrow_file_that_changes_in_the_middle_of_a_batch_is_noticed(arrow, at_once, monkeypatch):
    monkeypatch.setattr(held_file, "hold_still", lambda handle: False)  # this process would wait for itself
    batches = Ipc(find_files(arrow)).batches(["x"], 1000)
    next(batches)
    with open(arrow, "ab") as file:
        file.write(b"more")
    with pytest.raises(DataError, match=r"rows\.arrow changed while it was being read"):
        next(batches)


@pytest.mark.parametrize("batch_bytes", [1000, 10**6])  # copied to a file of our own, or read
def test_rows_of_an_arrow_file_that_cannot_be_held_are_there_when_it_is_cut(batch_bytes, arrow, monkeypatch):
    monkeypatch.setattr(held_file, "hold_still", lambda handle: False)
    monkeypatch.setattr(held_file, "SECONDS", np.inf)  # a change that is noticed is an error, too
    batches = Ipc(find_files(arrow), batch_bytes).batches(["x"], 1000)
    first = next(batches)
    os.truncate(arrow, 200)
    rows = [first]
    with pytest.raises(DataError, match=r"rows\.arrow changed while it was being read"):  # at its end
        rows.extend(batches)  # those before the error count
    assert_array_equal(pa.Table.from_batches(rows)["x"].to_numpy(), np.arange(N) * 0.5)
    with pytest.raises(DataError):
        next(Ipc(find_files(arrow), batch_bytes).batches(["x"], 1000))


def test_a_full_disk_is_said_where_an_arrow_file_must_be_copied(arrow, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(held_file, "hold_still", lambda handle: False)
    monkeypatch.setattr(held_file.shutil, "copyfileobj", full)
    with pytest.raises(DataError, match=r"rows\.arrow may be cut short by others .*No space left on device; make room"):
        riata.open(arrow, "y", memory="1MB")


@pytest.mark.parametrize("held", [True, False])
def test_rows_of_a_converted_file_stay_where_they_are(held, converted, at_once, monkeypatch):
    if not held:  # as where the file belongs to another user
        monkeypatch.setattr(held_file, "hold_still", lambda handle: False)
    rows = EncodedRows(converted, n_features=1)
    chunk = rows.chunk(0)
    before = chunk.X.toarray().copy()
    cutting = cut(converted)
    if held and cutting.poll() is not None:
        pytest.skip("this system does not have others wait")
    assert_array_equal(chunk.X.toarray(), before)
    del chunk
    rows.let_go()
    assert cutting.wait(timeout=30) == 0
    with pytest.raises(DataError, match=r"converted\.arrow changed while it was being read"):
        rows.chunk(0)


def test_an_old_view_goes_before_a_new_one_is_made(arrow, at_once, monkeypatch):
    """Each has the metadata of the file, which may name very many features."""
    there, renewed = [], held_file.HeldFile._renewed

    def noted(held):
        there.append(held._present)
        return renewed(held)

    monkeypatch.setattr(held_file.HeldFile, "_renewed", noted)
    held = held_file.HeldFile(arrow)
    assert held.view.reader is not held.view.reader
    assert there == [None, None]


def test_names_that_the_memory_has_no_room_for_are_refused(tmp_path):
    """Of a converted file, before they are read."""
    names = [f"{'a long name, ' * 5}{i}" for i in range(4000)]
    rows = pa.table({"c": [*names, *names], "y": np.arange(8000) % 7.0})
    data = riata.open(rows, "y", categorical=["c"], task="regression")
    convert(data, tmp_path / "named.arrow")
    with pytest.raises(DataError, match=r"names so many features that .* about \S+ MB, more than .* 1.0 MB"):
        riata.open(tmp_path / "named.arrow", memory="1MB")
    assert riata.open(tmp_path / "named.arrow", memory="8MB").n_rows == 8000
