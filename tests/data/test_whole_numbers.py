"""Whole numbers beyond 2^53: floats tell them apart well enough, or a sentence says that they do not."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

import riata
from riata.cli import main
from riata.errors import DataError


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("of", [np.asarray, lambda X: pd.DataFrame(X, columns=["x0", "b"])])
def test_large_whole_numbers_near_each_other_are_refused(dtype, of, rng):
    near = rng.integers(0, 1000, 200).astype(dtype)
    X = np.column_stack([near + dtype(2**62), rng.integers(0, 9, 200).astype(dtype)])
    y = 2.0 * near + rng.normal(size=200)
    with pytest.raises(DataError, match=r"column 'x0' has whole numbers from 46116860.* hardly tells apart"):
        riata.SparseRegressor(alpha=0.01).fit(of(X), y)


def test_an_opened_array_of_them_is_refused(rng):
    X = rng.integers(2**63, 2**63 + 1000, (200, 1), dtype=np.uint64)
    with pytest.raises(DataError, match="hardly tells apart"):
        riata.open(X, target=rng.normal(size=200))


@pytest.mark.parametrize("base", [2**62, 2**63 - 1000])
def test_a_file_of_them_is_refused_unless_others_are_far_away(base, rng, tmp_path):
    path = tmp_path / "rows.parquet"

    def write(numbers):
        frame = pd.DataFrame({"id": numbers, "b": rng.integers(0, 9, 200), "y": rng.normal(size=200)})
        frame.to_parquet(path, index=False)

    near = rng.integers(0, 999, 200) + base
    write(near)
    with pytest.raises(DataError, match=r"column 'id' in .*rows\..* has whole numbers from .* hardly tells apart"):
        riata.open(str(path), target="y")
    near[3] = 7
    write(near)
    assert riata.open(str(path), target="y", features=["id", "b"]).n_features == 2


def test_those_that_are_far_from_each_other_or_all_the_same_are_not(rng):
    spread = rng.integers(0, 2**63, 200, dtype=np.uint64)
    X = np.column_stack([spread, np.full(200, 2**63, np.uint64)])
    model = riata.SparseRegressor(alpha=0.01).fit(X, 2e-18 * spread.astype(float) + 0.01 * rng.normal(size=200))
    assert model.coef_[0] == pytest.approx(2e-18, rel=0.05)
    assert model.coef_[1] == 0.0


def frame_of(numbers, rng):
    return pd.DataFrame({"id": numbers, "b": rng.integers(0, 9, len(numbers)), "y": rng.normal(size=len(numbers))})


WRITTEN = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "json": lambda frame, path: frame.to_json(path, orient="records"),
}


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize("base", [2**62, 2**63 - 1000, 2**64 - 1000, -(2**62)])
def test_text_is_looked_at_once_more_where_floats_are_nearly_the_same(ending, base, rng, tmp_path):
    path = tmp_path / f"rows.{ending}"
    numbers = [base + int(step) for step in rng.integers(0, 900, 200)]
    WRITTEN[ending](frame_of(np.array(numbers, dtype=object if base >= 2**63 else np.int64), rng), path)
    with pytest.raises(DataError, match=rf"'id' in .*rows\..* has whole numbers from {min(numbers)} to {max(numbers)}"):
        riata.open(str(path), target="y")


@pytest.mark.parametrize("ending", WRITTEN)
def test_text_of_one_large_number_and_of_fractions_is_read(ending, rng, tmp_path):
    path = tmp_path / f"rows.{ending}"
    WRITTEN[ending](frame_of(np.full(200, 2**62 + 1), rng), path)
    assert riata.open(str(path), target="y", features=["id", "b"]).n_features == 2
    WRITTEN[ending](frame_of(rng.choice([2.0**60, np.nextafter(2.0**60, np.inf)], 200), rng), path)
    assert riata.open(str(path), target="y", features=["id", "b"]).n_features == 2


def test_arrays_in_files_lists_and_rows_that_are_lists_are_refused_as_arrays_are(rng, tmp_path):
    near = rng.integers(2**62, 2**62 + 1000, 200)
    X, y = np.column_stack([rng.integers(0, 9, 200), near]), rng.normal(size=200)
    np.save(tmp_path / "rows.npy", X)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    pd.DataFrame({"v": X.tolist(), "y": y}).to_parquet(tmp_path / "lists.parquet")
    for name, target, column in (("rows.npy", y, "x1"), ("rows.npz", None, "x1"), ("lists.parquet", "y", r"v\[1\]")):
        with pytest.raises(DataError, match=f"column '{column}' in .* has whole numbers from .* hardly tells apart"):
            riata.open(str(tmp_path / name), target=target)
    mixed = [[0.5 * a, b] for a, b in X.tolist()]
    for rows in (X.tolist(), mixed):
        with pytest.raises(DataError, match=r"column 'x1' has whole numbers from .* hardly tells apart"):
            riata.SparseRegressor(alpha=0.01).fit(rows, y)
    X[0, 1] = 0
    np.save(tmp_path / "rows.npy", X)
    assert riata.open(str(tmp_path / "rows.npy"), target=y).n_features == 2


def near_numbers(rng, base=2**62):
    return [base + int(step) for step in rng.integers(0, 900, 200)]


def test_numbers_with_marks_of_thousands_are_looked_at_with_their_digits(rng, tmp_path):
    numbers = near_numbers(rng)
    written = pd.DataFrame({"id": [f"{n:,}" for n in numbers], "y": rng.normal(size=200)})
    written.to_csv(tmp_path / "rows.csv", index=False)
    written.to_excel(tmp_path / "rows.xlsx", index=False)
    for name in ("rows.csv", "rows.xlsx"):
        with pytest.raises(DataError, match=f"'id' in .* has whole numbers from {min(numbers)} to {max(numbers)}, "):
            riata.open(str(tmp_path / name), target="y", features=["id"])
    written["id"] = f"{2**62 + 1:,}"
    written.to_csv(tmp_path / "rows.csv", index=False)
    assert riata.open(str(tmp_path / "rows.csv"), target="y", features=["id"]).n_features == 1


def test_numbers_of_workbooks_have_no_more_digits_than_floats(rng, tmp_path):
    frame_of(np.array(near_numbers(rng)), rng).to_excel(tmp_path / "rows.xlsx", index=False)
    with pytest.raises(DataError, match=r"'id' in .* has numbers from 4.6\d*e\+18 .* digits cannot be read again"):
        riata.open(str(tmp_path / "rows.xlsx"), target="y")


@pytest.mark.parametrize("base", [2**62, 2**64 - 1000])
def test_fields_and_lists_of_json_are_looked_at_too(base, rng, tmp_path):
    path, numbers = tmp_path / "rows.jsonl", near_numbers(rng, base)
    rows = [{"of": {"id": n}, "y": float(y)} for n, y in zip(numbers, rng.normal(size=200), strict=True)]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match=f"'of.id' in .* has whole numbers from {min(numbers)} to {max(numbers)}, "):
        riata.open(str(path), target="y")
    rows = [{"v": [1, row["of"]["id"]], "y": row["y"]} for row in rows]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match=r"'v\[1\]' in .* their digits cannot be read again"):
        riata.open(str(path), target="y")


LINES = {
    "svm": lambda y, n: f"{y} 1:0.5 3:{n}",
    "vw": lambda y, n: f"{y} | a:0.5 b:{n}",
    "ffm": lambda y, n: f"{y} 0:1:0.5 2:3:{n}",
}


@pytest.mark.parametrize("ending", LINES)
def test_a_large_feature_of_every_line_is_refused_where_digits_are_lost(ending, rng, tmp_path):
    path, labels, numbers = tmp_path / f"rows.{ending}", rng.integers(0, 2, 200), near_numbers(rng)
    lines = [LINES[ending](y, n) for y, n in zip(labels, numbers, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"hardly tells apart, and their digits cannot be read again"):
        riata.open(str(path))
    path.write_text("\n".join([*lines, LINES[ending](1, 5)]) + "\n")
    assert riata.open(str(path)).n_features >= 2


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_sparse_arrays_and_lists_are_refused_as_dense_ones_are(dtype, rng, tmp_path):
    X = np.column_stack([rng.integers(0, 3, 200), near_numbers(rng)]).astype(dtype)
    S, y = sparse.csr_array(X), rng.normal(size=200)
    for fit in (
        lambda: riata.open(S, target=y),
        lambda: riata.SparseRegressor(alpha=0.1).fit(S, y),
        lambda: riata.open(iter([(S[:100], y[:100]), (S[100:], y[100:])])),
    ):
        with pytest.raises(DataError, match=r"column 'x1' has whole numbers from .* hardly tells apart"):
            fit()
    lil = S.tolil()
    pq = pd.DataFrame({"v.indices": lil.rows, "v.values": [np.array(row, dtype) for row in lil.data], "y": y})
    pq.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"column 'v\.1' in .* has whole numbers from .* hardly tells apart"):
        riata.open(str(tmp_path / "rows.parquet"), target="y")
    X[7, 1] = 0
    assert riata.open(sparse.csr_array(X), target=y).n_features == 2
    assert riata.open(sparse.csr_array(X.astype(float)), target=y).n_features == 2


@pytest.mark.parametrize("words", [[], ["--one-pass"]])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "svm"])
def test_standard_input_is_refused_where_floats_are_nearly_the_same(ending, words, rng, tmp_path):
    path = tmp_path / f"rows.{ending}"
    if ending == "svm":
        path.write_text(
            "".join(f"{y} 1:{n} 2:1\n" for y, n in zip(rng.normal(size=200), near_numbers(rng), strict=True))
        )
    else:
        WRITTEN[ending](frame_of(np.array(near_numbers(rng)), rng), path)
    target = [] if ending == "svm" else ["--target", "y"]
    asked = ["fit", "-", *target, "--alpha", "0.1", "--task", "regression", *words]
    done = CliRunner().invoke(main, asked, input=path.read_bytes())
    assert done.exit_code == 2
    assert " has numbers from 4.6116860184273879e+18 to" in done.stderr
    assert "their digits cannot be read again" in done.stderr
