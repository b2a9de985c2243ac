"""Small least-squares problems, of a Lasso or of k features, in numbers of 120 digits: no size of theirs is extreme."""

from collections.abc import Iterator
from decimal import Decimal, localcontext
from itertools import combinations, product

import numpy as np

DIGITS = 120
TWINS = Decimal("1e-7")  # the share of a column's variance that others leave of it, below which it passes for a twin
Numbers = list[Decimal]


class Exactly:
    """1 / (2 sum weight) sum_i weight_i (y_i - x_i w - b)^2, where b is the best for w, of columns given as floats."""

    def __init__(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray) -> None:
        with localcontext(prec=DIGITS):
            columns = [[_decimal(value) for value in column] for column in X.T]
            target, weights = [_decimal(value) for value in y], [_decimal(value) for value in weight]
            total = sum(weights)
            self.means = [sum(map(_times, weights, column)) / total for column in columns]
            self.mean = sum(map(_times, weights, target)) / total
            centred = [[v - mean for v in column] for column, mean in zip(columns, self.means, strict=True)]
            target = [v - self.mean for v in target]
            shares = [weight / total for weight in weights]
            self.A = [[sum(s * u * v for s, u, v in zip(shares, a, b, strict=True)) for a in centred] for b in centred]
            self.c = [sum(s * u * v for s, u, v in zip(shares, a, target, strict=True)) for a in centred]
            self.variance = sum(s * v * v for s, v in zip(shares, target, strict=True))
            self.scale = [self.A[j][j].sqrt() for j in range(len(columns))]
            self.alpha_max = max((abs(c) / s for c, s in zip(self.c, self.scale, strict=True) if s), default=Decimal(0))

    def loss(self, w: Numbers, off: Decimal = Decimal(0)) -> Decimal:
        """The mean loss, where the intercept is so far off the best."""
        with localcontext(prec=DIGITS):
            quadratic = sum(a * u * v for row, u in zip(self.A, w, strict=True) for a, v in zip(row, w, strict=True))
            return (self.variance - 2 * sum(map(_times, self.c, w)) + quadratic + off * off) / 2

    def lasso(self, w: Numbers, alpha: Decimal, off: Decimal = Decimal(0)) -> Decimal:
        """The loss and the penalty of standardised columns."""
        with localcontext(prec=DIGITS):
            return self.loss(w, off) + alpha * sum(s * abs(v) for s, v in zip(self.scale, w, strict=True))

    def best_lasso(self, alpha: Decimal) -> Decimal:
        """The least value: that of the best stationary point of all patterns of signs."""
        with localcontext(prec=DIGITS):
            found = [Decimal(0)] * len(self.c)
            best = self.lasso(found, alpha)
            for signs in product((-1, 0, 1), repeat=len(self.c)):
                support = [j for j, sign in enumerate(signs) if sign]
                pulled = [self.c[j] - alpha * self.scale[j] * signs[j] for j in support]
                for w in self._solved(support, pulled):
                    best = min(best, self.lasso(w, alpha))
            return best

    def best_of(self, k: int) -> Decimal:
        """The least loss of k features."""
        with localcontext(prec=DIGITS):
            supports = (s for size in range(k + 1) for s in combinations(range(len(self.c)), size))
            return min(self.loss(w) for s in supports for w in self._solved(list(s), [self.c[j] for j in s]))

    def _solved(self, support: list[int], right: Numbers) -> Iterator[Numbers]:
        """The weights on a support with A w = right, by elimination; none where the columns are too near to twins."""
        rows = [[self.A[i][j] for j in support] + [r] for i, r in zip(support, right, strict=True)]
        for i in range(len(rows)):
            pivot = max(
                range(i, len(rows)), key=lambda r: abs(rows[r][i]) / self.scale[support[r]] if rows[r][i] else 0
            )
            rows[i], rows[pivot] = rows[pivot], rows[i]
            support_scale = self.scale[support[i]]
            if not rows[i][i] or abs(rows[i][i]) < support_scale * support_scale * TWINS:
                return
            for r in range(len(rows)):
                if r != i:
                    share = rows[r][i] / rows[i][i]
                    rows[r] = [a - share * b for a, b in zip(rows[r], rows[i], strict=True)]
        w = [Decimal(0)] * len(self.c)
        for i, j in enumerate(support):
            w[j] = rows[i][-1] / rows[i][i]
        yield w


def _times(a: Decimal, b: Decimal) -> Decimal:
    return a * b


def _decimal(value: object) -> Decimal:
    """A number of any type of NumPy, exactly."""
    return Decimal(int(value)) if isinstance(value, np.integer | np.bool_) else Decimal(float(value))  # type: ignore[call-overload,arg-type]
