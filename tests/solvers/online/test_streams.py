"""Streams without an end: generators, growing files, labels that appear on the way, Ctrl-C, and what is told."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, r2_score

import riata
from riata import SparseClassifier, SparseRegressor
from riata.data.chunk import Chunk
from riata.errors import DataError, OptionError
from riata.losses import LOSSES
from riata.plot import ConvergenceDisplay
from riata.solvers.online.progressive_validation import ProgressiveValidation, progressive_validation
from riata.solvers.online.stream import mirrored
from riata.training.spec import Spec
from riata.training.streaming.streams import open_stream

METHODS = {
    "online": {}, "online, k": {"k": 2}, "ftrl": {"alpha": 0.01}, "rda": {"alpha": 0.01}, "truncated": {"alpha": 0.01},
    "fobos": {"alpha": 0.01}, "subgradient": {"alpha": 0.01}, "l0-sgd": {"k": 2}, "sketch": {"k": 2},
}  # fmt: skip


@pytest.fixture
def rng():
    return np.random.default_rng(8)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(400, 6))
    return X, X[:, :3] + 0.2 * rng.normal(size=(400, 3))


def estimator(name, kind=SparseClassifier, **options):
    solver = name.partition(",")[0]
    own = solver in ("online", "sketch")
    return kind(solver=solver, standardize=own, **METHODS[name], **options)


@pytest.mark.parametrize("name", METHODS)
def test_a_mirrored_stream_has_learnt_the_opposite(name, rows):
    X, z = rows
    solver = name.partition(",")[0]
    y, weight = np.sign(z[:, 0]), np.ones(400)
    streams = [open_stream(Spec(solver=solver, loss="logistic", **METHODS[name]), 6) for _ in range(2)]
    for stream, sign in zip(streams, (1.0, -1.0), strict=True):
        stream.learn(Chunk(X[:300], sign * y[:300], weight[:300]))
    image = mirrored(streams[0])
    for stream in (image, streams[1]):
        stream.learn(Chunk(X[300:], -y[300:], weight[300:]))
    assert_allclose(image.coef, streams[1].coef, rtol=1e-12)
    assert_allclose(image.intercept, streams[1].intercept)


@pytest.mark.parametrize("order", ["sorted", "random", "blocks"])
def test_rows_that_are_sorted_by_class_are_said(order, rows):
    X, z = rows
    y = np.where(z[:, 0] > 0, "yes", "no")
    place = {"sorted": np.argsort(y)[::-1], "random": np.arange(len(y)), "blocks": np.argsort(y, kind="stable")}[order]
    place = place.reshape(2, -1).T.ravel() if order == "blocks" else place  # one of each in turn
    chunks = ((X[i], y[i]) for i in np.array_split(place, 7))
    data, said = riata.open(chunks, cache=False, task="classification"), []
    found = riata.train(data, riata.Spec(solver="online", alpha=0.01, loss="logistic"), warn=said.append)
    assert any("sorted by class" in str(warning) for warning in said) == (order == "sorted")
    assert found.classes.tolist() == list(found.to_model().classes) == ["no", "yes"]


@pytest.mark.parametrize("name", ["online", "ftrl"])
def test_labels_are_learnt_on_the_way(name, rows):
    X, z = rows
    y = np.where(z[:, 0] > 0, "yes", "no")
    y[0] = "yes"
    named = estimator(name).partial_fit(X, y, classes=["no", "yes"])
    learnt = estimator(name).partial_fit(X, y)
    assert learnt.classes_.tolist() == ["no", "yes"]  # whatever the first row had
    assert_allclose(learnt.coef_, named.coef_, rtol=1e-9)
    y = np.where(z[:, 1] > 0.5, "maybe", y)
    y[:200] = np.where(z[:200, 0] > 0, "yes", "no")
    y[0] = "no"
    at_once, one_by_one = estimator(name).partial_fit(X, y), estimator(name)
    for x, label in zip(X, y, strict=True):
        one_by_one.partial_fit(x[None], [label])
    assert at_once.classes_.tolist() == one_by_one.classes_.tolist() == ["maybe", "no", "yes"]
    assert_allclose(one_by_one.coef_, at_once.coef_, atol=1e-9)
    # The margins of the first two are those of labels that were all named before the first row.
    named = estimator(name).partial_fit(X, y, classes=["maybe", "no", "yes"])
    assert_allclose(at_once.coef_[1:], named.coef_[1:], atol=1e-9)
    assert at_once.score(X[200:], y[200:]) > 0.7


def test_a_single_label_so_far_is_what_is_predicted(rows):
    X, _ = rows
    model = estimator("online").partial_fit(X[:5], ["only"] * 5)
    assert model.predict(X[5:8]).tolist() == ["only"] * 3
    with pytest.raises(DataError, match="not among the classes"):
        estimator("online").partial_fit(X[:2], ["a", "b"], classes=["a", "c"])


def portions(X, y, size=50):
    """Frames, some rows at a time."""
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    return (frame[i : i + size] for i in range(0, len(frame), size))


@pytest.mark.parametrize("name", ["online", "sketch"])
def test_a_generator_gives_the_model_of_partial_fit(name, rows):
    X, z = rows
    y = np.where(z[:, 0] > 0, "yes", "no")
    y[300:] = np.where(z[300:, 1] > 0, "new", y[300:])
    data = riata.open(portions(X, y), "y", cache=False)
    model = estimator(name).fit(data)
    same = estimator(name).partial_fit(X, y)
    assert model.classes_.tolist() == same.classes_.tolist()
    a, b = (m.coef_.toarray() if name == "sketch" else m.coef_ for m in (model, same))
    assert_allclose(a, b, atol=1e-9)
    assert model.stopped_because_ == "the stream ended"
    last = model.history_[-1]
    assert (last.rows, last.end_of_pass) == (400, True)
    assert last.n_selected == len(model.get_support(indices=True))
    assert 0.5 < last.accuracy <= 1.0
    assert [record.rows for record in model.history_] == sorted({record.rows for record in model.history_})
    drawn = ConvergenceDisplay.from_estimator(model, measure="accuracy")
    assert drawn.lines_[0].get_xdata()[-1] == 400
    assert "accuracy before" in drawn.ax_.get_ylabel()
    saved = model.to_model()
    assert saved.classes == ["new", "no", "yes"]
    assert saved.training.n_rows == 400


def test_ctrl_c_gives_the_model_so_far(rows):
    X, z = rows

    def until_somebody_has_enough():
        yield from portions(X, z[:, 0])
        raise KeyboardInterrupt

    data = riata.open(until_somebody_has_enough(), "y", cache=False)
    model = estimator("online", SparseRegressor).fit(data)
    assert model.stopped_because_ == "it was interrupted"
    assert model.history_[-1].r2 > 0.0
    assert_array_equal(model.get_support(indices=True), [0])


@pytest.mark.parametrize("kind", ["csv", "svm"])
def test_a_growing_file_is_followed(kind, tmp_path):
    path = tmp_path / f"rows.{kind}"
    line = "1.5,2.5\n" if kind == "csv" else "2.5 1:1.5\n"
    # A block of text is at least 64 kB, and Arrow's reader looks one block ahead.
    many = line * 40_000
    path.write_text(("x,y\n" if kind == "csv" else "") + many)
    data = riata.open(str(path), "y", follow=True, memory="1MB", task="regression")
    chunks, seen = data.visit(), 0
    while seen < 10_000:
        seen += next(chunks).n_rows
    with open(path, "a") as file:
        file.write(many)
    while seen < 50_000:
        seen += next(chunks).n_rows
    data.close()
    assert seen + sum(chunk.n_rows for chunk in chunks) == 80_000
    np.save(tmp_path / "rows.npy", np.zeros((3, 2)))
    with pytest.raises(OptionError, match="can be followed"):
        riata.open(str(tmp_path / "rows.npy"), 0, follow=True)


def test_a_stream_that_is_not_kept_refuses_what_needs_more_passes(rows, tmp_path):
    X, z = rows
    for options, sentence in (
        ({"checkpoint": str(tmp_path)}, "no checkpoints"),
        ({"k": "auto"}, "no k or alpha"),
    ):
        data = riata.open(portions(X, z[:, 0]), "y", cache=False)
        with pytest.raises(OptionError, match=sentence):
            SparseRegressor(solver="online", **options).fit(data)
    numbers = np.where(z[:, 0] > 0, 1.0, 0.0)
    numbers[300] = 0.5  # two numbers were taken for classes, and here is a third
    with pytest.raises(DataError, match=r"the label 0\.5"):
        SparseClassifier(solver="online").fit(riata.open(portions(X, numbers), "y", cache=False))


def test_the_tally_is_what_scikit_learn_says(rng):

    y, z, weight = np.sign(rng.normal(size=90)), rng.normal(size=90), rng.uniform(0.5, 1.0, size=90)
    halves = [progressive_validation(LOSSES["logistic"], y[i], z[i], weight[i]) for i in (slice(40), slice(40, None))]
    both = ProgressiveValidation().plus(halves[0]).plus(halves[1])
    assert_allclose(both.accuracy, accuracy_score(y > 0, z > 0, sample_weight=weight))
    assert both.r2 is None
    assert both.rows == 90
    numbers = 3.0 * z + rng.normal(size=90)
    found = progressive_validation(LOSSES["squared"], numbers, 3.0 * z, weight)
    assert_allclose(found.r2, r2_score(numbers, 3.0 * z, sample_weight=weight))
    assert found.accuracy is None
    counts = rng.poisson(2.0, size=90).astype(float)
    found = progressive_validation(LOSSES["poisson"], counts, 0.1 * z, weight)
    assert_allclose(found.r2, r2_score(counts, np.exp(0.1 * z), sample_weight=weight))


def test_a_sparse_stream_says_how_wide_it_is_taken_to_be():
    def opened(**options):
        table = pa.table({"X.indices": [[0, 1], [1]], "X.values": [[1.0, 2.0], [3.0]], "y": [0.5, 1.5]})
        return riata.open(iter([table]), "y", cache=False, **options)

    assert any("later ones beyond are left out" in note for note in opened().profile.notes)
    wide = opened(n_features=5)
    assert not any("left out" in note for note in wide.profile.notes)
    assert wide.n_features == 5


def test_weights_in_chunks_count(rng):
    X, y, weight = rng.normal(size=(60, 4)), rng.normal(size=60), rng.integers(0, 4, 60).astype(float)
    expected = riata.SparseRegressor(alpha=0.1).fit(X, y, sample_weight=weight)
    for cache in (True, False):
        chunks = ((X[i : i + 20], y[i : i + 20], weight[i : i + 20]) for i in range(0, 60, 20))
        found = riata.SparseRegressor(alpha=0.1).fit(riata.open(chunks, task="regression", cache=cache))
        assert_allclose(found.coef_, expected.coef_, atol=1e-6)


def test_weights_of_chunks_count_in_scores(rng):
    X, y, weight = rng.normal(size=(60, 4)), rng.normal(size=60), rng.integers(0, 4, 60).astype(float)
    model = riata.SparseRegressor(alpha=0.1).fit(riata.open(iter([(X, y)]), task="regression"))
    encoding = riata.open(iter([(X, y)]), task="regression").encoding
    test = riata.open(iter([(X, y, weight)]), encoding=encoding)
    assert_allclose(model.score(test), r2_score(y, model.predict(X), sample_weight=weight))


def test_chunks_with_and_without_weights_do_not_mix(rng):
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    for chunks in ([(X, y), (X, y, np.ones(20))], [(X, y, np.ones(20)), (X, y)]):
        with pytest.raises(DataError, match="some chunks"):
            riata.open(iter(chunks), task="regression")
    with pytest.raises(DataError, match="their own weight"):
        riata.open(iter([(X, y, np.ones(20))]), task="regression", weight=np.ones(20))
