"""What a checkpoint says is checked before solvers go on from it."""

import numpy as np
import pytest

from riata.errors import CheckpointError
from riata.solvers.saved_checks import check_array, check_facts


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_arrays_are_finite_unless_infinity_is_allowed(wrong):
    arrays = {"w": np.array([1.0, wrong])}
    with pytest.raises(CheckpointError, match="'w' holds what is no number"):
        check_array(arrays, "w", np.float64, (2,))
    if np.isnan(wrong):
        with pytest.raises(CheckpointError, match="'w' holds what is no number"):
            check_array(arrays, "w", np.float64, (2,), finite=False)
    else:
        assert check_array(arrays, "w", np.float64, (2,), finite=False) is arrays["w"]


def test_a_whole_number_in_place_of_a_float_becomes_one():
    """One beyond 64 bits has no type in compiled code."""
    facts = {"b": -(2**70), "steps": 3}
    check_facts(facts, {"b": float, "steps": int})
    assert isinstance(facts["b"], float)
    assert facts == {"b": -(2.0**70), "steps": 3}
    assert isinstance(facts["steps"], int)
    with pytest.raises(CheckpointError, match="its 'b'"):
        check_facts({"b": "3"}, {"b": float})


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_numbers_that_no_fit_has_are_refused(wrong):
    """Squares of 1e308 overflow, and a fit by them ended with a traceback."""
    good = np.array([0.0, -1e280, 5e-324])
    assert check_array({"a": good}, "a", np.float64, (3,)) is good
    with pytest.raises(CheckpointError, match="'a' holds what is no number"):
        check_array({"a": np.array([0.0, wrong, 1.0])}, "a", np.float64, (3,))
