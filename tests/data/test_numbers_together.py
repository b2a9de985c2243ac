"""Columns of numbers whose features are numbered by hashes: a block of them has the entries of one by one."""

import numpy as np
import pyarrow as pa
import pytest

from riata.data.columns.column import BadRow
from riata.data.columns.hashed import Levels, side_by_side
from riata.data.columns.numbers import Number
from riata.data.columns.numbers_together import NumbersTogether, together
from riata.data.encoding import Encoding
from riata.errors import DataError


@pytest.fixture
def batch(rng):
    values = rng.normal(size=(30, 6))
    values[rng.random((30, 6)) < 0.3] = 0.0
    gaps = rng.random((30, 6)) < 0.2
    columns = {f"x{j}": pa.array(values[:, j], mask=gaps[:, j] & (j % 2 == 0)) for j in range(6)}
    whole = pa.array([None if i % 7 == 0 else i % 3 for i in range(30)], pa.int16())
    return pa.RecordBatch.from_pydict(columns | {"whole": whole, "town": [f"t{i % 4}" for i in range(30)]})


@pytest.fixture
def encoders():
    numbers = [Number(f"x{j}", 0.5 * j, missing=j in (0, 2)) for j in range(6)]
    return (*numbers[:3], Levels("town"), *numbers[3:], Number("whole", 1.5, missing=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_and_names_are_those_of_one_by_one(batch, encoders, dtype):
    each, each_name = side_by_side([e.entries([batch.column(e.column)], dtype) for e in encoders])
    block, name = side_by_side([part.entries(batch, dtype) for part in together(encoders)])
    assert sum(isinstance(part, NumbersTogether) for part in together(encoders)) == 2
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(each, part), getattr(block, part))
    assert block.data.dtype == dtype
    wanted = np.unique(each.indices)
    assert each_name(wanted) == name(wanted)
    assert {"x0", "x0=(missing)", "town=t1", "whole", "whole=(missing)"} <= set(name(wanted).values())


def test_a_number_that_is_none_is_refused_by_its_row(encoders):
    rows = pa.RecordBatch.from_pydict({"x0": [1.0, 2.0, np.inf]})
    with pytest.raises(BadRow, match="'x0' holds an infinite number") as bad:
        Encoding(encoders[:1], hashed=True).chunk(rows)
    assert bad.value.row == 2


def test_a_column_that_is_not_there_is_named(encoders):
    with pytest.raises(DataError, match="'x1'"):
        Encoding(encoders[:2], hashed=True).chunk(pa.RecordBatch.from_pydict({"x0": [1.0]}))
