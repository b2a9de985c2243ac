"""Arrays of a checkpoint that no fit has saved."""

import numpy as np
import pytest

from riata.errors import CheckpointError
from riata.solvers.saved_checks import check_array


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e308, -1e308])
def test_numbers_that_no_fit_has_are_refused(wrong):
    """Squares of 1e308 overflow, and a fit by them ended with a traceback."""
    good = np.array([0.0, -1e280, 5e-324])
    assert check_array({"a": good}, "a", np.float64, (3,)) is good
    with pytest.raises(CheckpointError, match="'a' holds what is no number"):
        check_array({"a": np.array([0.0, wrong, 1.0])}, "a", np.float64, (3,))
