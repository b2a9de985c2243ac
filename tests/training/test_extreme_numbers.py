"""Numbers of any size: the slope that exact arithmetic finds, or a sentence, and never a silent zero."""

import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import riata
from naive_extreme import DIGITS, Exactly
from riata.errors import DataError, RiataError

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


COLUMNS = {
    "plain": lambda rng, x, first: x,
    "unit": lambda rng, x, first: x * 10.0 ** rng.integers(-139, 139),
    "offset": lambda rng, x, first: x + rng.choice([1e3, 1e8, 1e12, 1e15, -1e15]),
    "constant": lambda rng, x, first: np.full(len(x), rng.choice([1.0, 0.1, 1e15, -1e-300, 1e30])),
    "twin": lambda rng, x, first: first,
    "near twin": lambda rng, x, first: first * (1.0 + 1e-9 * rng.normal(size=len(x))),
    "empty": lambda rng, x, first: 0.0 * x,
    "outlier": lambda rng, x, first: x * np.append(1e8, np.ones(len(x) - 1)),
    "subnormal": lambda rng, x, first: x * 5e-320,
}
TARGETS = {
    "plain": lambda rng, y: y,
    "unit": lambda rng, y: y * 10.0 ** rng.integers(-135, 135),
    "offset": lambda rng, y: y + rng.choice([1e3, 1e6, 1e9, 1e10]),
}
WEIGHTS = {
    "none": lambda rng, n: None,
    "plain": lambda rng, n: rng.uniform(0.5, 2.0, n),
    "unit": lambda rng, n: rng.uniform(0.5, 2.0, n) * 10.0 ** rng.integers(-24, 24),
    "wide": lambda rng, n: 10.0 ** rng.uniform(-12.0, 0.0, n),
}
TYPES = [np.float64] * 4 + [np.float32, np.float16, np.int8, np.uint8, np.int32, np.int64, np.uint64]


def extreme(rng):
    """(X, y, weight) of a few rows, each column of another kind, and what they are."""
    n, d = int(rng.choice([1, 2, 3, 5, 9, 14])), int(rng.integers(1, 4))
    kinds, dtype = rng.choice(list(COLUMNS), d), np.dtype(rng.choice(TYPES))
    raw = rng.normal(size=(d, n))
    with np.errstate(all="ignore"):
        X = np.column_stack([COLUMNS[kind](rng, x, raw[0]) for kind, x in zip(kinds, raw, strict=True)])
        if dtype.kind != "f":
            ends = np.iinfo(dtype)
            X = np.clip(np.nan_to_num(10.0 * X), max(ends.min, -(2**62)), min(ends.max, 2**62))
        X = X.astype(dtype)
        seen = X.astype(np.float64) - X[0].astype(np.float64)
        size = np.abs(seen).max(axis=0)
        y = np.where(size > 0, seen / np.where(size > 0, size, 1.0), 0.0) @ rng.normal(size=d)
    y = np.nan_to_num(y) + rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=n)
    target, weights = rng.choice(list(TARGETS)), rng.choice(list(WEIGHTS))
    about = f"{n} x {list(kinds)} of {dtype}, target {target}, weights {weights}"
    return X, TARGETS[target](rng, y), WEIGHTS[weights](rng, n), about


def outcome(X, y, weight, k):
    """How far the objective is above the least, in units of the empty model's; None where the fit is refused.

    A note may say that predictions lose digits, or that a fit did not converge: then the intercept is not looked at.
    """
    asked = {"k": k} if k else {"alpha_ratio": 0.1}
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            model = riata.SparseRegressor(tol=1e-10, **asked).fit(X, y, sample_weight=weight)
        except RiataError:
            return None
    exactly = Exactly(X, y, np.ones(len(y)) if weight is None else weight)
    with localcontext(prec=DIGITS):
        w, alpha = [Decimal(float(value)) for value in model.coef_], Decimal("0.1") * exactly.alpha_max
        best_b = exactly.mean - sum(mean * value for mean, value in zip(exactly.means, w, strict=True))
        off = Decimal(0) if notes else Decimal(float(model.intercept_)) - best_b
        found = exactly.loss(w, off) if k else exactly.lasso(w, alpha, off)
        least = exactly.best_of(min(k, X.shape[1])) if k else exactly.best_lasso(alpha)
        return float((found - least) / (exactly.variance / 2))


@pytest.mark.parametrize("part", range(5))
def test_extreme_fits_are_right_or_refused(part):
    """Against 120 digits: a silent answer that is not the best is a failure."""
    answered = 0
    for case in range(100 * part, 100 * part + 100):
        rng = np.random.default_rng([14, case])
        X, y, weight, about = extreme(rng)
        if not np.isfinite(X.astype(np.float64)).all():
            continue
        gap = outcome(X, y, weight, int(rng.integers(0, min(X.shape[1], 2) + 1)))
        answered += gap is not None
        assert gap is None or gap < 1e-6, (case, about)
    assert answered > 40


@pytest.mark.parametrize("constant", [1e18, 1e30, 1e100, -1e30])
@pytest.mark.parametrize("n", [5, 50])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("standardize", [True, False])
def test_a_large_constant_leaves_the_other_columns_alone(constant, n, stored, standardize, rng):
    """The slope of a constant is rounding, of its size: it passed for a pull, and left the model empty."""
    x = rng.normal(size=(n, 2))
    y = x[:, 0] + 0.1 * rng.normal(size=n)
    beside = stored(np.column_stack([x, np.full(n, constant)]))
    tasks = [(riata.SparseRegressor, y), (riata.SparseClassifier, y > np.median(y))]
    for (kind, of), asked in product(tasks, ({"alpha_ratio": 0.1}, {"alpha": 0.05})):
        estimator = kind(tol=1e-10, standardize=standardize, **asked)
        without = estimator.fit(stored(x), of).coef_.ravel()
        np.testing.assert_allclose(estimator.fit(beside, of).coef_.ravel(), [*without, 0.0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("weight", [1.0, 1e-20])
def test_columns_of_vanishing_numbers_are_refused(weight, rng, tmp_path):
    x = rng.normal(size=(40, 2)) * [1.0, 1e-300]
    y, weights = x[:, 0] + rng.normal(size=40), np.full(40, weight)
    with pytest.raises(DataError, match="another unit"):
        riata.SparseRegressor(alpha_ratio=0.1).fit(x, y, sample_weight=weights)
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([x, y, weights]), delimiter=",", header="a,b,y,w", comments="")
    with pytest.raises(DataError, match=r"column 'b' in .*rows.csv holds no number beyond 1e-280: .* another unit"):
        riata.open(str(path), target="y", weight="w")
