"""Columns that are copies of one another, perhaps in other units: one of them takes the coefficients of all.

Coordinate descent leaves a copy at zero by itself. Newton steps on the dual share a coefficient out among copies, which
is as good a minimum, and a less sparse one.
"""

import numpy as np

from riata.penalties import Strengths

DIGITS = 9  # to which copies agree, beside the length of the column


def without_copies(A: np.ndarray, strengths: Strengths, v: np.ndarray) -> np.ndarray:
    """Coefficients with the same margins v @ A, of fewer columns, for no larger penalty. Rows of A are the columns."""
    l1, l2, lower, upper = strengths
    support = np.flatnonzero((v != 0.0) & (l2 == 0.0))
    size = np.linalg.norm(A[support], axis=1)
    support, size = support[size > 0.0], size[size > 0.0]
    units = np.round(A[support] / size[:, None], DIGITS)
    leading = units[np.arange(len(units)), (units != 0.0).argmax(axis=1)]
    signed = np.where(leading < 0.0, -size, size)
    units = units * np.where(leading < 0.0, -1.0, 1.0)[:, None] + 0.0  # without negative zeros
    groups: dict[bytes, list[int]] = {}
    for place, unit in enumerate(units):
        groups.setdefault(unit.tobytes(), []).append(place)
    v = v.copy()
    for group in groups.values():
        if len(group) > 1:
            places, columns = np.array(group), support[group]
            best = int(np.argmin(l1[columns] / size[places]))
            taken = float(v[columns] @ signed[places]) / signed[places[best]]
            if lower[columns[best]] <= taken <= upper[columns[best]]:
                v[columns] = 0.0
                v[columns[best]] = taken
    return v
