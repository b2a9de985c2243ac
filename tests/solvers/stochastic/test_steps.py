"""Schedules, and the ways people write them."""

import pytest
from numpy.testing import assert_allclose

from riata.errors import OptionError
from riata.solvers.stochastic.schedules import parse_step


@pytest.mark.parametrize(
    ("text", "default", "expected"),
    [
        ("0.5", "constant", [0.5, 0.5, 0.5]),
        (0.5, "1/t", [0.5, 0.25, 0.125]),
        ("2/t", "constant", [2, 1, 0.5]),
        ("1/sqrt(t)", "1/t", [1, 2**-0.5, 0.5]),
        (" 3 / sqrt(t) ", "1/t", [3, 3 * 2**-0.5, 1.5]),
    ],
)
def test_parse(text, default, expected):
    assert_allclose(parse_step(text, default)([1, 2, 4]), expected)


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "1/t2", "nan", "1/", "inf/t"])
def test_what_is_no_step_is_refused(text):
    with pytest.raises(OptionError, match="step must be a positive number"):
        parse_step(text or "/", "constant")
