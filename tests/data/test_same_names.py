"""Two features of one name: predictions took one for the other, and so did SQL."""

import datetime

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import DataError


def refused(frame, rng, match):
    with pytest.raises(DataError, match=match):
        riata.SparseRegressor(alpha=0.01).fit(frame, rng.normal(size=len(frame)))


def test_a_column_with_the_name_of_a_level_is_refused(rng):
    frame = pd.DataFrame({"z": rng.normal(size=90), "a": list("bcd") * 30, "a=b": rng.normal(size=90)})
    refused(frame, rng, r"columns 'a' and 'a=b' would both have a feature called 'a=b': give one of them another name")
    frame = frame.rename(columns={"a=b": "a=e"})
    assert len(riata.SparseRegressor(alpha=0.01).fit(frame, rng.normal(size=90)).to_model().names) > 1


def test_a_column_with_the_name_of_a_part_of_a_date_is_refused(rng):
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=i) for i in range(90)]
    frame = pd.DataFrame({"d": days, "d.days": rng.normal(size=90)})
    refused(frame, rng, r"columns 'd' and 'd.days' would both have a feature called 'd.days'")


def test_a_column_with_the_name_of_gaps_is_refused(rng):
    x = np.where(rng.random(90) < 0.3, np.nan, rng.normal(size=90))
    refused(pd.DataFrame({"x": x, "x=(missing)": rng.normal(size=90)}), rng, r"a feature called 'x=\(missing\)'")


@pytest.mark.parametrize("word", ["(missing)", "(rare)"])
def test_a_level_that_is_called_as_gaps_are_is_refused_beside_them(word, rng, tmp_path):
    levels = [word if i % 3 else "b" for i in range(300)]
    frame = pd.DataFrame({"a": levels, "y": rng.normal(size=300)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.loc[:20, "a"] = None if word == "(missing)" else [f"once {i}" for i in range(21)]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(
        DataError, match=rf"column 'a' in .* and a level '\({word[1:-1]}\)' as which they would be known"
    ):
        riata.open(str(tmp_path / "rows.csv"), target="y", categorical=["a"])
