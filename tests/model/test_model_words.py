"""What Python prints of models, of what training leaves and of datasets: a line each, and a line for each feature."""

import numpy as np
import pandas as pd

import riata
from riata.model.model_words import MOST_LINES


def test_a_model_is_a_line_and_prints_its_features(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    data = riata.open(frame.assign(price=frame["b"] * 1234.5678 + 7.0), "price")
    trained = riata.train(data, riata.Spec(k=1))
    model = trained.to_model()
    assert repr(data) == "<InMemory: 60 rows, 5 features, target 'price'>"
    assert repr(model) == "<regression model of 'price' by 1 of 5 features: b>"
    assert repr(trained) == "<Trained by solver 'best-k': regression model of 'price' by 1 of 5 features: b>"
    lines = [line.split() for line in str(model).splitlines()]
    assert lines[1:] == [["b", "1234.57"], ["intercept", "7"]]


def test_a_model_of_several_classes_has_a_column_for_each(rng):
    X, y = rng.normal(size=(90, 4)), np.repeat(["red", "green", "blue"], 30)
    X[:, 2] += (y == "red") * 2.0
    model = riata.SparseClassifier(alpha=0.01).fit(X, y).to_model()
    first, heads, *rows = str(model).splitlines()
    assert first == repr(model)[1:-1]
    assert heads.split() == ["blue", "green", "red"]
    assert len(rows) == len(model.names) + 1
    assert {len(row.split()) for row in rows} == {4}


def test_long_models_end_and_names_do_not_command_a_terminal(tmp_path, rng):
    X = rng.normal(size=(200, 80))
    frame = pd.DataFrame(X, columns=[f"x{j}\x1b[31m" for j in range(80)])
    model = riata.SparseRegressor(alpha=1e-6).fit(frame, X.sum(axis=1)).to_model()
    text = str(model)
    assert f"and {80 - MOST_LINES} more" in text
    assert len(text.splitlines()) == MOST_LINES + 3
    assert "\x1b" not in text + repr(model)


def test_a_dataset_says_where_it_is_from(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,kind\n" + "1,x\n2,y\n3,x\n" * 5)
    assert repr(riata.open(path, "kind")) == f"<InMemory: 15 rows, 1 feature, target 'kind' of 2 classes, from {path}>"
    once = riata.open((frame for frame in [pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, 3.0]})]), "y", cache=False)
    assert "rows that come once" in repr(once)


def test_the_package_lists_its_public_names():
    assert set(dir(riata)) == {*riata.__all__, "__doc__", "__version__"}
    assert all(hasattr(riata, name) for name in dir(riata))
