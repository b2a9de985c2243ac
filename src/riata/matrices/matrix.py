"""The operations that passes need of the rows X of a chunk, however they are stored and wherever they are.

| call                              | result                                                                   |
| --------------------------------- | ------------------------------------------------------------------------ |
| `margins(w, b)`                   | x_i . w + b for every row; a column each for columns of w                |
| `slopes(u)`                       | X'u: a number for every feature, or a column each for columns of u       |
| `sums(shift, u, D)`               | sums over rows of u a, D a and D a^2 with a = x - shift, for all columns |
| `columns(numbers, rows)`          | some columns (of a run of rows) as a dense float64 array                 |
| `first_order(loss, y, s, w, b)`   | sums of losses, slopes and conjugates, the two signs of slopes apart     |
| `moments(y, s)`                   | weighted means, squares and products with y of all columns               |
| `products(s, left, right)`        | weighted products of some columns with others, about their means         |
| `column_products(D, shift, ...)`  | weighted products of some columns with others, about a shift             |
| `X[rows]`                         | some rows: a slice (a view), a mask or positions                         |
| `narrowed(numbers)`               | some columns of all rows, stored as X is where that is sparse            |
| `standardised(...)`               | some columns, centred and scaled, beside a constant                      |
| `not_finite()`                    | the first column with an entry that is missing or infinite               |

Rows in memory also offer

| `stacked(others)`                 | these rows and those of others, one after the other                      |
| `unit_rows()`                     | every row divided by its Euclidean norm                                  |
| `row_squares(v)`                  | sum_j v_j x_ij^2 for every row                                           |
| `contiguous()`                    | the same rows, one after the other in memory                             |
| `row_layout`, `column_layout`     | rows, or columns, as compiled sweeps take them                           |
| `toarray()`, `as_csr()`           | all entries as a NumPy array, or a SciPy one                             |
| `parts()`                         | the arrays it is made of, by name                                        |

Arrays over the rows (y, weights, margins, u, D) are where the rows are, such as on a GPU; arrays over the columns are
NumPy's. Sums are made in float64 whatever the type of X: a certificate needs the digits, and they cost nothing, since
passes take as long as the memory takes to read.

`Matrix` implements the passes by functions of the array API. A subclass has to implement margins, slopes, sums, columns
and the selections of rows and columns; it overrides others where it has something faster.
"""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np

from riata.arrays import Array, namespace, to_host
from riata.kernels.rows import Rows
from riata.losses import Loss
from riata.matrices.csr_parts import CsrParts
from riata.matrices.moments import Moments, Products, in_blocks, target_moments
from riata.scipy_later import sparse as sp

BLOCK_BYTES = 1 << 28  # size of the float64 copies of some rows that products are made of
ALL = slice(None)


class Matrix(ABC):
    """Rows of features."""

    shape: tuple[int, int]
    sparse: bool  # whether zeros are not stored
    few: bool = False  # whether array functions over its entries take about as long as compiled loops
    array: Any  # what holds the entries

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in self.parts().values())

    @abstractmethod
    def margins(self, w: np.ndarray, b: Any = 0.0) -> Array:
        """X w + b for a vector w and a number b, or for a matrix w and a number b for each of its columns."""

    def slopes(self, u: Array) -> np.ndarray:
        """X'u, for a vector u over the rows or for columns of them."""
        return self._slopes(u) if u.ndim == 2 else self._slopes(u[:, None])[:, 0]

    @abstractmethod
    def _slopes(self, U: Array) -> np.ndarray:
        """X'U for columns U."""

    @abstractmethod
    def sums(self, shift: np.ndarray, u: Array, curvature: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums over rows of u a, of curvature * a and of curvature * a^2, for every column; a = x - shift."""

    def centred_slopes(self, shift: np.ndarray, u: Array) -> np.ndarray:
        """The first of these sums alone."""
        return self.sums(shift, u, u)[0]

    @abstractmethod
    def columns(self, numbers: np.ndarray, rows: slice = ALL) -> Array:
        """Some columns of a run of rows as a dense float64 array, where the rows are. It may be a view: read only."""

    @abstractmethod
    def __getitem__(self, rows: Any) -> "Matrix":
        """Some rows: a slice, a mask or their positions."""

    @abstractmethod
    def narrowed(self, numbers: np.ndarray) -> "Matrix":
        """The rows with these columns alone."""

    @abstractmethod
    def dense(self, array: Array) -> "Matrix":
        """Rows of a dense array in the same place."""

    def on_host(self) -> "Matrix":
        """The same rows in the memory of the host, with all that can be asked of rows there."""
        return self

    def prepare(self, numbers: np.ndarray) -> None:  # noqa: B027 -- most have no need to
        """Announce margins over these columns: rows on a GPU keep a copy of them that is faster to read."""

    def has_all(self, numbers: np.ndarray) -> bool:
        """Whether these are all columns, in their order."""
        return len(numbers) == self.shape[1] and np.array_equal(numbers, np.arange(self.shape[1]))

    def blocks(self, width: int) -> list[slice]:
        """Slices of rows of which `width` float64 columns take BLOCK_BYTES; an empty one if there is no row."""
        n, step = self.shape[0], max(1, BLOCK_BYTES // (8 * max(1, width)))
        return [slice(i, min(i + step, n)) for i in range(0, max(n, 1), step)]

    def _summed(self, width: int, part: Callable[[slice], Array]) -> np.ndarray:
        """The sum of what `part` gives for blocks of rows, made where the rows are: only the sum is fetched."""
        return to_host(reduce(operator.iadd, map(part, self.blocks(width))))

    def first_order(
        self, loss: Loss, y: Array, weight: Array, w: np.ndarray, b: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Totals and slopes at (w, b), as `riata.kernels.first_order` orders them."""
        z = self.margins(w, b)
        xp = namespace(z)
        with np.errstate(over="ignore", invalid="ignore"):  # a step that went too far is seen by its loss
            f, u = loss.value(y, z), loss.derivative(y, z)
        if loss.code is None:
            loss.check_values(y, z, f)
        nothing = xp.zeros_like(u)
        totals, sides = [xp.sum(weight), weight @ f], []
        for on_this_side in (u > 0.0, u <= 0.0):
            slope = xp.where(on_this_side, weight * u, nothing)
            conjugate = slope * z - xp.where(on_this_side, weight * f, nothing)
            totals += [xp.sum(slope), xp.sum(conjugate)]
            sides.append(slope)
        return to_host(xp.stack(totals)), self.slopes(xp.stack(sides, axis=1)).T

    def moments(self, y: Array, weight: Array) -> Moments:
        """Weighted means and squares about them of all columns and the target, and their products with it."""
        total, y_mean, y_squares = target_moments(y, weight)
        mean = self.slopes(weight) / total
        cross, off, squares = self.sums(mean, weight * (y - y_mean), weight)
        for some in in_blocks(len(mean)):  # in place: of very many columns each copy counts
            mean[some] += off[some] / total
            squares[some] -= np.square(off[some]) / total
        return Moments(total, mean, np.maximum(squares, 0.0, out=squares), cross, y_mean, y_squares)

    def products(self, weight: Array, left: np.ndarray, right: np.ndarray) -> Products:
        """Weighted products of columns `left` with columns `right`; it is half the work where the two are one array."""
        xp = namespace(weight)
        total = float(xp.sum(weight))
        self.prepare(right)
        left_mean = self._means(weight, left, total)
        right_mean = left_mean if left is right else self._means(weight, right, total)

        def about_means(rows: slice) -> Array:
            root = xp.sqrt(weight[rows])[:, None]
            A = root * (self.columns(left, rows) - xp.asarray(left_mean))
            B = A if left is right else root * (self.columns(right, rows) - xp.asarray(right_mean))
            return A.T @ B

        return Products(total, left_mean, right_mean, self._summed(len(left) + len(right), about_means))

    def _means(self, weight: Array, columns: np.ndarray, total: float) -> np.ndarray:
        sums = self._summed(len(columns), lambda rows: weight[rows] @ self.columns(columns, rows))
        return sums / max(total, 1e-300)

    def column_products(
        self, curvature: Array, shift: np.ndarray, left: np.ndarray, right: np.ndarray | None = None
    ) -> np.ndarray:
        """sum_i D_i (x_ic - shift_c) x_ij for columns c of `left` and j of `right` (None is all of them).

        Centring one side is enough to keep the digits, and saves a copy of the other.
        """
        if len(left) == 0:
            return np.zeros((0, self.shape[1] if right is None else len(right)))
        return self._column_products(curvature, shift, left, right)

    def _column_products(
        self, curvature: Array, shift: np.ndarray, left: np.ndarray, right: np.ndarray | None
    ) -> np.ndarray:
        xp = namespace(curvature)
        centre = xp.asarray(shift[left])
        if right is None and self.sparse:  # a sum over the entries of every column, with no block of rows to cut out
            return self.slopes(curvature[:, None] * (self.columns(left) - centre)).T
        others = np.arange(self.shape[1]) if right is None else right

        def products(rows: slice) -> Array:
            A = curvature[rows][:, None] * (self.columns(left, rows) - centre)
            return A.T @ self.columns(others, rows)

        return self._summed(len(left) + len(others), products)

    def stored_in_columns(self) -> np.ndarray:
        """How many entries of every column are stored, where it is known that zeros are not."""
        return np.zeros(self.shape[1], dtype=np.intp)

    def without_rare(self, least: int) -> "Matrix":
        """The rows without the entries of columns with fewer than `least`; as they are where zeros may be stored."""
        return self

    def stored_less(self, shift: np.ndarray) -> "Matrix":
        """The rows less `shift` where entries are stored: right for columns without zeros, or whose shift is 0."""
        raise NotImplementedError  # where `stored_in_columns` counts nothing, there is nothing to shift

    def standardised(self, columns: np.ndarray, mean: np.ndarray, scale: np.ndarray, constant: float) -> "Matrix":
        """Dense rows of (x - mean) / scale for some columns, and a constant."""
        A = self.columns(columns)
        xp = namespace(A)
        A = (A - xp.asarray(mean)) / xp.asarray(scale)
        return self.dense(xp.concat([A, xp.full((self.shape[0], 1), constant, dtype=A.dtype)], axis=1))

    def not_finite(self) -> int | None:
        """The first column with an entry that is missing or infinite, which spoils its sum: one pass."""
        z = self.margins(np.zeros(self.shape[1]))
        sums = self.slopes(namespace(z).ones_like(z))
        wrong = np.flatnonzero(~np.isfinite(sums))
        return int(wrong[0]) if len(wrong) else None

    def stacked(self, others: "Iterable[Matrix]") -> "Matrix":
        """These rows and those of the others, one after the other, which may be made one by one."""
        raise self._on_device()

    def unit_rows(self) -> "Matrix":
        """Every row divided by its Euclidean norm; a row of zeros stays as it is."""
        raise self._on_device()

    def row_squares(self, v: np.ndarray) -> np.ndarray:
        """sum_j v_j x_ij^2 for every row."""
        raise self._on_device()

    def contiguous(self) -> "Matrix":
        """The same rows, one after the other in memory: itself, or a copy."""
        raise self._on_device()

    def row_layout(self, scale: np.ndarray | float = 1.0) -> Rows:
        """Rows as compiled sweeps take them, of columns divided by `scale`."""
        raise self._on_device()

    def column_layout(self) -> Rows:
        """Columns as compiled sweeps take them: the rows of the transposed matrix."""
        raise self._on_device()

    def toarray(self) -> np.ndarray:
        """All entries as a NumPy array, in the precision they have."""
        raise self._on_device()

    def as_csr(self) -> "sp.csr_array":
        """All entries as SciPy's CSR."""
        raise self._on_device()

    def csr_parts(self) -> CsrParts:
        """The arrays of `as_csr`, without SciPy."""
        return CsrParts.of(self.as_csr())

    def parts(self) -> dict[str, np.ndarray]:
        """The arrays that it is made of, by name; `riata.matrices.host.from_parts` puts them together again."""
        raise self._on_device()

    def _on_device(self) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__}: rows on a device are summed there, and not handed out")
