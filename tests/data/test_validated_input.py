"""Input that lies about itself is put right or refused in a sentence, before compiled code sees it."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import riata
from riata.data.opening.convert import convert
from riata.data.opening.open import open_data
from riata.errors import DataError, OptionError
from riata.model.predictions import predictions

Y = np.array([1.0, 2.0, 3.5])


def twice() -> sp.csr_array:
    """Row 0 holds column 1 twice."""
    return sp.csr_array((np.ones(4), np.array([1, 1, 0, 2]), np.array([0, 2, 3, 4])), shape=(3, 3))


def unsorted() -> sp.csr_array:
    return sp.csr_array((np.array([2.0, 1.0, 1.0, 3.0]), np.array([1, 0, 0, 2]), np.array([0, 2, 3, 4])), shape=(3, 3))


def flagged(X) -> sp.csr_array:
    X.has_canonical_format = True  # which it is not
    return X


SPARSE = {
    "twice": twice,
    "unsorted": unsorted,
    "twice, with a flag that denies it": lambda: flagged(twice()),
    "unsorted, with a flag that denies it": lambda: flagged(unsorted()),
}


@pytest.mark.parametrize("make", SPARSE.values(), ids=SPARSE)
def test_sparse_rows_in_any_order_are_put_right(make):
    X = make()
    before = X.indices.copy(), X.data.copy()
    dense = np.zeros(X.shape)
    np.add.at(dense, (np.repeat(np.arange(3), np.diff(X.indptr)), X.indices), X.data)
    expected = riata.SparseRegressor(k=1).fit(dense, Y)
    for found in (
        riata.SparseRegressor(k=1).fit(X, Y),
        riata.SparseRegressor(k=1).fit(riata.open(X, target=Y, task="regression")),
        riata.SparseRegressor(k=1).fit(riata.open(iter([(X, Y)]), task="regression")),
    ):
        np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-9)
        np.testing.assert_allclose(found.predict(make()), expected.predict(dense), atol=1e-9)
    np.testing.assert_array_equal(X.indices, before[0])  # the caller's matrix stays as it was
    np.testing.assert_array_equal(X.data, before[1])


def out_of_range(X):
    X.indices[2] = 7
    return X


def negative(X):
    X.indices[2] = -1
    return X


def falling(X):
    X.indptr[1] = 4
    return X


def too_long(X):
    X.indptr[3] = 400
    return X


def cut(X):
    X.indices = X.indices[:3]
    return X


BROKEN = {
    "index beyond the columns": (out_of_range, "row 2 has an index outside of its 3 columns"),
    "negative index": (negative, "row 2 has an index outside of its 3 columns"),
    "indptr that falls": (falling, "indptr does not increase at row 2"),
    "indptr beyond the entries": (too_long, "indptr does not increase at row 3"),
    "fewer indices than values": (cut, "not of 3 rows"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_sparse_rows_are_refused(case):
    spoil, sentence = BROKEN[case]
    for use in (
        lambda X: riata.open(X, target=Y),
        lambda X: riata.SparseRegressor(k=1).fit(X, Y),
        lambda X: riata.open(iter([(X, Y)])),
    ):
        with pytest.raises(DataError, match=sentence):
            use(spoil(unsorted()))


def test_broken_sparse_columns_are_refused():
    X = unsorted().tocsc()
    X.indices[0] = 9
    with pytest.raises(DataError, match="column 1 has an index outside of its 3 rows"):
        riata.open(X, target=Y)


def test_a_broken_matrix_in_an_archive_is_refused(tmp_path):
    X = unsorted()
    np.savez(tmp_path / "X.npz", data=X.data, indices=np.array([1, 0, 9, 2]), indptr=X.indptr, shape=[3, 3],
             format=b"csr", y=Y)  # fmt: skip
    with pytest.raises(DataError, match="row 2 has an index outside of its 3 columns"):
        riata.open(str(tmp_path / "X.npz"), target="y")


@pytest.fixture
def converted(tmp_path):
    """A converted file of sparse rows, of which one alone has an entry in column 3333."""
    n = 2000
    text = "".join(f"{i % 2} {1 + i % 50}:1.5 {3334 if i == 700 else 100 + i}:2.5\n" for i in range(n))
    (tmp_path / "x.svm").write_text(text)
    path = tmp_path / "x.arrow"
    convert(open_data(str(tmp_path / "x.svm")), path)
    return path


@pytest.mark.parametrize("index", [-5, 10**6, 0])
def test_wrong_indices_in_a_converted_file_are_refused(converted, index):
    content = converted.read_bytes()
    assert content.count(np.int32(3333).tobytes()) == 1
    converted.write_bytes(content.replace(np.int32(3333).tobytes(), np.int32(index).tobytes()))
    with pytest.raises(DataError, match=r"converted file are damaged .*convert the data again"):
        list(riata.open(str(converted)).visit())


WEIGHTS = {
    "negative": (np.array([1.0, -1.0, 1.0]), "row 2: the weight is -1.0"),
    "NaN": (np.array([1.0, np.nan, 1.0]), "row 2: the weight is nan"),
    "infinite": (np.array([1.0, np.inf, 1.0]), "row 2: the weight is inf"),
    "all zero": (np.zeros(3), "all weights are zero"),
    "negative integers": (np.array([1, 1, -2]), "row 3: the weight is -2.0"),
}


@pytest.mark.parametrize("case", WEIGHTS)
@pytest.mark.parametrize("X", [np.eye(3), sp.csr_array(np.eye(3))], ids=["dense", "sparse"])
def test_weights_that_are_none_are_refused(case, X):
    weight, sentence = WEIGHTS[case]
    with pytest.raises(DataError, match=sentence):
        riata.open(X, target=Y, weight=weight)


def test_negative_weights_are_refused_row_by_row():
    for model, y in ((riata.SparseRegressor(solver="online"), Y), (riata.SparseClassifier(solver="online"), Y > 1)):
        with pytest.raises(ValueError, match="Negative"):
            model.partial_fit(np.eye(3), y, sample_weight=np.array([1.0, -1.0, 1.0]))


@pytest.mark.parametrize("first", [2**53, -(2**62), np.uint64(2**63 + 5)])
def test_labels_that_are_large_integers_stay_apart(first, rng):
    labels = first + np.arange(3).astype(np.asarray(first).dtype)
    X, places = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[np.arange(60), places] += 5.0
    y = labels[places]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    for data in (
        riata.open(X, target=y, task="classification"),
        riata.open(frame, target="y", task="classification"),
        riata.open(iter([(X, y)]), task="classification"),
    ):
        model = riata.SparseClassifier(k=3).fit(data)
        assert model.classes_.tolist() == labels.tolist()
        assert np.mean(model.predict(data) == y) > 0.9
    growing = riata.open(iter([(X[:10], y[:10]), (X[10:], y[10:])]), task="classification", cache=False)
    model = riata.SparseClassifier(solver="online").fit(growing)
    assert sorted(model.classes_.tolist()) == labels.tolist()


@pytest.mark.parametrize("one_pass", [False, True])
def test_labels_that_arrays_of_text_would_cut_are_refused(one_pass):
    """NumPy and Arrow end such a label at the NUL, and would take it for another."""
    rows = pa.table({"a": np.arange(40.0), "y": ["a", "a\0b"] * 20})
    with pytest.raises(DataError, match="NUL character"):
        next(iter(riata.open(rows, target="y", one_pass=one_pass, task="classification").visit()))


def test_labels_beyond_integers_are_numbers():
    """As JSON has them."""
    rows = pa.table({"a": np.arange(40.0), "y": np.repeat([0.0, 1e20], 20)})
    data = riata.open(rows, target="y", task="classification")
    (table,) = predictions(riata.SparseClassifier(k=1).fit(data).to_model(), data)
    assert table["prediction"].to_pylist() == rows["y"].to_pylist()


def test_two_large_integers_are_two_classes():
    y = np.array([2**53, 2**53 + 1, 2**53])
    assert riata.open(np.eye(3), target=y).classes.tolist() == [2**53, 2**53 + 1]


def flipped(path, known: bytes, new: bytes):
    """The file with some bytes, of which it has one run, in place of others."""
    content = path.read_bytes()
    assert content.count(known) == 1
    path.write_bytes(content.replace(known, new))


DAMAGED = {
    "text": pa.array(["red", "green", "blue"] * 4),
    "large text": pa.array(["red", "green", "blue"] * 4, pa.large_string()),
    "lists": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]] * 4),
    "levels": pa.array(["red", "green", "blue"] * 4).dictionary_encode(),
}


@pytest.mark.parametrize("kind", DAMAGED)
@pytest.mark.parametrize("wrap", [str, lambda path: pads.dataset(path, format="ipc")], ids=["path", "dataset"])
def test_damaged_offsets_in_an_arrow_file_are_refused(tmp_path, kind, wrap):
    column, path = DAMAGED[kind], tmp_path / "x.arrow"
    pa.feather.write_feather(pa.table({"a": column, "y": np.arange(12.0)}), str(path), compression="uncompressed")
    offsets = column.indices if kind == "levels" else column.offsets if kind == "lists" else None
    if offsets is None:
        offsets = pa.Array.from_buffers(
            pa.int64() if kind == "large text" else pa.int32(), 13, [None, column.buffers()[1]]
        )
    numbers = offsets.to_numpy().copy()
    known = numbers.tobytes()
    numbers[5] += 1 << 30
    flipped(path, known, numbers.tobytes())
    with pytest.raises(DataError, match="damaged or cut short"):
        riata.open(wrap(path), target="y", task="regression")


def test_unsorted_rows_in_files_are_put_right(tmp_path):
    X = unsorted()
    sp.save_npz(tmp_path / "X.npz", X)
    lists = [pa.LargeListArray.from_arrays(X.indptr.astype(np.int64), part) for part in (X.indices, X.data)]
    table = pa.Table.from_arrays([*lists, pa.array(Y)], names=["doc.indices", "doc.values", "y"])
    pq.write_table(table, tmp_path / "x.parquet")
    np.save(tmp_path / "y.npy", Y)
    for path, target in (("X.npz", str(tmp_path / "y.npy")), ("x.parquet", "y")):
        data = riata.open(str(tmp_path / path), target=target, task="regression")
        np.testing.assert_array_equal(data.gather(np.arange(3)).toarray(), X.toarray())


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i4", "longdouble"])
def test_numbers_of_any_byte_order_and_length(tmp_path, kind):
    X, y = np.arange(12.0).reshape(4, 3) ** 2, np.array([1.0, 5.0, 2.0, 3.0])
    np.save(tmp_path / "X.npy", X.astype(kind))
    np.save(tmp_path / "F.npy", np.asfortranarray(X.astype(kind)))
    np.save(tmp_path / "y.npy", y.astype(kind))
    np.savez(tmp_path / "X.npz", X=X.astype(kind), y=y.astype(kind))
    beside = str(tmp_path / "y.npy")
    for source, target in (
        (str(tmp_path / "X.npy"), beside),
        (str(tmp_path / "F.npy"), beside),
        (str(tmp_path / "X.npz"), "y"),
        (X.astype(kind), y.astype(kind)),
        (iter([(X.astype(kind), y.astype(kind))]), None),
    ):
        data = riata.open(source, target=target, task="regression")
        np.testing.assert_array_equal(data.gather(np.arange(3)).toarray(), X)
        np.testing.assert_array_equal(data.targets()[0], y)


def test_a_value_that_is_not_finite_is_found_in_its_row():
    X = unsorted()
    X.data[3] = np.nan
    with pytest.raises(DataError, match="row 3: feature 2 is nan"):
        riata.open(X, target=Y)


@pytest.mark.parametrize("option", [{"tol": np.nan}, {"tol": np.inf}, {"alpha": np.inf}, {"k": 1, "ridge": np.nan},
                                    {"solver": "online", "half_life": np.inf}], ids=str)  # fmt: skip
def test_numbers_that_are_none_are_no_options(option):
    with pytest.raises(OptionError, match="must be"):
        riata.SparseRegressor(**option).fit(np.eye(3), Y)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("solver", ["exact", "online"])  # one that begins with moments, and one that does not
def test_numbers_of_a_converted_file_that_are_not_finite_are_refused(tmp_path, wrong, solver):
    X = np.random.default_rng(0).normal(size=(20_000, 5))
    X[13_000, 2] = 1.25
    np.save(tmp_path / "x.npy", X)
    convert(open_data(str(tmp_path / "x.npy"), target=4, memory="1MB"), tmp_path / "x.arrow")
    good, one = (tmp_path / "x.arrow").read_bytes(), np.float64(1.25).tobytes()
    assert good.count(one) == 1
    for content, fine in ((good, True), (good.replace(one, np.float64(wrong).tobytes()), False)):
        (tmp_path / "x.arrow").write_bytes(content)
        rows = riata.open(str(tmp_path / "x.arrow"), memory="1MB", task="regression")
        assert rows.n_chunks > 2  # it is not loaded as a whole
        with nullcontext() if fine else pytest.raises(DataError, match="a number is not finite"):
            riata.SparseRegressor(alpha=0.1, solver=solver, max_passes=20).fit(rows)


def masked(values, *rows):
    """An array some of whose rows are hidden, and hold nonsense."""
    values = np.array(values, float)
    mask = np.zeros(values.shape, bool)
    for row in rows:
        values[row], mask[row] = 1e30, True
    return np.ma.masked_array(values, mask)


def test_what_a_mask_hides_is_missing(rng):
    X = rng.normal(size=(80, 3))
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=80)
    plain = riata.SparseRegressor(alpha=0.05).fit(X, y)
    np.testing.assert_array_equal(riata.SparseRegressor(alpha=0.05).fit(masked(X), masked(y)).coef_, plain.coef_)
    hidden = np.column_stack([masked(X[:, 0], 4).filled(np.nan), X[:, 1:]])
    gaps = np.ma.masked_array(np.where(np.isnan(hidden), 1e30, hidden), np.isnan(hidden))
    expected = riata.SparseRegressor(alpha=0.05).fit(hidden, y)
    found = riata.SparseRegressor(alpha=0.05).fit(gaps, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.predict(gaps), expected.predict(hidden))
    for wrong in (
        lambda: riata.SparseRegressor().fit(X, masked(y, 4)),
        lambda: riata.SparseRegressor().fit(X, y, sample_weight=masked(np.ones(80), 4)),
        lambda: riata.open(gaps, target=y),
        lambda: riata.open(X, target=masked(y, 4), task="regression"),
        lambda: riata.open(X, target=y, weight=masked(np.ones(80), 4)),
    ):
        with pytest.raises(ValueError, match=r"NaN|nan|missing|no value"):
            wrong()


@pytest.mark.parametrize("as_table", [True, False])
def test_rows_of_weight_zero_do_not_say_what_the_target_is(as_table, rng):
    X, weight = rng.normal(size=(40, 2)), np.ones(40)
    weight[-1] = 0.0
    for usual, other in ((rng.integers(0, 2, 40), 7), (rng.choice(["a", "b"], 40).astype(object), "c")):
        y = usual.copy()
        y[-1] = other
        table = pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "y": y, "weight": weight})
        data = riata.open(table, "y", weight="weight") if as_table else riata.open(X, y, weight=weight)
        assert data.task == "classification"
        assert data.classes.tolist() == sorted(set(usual[:-1].tolist()))
        assert riata.train(data, riata.Spec(k=1)).to_model().classes == data.classes.tolist()
