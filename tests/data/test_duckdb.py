"""Relations and queries of DuckDB: read again for each pass, in Python and on the command line."""

import sys

import duckdb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.data.formats.streams import StoredStream
from riata.errors import DataError, MissingPackageError

ROWS = """
    SELECT i AS id, i % 7 AS a, CASE WHEN i % 3 = 0 THEN NULL ELSE 'c' || i % 2 END AS city, {'deep': i % 5} AS "in",
           DATE '2020-01-01' + CAST(i % 90 AS INTEGER) AS day, CAST(i % 4 AS DECIMAL(9, 2)) AS price,
           CAST(i % 6 AS HUGEINT) AS huge, INTERVAL 1 DAY AS span, 2.0 * (i % 7) + i % 5 AS y
    FROM range(500) AS t(i) ORDER BY i
"""


@pytest.fixture
def relation():
    return duckdb.connect().sql(ROWS)


@pytest.mark.parametrize("memory", ["512MB", "1MB"])
def test_a_relation_is_read_for_every_pass(relation, memory, larger_than_memory):
    for cache in (True, False):
        data = riata.open(relation, "y", drop=["id"], memory=memory, cache=cache)
        assert data.n_rows == 500
        for name in ("a", "city=c1", "city=(missing)", "in.deep", "day.month=2", "price", "huge"):
            assert name in list(data.feature_names)
        assert any("'span'" in note and "dropped" in note for note in data.profile.notes)
        model = riata.SparseRegressor(k=2, tol=1e-9).fit(data)
        assert list(model.get_feature_names_out()) == ["a", "in.deep"]
        np.testing.assert_allclose(model.predict(relation), model.predict(relation.df()), rtol=1e-9)


def test_a_relation_goes_to_fit_and_predict_itself(relation):
    target = np.array([row[-1] for row in relation.fetchall()])
    features = relation.project("* EXCLUDE (y, id, span)")
    model = riata.SparseRegressor(k=2).fit(features, target)
    assert list(model.get_feature_names_out()) == ["a", "in.deep"]
    assert model.score(features, target) == pytest.approx(1.0)


def test_queries_and_databases_on_the_command_line(tmp_path):
    path, out = str(tmp_path / "rows.duckdb"), str(tmp_path / "model.json")
    with duckdb.connect(path) as connection:
        connection.sql(f"CREATE TABLE rows AS {ROWS}")
        connection.sql(f"COPY rows TO '{tmp_path}/rows.parquet'")

    def run(*arguments):
        return CliRunner().invoke(main, list(arguments))

    fitted = run("fit", f"duckdb:{path}:SELECT * FROM rows", "--target", "y", "--drop", "id", "--k", "2", "--out", out)
    assert fitted.exit_code == 0, fitted.output
    assert riata.load_model(out).names == ["a", "in.deep"]
    answers = run("predict", out, f"duckdb:FROM '{tmp_path}/rows.parquet' WHERE id < 10").stdout.split()[1:]
    np.testing.assert_allclose([float(one) for one in answers], [2.0 * (i % 7) + i % 5 for i in range(10)], atol=1e-6)
    for wrong in ("duckdb:SELECT nothing", f"duckdb:{path}", "duckdb:SELECT * FROM 'no.parquet'", path):
        result = run("fit", wrong, "--target", "y")
        assert result.exit_code == 2
        assert "duckdb" in result.stderr.lower()
        assert "Traceback" not in result.output


def test_what_a_query_cannot_be_is_said(monkeypatch):
    with pytest.raises(DataError, match="is no query: write duckdb:SELECT"):
        riata.open("duckdb:rows.duckdb", "y")
    with pytest.raises(DataError, match=r"DuckDB cannot answer: .*nosuch"):
        riata.open("duckdb:SELECT * FROM nosuch", "y")
    with pytest.raises(DataError, match="there is no column 'y'"):
        riata.open("duckdb:SELECT 1 AS a", "y")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'riata\[duckdb\]'"):
        riata.open("duckdb:SELECT 1 AS a", "y")


def test_groups_belong_to_the_rows_of_a_query_without_an_order():
    """A query that gives its rows in another order each time, as one that sorts nothing may."""
    relation = duckdb.connect().sql(
        "SELECT i + 0.5 AS y, i % 7 AS x, i % 10 AS grp FROM range(300) t(i) ORDER BY random()"
    )
    data = riata.open(relation, "y", groups="grp")
    numbers = np.concatenate([chunk.y for chunk in data.visit()]).astype(int)
    groups = data.facts.marks["groups"].numbers.all()
    for group in range(10):
        assert len(np.unique(groups[numbers % 10 == group])) == 1

    unkept = riata.open(relation, "y", groups="grp", cache=False)
    with pytest.raises(DataError, match="may give another order"):
        unkept.facts.marks["groups"]


def test_a_target_beside_it_is_kept_with_its_rows(tmp_path, rng, monkeypatch):
    """A query may give another order in each pass, and rows and targets belong together by their places."""
    X, kept = rng.normal(size=(50, 2)), []

    class Noticed(StoredStream):
        def __init__(self, *args):
            kept.append(args)
            super().__init__(*args)

    monkeypatch.setattr("riata.data.opening.rows.StoredStream", Noticed)
    pd.DataFrame(X, columns=["a", "b"]).to_parquet(tmp_path / "X.parquet")
    y = duckdb.from_df(pd.DataFrame({"y": X[:, 0] > 0}))
    riata.open(tmp_path / "X.parquet", y)
    assert kept
    with pytest.raises(DataError, match="another order in each pass"):
        riata.open(tmp_path / "X.parquet", y, cache=False)
