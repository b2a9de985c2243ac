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

from functools import cached_property
from typing import Any

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import Problem, empty_intercept
from riata.solvers.saved_checks import Shape, check_array, check_set
from riata.solvers.subset.local.always_in import AlwaysIn
from riata.solvers.subset.local.hessian import NOTHING, Hessian, with_more
from riata.solvers.subset.local.local_rows import LocalRows, SecondOrderSums
from riata.solvers.subset.local.refit import Fitted, least
from riata.solvers.subset.proof.planes import Costs
from riata.solvers.subset.proof.relaxation import Quadratic
from riata.solvers.subset.search.subset import Subset
from riata.solvers.subset.search.swap_outlook import Outlook, swap_outlook
from riata.threads import one_blas_thread

DAMPING = 1e-8  # less than COLLINEAR, so that equal columns remain collinear
CONSTANT = 1e-12  # a deviation below this share of the mean is rounding
NO_PRODUCTS = np.empty((0, 0))
MODEL, HESSIAN = "model.", "hessian."  # what names of arrays in checkpoints begin with


def second_order_sums(problem: Problem, point: LocalRows, columns: np.ndarray) -> tuple[SecondOrderSums, np.ndarray]:
    """The sums of all rows at a point, and the products of some columns with all: one pass."""
    data = problem.data
    large = len(columns) == data.n_features  # products, which have to be added up
    summed = data.sum_of_products if large and isinstance(data, InMemory) else data.sum
    return summed(lambda chunk: point.sums(chunk, columns))


def _hessian(
    problem: Problem, point: LocalRows, sums: SecondOrderSums, rows_ahead: bool, at_once: int | None
) -> Hessian:
    """H at a point, in units that give it a unit diagonal; features that are always in are still as all others."""
    data, n, d = problem.data, problem.data.total_weight, problem.data.n_features
    centre = sums.by_d / sums.curvature if problem.fit_intercept else np.zeros(d)
    variance = (sums.squares - centre * sums.by_d) / n
    if not problem.loss.quadratic:
        variance += DAMPING * sums.curvature / n * data.moments.squares / data.moments.weight
    variance[variance <= (CONSTANT * data.moments.mean) ** 2] = 0.0
    norm2 = variance + problem.cardinality.l2
    unit, diagonal = np.sqrt(np.where(norm2 > 0, norm2, 1.0)), np.where(norm2 > 0, 1.0, 0.0)
    return Hessian(problem, point, sums.by_d, centre, unit, diagonal, AlwaysIn.none(d), rows_ahead, at_once)


def _others(problem: Problem, columns: np.ndarray) -> np.ndarray:
    """The columns, of these, that are not always in."""
    always = problem.always_in
    return columns if len(always) == 0 else np.setdiff1d(columns, always)


def _rows_ahead(problem: Problem, at_once: int | None) -> bool:
    """Whether rows of H are made as a whole by default: from disk, where there is room for them."""
    return not problem.data.cheap_passes and at_once is None


class LocalQuadratic:
    """The quadratic at a point, with some candidates."""

    def __init__(
        self,
        problem: Problem,
        hessian: Hessian,
        h: np.ndarray,
        loss: float,
        intercept_step: float,
        candidates: np.ndarray = NOTHING,
        products: np.ndarray = NO_PRODUCTS,
    ):
        self.problem, self.hessian, self.h = problem, hessian, h
        self.loss = loss  # at the point
        self._intercept_step = intercept_step
        self.candidates, self.products = candidates, products  # those of H among the candidates

    @classmethod
    def at(
        cls,
        problem: Problem,
        w: np.ndarray,
        b: float,
        candidates: np.ndarray = NOTHING,
        rows_ahead: bool | None = None,
        at_once: int | None = None,
    ) -> "LocalQuadratic":
        """The quadratic at (w, b), with some candidates: one pass, or two in memory."""
        d, always, support = problem.data.n_features, problem.always_in, _others(problem, np.flatnonzero(w))
        rows_ahead = _rows_ahead(problem, at_once) if rows_ahead is None else rows_ahead
        some = not rows_ahead and len(candidates) < d
        with_rows = NOTHING if some else np.union1d(support, candidates)
        multiplied = np.union1d(with_rows, always)
        point = LocalRows(problem.loss, w, b, problem.data.moments.mean if problem.fit_intercept else np.zeros(d))
        sums, products = second_order_sums(problem, point, multiplied)
        intercept_step = -sums.slope / sums.curvature if problem.fit_intercept else 0.0
        hessian = _hessian(problem, point, sums, rows_ahead, at_once)
        n, l2 = problem.data.total_weight, np.asarray(problem.cardinality.l2, dtype=np.float64)
        loss, gradient = float(sums.loss / n), (sums.by_u + intercept_step * sums.by_d) / n + l2 * w
        if len(always):
            own = products[np.searchsorted(multiplied, always)]
            hessian, gradient, gain = hessian.less(always, own, gradient)
            products = products[np.searchsorted(multiplied, with_rows)]
            if problem.loss.quadratic:  # elsewhere it is a scale, and only near the loss
                loss = max(loss - gain, 0.0)
        hessian.store(with_rows, products)
        h = hessian.times(support, (w * hessian.unit)[support]) - gradient / hessian.unit
        h[always] = 0.0
        model = cls(problem, hessian, h, loss, intercept_step)
        if len(candidates):
            model.add_candidates(candidates)
        return model

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All that passes found, for checkpoints."""
        at, numbers = self.hessian.at, {"b": self.b, "loss": self.loss, "intercept_step": self._intercept_step}
        own = {name: np.asarray(value) for name, value in numbers.items()}
        own |= {"w": at.w, "shift": at.shift, "h": self.h, "candidates": self.candidates, "products": self.products}
        own |= {HESSIAN + name: array for name, array in self.hessian.arrays.items()}
        return {MODEL + name: array for name, array in own.items()}

    @classmethod
    def resumed(cls, problem: Problem, arrays: dict[str, np.ndarray], at_once: int | None = None) -> "LocalQuadratic":
        """The quadratic that had these `arrays`, if they are as a quadratic has them: no pass."""
        d, n = problem.data.n_features, len(arrays[MODEL + "candidates"])
        shapes: dict[str, tuple[type, Shape]] = {
            **dict.fromkeys(("b", "loss", "intercept_step"), (np.float64, ())),
            **dict.fromkeys(("w", "h", "shift"), (np.float64, (d,))),
            "candidates": (np.int64, (n,)), "products": (np.float64, (n, n)),
        }  # fmt: skip
        found = {name: check_array(arrays, MODEL + name, kind, shape).copy() for name, (kind, shape) in shapes.items()}
        check_set(found["candidates"], MODEL + "candidates", np.arange(d))
        b, loss, intercept_step = (found[name].item() for name in ("b", "loss", "intercept_step"))
        point = LocalRows(problem.loss, found["w"], b, found["shift"])
        of_hessian = {name.removeprefix(MODEL + HESSIAN): array for name, array in arrays.items()}
        hessian = Hessian.resumed(problem, point, of_hessian, _rows_ahead(problem, at_once), at_once)
        return cls(problem, hessian, found["h"], loss, intercept_step, found["candidates"], found["products"])

    @property
    def w(self) -> np.ndarray:
        """The coefficients of the point."""
        return self.hessian.at.w

    @property
    def b(self) -> float:
        """The intercept of the point."""
        return self.hessian.at.b

    def others(self, columns: np.ndarray) -> np.ndarray:
        """The columns, of these, that are not always in."""
        return _others(self.problem, columns)

    @property
    def unit(self) -> np.ndarray:
        """What coefficients in the units of the data are multiplied by."""
        return self.hessian.unit

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of H: 0 for features that do not vary, and 1 for all others."""
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
        return self.quadratic_with(self.candidates, self.products.copy())

    def quadratic_with(self, columns: np.ndarray, G: np.ndarray) -> Quadratic:
        """The quadratic of any columns, whose rows of H among themselves are G; G is changed."""
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
        self.candidates, self.products = everyone, with_more(self.products, new, self.diagonal[columns])

    def keep(self, columns: np.ndarray) -> None:
        """Drop all other candidates and their rows."""
        places = np.flatnonzero(np.isin(self.candidates, columns))
        self.candidates, self.products = self.candidates[places], self.products[np.ix_(places, places)]
        self.hessian.keep(columns)

    def search(self, support: np.ndarray, capacity: int, min_gain: float) -> Subset:
        """A search among the candidates, from a support of some of them. Its members are places in `candidates`."""
        search = Subset(self.products, self.h[self.candidates], capacity, min_gain)
        with one_blas_thread():
            search.restart(self.places(support))
        return search

    def places(self, columns: np.ndarray) -> np.ndarray:
        """Where these columns are among the candidates."""
        place = np.full(len(self.w), -1)
        place[self.candidates] = np.arange(len(self.candidates))
        return place[columns]

    def outlook(self, support: np.ndarray, k: int) -> Outlook:
        """The best weights on the support, and the gain of every feature outside: a pass if rows of H are missing."""
        return swap_outlook(self.hessian, self.h, support, self._among_support(support), len(support) < k)

    def _among_support(self, support: np.ndarray) -> np.ndarray:
        """H among the features of a support; no pass where its rows are not kept and all are candidates."""
        places = self.places(support)
        if not self.hessian.keeps_rows and np.all(places >= 0):
            return self.products[np.ix_(places, places)]
        return self.hessian.among(support)

    def best_weights(self, support: np.ndarray) -> np.ndarray:
        """The best weights on a support of candidates, from their products: no pass."""
        return self._least(support)[0]

    def _least(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        places = self.places(support)
        return least(self.products[np.ix_(places, places)], self.h[support])

    def fitted(self, support: np.ndarray) -> Fitted:
        """The best model of a support of candidates, where the quadratic is the loss itself and made at w = 0."""
        weights, reduction = self._least(support)
        w, b = self.coefficients(support, weights)
        whole = np.union1d(support, self.problem.always_in)
        return Fitted(whole, w[whole], b, self.loss - 0.5 * reduction)

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
    return LocalQuadratic.at(problem, np.zeros(d), empty_intercept(problem), np.arange(d))
