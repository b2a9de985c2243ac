"""Which rows had their event, where a column says it by other values than 1 and 0."""

import numpy as np
import pandas as pd
import pytest

import riata
from riata.data.opening.convert import convert
from riata.data.survival import event_and_value
from riata.errors import DataError, OptionError

FRAME = pd.DataFrame({"x": np.arange(6.0), "days": [3.0, 1, 4, 1, 5, 9]})
SIGNED = [3.0, -1, 4, -1, -5]  # the last row does not say


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ([2, 1, 2, 1, 1, None], 2),
        ([2.0, 0.0, 2.0, 1.0, 0.0, np.nan], "2"),
        (["dead", "alive", "dead", "", "lost", None], "dead"),
        (pd.Categorical(["dead", "alive", "dead", "alive", "alive", None]), "dead"),
        (pd.array([True, False, True, False, False, None], dtype="boolean"), True),
        (pd.array([True, False, True, False, False, None], dtype="boolean"), "yes"),
        (pd.array([False, True, False, True, True, None], dtype="boolean"), "false"),
    ],
    ids=str,
)
@pytest.mark.parametrize("as_tuple", [False, True])
def test_an_event_is_where_the_column_has_the_value(values, value, as_tuple):
    event = ("s=t", value) if as_tuple else f"s=t={value}"  # a name may have an = itself
    data = riata.open(FRAME.assign(**{"s=t": values}), "days", event=event)
    assert data.chunk.y.tolist() == SIGNED
    assert data.task == "survival"
    assert list(data.feature_names) == ["x"]
    shown = data.profile.columns["days"]
    assert (shown.least, shown.largest, shown.mean) == (1.0, 5.0, 2.8)  # the signs are riata's own


def test_a_column_of_that_very_name_is_meant_first():
    assert event_and_value("a=1", ["a", "a=1"]) == ("a=1", None)
    assert event_and_value("a=1=2", ["a", "a=1"]) == ("a", "1=2")
    assert event_and_value("b=1", ["a"]) == ("b=1", None)


def test_booleans_of_text_files(tmp_path):
    FRAME.assign(died=["yes", "no", "yes", "no", "no", None]).to_csv(tmp_path / "rows.csv", index=False)
    for value, sign in (("yes", 1), ("no", -1)):
        data = riata.open(tmp_path / "rows.csv", "days", event=f"died={value}")
        assert data.chunk.y.tolist() == [sign * y for y in SIGNED]


def test_other_rows_of_the_model_and_encoded_rows(tmp_path):
    frame = FRAME.assign(s=[2, 1, 2, 1, 1, None])
    data = riata.open(frame, "days", event="s=2")
    again = riata.open(frame, "days", event="s", encoding=data.encoding)
    other = riata.open(frame.rename(columns={"s": "t"}), "days", event="t=1", encoding=data.encoding)
    assert again.chunk.y.tolist() == SIGNED
    assert other.chunk.y.tolist() == [-y for y in SIGNED]
    convert(data, tmp_path / "rows.arrow")
    assert riata.open(tmp_path / "rows.arrow", event="s=2").chunk.y.tolist() == SIGNED
    with pytest.raises(OptionError, match="event cannot be 's=1' any more"):
        riata.open(tmp_path / "rows.arrow", event="s=1")


@pytest.mark.parametrize(
    ("values", "event", "said"),
    [
        ([2, 1, 2, 1, 1, 2], "s", "as R codes censored and dead: say event='s=2' if 2 is dead"),
        ([0, 1, 2, 1, 1, 2], "s", "the event is 2, and must be 1"),
        (["dead", "alive"] * 3, "s", "as in event='s=dead'"),
        ([2, 1, 2, 1, 1, 2], "s=3", "no row has '3' in 's'"),
    ],
)
def test_what_is_no_event_gets_a_sentence(values, event, said):
    with pytest.raises(DataError, match=said):
        riata.open(FRAME.assign(s=values), "days", event=event)
