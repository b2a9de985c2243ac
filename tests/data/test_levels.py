"""Levels of rows: looked at once each where a file has them as codes, with the same features as from strings."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
from riata.data.columns import levels
from riata.data.columns.categories import Category, HashedCategory
from riata.data.columns.levels import levels_of_rows
from riata.data.columns.strings import BucketNames, GrowingNames
from riata.data.formats.parquet import Parquet
from riata.data.opening.sources import Reading, open_source


@pytest.fixture(autouse=True)
def any_number_of_rows(monkeypatch):
    monkeypatch.setattr(levels, "WORTH_COMPILING", 0)


@pytest.fixture(params=[0.0, 0.2], ids=["all there", "gaps"])
def strings(request, rng):
    drawn = np.array([f"level {i}" for i in rng.integers(0, 40, 500)], dtype=object)
    drawn[rng.random(500) < request.param] = None
    return pa.array(drawn, pa.string())


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64()], ids=str)
def test_levels_come_in_the_order_of_their_first_rows(strings, kind, rng):
    order = rng.permutation(60)
    dictionary = pa.array([f"level {i}" for i in order])  # of which no row has some
    column = pa.DictionaryArray.from_arrays(pa.compute.index_in(strings, dictionary).cast(kind), dictionary)
    found = levels_of_rows(column.slice(7))
    seen = list(dict.fromkeys(value for value in strings.to_pylist()[7:] if value is not None))
    assert found.strings.to_pylist() == seen
    assert [seen[i] if i >= 0 else None for i in found.places] == strings.to_pylist()[7:]


def encoders():
    some = tuple(f"level {i}" for i in range(0, 40, 3))
    for rare in (False, True):
        for missing in (False, True):
            yield lambda rare=rare, missing=missing: Category("c", some, rare, missing)
    yield lambda: HashedCategory("c", 5, {})
    yield lambda: HashedCategory("c", 3, GrowingNames(BucketNames(3)))


@pytest.mark.parametrize("make", list(encoders()))
def test_features_are_those_of_strings(strings, make):
    coded, plain = make(), make()
    for start in range(0, 500, 100):
        rows = strings.slice(start, 100)
        a, b = (one.encode([column], np.float64) for one, column in ((coded, rows.dictionary_encode()), (plain, rows)))
        assert (a != b).nnz == 0
    assert list(coded.names) == list(plain.names)


@pytest.mark.parametrize("make", list(encoders()))
def test_batches_that_share_a_dictionary_have_the_features_of_strings(strings, make):
    coded, plain = make(), make()
    for rows in (strings[:300].dictionary_encode(), strings[300:].dictionary_encode()):
        for start in range(0, len(rows), 60):
            batch = rows.slice(start, 60)
            a, b = (one.encode([of], np.float64) for one, of in ((coded, batch), (plain, batch.dictionary_decode())))
            assert (a != b).nnz == 0
            assert list(coded.names) == list(plain.names)


@pytest.mark.parametrize("make", list(encoders()))
def test_an_encoder_leaves_the_last_dictionary_in_its_process(strings, make):
    encoder = make()
    before = len(pickle.dumps(encoder))
    encoder.part([strings.dictionary_encode()], np.float64)
    if not isinstance(getattr(encoder, "bucket_names", None), GrowingNames):
        assert len(pickle.dumps(encoder)) < before + 1000  # levels as Arrow has them, but nothing of the rows
    strange = pa.array([f"level {i}" for i in range(5000)]).dictionary_encode()
    after = len(pickle.dumps(encoder))
    encoder.part([strange], np.float64)
    if not isinstance(getattr(encoder, "bucket_names", None), GrowingNames):
        assert len(pickle.dumps(encoder)) == after


def test_a_gap_beside_as_many_levels_as_small_codes_tell_apart():
    indices = pa.array([*range(128), None], pa.int8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array([f"{i}" for i in range(128)]))
    encoder = Category("c", tuple(sorted(f"{i}" for i in range(128))), False, True)
    assert encoder.part([column], np.float64).codes.tolist()[-2:] == [encoder.levels.index("127"), 128]
    assert HashedCategory("c", 5, {}).part([column], np.float64).codes.tolist()[-1] == 32


def test_a_dictionary_with_a_gap_or_a_level_twice():
    odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3]), pa.array(["a", None, "b", "a"]))
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["a", "a"]))
    encoder = Category("c", ("a", "b"), False, True)
    assert encoder.part([odd], np.float64).codes.tolist() == [0, 2, 1, 2, 0]
    assert encoder.part([twice], np.float64).codes.tolist() == [0, 0, 0]


@pytest.fixture
def path(tmp_path, rng):
    n = 40_000
    few = [f"{i:08x}" for i in rng.zipf(1.3, n) % 100_000]
    many = [f"{i:060x}" for i in range(n)]  # for which no dictionary has room
    table = pa.table({"few": few, "many": many, "y": rng.integers(0, 2, n)})
    pq.write_table(table, tmp_path / "rows.parquet")
    return str(tmp_path / "rows.parquet")


def test_parquet_leaves_codes_as_they_are_where_it_has_only_those(path):
    source = open_source(path, Reading(1 << 29))
    source.as_codes()
    for rows, coded in ((10_000, True), (100_000, False)):  # batches of codes end with their row group
        kinds = {tuple(map(str, batch.schema.types)) for batch in source.batches(["few", "many"], rows)}
        few = "dictionary<values=string, indices=int32, ordered=0>" if coded else "string"
        assert kinds == {(few, "string")}


def test_one_pass_learns_the_same_from_codes_as_from_strings(path, monkeypatch):
    def fitted():
        data = riata.open(path, "y", one_pass=True, drop=["many"])
        return riata.train(data, riata.Spec(solver="online", loss="logistic", alpha=1e-3))

    coded = fitted()
    monkeypatch.setattr(Parquet, "as_codes", lambda self: None)
    plain = fitted()
    assert np.array_equal(coded.coef, plain.coef)
    assert list(coded.feature_names) == list(plain.feature_names)


def test_whole_numbers_have_the_levels_of_their_strings():
    rng = np.random.default_rng(0)
    numbers = [None if value == 7 else int(value) - 3 for value in rng.integers(0, 30, 500)]
    column = pa.array(numbers, pa.int16())
    found = levels_of_rows(column)
    assert found.places is not None
    strings = [*found.strings.to_pylist(), None]
    assert [strings[place] for place in found.places] == column.cast(pa.string()).to_pylist()
