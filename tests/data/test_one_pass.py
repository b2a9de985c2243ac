"""Files that are read once, in their order: the first rows tell what the columns are."""

import json
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.data.opening import rows as opening_rows
from riata.errors import DataError, RiataError


@pytest.fixture
def log(rng):
    """Rows whose later part has levels, and gaps, that the first 2000 rows do not have."""
    n = 6000
    code = rng.integers(0, 1900, n)  # more than 1000 of them in the first rows
    code[2000:] += 2000
    code[2000::10] = 2001
    count = pa.array(rng.poisson(3, n), mask=(np.arange(n) >= 2000) & (rng.random(n) < 0.2))
    late = code == 2001
    click = (rng.random(n) < np.where(late, 0.9, 0.1)).astype(np.int64)
    few = rng.choice(["a", "b"], n)
    return pa.table({"code": [f"{i:08x}" for i in code], "count": count, "few": few, "other": few, "click": click})


@pytest.fixture(params=["parquet", "csv"])
def path(request, log, tmp_path, monkeypatch):
    monkeypatch.setattr(opening_rows, "MOST_ROWS", 2000)
    path = tmp_path / f"log.{request.param}"
    pq.write_table(log, path) if request.param == "parquet" else pyarrow.csv.write_csv(log, path)
    return str(path)


def test_features_of_later_rows_are_learnt_and_keep_their_names(path, log, tmp_path):
    data = riata.open(path, "click", one_pass=True, drop=["other"], categorical=["code"])
    assert data.single_pass
    model = riata.train(data, riata.Spec(solver="online", loss="logistic", k=2)).to_model()
    assert any("000007d1" in name for name in model.names)
    model.save(tmp_path / "model.json")
    assert len(json.dumps(json.loads((tmp_path / "model.json").read_text())["encoding"])) < 2000
    p = riata.load_model(tmp_path / "model.json").predict_proba(log.slice(5000))[:, 1]
    late = np.array(log["code"].slice(5000).to_pylist()) == "000007d1"
    assert p[late].min() > p[~late].max()


def test_rows_are_those_of_two_passes(path):
    once = riata.open(path, "click", one_pass=True, max_levels=5000)
    for _ in once.visit():
        pass
    assert once.n_rows == 6000
    assert once.ledger.passes == 1
    with pytest.raises(DataError, match="read only once"):
        next(iter(once.visit()))


def test_what_it_cannot_be(path):
    with pytest.raises(RiataError, match="groups"):
        riata.open(path, "click", one_pass=True, groups="few")
    with pytest.raises(RiataError, match="times to events are learnt from all rows at once"):
        riata.open(path, "count", event="click", one_pass=True, strata="few")
    with pytest.raises(RiataError, match="nowhere"):
        riata.open(path, "click", one_pass=True, drop=["nowhere"])
    with pytest.raises(RiataError):
        riata.open(np.eye(3), np.arange(3.0), one_pass=True)


def test_the_command_line_reads_once_and_tests_on_other_rows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--target", "click", "--solver", "online", "--one-pass", "--test", path, "--json"]
    done = CliRunner().invoke(main, ["fit", path, *options])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["passes"] == 1.0
    assert found["test"]["log_loss"] < found["baseline"]["test"]["log_loss"]


@pytest.mark.parametrize("labels", [["yes", "no"], [1, 0], ["c", "a", "b"]], ids=str)
def test_classes_in_another_order_than_that_of_their_names_are_saved(labels, rng, tmp_path, monkeypatch):
    """A third of them comes after the first rows."""
    monkeypatch.setattr(opening_rows, "MOST_ROWS", 200)
    x = rng.normal(size=1000)
    place = np.digitize(x, [0.0, 1.0][: len(labels) - 1])
    place[0] = 0  # whatever its name, it is the first to come
    place[:200] = np.minimum(place[:200], 1)
    y = [labels[i] for i in place]
    pq.write_table(pa.table({"x": x, "y": y}), tmp_path / "rows.parquet")
    data = riata.open(tmp_path / "rows.parquet", "y", one_pass=True, task="classification")
    model = riata.train(data, riata.Spec(solver="online", loss="logistic")).to_model()
    assert model.classes == sorted(labels)
    model.save(tmp_path / "model.json")
    loaded = riata.load_model(tmp_path / "model.json")
    assert loaded.score(tmp_path / "rows.parquet") == model.score(tmp_path / "rows.parquet") > 1 / len(labels)


def test_the_first_rows_are_let_go_of(tmp_path):
    pq.write_table(pa.table({"x": np.arange(300.0), "y": np.arange(300.0)}), tmp_path / "t.parquet", row_group_size=100)
    data = riata.open(tmp_path / "t.parquet", "y", one_pass=True)
    held = weakref.ref(data.source.first)
    chunks = data.visit()
    next(chunks)
    assert held() is None


@pytest.mark.parametrize("k", [None, 2])
def test_deviations_are_those_of_all_rows(k, rng, tmp_path):
    """They make effects of coefficients; of a stream nobody else has counted them."""
    n = 3000
    table = pa.table({"age": rng.normal(40.0, 10.0, n), "site": rng.choice(list("abc"), n), "x": rng.normal(size=n)})
    X = np.column_stack([table["age"], np.asarray(table["site"]) == "b"]).astype(float)
    y = (0.1 * (X[:, 0] - 40.0) + 2.0 * X[:, 1] + rng.logistic(size=n) > 1.0).astype(int)
    pq.write_table(table.append_column("y", pa.array(y)), tmp_path / "rows.parquet")
    data = riata.open(tmp_path / "rows.parquet", "y", one_pass=True)
    model = riata.train(data, riata.Spec(solver="online", k=k)).to_model()
    found = dict(zip(model.names, model.deviations, strict=True))
    np.testing.assert_allclose([found["age"], found["site=b"]], X.std(axis=0), rtol=1e-6)


@pytest.mark.parametrize("row", [1, 999, 3500])  # of the first look, its last, and later
def test_what_is_wrong_with_a_row_is_said_with_its_file_and_line(row, log, tmp_path, monkeypatch):
    monkeypatch.setattr(opening_rows, "MOST_ROWS", 1000)
    x = np.random.default_rng(0).normal(size=log.num_rows)
    (tmp_path / "log").mkdir()
    pyarrow.csv.write_csv(log.append_column("x", pa.array(x)), tmp_path / "log" / "1.csv")
    x[row] = np.inf
    pyarrow.csv.write_csv(log.append_column("x", pa.array(x)), tmp_path / "log" / "2.csv")
    spec = riata.Spec(solver="online", loss="logistic")
    with pytest.raises(DataError, match=rf"log.2\.csv, line {row + 2}: column 'x' holds an infinite number"):
        riata.train(riata.open(str(tmp_path / "log"), "click", one_pass=True), spec)
    with pytest.raises(DataError, match=rf"log.2\.csv, line {row + 2}: column 'x' holds an infinite number"):
        riata.train(riata.open(str(tmp_path / "log" / "2.csv"), "click", one_pass=True), spec)


@pytest.mark.parametrize("ending", ["csv", "parquet", "vw"])
def test_a_file_without_rows_is_named(ending, log, tmp_path):
    path = tmp_path / f"none.{ending}"
    if ending == "parquet":
        pq.write_table(log.slice(0, 0), path)
    else:
        path.write_text("code,count,few,other,click\n" if ending == "csv" else "")
    with pytest.raises(DataError, match=rf"there are no rows to learn from in .*none\.{ending}"):
        riata.open(str(path), None if ending == "vw" else "click", one_pass=True)
