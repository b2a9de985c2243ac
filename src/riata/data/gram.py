"""Second-order statistics of all columns: X'X, X'y and y'y about the means, made in one pass, of d^2 numbers.

They are all that the squared loss needs of the data. Statistics of several sets of rows can be added, those of some
rows subtracted, and `as_data` makes a few summary rows with the same statistics, which every solver takes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from riata.data.chunk import left_over
from riata.data.dataset import Dataset, Run
from riata.data.facts import Facts
from riata.data.folds import Folds, Positions
from riata.data.in_memory import InMemory
from riata.errors import DataError, OptionError
from riata.matrices.moments import Merge, Products, varies
from riata.scipy_later import linalg

BLOCK_ROWS = 2048
COPIES = 6  # temporary arrays of d^2 numbers while statistics are made and turned into rows


@dataclass(frozen=True)
class Gram:
    """Weighted sums of products about the means."""

    weight: float
    mean: np.ndarray
    y_mean: float
    xx: np.ndarray
    xy: np.ndarray
    yy: float
    rows: int = 0
    whole: bool = True  # whether all weights are whole numbers: a row of weight 2 then counts as two

    @property
    def n_counted(self) -> int:
        """How many rows these are for a criterion such as BIC: a row of weight 2 is the same row twice."""
        return round(self.weight) if self.whole else self.rows

    def normal(self, fit_intercept: bool) -> tuple[np.ndarray, np.ndarray, float]:
        """(A, c, q) with mean squared loss = (w'Aw - 2 c'w + q) / 2, at the best intercept or without one."""
        if fit_intercept:
            return self.xx / self.weight, self.xy / self.weight, self.yy / self.weight
        return (
            self.xx / self.weight + np.outer(self.mean, self.mean),
            self.xy / self.weight + self.mean * self.y_mean,
            self.yy / self.weight + self.y_mean**2,
        )

    @property
    def y_varies(self) -> bool:
        """Whether the target takes more than one value."""
        return bool(varies(np.sqrt(max(self.yy, 0.0) / self.weight), self.y_mean))

    def __add__(self, other: "Gram") -> "Gram":
        """The statistics of both sets of rows."""
        return self._merged(other, 1)

    def __sub__(self, other: "Gram") -> "Gram":
        """The statistics of these rows without the other ones, which must be a subset of them."""
        if not 0 < other.weight < self.weight:
            raise DataError("statistics can be taken away from those of more rows only")
        return self._merged(other, -1)

    def _merged(self, other: "Gram", sign: int) -> "Gram":
        if len(self.mean) != len(other.mean):
            raise DataError("these statistics are of different features, and do not go together")
        both = Merge.of(self.weight, other.weight, sign)
        shift, y_shift = other.mean - self.mean, other.y_mean - self.y_mean
        return Gram(
            both.weight,
            self.mean + both.share * shift,
            self.y_mean + both.share * y_shift,
            self.xx + sign * other.xx + both.cross * np.outer(shift, shift),
            self.xy + sign * other.xy + both.cross * shift * y_shift,
            self.yy + sign * other.yy + both.cross * y_shift**2,
            self.rows + sign * other.rows,
            self.whole and other.whole,
        )

    def mean_loss(self, w: np.ndarray, b: Any) -> Any:
        """Half the mean squared error of the margins x . w + b over these rows; an array, where w has several rows."""
        spread = self.yy - 2.0 * w @ self.xy + np.sum((w @ self.xx) * w, axis=-1)
        return 0.5 * (np.maximum(spread, 0.0) / self.weight + (self.y_mean - w @ self.mean - b) ** 2)

    def as_data(self) -> InMemory:
        """A dataset of summary rows: with the squared loss, it gives the same models as the data."""
        X, y, weight = self.as_rows()
        return InMemory(X, y, weight, facts=Facts(X.shape[0], X.shape[1], n_summarised=self.rows))

    def as_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X, y and weights of at most d + 2 rows with these statistics.

        With [xx xy; xy' yy] = R'R and m rows Q R, where Q has orthonormal columns that sum to zero, the rows
        mean + c Q R of equal weight have the means and, for one c, the products.
        """
        R = _centred_root(np.block([[self.xx, self.xy[:, None]], [self.xy[None, :], np.array([[self.yy]])]]))
        m = len(R)
        R *= np.sqrt(m / self.weight)
        return R[:, :-1] + self.mean, R[:, -1] + self.y_mean, np.full(m, self.weight / m)


def gram_bytes(n_features: int, n_folds: int = 1) -> int:
    """The memory that statistics of so many columns need while they are made and used."""
    return 8 * (n_folds + COPIES) * (n_features + 1) ** 2


def check_gram_fits(n_features: int, n_folds: int, memory: int | None) -> None:
    """Refuse statistics (d x d numbers) that exceed the memory budget."""
    need = gram_bytes(n_features, n_folds)
    if memory is not None and need > memory:
        what = f"{n_features} features" + (f" in {n_folds} folds" if n_folds > 1 else "")
        raise OptionError(
            f"the statistics of {what} need {need / 1e6:.0f} MB, more than the budget of {memory / 1e6:.0f} MB; give "
            "it more memory, or rows that can be read again: solver 'exact' then needs those of a few features only"
        )


def gram_of(data: Dataset, memory: int | None = None) -> Gram:
    """The statistics of a dataset: one pass, which works for single-pass data, too."""
    return grams_of(data, None, memory)[0]


def grams_of(data: Dataset, folds: Folds | None, memory: int | None = None) -> list[Gram]:
    """The statistics of the rows of every code of folds, or else of all rows: one pass."""
    n_codes, code_of = (1, None) if folds is None else (folds.plan.n_codes, folds.code_of)
    check_gram_fits(data.n_features, n_codes, memory)
    return list(data.sum_runs(lambda run: _grams_of_run(run, n_codes, code_of)))


def _grams_of_run(run: Run, n_codes: int, code_of: Positions | None) -> tuple[Gram, ...]:
    """The statistics of the rows of every code in a run of chunks."""
    sums: list[_Sums] = []
    for start, chunk in run:
        if not sums:  # shifting by the means of the first chunk, near those of all rows, avoids cancellation
            shift = np.append(chunk.X.slopes(chunk.weight), chunk.weight @ left_over(chunk)) / chunk.weight.sum()
            sums = [_Sums(shift) for _ in range(n_codes)]
        for i in range(0, chunk.n_rows, BLOCK_ROWS):
            rows = chunk.rows(slice(i, i + BLOCK_ROWS))
            X, y, weight = rows.X, left_over(rows), rows.weight
            A = np.column_stack([X.toarray(), y]).astype(np.float64) - shift
            if code_of is None:
                sums[0].add(A, weight)
                continue
            codes = code_of(np.arange(start + i, start + i + len(y)))
            for code, its_sums in enumerate(sums):
                its_sums.add(A[codes == code], weight[codes == code])
    if not sums:
        raise DataError("there are no rows to learn from")
    return tuple(its_sums.about_means() for its_sums in sums)


class _Sums:
    """Weighted sums of rows (x, y) - shift, and of their products."""

    def __init__(self, shift: np.ndarray) -> None:
        self._shift, self._products = shift, np.zeros((len(shift), len(shift)))
        self._sums, self._weight, self._rows, self._whole = np.zeros(len(shift)), 0.0, 0, True

    def add(self, A: np.ndarray, weight: np.ndarray) -> None:
        """Add rows A, from which the shift has been subtracted."""
        self._sums += weight @ A
        self._weight += weight.sum()
        self._rows += len(weight)
        self._whole = self._whole and are_whole(weight)
        A = A * np.sqrt(weight)[:, None]
        self._products += A.T @ A

    def about_means(self) -> Gram:
        found = Products.from_sums(self._weight, self._sums, self._sums, self._products)
        mean, products = self._shift + found.left_mean, found.about_means
        return Gram(
            self._weight, mean[:-1], mean[-1], products[:-1, :-1], products[:-1, -1], products[-1, -1], self._rows,
            self._whole,
        )  # fmt: skip


def are_whole(weight: np.ndarray) -> bool:
    """Whether all weights are whole numbers."""
    return bool(np.all(weight == np.rint(weight)))


def _centred_root(A: np.ndarray) -> np.ndarray:
    """R with R'R = A whose rows sum to zero, for a positive semidefinite matrix A."""
    sizes = np.sqrt(np.maximum(np.diag(A), 0.0))
    unit = np.where(sizes > 0, sizes, 1.0)
    # pivoted Cholesky decomposition, columns scaled to unit norm
    U, pivots, rank, _ = linalg.lapack.dpstrf(A / np.outer(unit, unit))
    R = np.zeros((max(rank, 1) + 1, len(A)))
    R[1 : rank + 1, pivots - 1] = np.triu(U)[:rank]
    R *= sizes
    # the Householder reflection that maps the first unit vector, to which R is orthogonal, to one of equal entries
    v = np.full(len(R), -1.0 / np.sqrt(len(R)))
    v[0] += 1.0
    return R - np.outer(v, (2.0 / (v @ v)) * (v @ R))
