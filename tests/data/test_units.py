"""Numbers with a unit behind them, dates in several ways, and rows that sum up the others."""

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import DataError

N = 60


@pytest.fixture
def numbers(rng):
    return np.round(rng.uniform(-9, 2000, N), 1)


def written(folder, cells, name="a.csv"):
    path = folder / name
    pd.DataFrame({"w": cells, "x": np.arange(N) % 7, "y": np.arange(N) * 1.5}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    "form",
    ["{} kg", "{}kg", " {} m²", "{} °C", "{:,.1f} km/h", "{} years", "{} MB"],
)
def test_numbers_with_a_unit_are_numbers(form, numbers, tmp_path):
    data = riata.open(written(tmp_path, [form.format(one) for one in numbers]), target="y")
    found = data.profile.columns["w"]
    assert (found.type, found.least, found.largest) == ("number", numbers.min(), numbers.max())
    assert f"numbers with the unit {form.rpartition('}')[2].strip()} ('w')" in data.profile.notes[0]


@pytest.mark.parametrize("exponent", ["e3", "E03"])
def test_an_exponent_that_all_numbers_have_is_no_unit(exponent, numbers, tmp_path):
    cells = [f"{one}{exponent}".replace(".", ",") for one in numbers]
    found = riata.open(written(tmp_path, cells), target="y").profile.columns["w"]
    assert (found.type, found.least, found.largest) == ("number", 1000 * numbers.min(), 1000 * numbers.max())


def test_one_year_is_of_the_unit_of_two_years(tmp_path):
    cells = [f"{i} year{'s' * (i != 1)}" if i else "0" for i in (j % 9 for j in range(N))]
    found = riata.open(written(tmp_path, cells), target="y").profile.columns["w"]
    assert (found.type, found.least, found.largest, found.missing) == ("number", 0.0, 8.0, 0)


@pytest.mark.parametrize(
    "cells",
    [
        [f"{i} {'kg' if i % 2 else 'lb'}" for i in range(N)],  # two units
        [f"00{i}A" for i in range(N)],  # codes
        [f"{i % 3} rooms" for i in range(N)],  # few levels stay levels
        [f"ward {i % 9} b" for i in range(N)],
    ],
    ids=["two units", "codes", "few levels", "words"],
)
def test_what_is_no_number_with_a_unit_stays_as_it_is(cells, tmp_path):
    assert riata.open(written(tmp_path, cells), target="y").profile.columns["w"].type == "category"


def test_a_word_among_numbers_with_a_unit_is_said(tmp_path):
    cells = [f"{i + 0.5} kg" if i % 10 else "heavy" for i in range(N)]
    notes = riata.open(written(tmp_path, cells), target="y").profile.notes
    assert any("column 'w' looks like numbers but for 'heavy' (6)" in note for note in notes)


def test_a_later_file_has_the_same_unit_or_is_refused(numbers, tmp_path):
    kilos = written(tmp_path, [f"{one} kg" for one in numbers])
    model = riata.SparseRegressor(k=2).fit(riata.open(kilos, target="y")).to_model()
    model.save(tmp_path / "model.json")
    model = riata.load_model(tmp_path / "model.json")
    few = tmp_path / "few.csv"
    few.write_text(f"w,x\n{numbers[3]} kg,3\n")  # too few values to tell a unit by themselves
    assert model.predict(few) == pytest.approx(model.predict(kilos)[3:4])
    with pytest.raises(DataError, match=r"such as '.* g', with g where the model learnt from numbers with kg"):
        model.predict(written(tmp_path, [f"{1000 * one} g" for one in numbers], "grams.csv"))
    with pytest.raises(DataError, match="without kg where the model learnt from numbers with kg"):
        model.predict(written(tmp_path, numbers, "bare.csv"))


def test_dates_in_several_ways_are_said(tmp_path):
    days = pd.date_range("2021-03-01", periods=N)
    cells = [day.strftime(["%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y"][i % 3]) for i, day in enumerate(days)]
    (note,) = [note for note in riata.open(written(tmp_path, cells), target="y").profile.notes if "'w'" in note]
    assert "column 'w' has dates that are written in several ways" in note
    assert "write them alike; until then it is left out" in note


@pytest.mark.parametrize("word", ["Total", "Grand total:", "SUMME", "合计"])
@pytest.mark.parametrize("kind", ["csv", "frame", "categories"])
def test_a_last_row_that_sums_up_the_others_is_said(word, kind, rng, tmp_path):
    frame = pd.DataFrame({"shop": rng.choice(["a", "b"], N), "x": rng.normal(size=N), "y": rng.normal(size=N)})
    total = pd.DataFrame({"shop": [word], "x": [frame["x"].sum()], "y": [frame["y"].sum()]})
    for rows, said in ((frame, False), (pd.concat([frame, total], ignore_index=True), True)):
        source = rows.astype({"shop": "category"}) if kind == "categories" else rows
        if kind == "csv":
            source = tmp_path / f"{said}.csv"
            rows.to_csv(source, index=False)
        notes = riata.open(source, target="y").profile.notes
        assert any(f"the last row has {word!r} in column 'shop'" in note for note in notes) == said


def test_numbers_beyond_float32_are_read_without_a_warning(rng):
    frame = pd.DataFrame({"x": 1e60 * rng.normal(size=N), "y": rng.normal(size=N)})
    assert riata.open(frame, target="y").profile.columns["x"].largest == frame["x"].max()
