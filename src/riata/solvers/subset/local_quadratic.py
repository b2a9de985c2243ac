"""The mean loss (plus ridge) near a point, as a quadratic in the coefficients w, the intercept at its best:

    F(w) ~ const + w'Hw / 2 - h'w,    H = X~' D X~ / sum(s) + diag(l2),    h = H w0 - gradient(w0),

where D holds s_i loss''(y_i, z_i) and X~ is X less its D-weighted means (less nothing where there is no intercept).
For the squared loss this is the loss itself. H is d x d and never computed completely. A search among candidates needs
their products with each other; the rows of H of a support give, exactly and for all d features, the gain of every
change of that support. Either costs one pass for any number of columns. In memory, where a pass is cheap and
multiplying is not, only the rows of supports are computed; from disk, those of all candidates in the pass that adds
them, unless `rows_ahead` is false: where slopes are all that is asked for, no row is held. Where the memory has no room
for the rows of a support they are made for `at_once` columns at a time, a pass each, and not kept.

Other losses are damped, by DAMPING / 2 * mean(D) * var(x_j) (w_j - w0_j)^2 for every feature: rows that a model
predicts with near certainty have hardly any curvature, and the others may be fewer than the features of a support.

Features that are always in are at their best, as the intercept is (`always_in`): H and h are what they leave of the
others', and they themselves are as columns that do not vary, which nobody chooses; nor is a feature chosen that they
explain. So supports here are of the others.

Weights and products here are in units that give H a unit diagonal; `coefficients` converts to those of the data.
"""

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from riata.data.in_memory import InMemory
from riata.kernels.subset import swap_gains
from riata.objective import Problem
from riata.solvers.saved_checks import Shape, check_all_positive, check_array, check_indices, check_set
from riata.solvers.subset.always_in import AlwaysIn
from riata.solvers.subset.local_rows import LocalRows
from riata.solvers.subset.planes import Costs
from riata.solvers.subset.refit import Fitted, least, solved
from riata.solvers.subset.relaxation import Quadratic
from riata.solvers.subset.subset import COLLINEAR, Subset, independent
from riata.threads import one_blas_thread

DAMPING = 1e-8  # less than COLLINEAR, so that equal columns remain collinear
CONSTANT = 1e-12  # a deviation below this share of the mean is rounding
NOTHING = np.empty(0, dtype=np.int64)
NUMBERS, VECTORS = ("b", "loss", "_intercept_step"), ("w", "_shift", "_by_d", "_centre", "_unit", "_diagonal", "h")
ROWS = ("_place", "_rows", "candidates", "_among")
ALWAYS = tuple(field.name for field in fields(AlwaysIn))


class Outlook(NamedTuple):
    """The best weights on a support, and what changes of the support would gain, by the quadratic."""

    weights: np.ndarray  # of its features, in units of the quadratic
    reduction: float  # twice the reduction of the quadratic from w = 0
    gains: np.ndarray  # for every feature outside, twice the reduction by its best swap or addition; -inf inside
    partners: np.ndarray  # the place in the support of the feature that leaves for it; -1 if none has to


def _shapes(arrays: dict[str, np.ndarray], d: int) -> dict[str, tuple[type, Shape]]:
    """The types and shapes of the arrays of a quadratic of d features."""
    n, m = len(arrays["model.candidates"]), len(arrays["model.always.columns"])
    return {
        **dict.fromkeys(NUMBERS, (np.float64, ())), **dict.fromkeys(VECTORS, (np.float64, (d,))),
        "_place": (np.int64, (d,)), "_rows": (np.float64, (None, d)),
        "candidates": (np.int64, (n,)), "_among": (np.float64, (n, n)),
        "always.columns": (np.int64, (m,)), "always.explained": (np.float64, (m, d)),
        "always.root": (np.float64, (m, m)), "always.step": (np.float64, (m,)),
    }  # fmt: skip


class LocalQuadratic:
    """The quadratic at (w, b), with some candidates: one pass, or two in memory."""

    def __init__(
        self,
        problem: Problem,
        w: np.ndarray,
        b: float,
        candidates: np.ndarray = NOTHING,
        rows_ahead: bool | None = None,
        at_once: int | None = None,
    ):
        data, d = problem.data, problem.data.n_features
        self.problem, self.w, self.b = problem, w, b
        self._at_once = at_once
        self._rows_ahead = not data.cheap_passes and at_once is None if rows_ahead is None else rows_ahead
        mean = data.moments.mean
        self._shift = mean if problem.fit_intercept else np.zeros(d)
        self._local = rows = LocalRows(problem.loss, w, b, self._shift)
        support = self.others(np.flatnonzero(w))
        some = not self._rows_ahead and len(candidates) < d
        with_rows, always = NOTHING if some else np.union1d(support, candidates), problem.always_in
        multiplied = np.union1d(with_rows, always)
        large = len(multiplied) == d  # products, which have to be added up
        summed = data.sum_of_products if large and isinstance(data, InMemory) else data.sum
        (loss, total, slope, by_u, by_d, squares), products = summed(lambda chunk: rows.sums(chunk, multiplied))
        n = data.total_weight
        self.loss = float(loss / n)  # at (w, b)
        self._by_d = by_d  # sum of D (x - shift)
        self._centre = by_d / total if problem.fit_intercept else np.zeros(d)
        self._intercept_step = -slope / total if problem.fit_intercept else 0.0
        l2 = np.broadcast_to(np.asarray(problem.cardinality.l2, dtype=np.float64), d)
        variance = (squares - self._centre * by_d) / n
        if not problem.loss.quadratic:
            variance += DAMPING * total / n * data.moments.squares / data.moments.weight
        variance[variance <= (CONSTANT * mean) ** 2] = 0.0
        norm2 = variance + l2
        self._unit = np.sqrt(np.where(norm2 > 0, norm2, 1.0))
        self._diagonal = np.where(norm2 > 0, 1.0, 0.0)
        gradient = (by_u + self._intercept_step * by_d) / n + l2 * w
        self._always = AlwaysIn.none(d)
        if len(always):
            gradient = self._keep_always(always, products[np.searchsorted(multiplied, always)], gradient)
        self._rows = np.empty((0, d))  # of H,
        self._place = np.full(d, -1)  # and each column's place in them (-1: none)
        self._store(with_rows, products[np.searchsorted(multiplied, with_rows)] if len(always) else products)
        self.h = self._times_H(support, (w * self._unit)[support]) - gradient / self._unit
        self.h[always] = 0.0
        self.candidates, self._among = NOTHING, np.empty((0, 0))
        if len(candidates):
            self.add_candidates(candidates)

    def _keep_always(self, always: np.ndarray, products: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Leave the others what those that are always in do not explain, and the gradient that is left of them."""
        rows = self._scaled(always, slice(None), products)
        rows[np.arange(len(always)), always] = self._diagonal[always]
        there = independent(rows[:, always])
        kept, slopes = AlwaysIn.of(always[there], rows[there], gradient / self._unit)
        if self.problem.loss.quadratic:  # elsewhere it is a scale, and only near the loss
            self.loss = max(self.loss - 0.5 * float(slopes @ slopes), 0.0)
        gradient = gradient - self._unit * (slopes @ kept.explained)
        left = self._diagonal - np.einsum("kj,kj->j", kept.explained, kept.explained)
        varies = left > COLLINEAR
        varies[always] = False
        root = np.sqrt(np.where(varies, left, 1.0))
        self._always = kept.in_units(self._unit, np.where(varies, root, np.inf))
        self._unit = np.where(varies, self._unit * root, 1.0)
        self._diagonal = np.where(varies, 1.0, 0.0)
        return np.where(varies, gradient, 0.0)

    def others(self, columns: np.ndarray) -> np.ndarray:
        """Those of these columns that are not always in."""
        always = self.problem.always_in
        return columns if len(always) == 0 else np.setdiff1d(columns, always)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that passes found, for checkpoints."""
        own = {name: np.asarray(getattr(self, name)) for name in (*NUMBERS, *VECTORS, *ROWS)}
        always = {f"always.{name}": getattr(self._always, name) for name in ALWAYS}
        return {f"model.{name}": array for name, array in (own | always).items()}

    @classmethod
    def resumed(cls, problem: Problem, arrays: dict[str, np.ndarray], at_once: int | None = None) -> "LocalQuadratic":
        """The quadratic that had these `arrays`, if they are as a quadratic has them: no pass."""
        model = cls.__new__(cls)
        model.problem, model._at_once = problem, at_once
        model._rows_ahead = not problem.data.cheap_passes and at_once is None
        found = {
            name: check_array(arrays, f"model.{name}", kind, shape)
            for name, (kind, shape) in _shapes(arrays, problem.data.n_features).items()
        }
        for name in (*NUMBERS, *VECTORS, *ROWS):
            setattr(model, name, found[name].copy() if found[name].ndim else found[name].item())
        model._always = AlwaysIn(*(found[f"always.{name}"] for name in ALWAYS))
        model._local = LocalRows(problem.loss, model.w, model.b, model._shift)
        check_all_positive(model._unit, "model._unit")
        check_indices(model._place, "model._place", -1, len(model._rows))
        check_set(model.candidates, "model.candidates", np.arange(len(model.w)))
        return model

    @property
    def n_rows(self) -> int:
        """How many rows of H are in memory."""
        return len(self._rows)

    @property
    def keeps_rows(self) -> bool:
        """Whether the rows of H of a support are kept, once they are made."""
        return self._at_once is None

    @property
    def products(self) -> np.ndarray:
        """H among the candidates."""
        return self._among

    @property
    def unit(self) -> np.ndarray:
        """What coefficients in the units of the data are multiplied by."""
        return self._unit

    @property
    def diagonal(self) -> np.ndarray:
        """That of H: 0 for features that do not vary, and 1 for all others."""
        return self._diagonal

    @property
    def means(self) -> np.ndarray:
        """What is taken off columns, weighted by D; zeros where there is no intercept."""
        return self._shift + self._centre

    @property
    def has_all(self) -> bool:
        """Whether all features that vary are candidates."""
        return bool(np.count_nonzero(self._diagonal[self.candidates]) == np.count_nonzero(self._diagonal))

    @cached_property
    def costs(self) -> Costs:
        """What coefficients pay, in units of the quadratic; columns that do not vary pay enough to stay out."""
        ridge, limit, groups, _ = Costs.of(self.problem)
        limit = limit if self.problem.limit is None else limit * self._unit
        return Costs(np.where(self._diagonal > 0, ridge / self._unit**2, 1.0), limit, groups)

    def among_candidates(self) -> Quadratic:
        """The quadratic of the candidates, its ridge apart; `loss` is that at w = 0, if the quadratic is made there."""
        return self.quadratic_with(self.candidates, self._among.copy())

    def quadratic_with(self, columns: np.ndarray, G: np.ndarray) -> Quadratic:
        """The same for any columns, whose rows of H among themselves are G, which changes."""
        costs, varies = self.costs.among(columns), self._diagonal[columns] > 0
        G[np.diag_indices_from(G)] -= costs.ridge * varies
        return Quadratic(G, np.where(varies, self.h[columns], 0.0), self.loss, costs)

    def pulls(self, support: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Minus the slopes of the loss, without the ridge, of all features: a quick pass if rows of H are missing."""
        pulls = self.h - self._times_H(support, weights)
        pulls[support] += self.costs.ridge[support] * weights
        return np.where(self._diagonal > 0, pulls, 0.0)

    def add_candidates(self, columns: np.ndarray) -> None:
        """Add columns that searches may choose: one pass."""
        everyone = np.append(self.candidates, columns)
        new = self.products_with(columns, everyone)
        known = len(self.candidates)
        among = np.empty((len(everyone), len(everyone)))
        among[:known, :known], among[known:], among[:known, known:] = self._among, new, new[:, :known].T
        np.fill_diagonal(among, self._diagonal[everyone])
        self.candidates, self._among = everyone, among

    def products_with(self, columns: np.ndarray, others: np.ndarray) -> np.ndarray:
        """H between these columns and others, but for its diagonal: one pass."""
        if not self._rows_ahead and np.any(self._place[columns] < 0):
            return self._scaled(columns, others, self._multiplied(columns, others))
        return self._rows_of(columns)[:, others]

    def require(self, columns: np.ndarray) -> None:
        """Compute the rows of H of these columns: one pass, if any is missing."""
        missing = columns[self._place[columns] < 0]
        if len(missing):
            self._store(missing, self._multiplied(missing, None))

    def keep(self, columns: np.ndarray) -> None:
        """Drop all other candidates and their rows."""
        places = np.flatnonzero(np.isin(self.candidates, columns))
        self.candidates, self._among = self.candidates[places], self._among[np.ix_(places, places)]
        kept = columns[self._place[columns] >= 0]
        self._rows = self._rows[self._place[kept]]
        self._place[:] = -1
        self._place[kept] = np.arange(len(kept))

    def search(self, support: np.ndarray, capacity: int, min_gain: float) -> Subset:
        """A search among the candidates, from a support of some of them. Its members are places in `candidates`."""
        search = Subset(self._among, self.h[self.candidates], capacity, min_gain)
        with one_blas_thread():
            search.restart(self.places(support))
        return search

    def places(self, columns: np.ndarray) -> np.ndarray:
        """Where these columns are among the candidates."""
        place = np.full(len(self.w), -1)
        place[self.candidates] = np.arange(len(self.candidates))
        found: np.ndarray = place[columns]
        return found

    def outlook(self, support: np.ndarray, k: int) -> Outlook:
        """The best weights on the support, and the gain of every feature outside: a pass if rows of H are missing."""
        d = len(self.w)
        H = self._among_support(support)
        A, (weights, reduction) = solved(H, np.eye(len(support))), least(H, self.h[support])
        step = d if self._at_once is None or len(support) == 0 else self._at_once
        if step >= d:
            gains, partners = self._swap_gains(support, A, weights, slice(0, d), len(support) < k)
        else:
            gains, partners = np.full(d, -np.inf), np.full(d, -1)
            for start in range(0, d, max(1, step)):
                of = slice(start, min(start + step, d))
                gains[of], partners[of] = self._swap_gains(support, A, weights, of, len(support) < k)
        gains[support] = -np.inf
        return Outlook(weights, reduction, gains, partners)

    def _among_support(self, support: np.ndarray) -> np.ndarray:
        """H among the features of a support: from its rows, from the candidates, or by a pass."""
        if self._at_once is None:
            return self._rows_of(support)[:, support]
        places = self.places(support)
        if np.all(places >= 0):
            among: np.ndarray = self._among[np.ix_(places, places)]
            return among
        among = self._scaled(support, support, self._multiplied(support, support))
        np.fill_diagonal(among, self._diagonal[support])
        return among

    def _swap_gains(
        self, support: np.ndarray, A: np.ndarray, weights: np.ndarray, of: slice, may_grow: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gains of some features, and the places in the support of those that leave for them."""
        if self._at_once is None or len(support) == 0:
            rows = self._rows_of(support)[:, of]
        else:
            columns = None if of.stop - of.start == len(self.w) else np.arange(of.start, of.stop)
            rows = self._scaled(support, of, self._multiplied(support, columns))
        with one_blas_thread():
            W = A @ rows
        c = self.h[of] - weights @ rows
        v = self._diagonal[of] - np.einsum("sj,sj->j", rows, W)
        if may_grow:
            return np.where(v > COLLINEAR, c**2 / np.maximum(v, COLLINEAR), -np.inf), np.full(len(v), -1)
        gains, partners = np.full(len(c), -np.inf), np.zeros(len(c), dtype=np.int64)
        swap_gains(W, A.diagonal().copy(), weights, c, v, COLLINEAR, gains, partners)
        return gains, partners

    def rough_outlook(self, support: np.ndarray, weights: np.ndarray) -> Outlook:
        """An outlook from slopes alone, given the best weights: gains are those of additions, as if the support were
        uncorrelated with the features outside. A quick pass, or none if all rows of H are in memory."""
        c = self.h - self._times_H(support, weights)
        gains = np.where(self._diagonal > 0, c**2, -np.inf)
        gains[support] = -np.inf
        return Outlook(weights, float(weights @ self.h[support]), gains, np.broadcast_to(np.int64(-1), len(c)))

    def best_weights(self, support: np.ndarray) -> np.ndarray:
        """The best weights on a support of candidates, from their products: no pass."""
        return self._least(support)[0]

    def _least(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        places = self.places(support)
        return least(self._among[np.ix_(places, places)], self.h[support])

    def fitted(self, support: np.ndarray) -> Fitted:
        """The best model of a support of candidates, where the quadratic is the loss itself and made at w = 0."""
        weights, reduction = self._least(support)
        w, b = self.coefficients(support, weights)
        whole = np.union1d(support, self.problem.always_in)
        return Fitted(whole, w[whole], b, self.loss - 0.5 * reduction)

    def largest_slopes(self, supports: Sequence[np.ndarray]) -> np.ndarray:
        """For each feature the largest square of its slope, over models with these supports of candidates: one pass.

        That is its gain as an addition, if the features of a support are not correlated with it; -inf in all of them.
        """
        W = np.zeros((len(self.w), len(supports)))
        for column, support in enumerate(supports):
            W[support, column] = self.best_weights(support)
        in_data, rows = W / self._unit[:, None], self._local
        by_z = self.problem.data.sum(lambda chunk: chunk.X.slopes(rows.along(chunk, in_data)))
        by_z -= np.outer(self._shift + self._centre, self._by_d @ in_data)
        products = by_z / self.problem.data.total_weight / self._unit[:, None] + self.costs.ridge[:, None] * W
        products -= self._always.times(W)
        squares = np.where((W != 0) | (self._diagonal == 0)[:, None], -np.inf, (self.h[:, None] - products) ** 2)
        largest: np.ndarray = squares.max(axis=1, initial=-np.inf)
        return largest

    def matching_pursuit(self, k: int, min_gain: float) -> np.ndarray:
        """The support of orthogonal matching pursuit among all features: a pass for every feature."""
        support, weights = NOTHING, np.empty(0)
        while len(support) < k:
            gains = self.rough_outlook(support, weights).gains
            best = int(np.argmax(gains))
            if gains[best] <= min_gain:
                break
            support = np.append(support, best)
            rows = self._rows_of(support)
            weights = solved(rows[:, support], self.h[support])
        return support

    def coefficients(self, support: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, Any]:
        """(w, b) in the units of the data; for columns of weights, a column of w and an entry of b each."""
        w = np.zeros(self._unit.shape + weights.shape[1:])
        w[support] = (weights.T / self._unit[support]).T
        if len(always := self.problem.always_in):
            moved = ((w.T - self.w) * self._unit).T
            w.T[..., always] = self.w[always]
            w.T[..., self._always.columns] += self._always.moved(moved)
        return w, self.b + self._intercept_step - (w.T - self.w) @ (self._centre + self._shift)

    def _rows_of(self, columns: np.ndarray) -> np.ndarray:
        self.require(columns)
        rows: np.ndarray = self._rows[self._place[columns]]
        return rows

    def _times_H(self, support: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """H w, for all d features."""
        product: np.ndarray
        if (self._place[support] >= 0).all():
            product = weights @ self._rows[self._place[support]]
            return product
        w = weights / self._unit[support]
        all_w, rows = np.zeros_like(self.w), self._local
        all_w[support] = w
        by_z = self.problem.data.sum(lambda chunk: chunk.X.centred_slopes(rows.shift, rows.along(chunk, all_w)))
        by_z -= (self._by_d[support] @ w) * self._centre
        product = by_z / self.problem.data.total_weight / self._unit
        product[support] += self.costs.ridge[support] * weights
        if len(self._always):
            product -= self._always.times(all_w * self._unit)
            product[self._diagonal == 0.0] = 0.0
        return product

    def _store(self, columns: np.ndarray, products: np.ndarray) -> None:
        """Append the rows of H of these columns, from their products with all columns."""
        rows = self._scaled(columns, slice(None), products)
        rows[np.arange(len(columns)), columns] = self._diagonal[columns]
        known = len(self._rows)
        self._place[columns] = np.arange(known, known + len(columns))
        self._rows.resize((known + len(columns), rows.shape[1]), refcheck=False)  # a copy of both would be large
        self._rows[known:] = rows

    def _scaled(self, left: np.ndarray, right: np.ndarray | slice, H: np.ndarray) -> np.ndarray:
        """Entries of H, computed in place from products of columns x - shift (left) with columns x (right)."""
        off = (self._shift + self._centre)[right]
        for row, by_d in zip(H, self._by_d[left], strict=True):  # an outer product would be as large as H
            row -= by_d * off
        H /= self.problem.data.total_weight * self._unit[right]
        H /= self._unit[left, None]
        if len(self._always):
            self._always.take_off(H, left, right)
            H[self._diagonal[left] == 0.0] = 0.0
            H[:, self._diagonal[right] == 0.0] = 0.0
        return H

    def _multiplied(self, left: np.ndarray, right: np.ndarray | None) -> np.ndarray:
        """Products of columns `left` with columns `right` (None: all), weighted by D: one pass."""
        rows = self._local
        products: np.ndarray = self.problem.data.sum(lambda chunk: rows.products(chunk, left, right))
        return products
