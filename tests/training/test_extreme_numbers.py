"""Numbers of any size: the slope that exact arithmetic finds, or a sentence, and never a silent zero."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import riata
from riata.errors import RiataError

UNITS = [1e-300, 1e-160, 1e-130, 1e-20, 1.0, 1e20, 1e130, 1e300]


def exact_slope(x, y, weight):
    """Of the weighted least-squares line, in rational numbers."""
    x, y, weight = ([Fraction(float(value)) for value in values] for values in (x, y, weight))
    total = sum(weight)
    x_mean, y_mean = (sum(w * v for w, v in zip(weight, values, strict=True)) / total for values in (x, y))
    rows = list(zip(weight, x, y, strict=True))
    return sum(w * (a - x_mean) * (b - y_mean) for w, a, b in rows) / sum(w * (a - x_mean) ** 2 for w, a, _ in rows)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("unit", UNITS)
def test_the_slope_is_right_or_refused(unit, rng):
    answered = 0
    for offset, y_unit, w_unit in product([0.0, 1e6], [1e-300, 1e-100, 1.0, 1e100, 1e300], [1e-300, 1.0, 1e300]):
        x = rng.normal(size=9) + offset
        y = (x - offset + rng.normal(size=9)) * y_unit
        x, weight = x * unit, rng.uniform(0.5, 2.0, 9) * w_unit
        if not np.isfinite(x).all():
            continue
        try:
            found = riata.SparseRegressor(k=1).fit(x[:, None], y, sample_weight=weight).coef_[0]
        except RiataError:
            continue
        answered += 1
        expected = exact_slope(x, y, weight)
        assert abs(Fraction(float(found)) - expected) <= abs(expected) * Fraction(1, 10**8), (offset, y_unit, w_unit)
    assert answered > 0 or not 1e-100 < unit < 1e100
