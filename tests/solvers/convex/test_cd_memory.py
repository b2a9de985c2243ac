"""Solver 'cd' holds all columns: it refuses those for which the budget has no room, copies counted."""

import numpy as np
import pytest

import riata
from riata.errors import OptionError


def test_columns_that_fit_once_and_not_while_they_are_gathered_are_refused(tmp_path, rng):
    X = rng.normal(size=(20_000, 8))
    np.save(tmp_path / "rows.npy", X)
    assert X.nbytes < 2 * 10**6
    data = riata.open(tmp_path / "rows.npy", target=0, task="regression", memory="2MB", cache=False)
    with pytest.raises(OptionError, match=r"holds all columns in memory, about 3\.5 MB here, more than .* 2\.0 MB"):
        riata.train(data, riata.Spec(solver="cd", alpha=0.1, memory="2MB"))
