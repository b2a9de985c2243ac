"""Folders in which a file changes between two passes, or after a checkpoint: a sentence, and no model of both."""

import os
import re
import shutil
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from pyarrow import csv, feather

import riata
from riata.data.formats.filesource import FileSource
from riata.errors import CheckpointError, DataError
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec
from riata.training.train import train


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


@pytest.mark.parametrize("ending", ["parquet", "csv", "npy", "arrow"])
def test_another_mode_and_another_name_are_no_change(ending, folder, rows, tmp_path):
    path, X, y = tmp_path / f"rows.{ending}", rows[0][0], rows[1][0]
    write(folder / "one.parquet", X, y)
    table = pq.read_table(folder / "one.parquet")
    if ending == "npy":
        np.save(path, np.column_stack([X, y]))
    elif ending == "arrow":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        (pq.write_table if ending == "parquet" else csv.write_csv)(table, path)
    data = riata.open(str(path), target=6 if ending == "npy" else "y", memory="1MB", cache=False)
    found = riata.SparseRegressor(alpha=0.1).fit(data).coef_
    path.chmod(0o640)
    os.link(path, tmp_path / "another name")
    assert_array_equal(riata.SparseRegressor(alpha=0.1).fit(data).coef_, found)


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


def grow(folder, rows):
    X, y = rows
    write(folder / "1.parquet", np.vstack([X[1], X[0][:10]]), np.append(y[1], y[0][:10]))


def cut(folder, rows):
    os.truncate(folder / "1.parquet", (folder / "1.parquet").stat().st_size // 2)


def replaced(folder, rows):
    rename(folder / "1.parquet", rows[0][1], -rows[1][1])


def remove(folder, rows):
    (folder / "1.parquet").unlink()


def swap(folder, rows):
    for a, b in (("0.parquet", "between"), ("2.parquet", "0.parquet"), ("between", "2.parquet")):
        os.replace(folder / a, folder / b)


ATTACKS = [grow, cut, replaced, remove, swap]
FITS = {
    "exact": lambda data: fit(data, Spec(loss="huber:1", alpha=0.01)).result,
    "best-k": lambda data: fit(data, Spec(loss="huber:1", k=2)).result,
    "certified": lambda data: fit(data, Spec(k=2, ridge=0.1, certify=True, loss="huber:1")).result,
    "path": lambda data: path_of_margin(data, Spec(loss="huber:1"), length=5),
    "alpha": lambda data: train(data, Spec(loss="huber:1", alpha="auto", cv=2)),
    "k": lambda data: train(data, Spec(loss="huber:1", k="auto", cv=2)),
}


def numbers(found):
    return (found.coefs, found.intercepts) if hasattr(found, "coefs") else (found.coef, found.intercept)


def disturbed(kind, folder, attack=None, moment=0):
    """(what a fit of a folder found, or the sentence that it ended with; how many batches it read)

    As it has read so many batches of files, it is attacked.
    """
    read, reads = FileSource.batches, []

    def watched(self, columns, n_rows):
        for batch in read(self, columns, n_rows):
            reads.append(batch.num_rows)
            if len(reads) == moment:
                attack()
            yield batch

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileSource, "batches", watched)
        try:
            found = FITS[kind](riata.open(str(folder), target="y", memory="1MB", cache=False))
        except DataError as error:
            return str(error), len(reads)
    return numbers(found), len(reads)


@pytest.mark.parametrize("kind", FITS)
def test_a_folder_that_changes_in_the_middle_of_a_fit(kind, folder, rows, rng):
    """At a random moment: a sentence that names a file, or the same model."""
    kept, noticed = folder.parent / "kept", 0
    shutil.copytree(folder, kept)
    undisturbed, n_reads = disturbed(kind, folder)
    for attack in ATTACKS:
        found, _ = disturbed(kind, folder, partial(attack, folder, rows), int(rng.integers(1, n_reads + 1)))
        if isinstance(found, str):
            noticed += 1
            assert re.search(r"[012]\.parquet", found), found
        else:
            for mine, before in zip(found, undisturbed, strict=True):
                assert_array_equal(mine, before)
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
    assert noticed
