"""With on_error="skip" rows that could be read, but not be learnt, are left out, and counted, in every pass."""

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

import riata
from riata.errors import DataError

N_ROWS = 400
BAD = {150: ("x", np.inf), 151: ("z", -np.inf), 200: ("w", -1.0), 260: ("w", np.inf), 300: ("y", np.inf)}


def table(clean):
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=N_ROWS), "z": rng.normal(size=N_ROWS), "w": rng.integers(1, 3, N_ROWS) + 0.5}
    columns["y"] = columns["x"] - columns["z"] + rng.normal(size=N_ROWS)
    columns = {name: values.round(3) for name, values in columns.items()}
    for row, (name, value) in BAD.items():
        columns[name][row] = value
    rows = pa.table(columns)
    return rows.take([i for i in range(N_ROWS) if i not in BAD]) if clean else rows


def csv(rows, path):
    cells = [[f"{value:g}" for value in column.to_pylist()] for column in rows.columns]
    path.write_text("\n".join([",".join(rows.column_names), *map(",".join, zip(*cells, strict=True))]) + "\n")


def vowpal_wabbit(rows, path):
    lines = (f"{row['y']:g} {row['w']:g} | x:{row['x']:g} z:{row['z']:g}" for row in rows.to_pylist())
    path.write_text("\n".join(line.replace("inf", "1e999") for line in lines) + "\n")


WRITE = {
    "parquet": lambda rows, path: pq.write_table(rows, path, row_group_size=170),
    "arrow": lambda rows, path: feather.write_feather(rows, path, chunksize=170),
    "orc": orc.write_table,
    "csv": csv,
    "vw": vowpal_wabbit,
}


def opened(folder, kind, *, clean=False, **options):
    path = folder / f"{'clean' if clean else 'rows'}.{kind}"
    WRITE[kind](table(clean), path)
    roles = {} if kind == "vw" else {"target": "y", "weight": "w"}
    return riata.open(str(path), task="regression", on_error="skip", **roles, **options)


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("options", [{}, {"one_pass": True}, {"memory": "1MB"}], ids=["loaded", "once", "little"])
def test_the_model_is_that_of_the_other_rows(kind, options, tmp_path, request):
    if "memory" in options:
        request.getfixturevalue("larger_than_memory")
    spec = riata.Spec(solver="online" if "one_pass" in options else "exact", alpha=0.1, max_passes=30)
    found, expected = (riata.train(opened(tmp_path, kind, clean=c, **options), spec) for c in (False, True))
    np.testing.assert_array_equal(found.coef, expected.coef)
    np.testing.assert_array_equal(found.intercept, expected.intercept)
    assert found.course.n_rows == N_ROWS - len(BAD)


@pytest.mark.parametrize("kind", WRITE)
def test_they_are_counted(kind, tmp_path):
    data = opened(tmp_path, kind)
    assert data.n_rows == N_ROWS - len(BAD)
    (note,) = [note for note in data.profile.notes if "left out" in note]
    assert note.startswith("5 rows could not be ")
    if kind in ("parquet", "arrow", "orc"):
        assert "rows.parquet, row 151; ".replace("parquet", kind) in note
        assert f"rows.{kind}, row 301)" in note


@pytest.mark.parametrize("kind", [kind for kind in WRITE if kind != "vw"])
def test_columns_that_are_not_read_do_not_matter(kind, tmp_path):
    assert opened(tmp_path, kind, drop=["z"]).n_rows == N_ROWS - len(BAD) + 1


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("one_pass", [False, True])
def test_without_it_a_sentence_says_where_one_is(kind, one_pass, tmp_path):
    path = tmp_path / f"rows.{kind}"
    WRITE[kind](table(False), path)
    where = {"csv": "line 202: the weight", "vw": "line 151: .* infinite"}.get(
        kind, "row (151|201): .*(infinite|weight)"
    )
    roles = {} if kind == "vw" else {"target": "y", "weight": "w"}
    spec = riata.Spec(solver="online")
    with pytest.raises(DataError, match=rf"rows\.{kind}, {where}"):
        riata.train(riata.open(str(path), one_pass=one_pass, **roles), spec)
