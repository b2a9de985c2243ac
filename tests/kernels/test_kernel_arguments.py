"""No kernel takes a long row of arguments: what belongs together travels in a named tuple."""

import inspect
import pkgutil
from importlib import import_module

import pytest

import riata.kernels

MOST = 10
MODULES = [module.name for module in pkgutil.iter_modules(riata.kernels.__path__, "riata.kernels.")]


@pytest.mark.parametrize("name", MODULES)
def test_at_most_ten_arguments(name):
    module = import_module(name)
    functions = [getattr(value, "py_func", value) for value in vars(module).values()]
    own = [f for f in functions if inspect.isfunction(f) and f.__module__ == name]
    assert {f.__name__ for f in own if len(inspect.signature(f).parameters) > MOST} == set()


def test_there_are_kernels_to_look_at():
    assert "riata.kernels.variance_reduced" in MODULES
