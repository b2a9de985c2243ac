"""The bound that comes with every fit of at most k features: how much better any other model of them could be.

It is made from planes below the loss (`planes`), at points where the relaxation among the candidates of the search has
its best bound (`relaxation`), with the slopes of all d features there. For the squared loss the search has what that
needs, or all but a pass that costs little in memory. For other losses the relaxation is that of the local quadratic, on
some columns that the search has copied, and one first-order pass gives the slopes of the true loss.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from riata.arrays import at_least
from riata.data.chunk import Chunk
from riata.data.in_memory import InMemory
from riata.objective import Problem, first_order, gap_unit
from riata.outcome.proofs import Bound, GlobalBound, NoBound, SwapOptimal
from riata.solvers.subset.local.hessian import NOTHING
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import Fitted, cut_to
from riata.solvers.subset.proof.deadline import FOREVER, Deadline
from riata.solvers.subset.proof.group_relaxation import relaxed_groups
from riata.solvers.subset.proof.planes import Costs, Plane, tangent, useful_ridge
from riata.solvers.subset.proof.relaxation import Node, Quadratic, diagonal_shift
from riata.solvers.subset.search.subset import MIN_GAIN

SHIFTED = 512  # features: the eigenvalues of more cost too much for a bound that nobody asked for
MOST_CANDIDATES = 1024  # that are added at a time
PRICES, SWEEPS = 8, 12  # a bound that is good to a tenth of its gap
RELAXED = 128  # columns of the relaxation of another loss
NEWTON_STEPS = 2  # of the relaxation of another loss: the first gets most of the bound, a third hardly any
CLOSE = 0.002  # of the objective: a smaller gap may be none, which the plane at the fit itself would show
STEP_SHARES = (1.0, 0.5, 0.125)  # of such a step that are tried, while the bound is not better
INTERCEPT_STEPS = 1  # a further one raises no bound by a tenth of a per cent of its gap
ONE_OF = 4  # rows give the curvature of those steps, or fewer, where that is
CURVED = 64  # times as many as columns
PERFECT = 1e-12  # of the loss without features: an objective of no more is zero but for rounding


class Size(NamedTuple):
    """The best model found for a number of features (or groups), in the units of the local quadratic."""

    k: int
    support: np.ndarray
    weights: np.ndarray


class Bounded(NamedTuple):
    """What no model of at most 1, 2, ... features has an objective below; or, without a ridge, slopes of the loss."""

    values: np.ndarray | None
    slopes: np.ndarray | None = None
    slopes_at: int = 0  # features of the model that they are at: those of smaller ones are larger

    def of(self, problem: Problem, k: int, objective: float) -> Bound:
        """The bound for at most k features, beside a model of this objective."""
        counted = problem.counted
        if self.values is None:
            if self.slopes is None or k < self.slopes_at:
                return NoBound(k, counted)
            return NoBound(k, counted, useful_ridge(problem, self.slopes, k, objective))
        value = float(self.values[min(k, len(self.values)) - 1])
        if value <= 0.0 <= objective <= PERFECT * gap_unit(problem):
            value = float(objective)  # no loss is below zero
        return GlobalBound(k, value, float(objective), counted, problem.limit)


def bound_of_all(problem: Problem, objective: float, proof: SwapOptimal | None) -> GlobalBound | None:
    """The bound that a proof is by itself, as it compares all models; None where it does not."""
    if proof is None or not proof.compares_all or problem.limit is not None:
        return None
    slack = MIN_GAIN * gap_unit(problem) if proof.n_others > 0 else 0.0
    return GlobalBound(proof.k, max(0.0, objective - slack), objective, proof.counted)


def quadratic_bounds(model: LocalQuadratic, sizes: Sequence[Size]) -> Bounded:
    """Bounds from the products of a search, where the local quadratic is the loss itself."""
    quadratic = _quadratic_of(model)
    if not quadratic.costs.bounding:
        slopes = -model.pulls(sizes[-1].support, sizes[-1].weights) * model.unit
        return Bounded(None, slopes, sizes[-1].k)
    values, price = np.zeros(sizes[-1].k), 0.0
    for size in _some(sizes):
        found = next(relaxed_planes(model, size, price, quadratic=quadratic))
        bounds, price = found.costs.bounds(found.plane, len(values)), found.price
        values[: len(bounds)] = np.maximum(values[: len(bounds)], bounds)
    return Bounded(np.maximum.accumulate(values[::-1])[::-1])


class PlaneFound(NamedTuple):
    """The plane of a relaxation among candidates, over all features, in the units of the local quadratic."""

    plane: Plane
    costs: Costs
    price: float


def relaxed_planes(
    model: LocalQuadratic,
    size: Size,
    price: float,
    count: int = 0,
    rounds: int = 0,
    quadratic: Quadratic | None = None,
) -> Iterator[PlaneFound]:
    """Planes of relaxations, with `count` more of the candidates that they want each time, for so many rounds.

    `quadratic` is that of the candidates, if it is known.
    """
    quadratic, w = quadratic or _quadratic_of(model), np.zeros(len(model.candidates))
    w[model.places(size.support)] = size.weights
    while True:
        w, price = _relaxed(quadratic, size.k, w, price)
        plane, costs = _plane(model, quadratic, w)
        more = violators(costs, plane.slopes, price, model.candidates)[:count] if rounds > 0 else NOTHING
        yield PlaneFound(plane, costs, price)
        if len(more) == 0:
            return
        rounds -= 1
        model.add_candidates(more)
        quadratic, w = _quadratic_of(model), np.append(w, np.zeros(len(more)))


def _quadratic_of(model: LocalQuadratic) -> Quadratic:
    """The quadratic of the candidates; with a shift, if those are all features that vary and not too many."""
    quadratic = model.among_candidates()
    if model.has_all and len(model.candidates) <= SHIFTED:
        return quadratic.shifted(diagonal_shift(quadratic.G))
    return quadratic


def _plane(model: LocalQuadratic, quadratic: Quadratic, w: np.ndarray) -> tuple[Plane, Costs]:
    """The plane at weights of the candidates, with the slopes of all features, and what those pay."""
    if model.has_all:
        own, costs = quadratic.plane(w, quadratic.c - quadratic.G @ w), model.costs
        slopes, ridge = np.zeros(len(model.w)), costs.ridge.copy()
        slopes[model.candidates], ridge[model.candidates] = own.slopes, quadratic.costs.ridge
        return own._replace(slopes=slopes), costs._replace(ridge=ridge)
    taken = np.flatnonzero(w)
    return quadratic.plane(w, model.pulls(model.candidates[taken], w[taken]), model.candidates), model.costs


def violators(costs: Costs, slopes: np.ndarray, price: float, candidates: np.ndarray) -> np.ndarray:
    """Features outside the candidates that the relaxation would take at this price, those of most relief first."""
    reliefs = costs.reliefs(slopes)
    reliefs[candidates] = 0.0
    wanted = np.flatnonzero(reliefs > price)
    return wanted[np.argsort(-reliefs[wanted], kind="stable")][:MOST_CANDIDATES]


def _relaxed(quadratic: Quadratic, k: int, start: np.ndarray, price: float) -> tuple[np.ndarray, float]:
    """Where the relaxation has its best bound, and its price there."""
    if quadratic.costs.groups is not None:
        groups = np.zeros(int(quadratic.costs.groups.max()) + 1)
        return relaxed_groups(quadratic, Node(groups, np.zeros(len(start))), k).w, 0.0
    found = quadratic.relaxed(Node(np.zeros(len(start)), start, price), k, np.inf, PRICES, SWEEPS)
    return found.w, found.price


def _some(sizes: Sequence[Size]) -> list[Size]:
    """The last of these sizes and some before it, closest together where they are small: planes serve neighbours."""
    places = {len(sizes) - 1} | {int(1.5**i) - 1 for i in range(1, 40) if 1.5**i <= len(sizes)} | {0}
    return [sizes[i] for i in sorted(places)]


def true_bounds(
    problem: Problem, k: int, fit: Fitted, near: Problem | None, columns: np.ndarray, slopes: np.ndarray
) -> Bounded:
    """Bounds for another loss, from the relaxation among some columns: a pass over all features at its optimum.

    `near` has these columns alone; None: they are still to be read. `slopes` are those of the loss at the fit; if there
    are many columns, those of largest slopes are taken.
    """
    costs, w = Costs.of(problem), np.zeros(problem.data.n_features)
    if not costs.bounding:
        return Bounded(None, slopes)
    if costs.groups is not None:
        near = problem
    else:
        order = np.argsort(-costs.reliefs(slopes)[columns], kind="stable")[:RELAXED]
        kept = np.union1d(order, np.searchsorted(columns, fit.support))
        if near is None:
            near = cut_to(problem, columns[kept])
        elif len(columns) > RELAXED:
            near = cut_to(near, kept)
        columns = columns[kept] if near.data.n_features == len(kept) else columns
    start = np.zeros(len(columns))
    start[np.searchsorted(columns, fit.support)] = fit.coef
    at_fit = RelaxedPoint(start, fit.intercept)
    if (some := _some_rows(near)) is None:
        point = relaxed_point(near, k, at_fit)
    else:  # the slopes at hand are good enough for a first step, without a pass
        point = relaxed_point(near, k, at_fit._replace(plane=Plane(-np.inf, slopes[columns])), some=some)
    if point.bound <= 0.0 or (1.0 - CLOSE) * fit.objective <= point.bound < fit.objective:
        there = relaxed_point(near, k, at_fit, 0)
        point = there if there.bound > point.bound else point
    if len(columns) == problem.data.n_features:
        assert point.plane is not None
        return Bounded(costs.bounds(point.plane, k))
    w[columns] = point.w
    return Bounded(costs.bounds(tangent(problem, first_order(problem, w, point.b)), k))


def _some_rows(problem: Problem) -> Problem | None:
    """One of every few rows in memory, if there are many."""
    n, enough = problem.data.n_rows, CURVED * problem.data.n_features
    if not isinstance(problem.data, InMemory) or n < ONE_OF * enough or len(problem.always_in):
        return None
    return replace(problem, data=problem.data.take(np.arange(0, n, n // enough)))


class RelaxedPoint(NamedTuple):
    """A point near the optimum of a relaxation, its price, and the plane there."""

    w: np.ndarray
    b: float
    price: float = 0.0
    plane: Plane | None = None  # None: not known yet
    bound: float = -np.inf


def relaxed_point(
    problem: Problem,
    k: int,
    start: RelaxedPoint,
    steps: int = NEWTON_STEPS,
    some: Problem | None = None,
    deadline: Deadline = FOREVER,
) -> RelaxedPoint:
    """A point near the optimum of the relaxation, by Newton steps, each that of the local quadratic.

    Curvature is that of `some` rows, if they are given.
    """
    w, b, price = start.w, start.b, start.price
    costs, everything = Costs.of(problem), np.arange(problem.data.n_features)

    def bound_at(w: np.ndarray, b: float) -> tuple[float, Plane]:
        with np.errstate(over="ignore", invalid="ignore"):
            plane = tangent(problem, first_order(problem, w, b))
            bound = float(costs.bounds(plane, k)[-1])
        return (bound if np.isfinite(bound) else -np.inf), plane

    best, plane = (start.bound, start.plane) if start.plane is not None else bound_at(w, b)
    for _ in range(steps):
        deadline.check()
        model = LocalQuadratic.at(some or problem, w, b, everything)
        start_w = w * model.unit
        start_w[problem.always_in] = 0.0
        quadratic = model.among_candidates()
        if some is not None:  # slopes are those of all rows
            pulls = np.where(model.diagonal > 0, -plane.slopes / model.unit, 0.0)
            G = _with_rare_columns(quadratic.G, model.unit**2, _variances(some), _variances(problem))
            quadratic = replace(quadratic, G=G, c=G @ start_w + pulls)
        aim, price = _relaxed(quadratic, k, start_w, price)
        aim_w, aim_b = model.coefficients(everything, aim)
        better = False
        for share in STEP_SHARES:
            trial, trial_b = (1.0 - share) * w + share * aim_w, (1.0 - share) * b + share * float(aim_b)
            if np.isfinite(best) or not np.isfinite(problem.loss.curvature):  # a first step needs no exact one
                trial_b = centred_intercept(problem, trial, trial_b)
            bound, there = bound_at(trial, trial_b)
            if bound > best:
                w, b, best, plane, better = trial, trial_b, bound, there, True
                break
        if not better:
            break
    return RelaxedPoint(w, b, price, plane, best)


def _variances(problem: Problem) -> np.ndarray:
    """The variances of all columns."""
    return problem.data.moments.squares / problem.data.moments.weight


def _with_rare_columns(G: np.ndarray, unit2: np.ndarray, some: np.ndarray, every: np.ndarray) -> np.ndarray:
    """The products of some rows, with what columns vary more over all rows on the diagonal: a step would go too far."""
    there = some > 0.0
    curvature = float(np.median((np.diagonal(G) * unit2)[there] / some[there])) if there.any() else 0.0
    return G + np.diag(curvature * np.maximum(every - some, 0.0) / unit2)


def centred_intercept(problem: Problem, w: np.ndarray, b: float) -> float:
    """The intercept at which slopes sum to zero, as nearly as a few Newton steps get there."""
    if not problem.fit_intercept:
        return b
    loss = problem.loss

    def part_at(b: float) -> Callable[[Chunk], tuple[float, float]]:
        def part(chunk: Chunk) -> tuple[float, float]:
            with np.errstate(over="ignore", invalid="ignore"):  # a step may be too long
                z = chunk.X.margins(w, b)
                curvature = at_least(loss.second_derivative(chunk.y, z), loss.least_curvature)
                return float(chunk.weight @ loss.derivative(chunk.y, z)), float(chunk.weight @ curvature)

        return part

    start = b
    for _ in range(INTERCEPT_STEPS):
        slope, curvature = problem.data.sum(part_at(b))
        b -= slope / max(curvature, 1e-300)
        if not np.isfinite(b):
            return start
        if abs(slope) <= 1e-12 * curvature:
            break
    return b
