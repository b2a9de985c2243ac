"""Which loss a classifier has that names none: softmax for several classes, wherever it goes with what is asked."""

import numpy as np
import pyarrow as pa
import pytest

import riata
from riata.training.targets.usual_loss import with_usual_loss

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
ONE_AGAINST_THE_REST = [
    {"k": 2},
    {"k": 2, "alpha": "auto"},
    {"solver": "online"},
    {"solver": "cd", "alpha": 0.05},
    {"alpha": 0.05, "class_weight": {0: 0.0}},
    {"alpha": 0.05, "memory": 32 * 4 + 1},  # bytes: enough for the vectors of one class
]


@pytest.mark.parametrize(
    "asked", [{"alpha": 0.05}, {"alpha": "auto", "select": "bic"}, {"shared_support": True}], ids=str
)
def test_of_several_classes_it_is_softmax(asked):
    model = riata.SparseClassifier(**asked).fit(X, THREE)
    assert model.trained_.spec.loss == "softmax"
    named = riata.SparseClassifier(loss="softmax", **asked).fit(X, THREE)
    np.testing.assert_array_equal(model.predict_proba(X), named.predict_proba(X))


def test_levels_in_order_go_with_softmax():
    table = pa.table({"size": np.array(["S", "M", "L"])[THREE], "y": THREE.astype(str)})
    data = riata.open(table, target="y")
    assert riata.SparseClassifier(alpha=0.05, bounds={"size": "S<M<L"}).fit(data).trained_.spec.loss == "softmax"


@pytest.mark.parametrize("asked", ONE_AGAINST_THE_REST, ids=str)
def test_what_softmax_cannot_do_is_one_against_the_rest(asked):
    if "memory" in asked:  # which is too little for a fit
        usual = with_usual_loss(riata.Spec(loss="auto", **asked), "classification", riata.open(X, THREE))
        assert usual.loss == "logistic"
        return
    model = riata.SparseClassifier(**asked, tol=1e-3).fit(X, THREE)
    assert model.trained_.spec.loss == "logistic"


def test_of_two_classes_offsets_and_streams_it_is_logistic():
    two = riata.SparseClassifier(alpha=0.05).fit(X, THREE > 0)
    offset = riata.SparseClassifier(alpha=0.05).fit(X, THREE, offset=np.zeros(60))
    stream = riata.SparseClassifier(solver="online").partial_fit(X, THREE)
    assert {model.trained_.spec.loss for model in (two, offset, stream)} == {"logistic"}


def test_a_wrong_option_is_refused_in_the_same_words():
    for loss in ("auto", "logistic"):
        with pytest.raises(riata.errors.OptionError, match="alpha must be zero or more, or 'auto', not -1"):
            riata.SparseClassifier(alpha=-1, loss=loss).fit(X, THREE)
