"""On a cluster of processes everything comes to what it comes to here."""

import gc
import json
import os
import pickle
import subprocess
import sys

import click
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import riata
from riata.cli import main
from riata.cli.rows import cluster
from riata.data.chunk import Chunk
from riata.data.folds import by_position, some_rows
from riata.data.gram import gram_of
from riata.data.in_memory import InMemory
from riata.engines.dask import cluster as dask_cluster
from riata.engines.dask import opening as dask_open
from riata.engines.dask.on_workers import OnWorkers
from riata.engines.dask.parts import RowsInMemory
from riata.errors import DataError, EngineError, OptionError
from riata.losses import Softmax, loss_of
from riata.model.predictions import write_parts
from riata.model.quality import quality
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.selection.folds_asked import folds_asked
from riata.training.spec import Spec
from survival_problems import make as make_times

N, D = 900, 12
TIGHT = 1e-12  # a gap of 1e-6 leaves coefficients some room; this one does not


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB") as cluster,
        Client(cluster, set_as_default=True) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(dask_open, "part_count", lambda n_bytes, threads: 4 * threads)


@pytest.fixture(scope="module")
def table():
    """Numbers, some missing, a category, and targets of both kinds."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D)).round(3)
    X[rng.random(X.shape) < 0.4] = 0.0
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)])
    frame["c"] = rng.choice(["red", "green", "blue"], N)
    frame["y"] = X[:, 0] - 2 * X[:, 1] + (frame["c"] == "red") + 0.5 * rng.normal(size=N)
    frame["label"] = np.where(frame["y"] + rng.normal(size=N) > 0, "yes", "no")
    frame["w"] = rng.integers(0, 3, N).astype(float)
    frame.loc[::7, "x3"] = np.nan
    return frame


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    """The same rows in every format, each with what `open` needs to know."""
    folder = tmp_path_factory.mktemp("files")
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(arrow, folder / "rows.parquet", row_group_size=100)
    pa.feather.write_feather(arrow, folder / "rows.arrow", chunksize=100)
    pacsv.write_csv(arrow, folder / "rows.csv")
    X = table[[f"x{j}" for j in range(D)]].fillna(0.0).to_numpy()
    np.save(folder / "rows.npy", np.column_stack([X, table["y"]]))
    dump_svmlight_file(X, table["y"], str(folder / "rows.svm"), zero_based=False)
    columns = {"target": "y", "weight": "w", "drop": ["label"]}
    known = {"parquet": columns, "arrow": columns, "csv": columns, "npy": {"target": str(D)}, "svm": {}}
    return {kind: (folder / f"rows.{kind}", how | {"task": "regression"}) for kind, how in known.items()}


def problem(loss="squared", n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    X[rng.random(X.shape) < 0.5] = 0.0
    y = X[:, 0] - X[:, 1] + 0.3 * X[:, 2] + rng.normal(size=n)
    return X, (y if loss == "squared" else np.where(y > 0, 1.0, -1.0))


def same(chunk):
    return chunk


def with_own_encoding(data):
    return riata.open(data.opened.source, data.opened.target, encoding=data.encoding, **data.opened.options)


def on_workers(client, X, y, rows=100, weight=None):
    """An array as data on workers, `rows` in each part, whose target is a number."""
    blocks = da.from_array(X, chunks=(rows, -1)) if not sp.issparse(X) else [
        dask.delayed((X[i : i + rows], y[i : i + rows])) for i in range(0, X.shape[0], rows)
    ]  # fmt: skip
    target = None if sp.issparse(X) else da.from_array(y, chunks=rows)
    weight = None if weight is None else da.from_array(weight, chunks=rows)
    return riata.open(blocks, target, weight=weight, task="regression", engine=client)


BOUNDS = np.array([[-0.1, 0.2], [0.0, np.inf], *[[-np.inf, np.inf]] * (D - 2)])
SPECS = [
    Spec(alpha_ratio=0.1),
    Spec(alpha_ratio=0.1, l1_ratio=0.5, standardize=False),
    Spec(alpha_ratio=0.05, loss="logistic"),
    Spec(alpha_ratio=0.05, loss="logistic", bounds=BOUNDS),
    Spec(alpha_ratio=0.1, loss="huber", fit_intercept=False),
    Spec(alpha_ratio=0.1, groups=np.arange(D) // 2, group_ratio=0.7),
    Spec(k=3),
    Spec(k=3, loss="logistic"),
    Spec(k=2, ridge=0.1, solver="best-k"),
    Spec(k=2, penalty_factors=np.append(0.0, np.ones(D - 1))),
    Spec(k=2, ridge=0.1, certify=True),
    Spec(k=2, ridge=0.1, loss="huber", certify=True),
    Spec(k=3, solver="omp"),
    Spec(k=3, solver="htp"),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.solver_name}-{spec.loss}-{spec.l1_ratio}")
def test_every_batch_solver_comes_to_the_local_answer(client, spec):
    X, y = problem(spec.loss)
    X = sp.csr_array(X) if spec.l1_ratio == 1.0 and spec.fit_intercept else X
    spec = Spec(**{**vars(spec), "tol": TIGHT})
    here, there = fit(InMemory(X, y), spec).result, fit(on_workers(client, X, y, 300), spec).result
    assert_allclose(there.coef, here.coef, atol=1e-9)
    assert_allclose(there.intercept, here.intercept, atol=1e-9)
    assert there.converged


@pytest.mark.parametrize("asked", [{"alpha_ratio": 0.1, "tol": 1e-6}, {"k": 2}], ids=str)
def test_softmax_comes_to_the_local_answer(client, asked, monkeypatch):
    monkeypatch.setattr("riata.data.sample.LEAST_ROWS", 16)
    X, y = problem()
    y = np.digitize(y, [-1.0, 1.0]).astype(float)
    spec = Spec(loss=Softmax(3), seed=1, **asked)
    here, there = fit(InMemory(X, y), spec).result, fit(on_workers(client, X, y, 300), spec).result
    assert there.converged
    assert_allclose(there.objective, here.objective, rtol=1e-6)


@pytest.mark.parametrize("asked", [{"alpha_ratio": 0.1, "tol": TIGHT}, {"k": 2}], ids=str)
def test_classes_in_an_order_come_to_the_local_answer(client, asked, monkeypatch):
    monkeypatch.setattr("riata.losses.on_grid.FEW_ROWS", 16)
    X, y = problem()
    frame = pd.DataFrame(X).rename(columns=str).assign(grade=np.array(["low", "mid", "high"])[np.digitize(y, [-1, 1])])
    model = riata.SparseClassifier(loss="ordinal:low<mid<high", **asked)
    here = clone(model).fit(X, frame["grade"])
    there = clone(model).fit(riata.open(dd.from_pandas(frame, npartitions=3), "grade", engine=client))
    assert_allclose(there.coef_, here.coef_, atol=1e-7)
    assert_allclose(there.cutpoints_, here.cutpoints_, atol=1e-7)
    assert list(there.classes_) == ["low", "mid", "high"]


def test_several_targets_come_to_the_local_answer(client, tmp_path):
    X, y = problem()
    Y = np.column_stack([y, y + X[:, 0], 3.0 - y])
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(a=Y[:, 0], b=Y[:, 1], c=Y[:, 2])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    model = riata.SparseRegressor(alpha_ratio=0.1, tol=TIGHT)
    here = clone(model).fit(X, Y)
    chunks = (300, -1)
    there = clone(model).fit(da.from_array(X, chunks=chunks), da.from_array(Y, chunks=chunks))
    assert_allclose(there.coef_, here.coef_, atol=1e-9)
    predicted = there.predict(da.from_array(X, chunks=chunks))
    assert predicted.shape == Y.shape
    assert_allclose(predicted.compute(), here.predict(X), atol=1e-8)
    for source in (dd.from_pandas(frame, npartitions=3), str(tmp_path / "rows.csv")):
        data = riata.open(source, ["a", "b", "c"], engine=client)
        found = clone(model).fit(data)
        assert_allclose(found.coef_, here.coef_, atol=1e-9)
        assert_allclose(found.score(data), here.score(X, Y))


def test_successes_of_trials_come_to_the_local_answer(client):
    X, y = problem()
    trials = np.random.default_rng(0).integers(0, 4, len(y))
    frame = pd.DataFrame(X).rename(columns=str).assign(won=np.where(y > 0, trials, trials // 2), trials=trials)
    model = riata.SparseRegressor(loss="binomial", alpha_ratio=0.1, tol=TIGHT)
    here = clone(model).fit(X, frame["won"], trials=trials)
    data = riata.open(dd.from_pandas(frame, npartitions=3), "won", trials="trials", engine=client)
    assert_allclose(clone(model).fit(data).coef_, here.coef_, atol=1e-9)


def test_quantiles_come_to_the_local_answer(client):
    X, y = problem()
    spec = Spec(loss="quantile:0.8", alpha_ratio=0.1)
    here, there = fit(InMemory(X, y), spec).result, fit(on_workers(client, X, y, 300), spec).result
    assert there.converged
    assert_allclose(there.objective, here.objective, rtol=1e-6)


@pytest.mark.parametrize("rows", [100, N])
def test_neither_the_number_of_parts_nor_weights_nor_a_sample_matter(client, rows, monkeypatch):
    monkeypatch.setattr("riata.data.sample.LEAST_ROWS", 16)
    X, y = problem("logistic")
    weight = np.random.default_rng(0).integers(0, 3, N).astype(float)
    spec = Spec(alpha_ratio=0.03, loss="logistic", tol=TIGHT, seed=1)
    here = fit(InMemory(X, y, weight), spec).result
    data = on_workers(client, X, y, rows, weight)
    assert data.n_rows == np.count_nonzero(weight)
    assert_allclose(fit(data, spec).result.coef, here.coef, atol=1e-9)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "npy", "svm"])
def test_files_are_read_by_the_workers(client, files, kind):
    path, how = files[kind]
    here, there = riata.open(str(path), **how), riata.open(str(path), **how, engine=client)
    assert isinstance(there, OnWorkers)
    assert there.n_chunks > 2
    assert there.n_rows == here.n_rows
    assert list(there.feature_names or []) == list(here.feature_names or [])
    assert_allclose(there.moments.mean, here.moments.mean, atol=1e-12)
    models = [riata.SparseRegressor(alpha_ratio=0.05, tol=TIGHT).fit(data) for data in (here, there)]
    assert_allclose(models[1].coef_, models[0].coef_, atol=1e-9)
    assert models[1].to_model().encoding is None or models[1].to_model().encoding["weight"] == how.get("weight")


def test_the_profile_is_that_of_one_process(client, files, monkeypatch):
    path, how = files["parquet"]
    monkeypatch.setenv("RIATA_CACHE", str(path.parent / "none"))
    here = riata.open(str(path), **how).profile.to_json()
    monkeypatch.setenv("RIATA_CACHE", str(path.parent / "none either"))
    there = riata.open(str(path), **how, engine=client).profile.to_json()
    assert there["notes"] == here["notes"]
    assert there["columns"].keys() == here["columns"].keys()
    for name, column in here["columns"].items():
        for fact, value in column.items():
            found = there["columns"][name][fact]
            assert found == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), (name, fact)


def test_frames_with_categories_and_labels(client, table):
    frame = table.drop(columns=["y", "w"])
    here = riata.SparseClassifier(alpha_ratio=0.05, tol=TIGHT).fit(riata.open(frame, target="label"))
    lazy = dd.from_pandas(frame, npartitions=5)
    data = riata.open(lazy, target="label", engine=client)
    there = riata.SparseClassifier(alpha_ratio=0.05, tol=TIGHT).fit(data)
    assert list(there.classes_) == ["no", "yes"]
    assert list(there.get_feature_names_out()) == list(here.get_feature_names_out())
    assert_allclose(there.coef_, here.coef_, atol=1e-9)
    assert_allclose(list(quality(there.to_model(), data).scores.values()),
                    list(quality(here.to_model(), riata.open(frame, target="label")).scores.values()))  # fmt: skip


def test_collections_take_every_option_about_columns(client):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({name: rng.choice(["x", "y"], size=200) for name in ("a", "b")}).assign(y=rng.normal(size=200))
    how = {"target": "y", "crosses": [["a", "b"]], "categorical": ["a"]}
    here, there = riata.open(frame, **how), riata.open(dd.from_pandas(frame, npartitions=3), **how, engine=client)
    assert list(there.feature_names) == list(here.feature_names)
    assert any("a" in name and "b" in name for name in there.feature_names)  # a cross


@pytest.mark.parametrize("asked", [{"target": "y", "positive": "a"}, {"target": "days", "event": "s=2"}], ids=str)
def test_roles_and_rare_levels_are_those_of_one_process(client, asked, tmp_path, rng):
    """A positive class, a value of events, levels that are rare in parts or in all, months, columns left out."""
    n = 500
    levels = [f"l{i}" for i in np.minimum(rng.geometric(0.1, n), 40)]
    months, one = pd.date_range("2000-01-01", periods=n, freq="MS"), np.ones(n)
    frame = pd.DataFrame({"x": rng.normal(size=n), "c": levels, "month": months, "one": one})
    frame = frame.assign(days=rng.exponential(size=n) + 0.1, s=rng.choice([1, 2], n), y=rng.choice(["a", "b"], n))
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=60)
    here = riata.open(tmp_path / "rows.parquet", **asked)
    there = riata.open(tmp_path / "rows.parquet", engine=client, **asked)
    blocks = riata.open(dd.from_pandas(frame, npartitions=3), **asked)
    assert here.encoding == there.encoding
    assert here.profile.left_out == there.profile.left_out == blocks.profile.left_out
    assert [e.names for e in here.encoding.encoders] == [e.names for e in blocks.encoding.encoders]
    assert here.encoding.target == blocks.encoding.target
    assert "c=(rare)" in list(here.feature_names)


def test_estimators_take_dask_arrays_and_predict_lazily(client):
    X, y = problem()
    lazy, target = da.from_array(X, chunks=(250, 5)), da.from_array(y, chunks=130)  # neither cut as the other
    there = riata.SparseRegressor(k=3).fit(lazy, target)
    here = riata.SparseRegressor(k=3).fit(X, y)
    assert_allclose(there.coef_, here.coef_, atol=1e-9)
    predicted = there.predict(lazy)
    assert isinstance(predicted, da.Array)
    assert_allclose(predicted.compute(), here.predict(X))
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])]
    options = {"alpha_ratio": 0.2, "tol": TIGHT, "loss": "logistic"}
    classifier = riata.SparseClassifier(**options).fit(lazy.rechunk((450, -1)), da.from_array(labels, chunks=450))
    peer = riata.SparseClassifier(**options).fit(X, labels)
    assert_allclose(classifier.coef_, peer.coef_, atol=1e-9)
    assert_allclose(classifier.predict_proba(lazy).compute(), peer.predict_proba(X), atol=1e-8)
    assert_array_equal(classifier.predict(lazy).compute(), peer.predict(X))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_paths_and_cross_validation(client, loss):
    X, y = problem(loss)
    data = on_workers(client, X, y, 450)
    spec = Spec(loss=loss, tol=TIGHT, seed=2)
    assert_allclose(
        path_of_margin(data, spec, length=5).coefs, path_of_margin(InMemory(X, y), spec, length=5).coefs, atol=1e-9
    )
    kind = riata.SparseRegressor if loss == "squared" else riata.SparseClassifier
    target = y if loss == "squared" else (y > 0).astype(int)
    options = {"loss": loss, "tol": TIGHT, "cv": 2, "n_alphas": 5, "random_state": 0}
    here = kind(alpha="auto", **options).fit(X, target)
    there = kind(alpha="auto", **options).fit(da.from_array(X, chunks=(450, -1)), da.from_array(target, chunks=450))
    assert there.alpha_ == pytest.approx(here.alpha_, rel=1e-9)
    assert_allclose(there.selection_.scores, here.selection_.scores, rtol=1e-6)  # folds are made to 1000 times the gap
    assert_allclose(there.coef_, here.coef_, atol=1e-9)


def test_statistics_views_and_visits(client):
    X, y = problem()
    weight = np.random.default_rng(1).random(N)
    here, there = InMemory(X, y, weight), on_workers(client, X, y, 130, weight)
    a, b = gram_of(here), gram_of(there)
    for name in ("weight", "mean", "xx", "xy", "yy", "rows"):
        assert_allclose(getattr(b, name), getattr(a, name), rtol=1e-10, atol=1e-10)
    keep = by_position(4, 3).learnt(1)
    views = [some_rows(data, keep) for data in (there, here)]
    for view, copy in (views, [some_rows(data, by_position(3).scored(0)) for data in views]):
        assert view.n_rows == copy.n_rows
        assert_allclose(view.gather([0, 4]).toarray(), copy.gather([0, 4]).toarray())
        assert_allclose(view.moments.squares, copy.moments.squares)
    assert_array_equal(np.concatenate([c.y for c in there.visit([2, 0])]), np.concatenate([y[260:390], y[:130]]))
    before = there.passes
    some_rows(there, keep).sum(lambda chunk: chunk.n_rows)
    assert there.passes - before == pytest.approx(1.0, abs=0.02)  # all but the ends of chunks


def test_predictions_are_written_by_the_workers(client, files, tmp_path):
    source, how = files["parquet"]
    model = riata.SparseRegressor(k=3).fit(riata.open(str(source), **how)).to_model()
    data = riata.open(str(source), engine=client, need_target=False, encoding=riata.open(str(source), **how).encoding)
    names = write_parts(model, data, tmp_path / "out.parquet")
    assert len(names) > 2
    rows = riata.open(str(source), need_target=False, encoding=data.encoding)
    written = pq.read_table(tmp_path / "out.parquet")["prediction"].to_numpy()
    assert_allclose(written, np.concatenate([z for z, _ in model.visit(rows)]))
    with pytest.raises(OptionError, match="not empty"):
        write_parts(model, data, tmp_path / "out.parquet")


def test_what_a_pass_sends_is_as_small_as_what_it_needs(client):
    X, y = problem("logistic")
    data = on_workers(client, X, y)
    with pytest.raises(TypeError, match="must not hold the dataset"):
        data.sum(lambda chunk: data.n_rows)


def test_refusals_are_one_sentence(client, files, table, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "CONNECT_TIMEOUT", 1)
    X, y = problem()
    with pytest.raises(OptionError, match="one row after the other"):
        fit(on_workers(client, X, y), Spec(alpha=0.1, solver="ftrl"))
    with pytest.raises(DataError, match="stream"):
        riata.open(iter([(X, y)]), engine=client)
    with pytest.raises(EngineError, match="no scheduler at tcp"):
        riata.open(str(files["csv"][0]), target="y", engine="tcp://127.0.0.1:9")
    with pytest.raises(EngineError, match="engine is a Dask client"):
        riata.open(str(files["csv"][0]), target="y", engine="spark")
    bad = table.assign(x1=table["x1"].astype(object))
    bad.loc[800, "x1"] = "oops"
    bad.to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(DataError, match=r"bad.csv, line 802: column 'x1' holds 'oops'"):
        riata.open(str(tmp_path / "bad.csv"), target="y", memory="2MB", engine=client)
    X[700, 3] = np.nan
    with pytest.raises(DataError, match="nan"):
        on_workers(client, X, y)


def test_the_command_line_works_on_a_cluster(client, files, tmp_path):
    source, there = str(files["parquet"][0]), ["--scheduler", client.scheduler.address]
    columns = ["--target", "y", "--weight", "w", "--drop", "label"]
    called = CliRunner().invoke(main, ["fit", source, *columns, "--k", "3", "--out", str(tmp_path / "m.json"), *there])
    assert called.exit_code == 0, called.output
    scored = [CliRunner().invoke(main, ["evaluate", str(tmp_path / "m.json"), source, "--json", *more]).stdout
              for more in ([], there)]  # fmt: skip
    one, other = (json.loads(scores) for scores in scored)
    assert other.pop("baseline") == pytest.approx(one.pop("baseline"))
    assert other == pytest.approx(one)
    called = CliRunner().invoke(
        main, ["predict", str(tmp_path / "m.json"), source, "--out", str(tmp_path / "p.csv"), *there]
    )
    assert called.exit_code == 0, called.output
    assert len(list((tmp_path / "p.csv").iterdir())) > 2


@pytest.mark.parametrize("view", [lambda data: data.map(same), lambda data: data.persisted(same), with_own_encoding])
def test_a_cluster_of_riatas_own_ends_with_the_last_dataset_on_it(view, client, files):
    source, options = files["parquet"]
    data = riata.open(source, engine=dask_cluster.address(client), **options)
    own, n_rows = data.client, data.n_rows
    last = view(data)
    del data
    gc.collect()
    assert last.sum(lambda chunk: chunk.n_rows) == n_rows
    assert own.status == "running"
    del last
    gc.collect()
    assert own.status == "closed"


def test_a_command_keeps_its_client_between_one_dataset_and_the_next(client, files):
    source, options = files["parquet"]
    with click.Context(main) as command:
        own = cluster(client.scheduler.address)
        for _ in range(2):
            assert riata.open(source, engine=own, **options).n_rows > 0
            gc.collect()
        assert own.status == "running"
        command.close()
    assert own.status == "closed"


def test_without_dask_one_sentence_says_what_to_install():
    code = """
import sys
sys.modules["distributed"] = None
import riata
riata.open("nothing.csv", target="y", engine="dask")
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stderr.splitlines()[-1].startswith("riata.errors.MissingPackageError: a cluster needs Dask")
    assert "riata[dask]" in found.stderr.splitlines()[-1]


def test_weights_in_delayed_chunks_count(client, rng):
    X, y, weight = rng.normal(size=(60, 4)), rng.normal(size=60), rng.integers(0, 4, 60).astype(float)
    chunks = [dask.delayed((X[i : i + 20], y[i : i + 20], weight[i : i + 20])) for i in range(0, 60, 20)]
    found = riata.SparseRegressor(alpha=0.1, tol=TIGHT).fit(riata.open(chunks, task="regression", engine=client))
    expected = riata.SparseRegressor(alpha=0.1, tol=TIGHT).fit(X, y, sample_weight=weight)
    assert_allclose(found.coef_, expected.coef_, atol=1e-8)
    with pytest.raises(DataError, match="bring their own"):
        riata.open(chunks, weight=da.from_array(weight, chunks=20), task="regression", engine=client)


def test_rows_that_workers_encoded_by_themselves_are_read_anew_for_a_model(client, table, tmp_path):
    """Gaps of the later rows have another mean, whoever reads them."""
    later = table.assign(x3=table["x3"] + 50.0, y=table["y"] + table["x3"].fillna(0.0))
    later.to_parquet(tmp_path / "later.parquet")
    fitted = riata.SparseRegressor(alpha=0.01).fit(
        riata.open(table.assign(y=later["y"]), "y", drop=["label"], weight="w")
    )
    expected = fitted.score(later)
    for source in (str(tmp_path / "later.parquet"), dd.from_pandas(later, npartitions=3)):
        rows = riata.open(source, "y", engine=client, weight="w")
        assert fitted.score(rows) == pytest.approx(expected, rel=1e-9)
    lighter = dd.from_pandas(later.assign(v=later["w"] + (later["c"] == "red")), npartitions=3)
    known = riata.open(lighter, "y", weight="v", encoding=fitted.trained_.encoding)
    assert fitted.score(known) == pytest.approx(fitted.score(later, later["y"], later["w"] + (later["c"] == "red")))
    assert fitted.score(known) != pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("spec", [Spec(alpha_ratio=0.1), Spec(alpha_ratio=0.1, loss="huber"), Spec(k=3)])
def test_reported_passes_are_what_the_workers_read(client, spec, tmp_path):
    X, y = problem()

    def noted(chunk):
        with open(tmp_path / str(os.getpid()), "a") as file:
            file.write(f"{chunk.n_rows}\n")
        return chunk

    data = on_workers(client, X, y, 130).map(noted)
    result = fit(data, spec).result
    read = sum(int(line) for file in tmp_path.iterdir() for line in file.read_text().split())
    assert result.passes == data.passes == read / N


@pytest.mark.parametrize(("role", "target"), [("groups", "y"), ("groups", "label"), ("time", "y")])
def test_folds_are_those_of_one_process_however_rows_are_divided(client, files, table, tmp_path, role, target):
    frame = table.assign(mark=np.random.default_rng(1).permutation(N) // 20 % 45)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=130)
    spec, options = Spec(cv=3), {"target": target, "weight": "w", "features": ["x0", "x1", "x2"], role: "mark"}
    here = riata.open(str(tmp_path / "rows.parquet"), **options)
    wanted = folds_asked(here, spec).code_of(np.arange(here.n_rows))
    for there in (
        riata.open(str(tmp_path / "rows.parquet"), engine=client, **options),
        riata.open(dd.from_pandas(frame, npartitions=5), **options),
    ):
        assert_array_equal(folds_asked(there, spec).code_of(np.arange(there.n_rows)), wanted)
    kind = riata.SparseRegressor if target == "y" else riata.SparseClassifier
    model = kind(alpha="auto", cv=3, n_alphas=4, tol=1e-10)  # models of folds are made to a thousand times that
    ours, theirs = (clone(model).fit(data).selection_ for data in (here, there))
    assert_allclose(theirs.fold_scores, ours.fold_scores, rtol=1e-5)
    assert theirs.reason.split(",")[0] == ours.reason.split(",")[0]


def test_offsets_on_workers(client, table, tmp_path):
    """Of a column of files, of a column of a collection, and of arrays beside one."""
    rng = np.random.default_rng(5)
    frame = table[[f"x{j}" for j in range(D - 6)]].fillna(0.0)
    frame["years"] = rng.uniform(0.2, 2.0, N)
    frame["n"] = rng.poisson(frame["years"] * np.exp(0.5 * frame["x0"])).astype(float)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    spec = Spec(loss="poisson", alpha=0.01, tol=TIGHT)
    expected = riata.train(riata.open(frame, "n", exposure="years", task="regression"), spec)
    X, y, years = frame.drop(columns=["n", "years"]).to_numpy(), frame["n"].to_numpy(), frame["years"].to_numpy()
    blocks = {"chunks": (N // 3, X.shape[1])}
    column = {"chunks": N // 3}
    opened = [
        riata.open(str(tmp_path / "rows.csv"), "n", exposure="years", task="regression", engine=client),
        riata.open(dd.from_pandas(frame, npartitions=3), "n", exposure="years", task="regression"),
        riata.open(
            da.from_array(X, **blocks), da.from_array(y, **column), exposure=da.from_array(years, **column),
            task="regression", engine=client,
        ),
        riata.open(X, y, exposure=years, task="regression", engine=client),
    ]  # fmt: skip
    for data in opened:
        assert isinstance(data, OnWorkers)
        found = riata.train(data, spec)
        assert_allclose(found.coef, expected.coef, atol=1e-6)
        assert quality(found.to_model(), data).scores["mse"] == pytest.approx(
            np.mean((y - years * np.exp(X @ found.coef[0] + found.intercept[0])) ** 2), rel=1e-6
        )


@pytest.mark.parametrize(
    ("asked", "marks"),
    [
        ({"alpha_ratio": 0.1, "tol": 1e-9}, {}),
        ({"k": 2}, {}),
        ({"k": 2}, {"strata": "stratum", "entry": "entry"}),
        ({"alpha": "auto", "select": "cv", "cv": 2, "tol": 1e-9}, {"strata": "stratum", "entry": "entry"}),
    ],
    ids=str,
)
def test_times_to_events_give_the_same_model(client, asked, marks):
    rows = make_times(150, 5)
    frame = pd.DataFrame(rows.X, columns=[f"x{j}" for j in range(5)]).assign(days=rows.time, died=rows.event)
    for name in marks.values():
        frame[name] = getattr(rows, name)
    how = {"target": "days", "event": "died", **marks}
    here = riata.SparseSurvival(**asked).fit(riata.open(frame, **how))
    data = riata.open(dd.from_pandas(frame, npartitions=3), **how)
    there = riata.SparseSurvival(**asked).fit(data)
    assert isinstance(data, OnWorkers)
    assert_allclose(there.coef_, here.coef_, atol=1e-7)
    assert_allclose(there.cum_baseline_hazard_, here.cum_baseline_hazard_, rtol=1e-6)
    assert there.score(data) == pytest.approx(here.score(riata.open(frame, **how)))


def test_online_learns_parts_on_workers_and_polish_makes_it_what_it_is_here(client, tmp_path, rng):
    n = 4000
    ad, seen = rng.zipf(1.2, n) % 1000, rng.poisson(2, n)
    margin = -2.0 + 1.5 * (ad == 1) + 2.0 * (ad == 2) + 0.3 * seen
    click = (rng.random(n) < 1 / (1 + np.exp(-margin))).astype(int)
    log, later = pa.table({"ad": ad.astype(str), "seen": seen, "click": click}), tmp_path / "later.parquet"
    pq.write_table(log.slice(0, 3000), tmp_path / "log.parquet", row_group_size=500)
    pq.write_table(log.slice(3000), later)

    def fitted(engine, polish):
        data = riata.open(str(tmp_path / "log.parquet"), "click", engine=engine, categorical=["ad"])
        return riata.train(data, Spec(solver="online", loss="logistic", polish=polish, seed=0))

    def log_loss(trained):
        return quality(trained.to_model(), str(later)).scores["log_loss"]

    there, again = fitted(client, False), fitted(client, False)
    assert_array_equal(there.coef, again.coef)
    assert there.n_iter == 1
    assert log_loss(there) < log_loss(fitted(None, False)) + 0.02
    exact_there, exact_here = fitted(client, True), fitted(None, True)
    assert exact_there.course.rest.n_above == 0
    assert log_loss(exact_there) == pytest.approx(log_loss(exact_here), abs=0.001)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_rows_that_were_moved_to_odd_addresses_are_copied(layout, rng):
    """BLAS adds in another order there: a fit would have other bits."""

    def odd(buffer):
        room = bytearray(len(buffer.raw()) + 64)
        start = -np.frombuffer(room, np.uint8).ctypes.data % 64 + 2
        room[start : start + len(buffer.raw())] = buffer.raw()
        return memoryview(room)[start : start + len(buffer.raw())]

    buffers = []
    rows = RowsInMemory([Chunk(layout(rng.normal(size=(50, 4))), rng.normal(size=50), np.ones(50))])
    plain = pickle.dumps(rows, protocol=5, buffer_callback=buffers.append)
    assert buffers
    moved = pickle.loads(plain, buffers=[*map(odd, buffers)])
    X, before = moved.chunks[0].X.array, rows.chunks[0].X.array
    parts = [X] if layout is np.asarray else [X.data, X.indices, X.indptr]
    assert all(part.flags.aligned for part in [*parts, moved.chunks[0].y])
    assert_array_equal(moved.chunks[0].X.columns(np.arange(4)), rows.chunks[0].X.columns(np.arange(4)))
    assert type(X) is type(before)


@pytest.mark.parametrize("solver", ["online", "sketch"])
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_candidates_of_workers_are_fitted_as_here(client, tmp_path, rng, solver, loss):
    n = 3000
    ad, site = rng.zipf(1.2, n) % 1000, rng.choice(list("abcdef"), n)
    margin = -1.5 + 1.5 * (ad == 1) + 2.0 * (ad == 2) - 1.0 * (site == "c")
    clicks, amounts = rng.random(n) < 1 / (1 + np.exp(-margin)), 1000.0 + margin + rng.normal(size=n)
    y = clicks.astype(int) if loss == "logistic" else amounts  # which are far from zero
    table = pa.table({"ad": [f"a{i}" for i in ad], "site": site, "y": y})
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=500)
    how = {"hashed": True} if solver == "sketch" else {"categorical": ["ad"]}

    def fitted(engine):
        data = riata.open(str(tmp_path / "log.parquet"), "y", engine=engine, **how)
        return riata.train(data, Spec(solver=solver, loss=loss, k=3, seed=0))

    model, again = (fitted(client).to_model() for _ in range(2))
    assert sorted(model.names) == ["ad=a1", "ad=a2", "site=c"]
    assert_array_equal(model.coef, again.coef)
    X = np.column_stack([ad == 1, ad == 2, site == "c"]).astype(float)
    chosen = riata.open(X, y, task="classification" if loss == "logistic" else "regression")
    exact = riata.train(chosen, Spec(solver="best-k", loss=loss, k=3))
    weights = [model.coef[0][list(model.names).index(name)] for name in ("ad=a1", "ad=a2", "site=c")]
    assert_allclose(weights, np.ravel(exact.coef), rtol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_online_of_dense_rows_on_workers(client, loss, rng):
    X = rng.normal(size=(2000, 6)) * [1, 100, 0.01, 1, 1, 1] + [1000, 0, 5, 0, 0, 0]
    z = (X[:, 0] - 1000) + 0.02 * X[:, 1] - 100 * (X[:, 2] - 5)
    noise = rng.logistic(size=2000)
    y = 7.0 + z + 0.1 * noise if loss == "squared" else np.where(z + noise > 0, "a", "b")
    spec = Spec(solver="online", loss=loss, seed=0)
    here, there = (riata.train(riata.open(X, y, engine=engine), spec) for engine in (None, client))
    assert set(there.support) >= {0, 1, 2}
    margins = [X @ one.coef[0] + one.intercept[0] for one in (here, there)]
    assert np.corrcoef(margins)[0, 1] > 0.95  # eight runs of 250 rows
    truth = y if loss == "squared" else np.where(y == "b", 1.0, -1.0)
    of_rows = loss_of(loss).value
    assert np.mean(of_rows(truth, margins[1])) < 0.9 * np.mean(of_rows(truth, np.mean(truth)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"half_life": 5.0}, "half_life"),
        ({"max_passes": 2}, "one pass"),
        ({"loss": "poisson"}, "poisson"),
        ({"solver": "sketch", "k": 2, "half_life": 5.0}, "half_life"),
        ({"batch": "full"}, "one row a step"),
        ({"order": "sequential"}, "leave order out"),
        ({"checkpoint": "saved"}, "without checkpoints"),
    ],
)
def test_what_online_does_not_learn_on_workers(client, options, sentence, rng):
    X = rng.normal(size=(40, 3))
    data = riata.open(X, np.abs(X[:, 0]), engine=client)
    with pytest.raises(OptionError, match=sentence):
        riata.train(data, Spec(**{"solver": "online"} | options))
