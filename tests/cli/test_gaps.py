"""What predict and evaluate say of values that are missing, and of levels that a model does not know."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.data.columns.gaps import Gap, Gaps, counting

NEW = pd.DataFrame(
    {
        "origin": ["Mars", "USA", "Japan", None, "Mars", "Europe"],
        "weight": [3.0, None, 2.9, 3.1, None, 3.0],
        "day": ["2024-01-05", "2024-03-01", None, "2024-02-01", "2024-02-02", "2024-02-03"],
        "mpg": [50.0, 51, 30, 30, 31, 30],
    }
)
SAID = (
    "note: of 6 rows 2 have no 'weight' (filled with the mean), 1 has no 'origin' (none of its levels is set), "
    "2 have a level of 'origin' that the model does not know ('Mars'), 1 has no 'day' (filled with the mean)"
)


def run(*words):
    found = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of one level of three, a number and a date; files of the rows it was learnt from and of others."""
    folder = tmp_path_factory.mktemp("gaps")
    rng = np.random.default_rng(0)
    n = 300
    origin, weight = rng.choice(["USA", "Japan", "Europe"], n), rng.normal(3, 0.3, n)
    day = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, n), "D")
    y = 20 * (origin == "USA") + 30 * weight + 0.3 * (day - day.min()).days + rng.normal(size=n)
    frame = pd.DataFrame({"weight": weight, "origin": origin, "day": day.strftime("%Y-%m-%d"), "mpg": y})
    frame.to_csv(folder / "train.csv", index=False)
    NEW.to_csv(folder / "new.csv", index=False)
    run("fit", folder / "train.csv", "--target", "mpg", "--k", "3", "--out", folder / "m.json")
    return folder


@pytest.mark.parametrize("memory", ["512MB", "1MB"])
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_gaps_are_counted(folder, command, memory):
    assert SAID in run(command, folder / "m.json", folder / "new.csv", "--memory", memory).stderr
    assert "note: of" not in run(command, folder / "m.json", folder / "train.csv", "--memory", memory).stderr


def test_predictions_are_the_same_whether_gaps_are_counted_or_not(folder, recwarn):
    model = riata.load_model(folder / "m.json")
    names = {name for encoder in model.encoding["encoders"] for name in encoder.get("levels", ())}
    assert names == {"USA"}  # the others are known, and no features
    quiet = model.predict(NEW)
    with counting() as gaps:
        np.testing.assert_array_equal(model.predict(NEW), quiet)
    assert len(list(gaps.notes())) == 1
    assert not recwarn.list


def test_rows_of_several_passes_and_columns_of_products_count_once():
    gaps = Gaps()
    for encoder in (1, 2):
        for _ in range(3):
            gaps(encoder, "x", Gap.NUMBER, 10, 2, [])
    for j in range(6):
        gaps(3 + j, f"y{j}", Gap.LEVEL, 30, 3, [f"level {j}"])
    (note,) = gaps.notes(10)
    assert note.startswith("of 10 rows 2 have no 'x' (filled with the mean), 1 has a level of 'y0'")
    assert note.endswith(", and so on in 2 more columns")


def test_levels_are_strange_only_where_all_are_known(folder):
    """Rare levels, and those of a column of many, are not in the model's file."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": rng.choice([f"l{i}" for i in range(150)], 3000), "y": rng.normal(size=3000)})
    frame["y"] += 5 * (frame["c"] == "l7")
    frame.to_csv(folder / "many.csv", index=False)
    run("fit", folder / "many.csv", "--target", "y", "--k", "1", "--out", folder / "many.json")
    pd.DataFrame({"c": ["l7", "l8", "new"]}).to_csv(folder / "three.csv", index=False)
    assert "note: of" not in run("predict", folder / "many.json", folder / "three.csv").stderr
