"""Batches that are joined, a few at a time."""

import pyarrow as pa
import pytest

from riata.data.formats.source import joined_batches


@pytest.mark.parametrize("n", [1, 3, 100])
def test_joined_batches_have_the_same_rows(n):
    sizes = [4, 0, 1, 7, 2]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    batches = [
        pa.record_batch({"x": pa.array(range(a, a + size), pa.int64())}) for a, size in zip(starts, sizes, strict=True)
    ]
    joined = list(joined_batches(iter(batches), n))
    assert len(joined) == -(-len(batches) // n)
    assert [x for batch in joined for x in batch.column("x").to_pylist()] == list(range(14))


def test_no_more_batches_are_taken_than_are_joined():
    batches = iter([pa.record_batch({"x": [i]}) for i in range(5)])
    next(joined_batches(batches, 2))
    assert len(list(batches)) == 3
