"""Parameters are declared once: what follows the declarations by hand is held against them."""

import ast
import inspect
import re
from dataclasses import fields

import pytest

import riata
from riata.cli import main
from riata.cli.options import SEVERAL
from riata.data.opening.column_options import DERIVED, ColumnOptions
from riata.data.opening.open import open_data
from riata.reporting.html.code import estimator_code, python_code
from riata.training.parameters import OF_CLASSES, OF_OPENING, OF_SPEC, PARAMETERS
from riata.training.trained import Trained

# What riata.open has beside the declared ones: arguments of Python alone.
ONLY_IN_PYTHON = {"source", "encoding", "need_target", "filesystem", "remote_opener", "options", "hashed"}
USUAL_LOSS = {"SparseClassifier": "auto", "SparseRegressor": "squared"}


def test_a_spec_has_the_declared_parameters_and_defaults():
    assert {one.name: one.default for one in fields(riata.Spec)} == {name: one.default for name, one in OF_SPEC.items()}


@pytest.mark.parametrize("kind", [riata.SparseRegressor, riata.SparseClassifier], ids=lambda kind: kind.__name__)
def test_constructors_have_the_declared_parameters_and_defaults(kind):
    declared = {one.argument: one.default for one in OF_SPEC.values()}
    declared["loss"] = USUAL_LOSS[kind.__name__]
    if kind is riata.SparseRegressor:
        declared = {name: default for name, default in declared.items() if name not in OF_CLASSES}
    found = {name: one.default for name, one in inspect.signature(kind).parameters.items()}
    assert found == declared


def test_docstrings_explain_every_parameter_with_its_default():
    text = riata.SparseRegressor.__doc__ + riata.SparseClassifier.__doc__
    heads = re.findall(r"^    ([a-z][\w, ]*) : (.*)$", text, flags=re.M)
    explained = {name: head for names, head in heads for name in names.split(", ")}
    for one in OF_SPEC.values():
        assert one.argument in explained
        if one.default is not None and one.name not in ("loss", "select", "n_alphas", "alpha_reach"):
            (said,) = re.findall(r"default=(.*)", explained[one.argument])
            assert ast.literal_eval(said) == one.default


def test_the_docstring_of_a_spec_explains_every_parameter_with_its_default():
    heads = re.findall(r"^    ([a-z][\w, ]*) : (.*)$", riata.Spec.__doc__, flags=re.M)
    explained = {name: head for names, head in heads for name in names.split(", ")}
    assert explained.keys() == OF_SPEC.keys()
    for one in OF_SPEC.values():
        said = re.findall(r"default=(.*)", explained[one.name])
        assert [ast.literal_eval(default) for default in said] == ([] if one.default is None else [one.default])


def test_opening_has_the_declared_parameters_and_defaults():
    signature = {name: one.default for name, one in inspect.signature(open_data).parameters.items()}
    columns = {one.name: one.default for one in fields(ColumnOptions)}
    known = {**columns, **signature, "engine": None}
    assert known.keys() - ONLY_IN_PYTHON - DERIVED == OF_OPENING.keys()
    assert {name: known[name] for name in OF_OPENING} == {name: one.default for name, one in OF_OPENING.items()}


def test_the_help_of_opening_names_and_explains_every_parameter():
    found = inspect.signature(riata.open).parameters
    assert {one.kind for one in found.values()} == {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }
    assert found.keys() >= OF_OPENING.keys()
    for name, one in OF_OPENING.items():
        assert found[name].default == one.default
        assert re.search(rf"^    (\w+, )*{name}(, \w+)* :", riata.open.__doc__, flags=re.M), name


@pytest.mark.parametrize("command", sorted({command for one in PARAMETERS for command in one.commands}))
def test_commands_have_the_declared_options(command):
    options = {option.name: option for option in main.commands[command].params}
    for one in PARAMETERS:
        if one.flag is None or command not in one.commands:
            continue
        option = options[one.key]
        assert one.flag.partition("/")[0] in option.opts
        assert option.help == one.help
        several = one.kind in SEVERAL
        assert option.default in ((None, ()) if several else (one.on_command_line,))


def test_every_parameter_can_be_typed_but_what_a_command_line_cannot_say():
    """A bar is shown where somebody looks; the budget is one, of reading and of solving."""
    assert {one.name for one in PARAMETERS if one.flag is None} == {"verbose", "memory"}


def a_value(parameter):
    """One that is not the default."""
    if isinstance(parameter.default, bool):
        return not parameter.default
    return parameter.choices[-1] if parameter.choices else 7


def test_the_code_of_a_report_says_every_parameter_that_was_set():
    """All at once: what they mean together does not matter here."""
    values = {name: a_value(one) for name, one in OF_SPEC.items() if name not in ("loss", "verbose")}
    trained = Trained(riata.Spec(**values, loss="huber"), "exact", None, None, 1)
    code = estimator_code(trained)
    for name, value in values.items():
        assert f"{OF_SPEC[name].argument}={value!r}" in code
    assert "loss='huber'" in code
    opened = {name: a_value(one) for name, one in OF_OPENING.items()}
    lines = python_code(trained, "page.html", data="rows.csv", opened=opened)
    assert all(f"{name}={value!r}" in lines for name, value in opened.items())
