"""Text of thousands of columns: read with few words for missing values at a time, and refused where memory is short."""

import numpy as np
import pytest

import riata
from riata.data.columns.distinct import FEW, DistinctCount, scattered
from riata.data.formats import csv, csv_arrow, csv_look

WORDS = ("NA", "#N/A", "n/a", "nan", "-", "k. A.")


@pytest.fixture
def file(tmp_path):
    """Columns of numbers, yes and no, dates and levels; words for missing values come late, or in quotes."""
    rng = np.random.default_rng(0)
    lines = ["y,a,b,c,flag,day,level"]
    for i in range(3000):
        word = WORDS[i % len(WORDS)] if i > 2500 else None
        cells = [f"{v:.3f}" for v in rng.normal(size=4)]
        cells[1] = word if word and i % 2 else cells[1]
        cells[2] = f'"{word}"' if word and i % 3 == 0 else cells[2]
        flag, day = ("true", "false")[i % 2], f"2024-01-{1 + i % 28:02}"
        level = (word or "NA") if i % 5 == 0 else f"l{i % 3}"
        lines.append(",".join([*cells, flag, word if word and i % 4 == 0 else day, level]))
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path):
    data = riata.open(path, target="y", task="regression", memory="4MB", cache=False)
    chunks = list(data.visit())
    X = np.vstack([np.asarray(chunk.X.toarray()) for chunk in chunks])
    return list(data.feature_names), X, np.concatenate([chunk.y for chunk in chunks])


def test_rows_of_many_columns_are_those_of_few(file, monkeypatch, tmp_path):
    monkeypatch.setenv("RIATA_CACHE", str(tmp_path / "cache"))
    names, X, y = read(file)
    assert {"a=(missing)", "b=(missing)", "level=l1"} <= set(names)
    for module in (csv, csv_arrow, csv_look):
        monkeypatch.setattr(module, "MANY_COLUMNS", 3)
    monkeypatch.setenv("RIATA_CACHE", str(tmp_path / "another"))
    also_names, also_X, also_y = read(file)
    assert also_names == names
    np.testing.assert_array_equal(also_X, X)
    np.testing.assert_array_equal(also_y, y)


def test_more_columns_than_there_is_memory_for_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(",".join(["y", *(f"x{j}" for j in range(2999))]) + "\n" + ("1," * 2999 + "2\n") * 3)
    with pytest.raises(riata.errors.DataError, match=r"to read 3,000 columns of text takes about 120\.0 MB, more than"):
        riata.open(path, target="y", memory="64MB")
    with pytest.raises(
        riata.errors.DataError, match=r"a look at 3,000 columns of text takes about 22\.5 MB, more than"
    ):
        riata.open(path, target="y", memory="20MB")


def test_few_different_values_are_counted_exactly_and_many_nearly():
    together, parts = DistinctCount(), [DistinctCount() for _ in range(3)]
    for start, part in zip((0, FEW // 2, 5 * FEW), parts, strict=True):
        part.add(scattered(np.arange(start, start + FEW // 2)))
        part.add(scattered(np.arange(start, start + FEW // 2)))
        assert part.count == FEW // 2
        together.merge(part)
    assert together.count == pytest.approx(3 * FEW // 2, rel=0.01)
    together.merge(together)
    assert together.count == pytest.approx(3 * FEW // 2, rel=0.01)
