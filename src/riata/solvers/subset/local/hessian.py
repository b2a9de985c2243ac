"""The Hessian H of a local quadratic (see `local_quadratic`), by as many of its entries as are asked for.

H is d x d and never computed completely: one pass gives its entries between some columns and others, or H w. Rows of H
are kept once they are made. In memory, where a pass is cheap and multiplying is not, only entries that are asked for
are computed; from disk whole rows, in the pass that first needs an entry of them, unless `rows_ahead` is false. Where
the memory has no room for the rows of a support, they are made for `at_once` columns at a time, and not kept.

Entries are in units that give H a unit diagonal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from riata.objective import Problem
from riata.solvers.saved_checks import Shape, check_all_positive, check_array, check_indices
from riata.solvers.subset.local.always_in import AlwaysIn
from riata.solvers.subset.local.local_rows import LocalRows
from riata.solvers.subset.proof.planes import Costs
from riata.solvers.subset.search.subset import COLLINEAR, independent

NOTHING = np.empty(0, dtype=np.int64)
VECTORS = ("by_d", "centre", "unit", "diagonal")
ALWAYS = tuple(one.name for one in fields(AlwaysIn))


@dataclass(eq=False)
class Hessian:
    """H of the features, with the intercept and the features that are always in at their best."""

    problem: Problem
    at: LocalRows  # the point where it is taken
    by_d: np.ndarray  # sum of D (x - shift)
    centre: np.ndarray  # what is taken off columns x - shift, for the intercept
    unit: np.ndarray  # what coefficients in the units of the data are multiplied by
    diagonal: np.ndarray  # that of H: 0 for features that do not vary, and 1 for all others
    always: AlwaysIn
    rows_ahead: bool = False  # whether the first entries of a column bring its whole row
    at_once: int | None = None  # columns for which the rows of a support are made at a time; None: all, and kept
    _rows: np.ndarray = field(init=False)  # that are known,
    _place: np.ndarray = field(init=False)  # and each column's place in them (-1: none)

    def __post_init__(self) -> None:
        d = len(self.unit)
        self._rows, self._place = np.empty((0, d)), np.full(d, -1)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that passes found, for checkpoints."""
        own = {name: getattr(self, name) for name in (*VECTORS, "_rows", "_place")}
        return own | {f"always.{name}": getattr(self.always, name) for name in ALWAYS}

    @classmethod
    def resumed(
        cls, problem: Problem, at: LocalRows, arrays: dict[str, np.ndarray], rows_ahead: bool, at_once: int | None
    ) -> "Hessian":
        """The one that had these `arrays`, if they are as a Hessian has them."""
        d, m = problem.data.n_features, len(arrays["always.columns"])
        shapes: dict[str, tuple[type, Shape]] = {
            **dict.fromkeys(VECTORS, (np.float64, (d,))),
            "_rows": (np.float64, (None, d)), "_place": (np.int64, (d,)),
            "always.columns": (np.int64, (m,)), "always.explained": (np.float64, (m, d)),
            "always.root": (np.float64, (m, m)), "always.step": (np.float64, (m,)),
        }  # fmt: skip
        found = {name: check_array(arrays, name, kind, shape) for name, (kind, shape) in shapes.items()}
        check_all_positive(found["unit"], "unit")
        check_indices(found["_place"], "_place", -1, len(found["_rows"]))
        always = AlwaysIn(*(found[f"always.{name}"] for name in ALWAYS))
        by_d, centre, unit, diagonal = (found[name].copy() for name in VECTORS)
        hessian = cls(problem, at, by_d, centre, unit, diagonal, always, rows_ahead, at_once)
        hessian._rows, hessian._place = found["_rows"].copy(), found["_place"].copy()
        return hessian

    @property
    def n_rows(self) -> int:
        """How many rows of it are in memory."""
        return len(self._rows)

    @property
    def keeps_rows(self) -> bool:
        """Whether the rows of a support are kept, once they are made."""
        return self.at_once is None

    @property
    def means(self) -> np.ndarray:
        """What is taken off columns, weighted by D; zeros where there is no intercept."""
        return self.at.shift + self.centre

    @cached_property
    def ridge(self) -> np.ndarray:
        """What the ridge adds to the diagonal; of columns that do not vary enough for them to stay out."""
        return np.where(self.diagonal > 0, Costs.of(self.problem).ridge / self.unit**2, 1.0)

    def less(
        self, always: np.ndarray, products: np.ndarray, gradient: np.ndarray
    ) -> tuple["Hessian", np.ndarray, float]:
        """What features that are always in leave of H for the others, from their products with all columns.

        Also what is left of the gradient, and by how much their best step lowers the quadratic.
        """
        rows = self._scaled(always, slice(None), products)
        rows[np.arange(len(always)), always] = self.diagonal[always]
        there = independent(rows[:, always])
        kept, slopes = AlwaysIn.of(always[there], rows[there], gradient / self.unit)
        gradient = gradient - self.unit * (slopes @ kept.explained)
        left = self.diagonal - np.einsum("kj,kj->j", kept.explained, kept.explained)
        varies = left > COLLINEAR
        varies[always] = False
        root = np.sqrt(np.where(varies, left, 1.0))
        reduced = replace(
            self,
            unit=np.where(varies, self.unit * root, 1.0),
            diagonal=np.where(varies, 1.0, 0.0),
            always=kept.in_units(self.unit, np.where(varies, root, np.inf)),
        )
        return reduced, np.where(varies, gradient, 0.0), 0.5 * float(slopes @ slopes)

    def rows_of(self, columns: np.ndarray) -> np.ndarray:
        """The rows of these columns: one pass, if any is missing."""
        self.require(columns)
        return self._rows[self._place[columns]]

    def require(self, columns: np.ndarray) -> None:
        """Compute the rows of these columns: one pass, if any is missing."""
        missing = columns[self._place[columns] < 0]
        if len(missing):
            self.store(missing, self._multiplied(missing, None))

    def store(self, columns: np.ndarray, products: np.ndarray) -> None:
        """Keep the rows of these columns, from their products with all columns."""
        rows = self._scaled(columns, slice(None), products)
        rows[np.arange(len(columns)), columns] = self.diagonal[columns]
        known = len(self._rows)
        self._place[columns] = np.arange(known, known + len(columns))
        self._rows.resize((known + len(columns), rows.shape[1]), refcheck=False)  # a copy of both would be large
        self._rows[known:] = rows

    def keep(self, columns: np.ndarray) -> None:
        """Drop the rows of all other columns."""
        kept = columns[self._place[columns] >= 0]
        self._rows = self._rows[self._place[kept]]
        self._place[:] = -1
        self._place[kept] = np.arange(len(kept))

    def between(self, columns: np.ndarray, others: np.ndarray) -> np.ndarray:
        """H between these columns and others, but for its diagonal: one pass."""
        if not self.rows_ahead and np.any(self._place[columns] < 0):
            return self._scaled(columns, others, self._multiplied(columns, others))
        return self.rows_of(columns)[:, others]

    def among(self, support: np.ndarray) -> np.ndarray:
        """H among the features of a support, from its rows or, where none are kept, by a pass."""
        if self.keeps_rows:
            return self.rows_of(support)[:, support]
        among = self._scaled(support, support, self._multiplied(support, support))
        np.fill_diagonal(among, self.diagonal[support])
        return among

    def row_blocks(self, support: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """The rows of a support, for some features at a time and a pass each where they are not kept."""
        d = len(self.unit)
        if self.at_once is None or len(support) == 0:
            yield slice(0, d), self.rows_of(support)
            return
        for start in range(0, d, step := max(1, self.at_once)):
            of = slice(start, min(start + step, d))
            columns = None if of.stop - of.start == d else np.arange(of.start, of.stop)
            yield of, self._scaled(support, of, self._multiplied(support, columns))

    def times(self, support: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """H w, for all d features: one pass, if rows are missing."""
        product: np.ndarray
        if (self._place[support] >= 0).all():
            product = weights @ self._rows[self._place[support]]
            return product
        w = weights / self.unit[support]
        all_w, at = np.zeros(len(self.unit)), self.at
        all_w[support] = w
        by_z = self.problem.data.sum(lambda chunk: chunk.X.centred_slopes(at.shift, at.along(chunk, all_w)))
        by_z -= (self.by_d[support] @ w) * self.centre
        product = by_z / self.problem.data.total_weight / self.unit
        product[support] += self.ridge[support] * weights
        if len(self.always):
            product -= self.always.times(all_w * self.unit)
            product[self.diagonal == 0.0] = 0.0
        return product

    def times_columns(self, W: np.ndarray) -> np.ndarray:
        """H W, for a column of weights of all d features each: one pass."""
        in_data, at = W / self.unit[:, None], self.at
        by_z = self.problem.data.sum(lambda chunk: chunk.X.slopes(at.along(chunk, in_data)))
        by_z -= np.outer(self.means, self.by_d @ in_data)
        products: np.ndarray = by_z / self.problem.data.total_weight / self.unit[:, None] + self.ridge[:, None] * W
        products -= self.always.times(W)
        return products

    def _scaled(self, left: np.ndarray, right: np.ndarray | slice, H: np.ndarray) -> np.ndarray:
        """Entries of H, computed in place from products of columns x - shift (left) with columns x (right)."""
        off = self.means[right]
        for row, by_d in zip(H, self.by_d[left], strict=True):  # an outer product would be as large as H
            row -= by_d * off
        H /= self.problem.data.total_weight * self.unit[right]
        H /= self.unit[left, None]
        if len(self.always):
            self.always.take_off(H, left, right)
            H[self.diagonal[left] == 0.0] = 0.0
            H[:, self.diagonal[right] == 0.0] = 0.0
        return H

    def _multiplied(self, left: np.ndarray, right: np.ndarray | None) -> np.ndarray:
        """Products of columns `left` with columns `right` (None: all), weighted by D: one pass."""
        at = self.at
        return self.problem.data.sum(lambda chunk: at.products(chunk, left, right))


def with_more(products: np.ndarray, new: np.ndarray, diagonal: np.ndarray, room: float = 1.0) -> np.ndarray:
    """H among more columns: `new` are the rows of those that come in, with all before them and with each other.

    It is `products` itself where that has the room, or else a larger one, with room for `room` times as many.
    """
    n = new.shape[1]
    known = n - len(new)
    if n > len(products):
        larger = np.empty((int(room * n),) * 2)
        larger[:known, :known] = products[:known, :known]
        products = larger
    products[known:n, :n], products[:known, known:n] = new, new[:, :known].T
    products[np.arange(known, n), np.arange(known, n)] = diagonal
    return products
