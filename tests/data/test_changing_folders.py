"""Folders in which a file changes between two passes, or after a checkpoint: a sentence, and no model of both."""

import os
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
from riata.errors import CheckpointError, DataError
from riata.training.fitting import fit
from riata.training.spec import Spec


def write(path, X, y):
    columns = {f"c{j}": X[:, j] for j in range(X.shape[1])}
    pq.write_table(pa.table({**columns, "y": y}), path, compression="none", use_dictionary=False)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(3, 2000, 6))
    return X, X[..., 0] - X[..., 1] + rng.normal(size=(3, 2000))


@pytest.fixture
def folder(rows, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, (X, y) in enumerate(zip(*rows, strict=True)):
        write(folder / f"{i}.parquet", X, y)
    return folder


def overwrite(path, X, y):
    write(path, X, y)


def rename(path, X, y):
    write(path.parent.parent / "new", X, y)
    os.replace(path.parent.parent / "new", path)


@pytest.mark.parametrize("change", [overwrite, rename])
def test_a_file_of_the_same_size_and_time_is_another(folder, rows, change):
    data = riata.open(str(folder), target="y", memory="1MB", cache=False)
    path, (X, y) = folder / "1.parquet", rows
    before = path.stat()
    change(path, X[1], -y[1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    with pytest.raises(DataError, match=r"1\.parquet changed while it was being read"):
        fit(data, Spec(alpha=0.01))


def test_a_file_that_changes_in_the_last_pass_is_noticed(folder, rows):
    data = riata.open(str(folder), target="y", memory="1MB", cache=False)
    chunks = data.visit()
    next(chunks)
    write(folder / "0.parquet", rows[0][0][:1000], rows[1][0][:1000])
    with pytest.raises(DataError, match=r"0\.parquet changed while it was being read"):
        list(chunks)


def test_no_fit_goes_on_with_other_rows(folder, rows, tmp_path):
    """The first chunk, the number of rows and those of chunks are as they were."""
    spec = Spec(solver="saga", alpha=0.01, max_passes=3, checkpoint=str(tmp_path / "saved"), every=0)

    def opened():
        return riata.open(str(folder), target="y", memory="1MB")

    fit(opened(), spec)
    fit(opened(), replace(spec, resume=True))
    write(folder / "2.parquet", rows[0][2], rows[1][2][::-1])  # means and deviations are as they were, too
    with pytest.raises(CheckpointError, match="the data has changed since it was written"):
        fit(opened(), replace(spec, resume=True))
