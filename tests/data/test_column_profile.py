"""What is known of a column survives its file, those written before included."""

import pandas as pd

import riata
from riata.data.columns.column_profile import Bins, ColumnProfile
from riata.data.opening.profile import Profile


def test_every_kind_of_column_goes_to_a_file_and_back(tmp_path):
    frame = pd.DataFrame(
        {
            "a": [1.0, None, 3.0, 4.0],
            "nothing": [None, None, None, None],
            "level": ["x", "y", "x", None],
            "when": pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-05"]),
            "words": ["one two", "two", "three", "one"],
            "list": [[1.0, 2.0]] * 4,
            "y": [0.5, 1.5, 2.5, 3.0],
        }
    )
    profile = riata.open(frame, target="y", text=["words"]).profile
    assert profile.columns["a"].missing == 1
    assert {column.type for column in profile.columns.values()} >= {"number", "category", "date", "text", "target"}
    assert Profile.from_json(profile.to_json()).columns == profile.columns


def test_a_file_of_an_earlier_version_is_read():
    earlier = {
        "type": "category", "missing": 1, "levels": None, "hashed": True, "most frequent": ["x"], "counts": [3, 2],
    }  # fmt: skip
    found = ColumnProfile("category", 1, hashed=True, most_frequent=["x"], counts=[3, 2])
    assert ColumnProfile.from_json(earlier) == found
    number = {"type": "number", "missing": 0, "mean": 2.0, "histogram": {"start": 1.0, "width": 0.5, "counts": [1, 2]}}
    assert ColumnProfile.from_json(number) == ColumnProfile("number", mean=2.0, histogram=Bins(1.0, 0.5, [1, 2]))
    assert ColumnProfile.from_json({"type": "sparse", "missing": 0, "counts from": 1}).counts_from == 1
