"""Real files, straight from disk: mixed columns with missing values, and word counts in two formats."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
from click.testing import CliRunner
from numpy.testing import assert_allclose
from sklearn.datasets import dump_svmlight_file

from riata.cli import main
from riata.data.formats.tables import matrix_batch
from riata.data.opening.open import open_data
from riata.training.fitting import fit
from riata.training.spec import Spec

KNOWN_ONLY_AFTERWARDS = "dep_time,dep_delay,arr_time,air_time"


def test_flights_fit_with_one_command(shared_data, tmp_path):
    flights = str(shared_data / "nycflights13.parquet")
    out = str(tmp_path / "model.json")
    arguments = ["fit", flights, "--target", "arr_delay", "--alpha-ratio", "0.2", "--memory", "64MB", "--json"]
    notes = " ".join(open_data(flights, "arr_delay", cache=False, memory="64MB").profile.notes)
    assert "column 'dep_delay' alone explains 84% of 'arr_delay'" in notes
    result = CliRunner().invoke(main, [*arguments, "--drop", KNOWN_ONLY_AFTERWARDS, "--out", out])
    assert result.exit_code == 0, result.output
    assert "explains" not in result.stderr
    assert "9430 of 336776 rows are without a target" in result.stderr
    selected = json.loads(result.stdout)["selected"]
    assert "carrier=EV" in selected
    assert any(name.startswith("time_hour.month=") for name in selected)
    assert json.loads(result.stdout)["gap"] <= 1e-6
    again = tmp_path / "again.csv"  # some rows, another format, another order of columns
    table = pq.read_table(flights).slice(0, 500)
    pa.csv.write_csv(table.select(table.column_names[::-1]), again)
    from_csv, from_parquet = (
        CliRunner().invoke(main, ["predict", out, path], catch_exceptions=False).stdout.splitlines()[1:]
        for path in (str(again), flights)
    )
    assert_allclose(np.array(from_csv, float), np.array(from_parquet[:500], float), rtol=1e-9)


def test_words_fit_from_svmlight_and_parquet(shared_data, tmp_path):
    with np.load(shared_data / "imdb_counts.npz") as file:
        indptr = file["indptr"].astype(np.int32)  # scikit-learn writes no others
        X = sp.csr_array((file["data"].astype(np.float64), file["indices"], indptr), shape=file["shape"])[::16]
        y = file["y"][::16].astype(np.float64)
    dump_svmlight_file(X, y, str(tmp_path / "imdb.svm"), zero_based=False)
    batch = matrix_batch(X).append_column("y", pa.array(y))
    pq.write_table(pa.Table.from_batches([batch]), tmp_path / "imdb.parquet", row_group_size=500)
    spec = Spec(alpha_ratio=0.3, tol=1e-12, solver="exact")
    sources = [str(tmp_path / name) for name in ("imdb.svm", "imdb.parquet")]
    fits = [fit(open_data(X, y, task="regression"), spec).result]
    for source in sources:
        target = None if source.endswith("svm") else "y"
        data = open_data(source, target, task="regression", memory="8MB")
        assert not data.cheap_passes
        coef = fit(data, spec).result.coef
        assert_allclose(coef, fits[0].coef[: len(coef)], atol=1e-8)  # svmlight does not know of unused words at the end
        assert not fits[0].coef[len(coef) :].any()
    assert np.count_nonzero(fits[0].coef) > 5
