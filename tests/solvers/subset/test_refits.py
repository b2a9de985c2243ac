"""What an estimator is given twice, or in two places: a fit forgets the one before, and rows must go together."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import riata
from riata.errors import DataError, OptionError


@pytest.fixture
def frame(rng):
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    return X.assign(y=3 * X["a"] - X["c"] + 0.1 * rng.normal(size=120))


def test_a_validation_set_has_the_features_that_are_learnt_from(frame):
    data = riata.open(frame, "y")
    turned = riata.open(frame[["d", "c", "b", "a", "y"]], "y")
    search = riata.SparseRegressor(alpha="auto", select="validation")
    again = riata.open(frame[["d", "c", "b", "a", "y"]], "y", encoding=data.encoding)
    expected = search.fit(data, validation=again)
    assert list(expected.get_feature_names_out()) == ["a", "c"]
    alpha = expected.alpha_
    assert search.fit(data, validation=turned).alpha_ == alpha  # its columns are read anew, by the encoding of the data
    labelled = frame.assign(y=np.where(frame["y"] > 0, "yes", "no"))
    classifier = riata.SparseClassifier(alpha="auto", select="validation")
    classifier.fit(riata.open(labelled, "y"), validation=riata.open(labelled[["d", "c", "b", "a", "y"]], "y"))
    assert {"a", "c"} <= set(classifier.get_feature_names_out())


def test_a_refit_forgets_the_names_and_the_path_of_the_fit_before(frame):
    model = riata.SparseRegressor(alpha="auto", cv=2).fit(riata.open(frame, "y"))
    model.set_params(alpha=0.1).fit(riata.open(frame.rename(columns={"a": "first"}), "y"))
    assert list(model.get_feature_names_out()) == ["first", "c"]
    assert not hasattr(model, "path_")
    assert not hasattr(model, "selection_")
    model.fit(frame[list("abcd")].to_numpy(), frame["y"])
    assert not hasattr(model, "feature_names_in_")


def test_partial_fit_does_not_throw_a_fit_away(frame):
    X, y = frame[list("abcd")].to_numpy(), frame["y"].to_numpy()
    model = riata.SparseRegressor(k=2, solver="online", random_state=0).fit(X, y)
    learnt = model.coef_.copy()
    with pytest.raises(OptionError, match="start with partial_fit"):
        model.partial_fit(X[:1], y[:1])
    assert np.array_equal(model.coef_, learnt)
    stream = riata.SparseRegressor(k=2, solver="online", random_state=0).partial_fit(X, y).fit(X, y)
    assert np.array_equal(stream.coef_, learnt)
    assert stream.to_model().training.solver == "online"


def test_a_dataset_brings_its_own_target_and_weights(frame):
    data = riata.open(frame, "y")
    for more in ({"y": frame["y"]}, {"sample_weight": np.ones(120)}):
        with pytest.raises(OptionError, match="brings its own target"):
            riata.SparseRegressor(alpha=0.1).fit(data, **more)


@pytest.mark.parametrize("wrong", [{"loss": "logistic"}, {"normalize": "columns"}])
def test_options_are_checked_whatever_the_rows_come_in(frame, wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        riata.SparseRegressor(alpha=0.1, **wrong).fit(riata.open(frame, "y"))


def test_a_dataset_is_predicted_by_its_names(frame):
    data, turned = riata.open(frame, "y"), riata.open(frame[["d", "c", "b", "a", "y"]], "y")
    X, y = frame[list("abcd")], frame["y"]
    number = riata.SparseRegressor(alpha=0.1).fit(data)
    for rows in (data, turned):
        assert_allclose(number.predict(rows), number.predict(X))
        assert number.score(rows) == pytest.approx(number.score(X, y))
    with pytest.raises(DataError, match="no column 'a'"):
        number.predict(riata.open(frame.drop(columns="a"), "y"))
    for cuts in ([0], [-2, 2]):
        labelled = frame.assign(y=np.array(["low", "middle", "high"])[np.digitize(y, cuts)])
        rows = riata.open(labelled, "y")
        label = riata.SparseClassifier(alpha=0.01).fit(rows)
        assert_allclose(label.decision_function(rows), label.decision_function(X))
        assert_allclose(label.predict_proba(rows), label.predict_proba(X))
        assert label.predict(rows).tolist() == label.predict(X).tolist()
        assert label.score(rows) == pytest.approx(label.score(X, labelled["y"]))


def test_a_negative_class_weight_is_refused(frame):
    X, y = frame[list("abcd")], frame["y"] > 0
    with pytest.raises(OptionError, match="zero or more, and of True it is -1"):
        riata.SparseClassifier(alpha=0.1, class_weight={False: 1, True: -1}).fit(X, y)
