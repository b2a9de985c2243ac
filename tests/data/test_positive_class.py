"""Which of two classes is positive: whatever the target is, wherever the rows are, and in the model's file."""

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import OptionError

N = 60
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
SECOND = X[:, 0] + 0.3 * rng.normal(size=N) > 0
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        (("control", "ill"), "control"),
        ((0, 1), 0),
        ((1, 2), "1"),
        ((0.5, 1.5), "0.5"),
        ((False, True), "false"),
        ((False, True), False),
    ],
)
def test_the_positive_class_is_last_and_coefficients_change_sign(labels, asked, tmp_path):
    frame = FRAME.assign(y=np.array(labels)[SECOND.astype(int)])
    usual, other = (riata.open(frame, target="y", positive=label) for label in (None, asked))
    array = riata.open(X, target=frame["y"].to_numpy(), positive=asked)
    assert usual.classes.tolist() == list(labels)
    assert other.classes.tolist() == array.classes.tolist() == list(labels[::-1])
    before, after = (riata.SparseClassifier(k=1).fit(data) for data in (usual, other))
    np.testing.assert_allclose(after.coef_, -before.coef_, rtol=1e-6)
    assert (after.predict(frame[["a", "b"]]) == before.predict(frame[["a", "b"]])).all()
    after.to_model().save(tmp_path / "m.json")
    model = riata.load_model(tmp_path / "m.json")
    assert list(model.classes) == list(labels[::-1])
    np.testing.assert_allclose(model.predict_proba(frame), before.predict_proba(frame[["a", "b"]])[:, ::-1], atol=1e-6)
    assert (model.predict(frame) == frame["y"]).mean() > 0.8


@pytest.mark.parametrize(
    ("y", "asked", "said"),
    [
        (["a", "b"] * 30, "c", "positive='c' is no class of 'y': the classes are 'a', 'b'"),
        (["a", "b", "c"] * 20, "a", "is for two classes, and 'y' has 3"),
        (rng.normal(size=N), "a", "the target 'y' is a number"),
    ],
)
def test_a_label_that_cannot_be_positive_is_refused(y, asked, said):
    with pytest.raises(OptionError, match=said):
        riata.open(FRAME.assign(y=y), target="y", positive=asked)


def test_a_stream_that_is_read_once_is_refused(tmp_path):
    FRAME.assign(y=["a", "b"] * 30).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(OptionError, match="in the order of their names"):
        riata.open(tmp_path / "rows.csv", target="y", positive="a", one_pass=True)


def test_rows_that_were_encoded_before_keep_their_positive_class(tmp_path):
    from riata.data.opening.convert import convert

    convert(riata.open(FRAME.assign(y=["a", "b"] * 30), target="y", positive="a"), tmp_path / "rows.arrow")
    assert riata.open(tmp_path / "rows.arrow", positive="a").classes.tolist() == ["b", "a"]
    with pytest.raises(OptionError, match="positive cannot be 'b' any more"):
        riata.open(tmp_path / "rows.arrow", positive="b")
