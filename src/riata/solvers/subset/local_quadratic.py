"""The mean loss (plus ridge) near a point, as a quadratic in the coefficients w, the intercept at its best:

    F(w) ~ const + w'Hw / 2 - h'w,    H = X~' D X~ / sum(s) + diag(l2),    h = H w0 - gradient(w0),

where D holds s_i loss''(y_i, z_i) and X~ is X less its D-weighted means (less nothing where there is no intercept).
For the squared loss this is the loss itself. A search among candidates needs their products with each other; the rows
of H of a support give, exactly and for all d features, the gain of every change of that support. Either costs one pass
for any number of columns (`hessian`).

Other losses are damped, by DAMPING / 2 * mean(D) * var(x_j) (w_j - w0_j)^2 for every feature: rows that a model
predicts with near certainty have hardly any curvature, and the others may be fewer than the features of a support.

Features that are always in are at their best, as the intercept is (`always_in`): H and h are what they leave of the
others', and they themselves are as columns that do not vary, which nobody chooses; nor is a feature chosen that they
explain. So supports here are of the others.

Weights and products here are in units that give H a unit diagonal; `coefficients` converts to those of the data.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from riata.data.in_memory import InMemory
from riata.kernels.subset import swap_gains
from riata.objective import Problem, empty_intercept
from riata.solvers.saved_checks import Shape, check_array, check_set
from riata.solvers.subset.always_in import AlwaysIn
from riata.solvers.subset.hessian import Hessian
from riata.solvers.subset.local_rows import LocalRows
from riata.solvers.subset.planes import Costs
from riata.solvers.subset.refit import Fitted, least, solved
from riata.solvers.subset.relaxation import Quadratic
from riata.solvers.subset.subset import COLLINEAR, Subset
from riata.threads import one_blas_thread

DAMPING = 1e-8  # less than COLLINEAR, so that equal columns remain collinear
CONSTANT = 1e-12  # a deviation below this share of the mean is rounding
NOTHING = np.empty(0, dtype=np.int64)
SAVED = ("w", "b", "loss", "_intercept_step", "h", "candidates", "_among")
MODEL, HESSIAN = "model.", "hessian."  # what names of arrays in checkpoints begin with


class Outlook(NamedTuple):
    """The best weights on a support, and what changes of the support would gain, by the quadratic."""

    weights: np.ndarray  # of its features, in units of the quadratic
    reduction: float  # twice the reduction of the quadratic from w = 0
    gains: np.ndarray  # for every feature outside, twice the reduction by its best swap or addition; -inf inside
    partners: np.ndarray  # the place in the support of the feature that leaves for it; -1 if none has to


def _rows_ahead(problem: Problem, at_once: int | None) -> bool:
    """Whether rows of H are made as a whole by default: from disk, where there is room for them."""
    return not problem.data.cheap_passes and at_once is None


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
        rows_ahead = _rows_ahead(problem, at_once) if rows_ahead is None else rows_ahead
        shift = data.moments.mean if problem.fit_intercept else np.zeros(d)
        at = LocalRows(problem.loss, w, b, shift)
        support = self.others(np.flatnonzero(w))
        some = not rows_ahead and len(candidates) < d
        with_rows, always = NOTHING if some else np.union1d(support, candidates), problem.always_in
        multiplied = np.union1d(with_rows, always)
        large = len(multiplied) == d  # products, which have to be added up
        summed = data.sum_of_products if large and isinstance(data, InMemory) else data.sum
        (loss, total, slope, by_u, by_d, squares), products = summed(lambda chunk: at.sums(chunk, multiplied))
        n = data.total_weight
        self.loss = float(loss / n)  # at (w, b)
        self._intercept_step = -slope / total if problem.fit_intercept else 0.0
        centre = by_d / total if problem.fit_intercept else np.zeros(d)
        l2 = np.broadcast_to(np.asarray(problem.cardinality.l2, dtype=np.float64), d)
        variance = (squares - centre * by_d) / n
        if not problem.loss.quadratic:
            variance += DAMPING * total / n * data.moments.squares / data.moments.weight
        variance[variance <= (CONSTANT * data.moments.mean) ** 2] = 0.0
        norm2 = variance + l2
        unit, diagonal = np.sqrt(np.where(norm2 > 0, norm2, 1.0)), np.where(norm2 > 0, 1.0, 0.0)
        gradient = (by_u + self._intercept_step * by_d) / n + l2 * w
        self.hessian = Hessian(problem, at, by_d, centre, unit, diagonal, AlwaysIn.none(d), rows_ahead, at_once)
        if len(always):
            own = products[np.searchsorted(multiplied, always)]
            self.hessian, gradient, gain = self.hessian.less(always, own, gradient)
            products = products[np.searchsorted(multiplied, with_rows)]
            if problem.loss.quadratic:  # elsewhere it is a scale, and only near the loss
                self.loss = max(self.loss - gain, 0.0)
        self.hessian.store(with_rows, products)
        self.h = self.hessian.times(support, (w * self.unit)[support]) - gradient / self.unit
        self.h[always] = 0.0
        self.candidates, self._among = NOTHING, np.empty((0, 0))
        if len(candidates):
            self.add_candidates(candidates)

    def others(self, columns: np.ndarray) -> np.ndarray:
        """Those of these columns that are not always in."""
        always = self.problem.always_in
        return columns if len(always) == 0 else np.setdiff1d(columns, always)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that passes found, for checkpoints."""
        own = {"shift": self.hessian.at.shift} | {name: np.asarray(getattr(self, name)) for name in SAVED}
        own |= {HESSIAN + name: array for name, array in self.hessian.arrays.items()}
        return {MODEL + name: array for name, array in own.items()}

    @classmethod
    def resumed(cls, problem: Problem, arrays: dict[str, np.ndarray], at_once: int | None = None) -> "LocalQuadratic":
        """The quadratic that had these `arrays`, if they are as a quadratic has them: no pass."""
        d, n = problem.data.n_features, len(arrays[MODEL + "candidates"])
        shapes: dict[str, tuple[type, Shape]] = {
            **dict.fromkeys(("b", "loss", "_intercept_step"), (np.float64, ())),
            **dict.fromkeys(("w", "h", "shift"), (np.float64, (d,))),
            "candidates": (np.int64, (n,)), "_among": (np.float64, (n, n)),
        }  # fmt: skip
        found = {name: check_array(arrays, MODEL + name, kind, shape) for name, (kind, shape) in shapes.items()}
        check_set(found["candidates"], MODEL + "candidates", np.arange(d))
        model = cls.__new__(cls)
        model.problem = problem
        for name in SAVED:
            setattr(model, name, found[name].copy() if found[name].ndim else found[name].item())
        at = LocalRows(problem.loss, model.w, model.b, found["shift"].copy())
        of_hessian = {name.removeprefix(MODEL + HESSIAN): array for name, array in arrays.items()}
        model.hessian = Hessian.resumed(problem, at, of_hessian, _rows_ahead(problem, at_once), at_once)
        return model

    @property
    def products(self) -> np.ndarray:
        """H among the candidates."""
        return self._among

    @property
    def unit(self) -> np.ndarray:
        """What coefficients in the units of the data are multiplied by."""
        return self.hessian.unit

    @property
    def diagonal(self) -> np.ndarray:
        """That of H: 0 for features that do not vary, and 1 for all others."""
        return self.hessian.diagonal

    @property
    def has_all(self) -> bool:
        """Whether all features that vary are candidates."""
        return bool(np.count_nonzero(self.diagonal[self.candidates]) == np.count_nonzero(self.diagonal))

    @cached_property
    def costs(self) -> Costs:
        """What coefficients pay, in units of the quadratic."""
        _, limit, groups, _ = Costs.of(self.problem)
        limit = limit if self.problem.limit is None else limit * self.unit
        return Costs(self.hessian.ridge, limit, groups)

    def among_candidates(self) -> Quadratic:
        """The quadratic of the candidates, its ridge apart; `loss` is that at w = 0, if the quadratic is made there."""
        return self.quadratic_with(self.candidates, self._among.copy())

    def quadratic_with(self, columns: np.ndarray, G: np.ndarray) -> Quadratic:
        """The same for any columns, whose rows of H among themselves are G, which changes."""
        costs, varies = self.costs.among(columns), self.diagonal[columns] > 0
        G[np.diag_indices_from(G)] -= costs.ridge * varies
        return Quadratic(G, np.where(varies, self.h[columns], 0.0), self.loss, costs)

    def pulls(self, support: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Minus the slopes of the loss, without the ridge, of all features: a quick pass if rows of H are missing."""
        pulls = self.h - self.hessian.times(support, weights)
        pulls[support] += self.costs.ridge[support] * weights
        return np.where(self.diagonal > 0, pulls, 0.0)

    def add_candidates(self, columns: np.ndarray) -> None:
        """Add columns that searches may choose: one pass."""
        everyone = np.append(self.candidates, columns)
        new = self.hessian.between(columns, everyone)
        known = len(self.candidates)
        among = np.empty((len(everyone), len(everyone)))
        among[:known, :known], among[known:], among[:known, known:] = self._among, new, new[:, :known].T
        np.fill_diagonal(among, self.diagonal[everyone])
        self.candidates, self._among = everyone, among

    def keep(self, columns: np.ndarray) -> None:
        """Drop all other candidates and their rows."""
        places = np.flatnonzero(np.isin(self.candidates, columns))
        self.candidates, self._among = self.candidates[places], self._among[np.ix_(places, places)]
        self.hessian.keep(columns)

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
        H = self._among_support(support)
        A, (weights, reduction) = solved(H, np.eye(len(support))), least(H, self.h[support])
        gains, partners = np.full(len(self.w), -np.inf), np.full(len(self.w), -1)
        for of, rows in self.hessian.row_blocks(support):
            gains[of], partners[of] = self._swap_gains(A, weights, rows, of, len(support) < k)
        gains[support] = -np.inf
        return Outlook(weights, reduction, gains, partners)

    def _among_support(self, support: np.ndarray) -> np.ndarray:
        """H among the features of a support; no pass where its rows are not kept and all are candidates."""
        places = self.places(support)
        if not self.hessian.keeps_rows and np.all(places >= 0):
            among: np.ndarray = self._among[np.ix_(places, places)]
            return among
        return self.hessian.among(support)

    def _swap_gains(
        self, A: np.ndarray, weights: np.ndarray, rows: np.ndarray, of: slice, may_grow: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gains of some features, and the places in the support of those that leave for them.

        `rows` are the rows of H of the support for these features, and A is the inverse of H among the support.
        """
        with one_blas_thread():
            W = A @ rows
        c = self.h[of] - weights @ rows
        v = self.diagonal[of] - np.einsum("sj,sj->j", rows, W)
        if may_grow:
            return np.where(v > COLLINEAR, c**2 / np.maximum(v, COLLINEAR), -np.inf), np.full(len(v), -1)
        gains, partners = np.full(len(c), -np.inf), np.zeros(len(c), dtype=np.int64)
        swap_gains(W, A.diagonal().copy(), weights, c, v, COLLINEAR, gains, partners)
        return gains, partners

    def rough_outlook(self, support: np.ndarray, weights: np.ndarray) -> Outlook:
        """An outlook from slopes alone, given the best weights: gains are those of additions, as if the support were
        uncorrelated with the features outside. A quick pass, or none if all rows of H are in memory."""
        c = self.h - self.hessian.times(support, weights)
        gains = np.where(self.diagonal > 0, c**2, -np.inf)
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
        products = self.hessian.times_columns(W)
        squares = np.where((W != 0) | (self.diagonal == 0)[:, None], -np.inf, (self.h[:, None] - products) ** 2)
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
            weights = solved(self.hessian.rows_of(support)[:, support], self.h[support])
        return support

    def coefficients(self, support: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, Any]:
        """(w, b) in the units of the data; for columns of weights, a column of w and an entry of b each."""
        w = np.zeros(self.unit.shape + weights.shape[1:])
        w[support] = (weights.T / self.unit[support]).T
        if len(always := self.problem.always_in):
            moved = ((w.T - self.w) * self.unit).T
            w.T[..., always] = self.w[always]
            w.T[..., self.hessian.always.columns] += self.hessian.always.moved(moved)
        return w, self.b + self._intercept_step - (w.T - self.w) @ self.hessian.means


def products_of(problem: Problem) -> LocalQuadratic:
    """The quadratic at the empty model, with all columns for candidates."""
    d = problem.data.n_features
    return LocalQuadratic(problem, np.zeros(d), empty_intercept(problem), np.arange(d))
