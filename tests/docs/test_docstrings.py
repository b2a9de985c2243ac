"""Docstrings of what is public name every parameter, say what comes back and have an example, which is run.

`test_readme.py` runs the examples.
"""

import inspect
import re

import numpy as np
import pytest

import riata
from riata.model import Model
from riata.training.paths.model_path import ModelPath
from riata.training.trained import Trained

FUNCTIONS = {name: one for name in riata.__all__ if inspect.isfunction(one := getattr(riata, name))}
METHODS = {
    f"{kind.__name__}.{name}": one
    for kind in (Model, ModelPath, Trained)
    for name, one in vars(kind).items()
    if inspect.isfunction(one) and not name.startswith("_")
}
CLASSES = {name: one for name in riata.__all__ if inspect.isclass(one := getattr(riata, name))}
CLASSES |= {one.__name__: one for one in (Model, ModelPath, Trained)}
ESTIMATORS = ("SparseRegressor", "SparseClassifier", "SparseSurvival")
NO_EXAMPLE = {"Model.save"}  # that of load_model writes a file, too


def section(one, title):
    """The lines of a section of a docstring."""
    text = inspect.cleandoc(one.__doc__)
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", text, flags=re.M | re.S)
    return "" if found is None else found[1]


def named_in(text):
    """What is explained there, by lines such as `name, other : ...`."""
    heads = re.findall(r"^(\**\w[\w, *]*?)(?: :.*)?$", text, flags=re.M)
    return {name.strip("* ") for head in heads for name in head.split(",")}


def test_there_are_functions_and_methods():
    assert {"open", "train", "path", "k_path", "load_model", "statistics_of", "write_report"} <= FUNCTIONS.keys()
    assert {"Model.predict", "Model.save"} <= METHODS.keys()


@pytest.mark.parametrize("name", [*FUNCTIONS, *METHODS])
def test_functions_explain_what_they_take_and_return(name):
    one = (FUNCTIONS | METHODS)[name]
    signature = inspect.signature(one)
    assert named_in(section(one, "Parameters")) == signature.parameters.keys() - {"self"}
    if signature.return_annotation not in (None, "None"):
        assert section(one, "Returns") or section(one, "Yields")
    assert name in NO_EXAMPLE or ">>> " in section(one, "Examples")


@pytest.mark.parametrize("name", CLASSES)
def test_classes_have_an_example(name):
    assert ">>> " in section(CLASSES[name], "Examples")


@pytest.mark.parametrize("kind", [Model, ModelPath, Trained], ids=lambda kind: kind.__name__)
def test_classes_of_results_explain_their_fields(kind):
    assert named_in(section(kind, "Attributes")) == kind.__dataclass_fields__.keys()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_explain_what_a_fit_leaves(name, rng):
    kind, X = getattr(riata, name), rng.normal(size=(60, 4))
    y = {
        "SparseRegressor": X[:, 1] + rng.normal(size=60),
        "SparseClassifier": np.sign(X[:, 1] + rng.normal(size=60)),
        "SparseSurvival": np.rec.fromarrays([X[:, 0] > -1, rng.exponential(np.exp(X[:, 1]))], names="event, time"),
    }[name]
    left = set()
    for strength in ({"alpha": 0.1}, {"k": 1}, {"alpha": "auto", "cv": 2, "n_alphas": 5}):
        left |= {one for one in vars(kind(**strength).fit(X, y)) if one.endswith("_") and not one.startswith("_")}
    assert left <= named_in(section(kind, "Attributes"))
