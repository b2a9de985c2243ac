"""Checkpoints by versions whose methods kept less: refused with a sentence."""

import numpy as np
import pytest

from riata.data.in_memory import InMemory
from riata.errors import CheckpointError
from riata.solvers.iterate import Saved
from riata.solvers.online.online import Online
from riata.solvers.online.sketch import Sketch
from riata.solvers.stochastic.method import first_run_state, resumed_run_state


@pytest.mark.parametrize("method", [Online(k=2), Sketch(k=2)])
@pytest.mark.parametrize("name", ["marks", "place_of", "mean_sums", "curvature", "centre"])
def test_a_checkpoint_without_an_array_of_today_is_refused(method, name):
    data = InMemory(np.ones((5, 4)), np.ones(5))
    arrays, facts = first_run_state(method, data, 0).saved()
    before = Saved({key: array for key, array in arrays.items() if key != f"memory.{name}"}, facts)
    with pytest.raises(CheckpointError, match=f"lacks 'memory.{name}'; start again"):
        resumed_run_state(before, method, data)
