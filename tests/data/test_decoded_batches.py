"""A source that fits in memory is decoded once: the profile and the encoded rows come from the same batches."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from riata.data.formats.filesource import FileSource
from riata.data.in_memory import InMemory
from riata.data.opening.open import open_data

N = 4000
BUDGET = 4_000_000  # of which a quarter may be remembered, and a quarter held


@pytest.fixture
def decoded(monkeypatch):
    """How many rows have been decoded, in a list of one number."""
    rows, batches = [0], FileSource.batches

    def counting(source, *arguments):
        for batch in batches(source, *arguments):
            rows[0] += batch.num_rows
            yield batch

    monkeypatch.setattr(FileSource, "batches", counting)
    return rows


def write(path, rng, **more):
    frame = pd.DataFrame({f"x{j}": rng.normal(size=N) for j in range(5)} | more)
    frame["level"] = rng.choice(["a", "b", "c"], N)
    frame["constant"] = 1.0
    frame["y"] = frame["x0"] - frame["x1"]
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_rows_that_fit_are_decoded_once(name, tmp_path, rng, decoded):
    path = write(tmp_path / name, rng)
    first = open_data(path, "y", memory=BUDGET)
    assert isinstance(first, InMemory)
    assert decoded == [N]
    again = open_data(path, "y", memory=BUDGET)  # whose profile is known from the first time
    assert decoded == [2 * N]
    for found, expected in zip(first.chunk, again.chunk, strict=True):
        assert_array_equal(getattr(found, "array", found), getattr(expected, "array", expected))


def test_so_are_rows_for_a_model(tmp_path, rng, decoded):
    path = write(tmp_path / "rows.parquet", rng)
    encoding = open_data(path, "y", memory=BUDGET).encoding
    decoded[0] = 0
    data = open_data(path, "y", memory=BUDGET, encoding=encoding)
    assert (data.n_rows, decoded) == (N, [N])


def test_what_takes_more_than_the_budget_allows_is_decoded_again(tmp_path, rng, decoded):
    """Long texts that are not looked at as words take more than the few features they become."""
    path = write(tmp_path / "rows.parquet", rng, note=np.char.add("n" * 400, (np.arange(N) % 3).astype(str)))
    pd.read_parquet(path).to_parquet(path, use_dictionary=False)  # else they stay the codes that the file has
    data = open_data(path, "y", memory=BUDGET)
    assert isinstance(data, InMemory)
    assert decoded == [2 * N]
