"""Solver 'sketch': solver 'online' where there is room, its features where there is not, and nothing as wide as d."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import riata
from riata.data.chunk import Chunk, joined
from riata.data.in_memory import InMemory
from riata.errors import DataError, OptionError
from riata.model.quality import quality
from riata.model.saved_model import load_model
from riata.solvers.online.sketch import Sketch
from riata.training.fitting import fit
from riata.training.spec import Spec
from riata.training.streaming.streams import open_stream

TIGHT = 60_000  # bytes: a table of a hundred places
PLANTED = np.array([3, 10, 40])


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.fixture
def chunk(rng):
    """Sparse rows over 2000 features, frequent ones first, three of which decide the label."""
    n, per_row = 3000, 12
    columns = np.minimum(rng.zipf(1.3, size=(n, per_row)) - 1, 1999)
    X = sp.csr_array((np.ones(n * per_row), columns.ravel(), np.arange(n + 1) * per_row), shape=(n, 2000))
    X.sum_duplicates()
    X.data[:] = rng.uniform(0.5, 1.5, size=X.nnz)
    z = X[:, PLANTED] @ np.array([4.0, -4.0, 4.0]) - 0.5
    return Chunk(X, np.where(z + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0), np.ones(n))


def spread(X, ids, width=2**60):
    """The same rows under other numbers of features."""
    return sp.csr_array((X.data, ids[X.indices], X.indptr.astype(np.int64)), shape=(X.shape[0], width))


def learned(chunk, portion=None, **options):
    """{feature: weight} and the intercept after the rows came in order, in portions."""
    spec = Spec(**{"solver": "sketch", "k": 3, "loss": "logistic", "memory": TIGHT, **options})
    stream = open_stream(spec, chunk.X.shape[1])
    portion = portion or chunk.n_rows
    for i in range(0, chunk.n_rows, portion):
        stream.learn(chunk.rows(slice(i, i + portion)))
    on = np.flatnonzero(stream.coef)
    ids = on if stream.features is None else stream.features.ids[on]
    return dict(zip(ids.tolist(), stream.coef[on].tolist(), strict=True)), stream.intercept


@pytest.mark.parametrize("k", [3, 20])
def test_with_room_for_all_it_is_solver_online(chunk, k):
    found, b = learned(chunk, k=k, memory=10**7)
    dense, dense_b = learned(chunk, k=k, solver="online", memory=None)
    assert found.keys() == dense.keys()
    assert_allclose([found[j] for j in dense], list(dense.values()), rtol=1e-8)
    assert_allclose(b, dense_b)


def test_in_a_twentieth_of_the_memory_it_finds_the_same_features(rng):
    n, d, per_row = 6000, 20_000, 30
    columns = np.minimum(rng.zipf(1.2, size=(n, per_row)) - 1, d - 1)
    X = sp.csr_array((np.ones(n * per_row), columns.ravel(), np.arange(n + 1) * per_row), shape=(n, d))
    X.sum_duplicates()
    z = X[:, 5:25] @ np.where(np.arange(20) % 2, 1.5, -1.5)
    chunk = Chunk(X, np.where(z + rng.normal(size=n) > 0, 1.0, -1.0), np.ones(n))
    dense, _ = learned(chunk, k=10, solver="online", memory=None)
    state = open_stream(Spec(solver="online", k=10), d).state
    twentieth = sum(array.nbytes for array in state.memory.values()) // 20
    small = Sketch(k=10, budget=2 * twentieth).memory(d)
    assert sum(array.nbytes for array in small.values()) <= twentieth
    found, _ = learned(chunk, k=10, memory=2 * twentieth)
    assert len(found.keys() & dense.keys()) >= 9


def test_numbers_up_to_two_to_the_sixty(chunk, rng):
    ids = np.sort(rng.choice(2**60, 2000, replace=False))
    ids[-1] = 2**60 - 1
    found, _ = learned(chunk._replace(X=spread(chunk.X.array, ids)))
    assert sorted(found) == ids[PLANTED].tolist()


def test_memory_does_not_depend_on_the_number_of_features():
    sizes = []
    for width in (10**7, 2**40, 2**60):
        memory = Sketch(k=50, budget=64 << 20).memory(width)
        sizes.append(sum(array.nbytes for array in memory.values()))
    assert len(set(sizes)) == 1
    assert 16 << 20 <= sizes[0] <= 32 << 20


@pytest.mark.parametrize("portion", [1, 7])
def test_rows_in_one_portion_or_many_give_the_same_model(chunk, portion):
    chunk = chunk.rows(slice(600))
    at_once, b = learned(chunk)
    again, again_b = learned(chunk, portion)
    assert again.keys() == at_once.keys()
    assert_allclose([again[j] for j in at_once], list(at_once.values()), rtol=1e-8)
    assert_allclose(again_b, b)


def test_dense_rows_learn_what_sparse_rows_learn(chunk):
    chunk = chunk.rows(slice(600))
    assert learned(chunk._replace(X=chunk.X.toarray())) == learned(chunk)


def test_units_do_not_matter(chunk, rng):
    factors = 2.0 ** rng.integers(-5, 5, size=2000)
    found, _ = learned(chunk)
    scaled, _ = learned(chunk._replace(X=sp.csr_array(chunk.X.array * factors)))
    assert set(found) == set(PLANTED.tolist()) == set(scaled)


def test_a_row_of_weight_zero_changes_nothing(chunk):
    odd = np.arange(chunk.n_rows) % 2 == 1
    assert learned(chunk._replace(weight=odd.astype(float))) == learned(chunk.rows(odd))


def test_a_half_life_lets_the_features_change(chunk):
    later = chunk._replace(X=spread(chunk.X.array, np.r_[1999, np.arange(1999)], 2000))  # every feature is the next one
    both = joined([chunk, later])
    found, _ = learned(both, half_life=200.0)
    assert set(found) == set((PLANTED - 1).tolist())


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_regression(chunk, loss, rng):
    z = chunk.X.array[:, PLANTED] @ np.array([1.0, -1.0, 1.0])
    y = rng.poisson(np.exp(z)).astype(float) if loss == "poisson" else z + 0.1 * rng.normal(size=len(z))
    X = spread(chunk.X.array, np.arange(2000) * 2**48)
    model = riata.SparseRegressor(k=3, loss=loss, solver="sketch", memory=TIGHT, max_passes=2, random_state=0).fit(X, y)
    assert_array_equal(model.get_support(indices=True), PLANTED * 2**48)
    assert model.coef_.shape == (1, 2**60)
    assert model.score(X, y) > 0.3
    assert_allclose(model.to_model().predict(X), model.predict(X))


def test_partial_fit_is_the_same_as_rows_in_order(chunk, rng):
    X = spread(chunk.X.array, np.sort(rng.choice(2**60, 2000, replace=False)))
    labels = np.where(chunk.y > 0, "yes", "no")
    whole = riata.SparseClassifier(k=3, solver="sketch", memory=TIGHT, order="sequential").fit(X, labels)
    parts = riata.SparseClassifier(k=3, solver="sketch", memory=TIGHT)
    for i in range(0, len(labels), 100):
        parts.partial_fit(X[i : i + 100], labels[i : i + 100], classes=["no", "yes"])
    assert_array_equal(parts.get_support(indices=True), whole.get_support(indices=True))
    assert_array_equal(parts.get_feature_names_out(), whole.get_feature_names_out())
    assert parts.score(X, labels) > 0.85
    with pytest.raises(OptionError, match="indices=True"):
        whole.get_support()
    assert whole.to_model().names == [f"x{j}" for j in whole.get_support(indices=True)]


def test_several_classes(chunk):
    X = spread(chunk.X.array, np.arange(2000) * 2**48)
    third, tenth = chunk.X.columns(np.array([3, 10])).T
    y = np.where(third > 0, "a", np.where(tenth > 0, "b", "c"))
    model = riata.SparseClassifier(k=2, solver="sketch", memory=TIGHT, random_state=0).fit(X, y)
    assert model.coef_.shape == (3, 2**60)
    assert model.score(X, y) > 0.95


@pytest.fixture
def visits(tmp_path, rng):
    """A table with many levels, two of which matter, and a number."""
    n = 4000
    frame = pd.DataFrame({
        "user": rng.integers(0, 3000, n).astype(str), "site": rng.choice(list("abcdef"), n),
        "day": rng.integers(0, 7, n), "age": rng.normal(40.0, 10.0, n),
    })  # fmt: skip
    frame.loc[::50, "site"] = None
    z = 3.0 * (frame["site"] == "a") - 3.0 * ((frame["site"] == "b") & (frame["day"] == 3)) + (frame["age"] - 40) / 10
    frame["bought"] = np.where(z + 0.3 * rng.normal(size=n) > 0.5, "yes", "no")
    frame.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path / "visits.csv"


def opened(path, **how):
    return riata.open(str(path), "bought", hashed=True, crosses=[("site", "day")], memory="2MB", **how)


def test_names_survive_hashing(visits, tmp_path):
    data = opened(visits)
    assert data.n_chunks > 3
    model = riata.SparseClassifier(k=3, solver="sketch", random_state=0).fit(data)
    assert sorted(model.get_feature_names_out()) == ["age", "site=a", "site=b^day=3"]
    saved = model.to_model()
    saved.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_size < 10_000
    loaded = load_model(tmp_path / "model.json")
    assert loaded.names == saved.names
    assert quality(loaded, opened(visits)).scores["accuracy"] > 0.9
    assert loaded.encoding["encoders"][0]["column"] == "site"  # no user is in the model: the column is not read


def test_words_are_hashed_with_their_column(tmp_path, rng):
    words = np.array(["good", "bad", "film", "the", *(f"w{i}" for i in range(3000))])
    texts = [" ".join(rng.choice(words, 8)) + " good" * (i % 2) for i in range(2000)]
    frame = pd.DataFrame({"review": texts, "y": np.where(np.arange(2000) % 2, "up", "down")})
    data = riata.open(frame, "y", text=["review"], hashed=True, memory="2MB")
    model = riata.SparseClassifier(k=1, solver="sketch", random_state=0).fit(data)
    assert list(model.get_feature_names_out()) == ["review:good"]


def test_a_resumed_fit_ends_where_it_would_have(visits, tmp_path):
    spec = Spec(solver="sketch", k=3, loss="logistic", max_passes=2, seed=0, tol=0.0, memory=TIGHT)
    data = opened(visits).map(lambda chunk: chunk._replace(y=np.where(chunk.y > 0, 1.0, -1.0)))
    expected = fit(data, spec).result
    fit(data, replace(spec, checkpoint=tmp_path, every=0.0))  # its last checkpoint lies inside the last pass
    resumed = fit(data, replace(spec, checkpoint=tmp_path, resume=True)).result
    assert_array_equal(resumed.coef, expected.coef)
    assert_array_equal(resumed.features.ids, expected.features.ids)
    assert resumed.features.names == expected.features.names
    assert "site=a" in resumed.features.names.values()


def test_svmlight_with_numbers_of_sixty_bits(chunk, tmp_path, rng):
    ids = np.sort(rng.choice(2**60, 2000, replace=False))
    X = spread(chunk.X.array, ids)
    with open(tmp_path / "rows.svm", "w") as file:
        for i in range(1500):
            row = slice(X.indptr[i], X.indptr[i + 1])
            pairs = " ".join(f"{j}:{v!r}" for j, v in zip(X.indices[row], X.data[row].tolist(), strict=True))
            file.write(f"{chunk.y[i]:g} {pairs}\n")
    data = riata.open(str(tmp_path / "rows.svm"), memory="1MB")
    model = riata.SparseClassifier(k=3, solver="sketch", random_state=0).fit(data)
    assert sorted(model.get_feature_names_out()) == sorted(f"x{j}" for j in ids[PLANTED])
    model.to_model().save(tmp_path / "model.json")
    assert quality(load_model(tmp_path / "model.json"), data).scores["accuracy"] > 0.9
    with pytest.raises(OptionError, match="take solver 'sketch'"):
        riata.SparseClassifier(alpha=0.1).fit(data)


def test_what_it_cannot_do_is_said(chunk):
    with pytest.raises(OptionError, match="needs at least"):
        fit(InMemory(*chunk), Spec(solver="sketch", k=50, memory=TIGHT))
    with pytest.raises(OptionError, match="takes k, not alpha"):
        fit(InMemory(*chunk), Spec(solver="sketch", alpha=0.1))
    pairs = pd.DataFrame({"a": ["x", "y"], "d.indices": [[1], [2]], "d.values": [[1.0], [2.0]], "y": [0.0, 1.5]})
    with pytest.raises(DataError, match="beside other columns"):
        riata.open(pairs, "y", hashed=True)


def few_columns(rng):
    X = rng.normal(size=(400, 8))
    return X, 2.0 * X[:, 1] - X[:, 3] + 0.5 * rng.normal(size=400)


@pytest.mark.parametrize("seed", range(5))
def test_few_features_all_keep_their_places(rng, seed):
    X, y = few_columns(rng)
    found = riata.SparseRegressor(k=2, solver="sketch", random_state=seed).fit(X, y).coef_
    assert_array_equal(np.flatnonzero(found.toarray()), [1, 3])


def test_debias_refits_the_features_it_found(rng):
    X, y = few_columns(rng)
    found = riata.SparseRegressor(k=2, solver="sketch", debias=True).fit(X, y).coef_
    assert_allclose(found.toarray()[0], riata.SparseRegressor(k=2).fit(X, y).coef_, rtol=1e-6)


HASHED = "a,word,y\n" + "".join(f"{i % 7},w{i % 5},{('no', 'yes')[i % 7 > 3]}\n" for i in range(60))


@pytest.mark.parametrize(
    "asked", [{"groups": "columns"}, {"groups": [["a"]]}, {"penalty_factors": {"a": 2.0}}, {"bounds": {"a": (0, 1)}}]
)
def test_what_is_asked_of_single_features_is_refused_where_hashes_have_no_list_of_them(asked, tmp_path):
    """It ran for minutes, over a number for every hash that there may be."""
    (tmp_path / "rows.csv").write_text(HASHED)
    data = riata.open(tmp_path / "rows.csv", target="y", hashed=True)
    with pytest.raises(riata.errors.OptionError, match=r"hashes tell .* apart"):
        riata.SparseClassifier(k=1, solver="sketch", **asked).fit(data)


def test_rows_of_hashes_can_be_normalised(tmp_path):
    (tmp_path / "rows.csv").write_text(HASHED)
    data = riata.open(tmp_path / "rows.csv", target="y", hashed=True)
    model = riata.SparseClassifier(k=1, solver="sketch", normalize="rows").fit(data)
    assert np.isfinite(model.predict_proba(data)).all()
