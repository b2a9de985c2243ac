"""Values of Arrow columns, against PyArrow's own conversion."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from riata.data.columns.arrow_values import filled, nulls_of, string_array, values_of

KINDS = [pa.float64(), pa.float32(), pa.int64(), pa.int8(), pa.uint16(), pa.bool_()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("values", [[1, 0, 1, 1, 0], [1, None, 0, 1, None], []], ids=["full", "with nulls", "empty"])
def test_values_are_those_of_pyarrow(kind, values):
    column = pa.array(values, pa.int64()).cast(kind)
    for part in (column, column[1:], column[1:3], pa.chunked_array([column[:2], column[2:]], kind)):
        found, expected = (
            values_of(part),
            part.to_numpy(**({} if len(part) and hasattr(part, "chunks") else {"zero_copy_only": False})),
        )
        assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_a_column_without_nulls_is_not_copied():
    numbers = np.arange(5.0)
    assert np.shares_memory(values_of(pa.array(numbers)), numbers)


FILLED = [*((kind, [1, None, 0], 1) for kind in KINDS[:-1]), (pa.bool_(), [True, None], False),
          (pa.float32(), [1, None], float("nan")), (pa.string(), ["a", None], ""),
          (pa.large_string(), [None, "a"], "(missing)")]  # fmt: skip


@pytest.mark.parametrize(("kind", "values", "value"), FILLED, ids=str)
def test_nulls_are_filled_as_by_pyarrow(kind, values, value):
    column = pa.array(values).cast(kind)
    for part in (column, column[1:], column[:0], pa.chunked_array([column, column])):
        found = filled(part, value)
        assert found.type == kind
        assert str(found.to_pylist()) == str(part.fill_null(value).to_pylist())  # NaN is not equal to itself


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("strings", [[], ["a", "", "b"], ["naïve", "снег", "a" * 1000]], ids=len)
def test_arrays_of_strings(strings, kind):
    made = string_array(strings, kind)
    made.validate(full=True)
    assert made.equals(pa.array(strings, kind))


@pytest.mark.parametrize("n", [0, 1, 8, 50])
def test_nulls_are_those_of_pyarrow(n):
    column = pa.array([None if i % 3 == 0 else i for i in range(n)], pa.int64())
    for part in (column, column[1:], column[9:], column[3:20], column[1:2]):
        expected = [value is None for value in part.to_pylist()]
        found = nulls_of(part)
        assert (found is None and not any(expected)) or found.tolist() == expected
