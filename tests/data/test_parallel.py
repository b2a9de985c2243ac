"""Results of several threads at a time: as many as there is room for, in their order."""

import numpy as np
import pytest

from riata.data import parallel


@pytest.mark.parametrize(("room", "most"), [(np.inf, 4), (100_000, 4), (9_000, 3), (6_000, 2), (5_000, 1), (0, 1)])
def test_no_more_chunks_are_begun_than_there_is_room_for_their_results(room, most, monkeypatch):
    monkeypatch.setattr(parallel, "n_cores", lambda: 4)
    begun, at_a_time = [], []

    def items():
        for i in range(12):
            begun.append(i)
            yield i

    values = parallel.in_parallel(lambda i: (np.full(125, float(i)),), items(), room)  # 1,000 bytes each
    for used, (value,) in enumerate(values):
        assert value[0] == used
        at_a_time.append(len(begun) - used)
    assert max(at_a_time[1:]) == most  # the first one finds how large a result is
    assert at_a_time[0] <= (most if room == np.inf else 1)
