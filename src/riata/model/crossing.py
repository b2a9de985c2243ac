"""Several quantiles of a target: where predictions of a higher one are below those of a lower one."""

from typing import Any

from riata.arrays import namespace

TOUCHES = 1e-9  # of the size of predictions: so little is rounding


def crossing_rows(z: Any) -> int:
    """The number of rows of these margins, rows x levels, in which some level is below the one before it."""
    xp = namespace(z)
    below = z[:, 1:] < z[:, :-1] - TOUCHES * xp.max(xp.abs(z), axis=1)[:, None]
    return int(xp.sum(xp.astype(xp.any(below, axis=1), xp.int64)))
