"""The minimum of F over the columns of a working set in memory, where rows have several margins.

F is minimised by Newton steps over a copy of the columns, without a pass over the others. Each minimises a penalised
quadratic: by its matrix (`outputs_curvature`), or along the columns, by coordinate descent, where these have so few
entries that this costs less than the matrix: until it has cost as much, which is where columns are much alike.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from riata.data.in_memory import InMemory
from riata.losses import SeveralMargins
from riata.objective import FirstOrder, Problem, Side, Start, duality_gap, first_order, has_dual_bound
from riata.penalties import GroupLasso
from riata.solvers.convex.columns.columns import FASTER, Columns, one_by_one
from riata.solvers.convex.columns.outputs_quadratic import SWEEPS, ByCoefficient, ByFeature, is_by_feature
from riata.solvers.convex.columns.restricted import F_ROUNDING, HALVINGS, LAST_GAIN, LAST_SHARE, sum_rounding
from riata.solvers.convex.quadratics.curvature import FAST, Point
from riata.solvers.convex.quadratics.outputs_curvature import OutputsCurvature, outputs_products_part
from riata.threads import one_blas_thread

LARGEST_COPY = 1 << 22  # entries of dense columns: passes over larger ones, by several threads, are as fast
STEPS = 50
LOOKS = 50  # of one Newton step, at most
LAST_LOOK = 0.03  # of what all sweeps of a step gained: less gain ends it
VISITS = 100.0  # to every column, by sweeps of one Newton step: a guess


@dataclass
class OutputColumns:
    """The columns of the features that some coefficients belong to, of all rows."""

    is_local = False  # it gives the loss itself at every point
    starts_anywhere = False  # it steps from the point at which slopes were read
    lets_features_go = False  # they stay in the working set

    features: np.ndarray  # the coefficients
    chosen: np.ndarray  # their features
    rows: InMemory
    columns: Columns | None  # one by one, where sweeps along them cost less than products
    origin: np.ndarray  # what was taken off each of these
    looks_left: float = 0.0  # of sweeps along them, before they have cost as much as the matrix
    kept: list[OutputsCurvature] = field(default_factory=list)  # the curvature of the last step, if it served

    def minimum(
        self, problem: Problem, at: FirstOrder, here: Point, guess: Point, precision: float, enough: float = 0.0
    ) -> Point:
        """The minimum of F over these coefficients and the intercepts, from a guess that has no others."""
        w, b = guess
        K = problem.loss.n_outputs
        every = (self.chosen[:, None] * K + np.arange(K)).ravel()  # all coefficients of the features
        restricted = self._restricted(problem, every)
        with one_blas_thread():
            v = w[every]
            if self.columns is not None and self.looks_left > 0:
                v, b, looks = _minimise_along(restricted, self.columns, self.origin, v, b, enough, self.looks_left)
                self.looks_left -= looks
            if self.columns is None or self.looks_left <= 0:
                in_play = np.flatnonzero(np.isin(every, self.features) | (v != 0.0))  # sweeps may have moved others
                if self.kept and not np.array_equal(self.kept[0].features, in_play):
                    self.kept.clear()
                v, b = _minimise(restricted, in_play, v, b, precision, enough, self.kept)
        w = np.zeros_like(w)
        w[every] = v
        return w, b

    def _restricted(self, problem: Problem, every: np.ndarray) -> Problem:
        """The problem of these features alone, with what is known of them."""
        penalty = problem.penalty.of(every)  # type: ignore[attr-defined] # all that working sets take have it
        empty = problem.empty
        if empty is not None:
            at = FirstOrder(empty.at.loss, *(Side(s.by_w[every], s.by_b, s.conjugate) for s in _sides(empty.at)))
            empty = Start(np.zeros(len(every)), empty.b, at)
        return replace(problem, data=self.rows, penalty=penalty, scale=1.0, start=None, empty=empty)


def _sides(at: FirstOrder) -> tuple[Side, Side]:
    return at.positive, at.negative


def output_columns(problem: Problem, coefficients: np.ndarray) -> OutputColumns | None:
    """The columns of these coefficients' features; None where they are not in memory, or so large that passes serve."""
    data, K = problem.data, problem.loss.n_outputs
    if not isinstance(data, InMemory):
        return None
    chosen = np.unique(coefficients // K)
    if not data.chunk.X.sparse and data.n_rows * len(chosen) > LARGEST_COPY:
        return None
    along = data.stored(coefficients // K) + data.n_rows * K * problem.fit_intercept
    by_matrix = data.n_rows * len(coefficients) ** 2 / FASTER
    matrix = data.gather(chosen)
    y, weight = data.targets()
    rows = InMemory(matrix, y, weight).sharing_moments(lambda _: data.moments.of(chosen))
    if VISITS * along >= by_matrix or not _along_columns(problem, chosen):
        return OutputColumns(coefficients, chosen, rows, None, np.zeros(len(chosen)))
    columns, origin = one_by_one(matrix, weight if problem.fit_intercept else None)
    return OutputColumns(coefficients, chosen, rows, columns, origin, by_matrix / (SWEEPS * along))


def _along_columns(problem: Problem, chosen: np.ndarray) -> bool:
    """Whether there are sweeps along the columns of these features for the penalty."""
    K = problem.loss.n_outputs
    if isinstance(problem.penalty, GroupLasso):
        return is_by_feature(problem.penalty.of((chosen[:, None] * K + np.arange(K)).ravel()), K)
    return "strengths" in problem.penalty.has


def _minimise(
    problem: Problem,
    in_play: np.ndarray,
    v: np.ndarray,
    b: np.ndarray,
    precision: float,
    enough: float,
    kept: list[OutputsCurvature],
) -> Point:
    """Newton steps by the matrix of the quadratic, until the gap is small enough, or one gains hardly anything.

    The matrix is `kept` for further steps, and for the minimum of the next alpha, until they gain too little by it.
    """
    loss = problem.loss
    assert isinstance(loss, SeveralMargins)
    at = first_order(problem, v, b)
    F, gap = at.loss + problem.penalty.value(v), _gap(problem, v, at)
    for _ in range(STEPS):
        fresh = not kept
        if fresh:
            sums = problem.data.sum(outputs_products_part(problem, loss, v, b, in_play))
            kept.append(OutputsCurvature.of(problem, in_play, sums))
        far = kept[0].minimum(problem, at, (v, b), (v, b), precision, LAST_SHARE * enough)
        found = _no_worse(problem, (v, b), far, F)
        if found is None and fresh:
            break
        if found is None:
            kept.clear()
            continue
        gain, (v, b), at = F - found[0], *found[1:]
        F, gap_before, gap = found[0], gap, _gap(problem, v, at)
        if gap <= enough or (fresh and gain <= max(LAST_GAIN * F, LAST_SHARE * enough)):
            break
        if not gap <= FAST * gap_before:  # where it falls fast the curvature is good enough for a step more
            kept.clear()
    return v, b


def _gap(problem: Problem, v: np.ndarray, at: FirstOrder) -> float:
    """The duality gap; infinite where there is none."""
    return duality_gap(problem, v, at) if has_dual_bound(problem) else np.inf


def _no_worse(problem: Problem, near: Point, far: Point, F: float) -> tuple[float, Point, FirstOrder] | None:
    """(F, point, slopes) at the largest share of a step, halved time and again, that does not raise F; or None."""
    (v, b), (v_far, b_far), share = near, far, 1.0
    rounding = sum_rounding(problem.data.n_rows)
    for _ in range(HALVINGS):
        point = far if share == 1.0 else (v + share * (v_far - v), b + share * (b_far - b))
        at = first_order(problem, *point)
        F_new = float(at.loss + problem.penalty.value(point[0]))
        if F_new <= F + rounding * abs(F):
            return F_new, point, at
        share *= 0.5
    return None


def _minimise_along(
    problem: Problem,
    columns: Columns,
    origin: np.ndarray,
    v: np.ndarray,
    b: np.ndarray,
    enough: float,
    most_looks: float,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Newton steps by coordinate descent along the columns, until the gap is small enough; and how many looks it took,
    after `most_looks` of which it ends."""
    at = first_order(problem, v, b)
    F, gap, looks = at.loss + problem.penalty.value(v), duality_gap(problem, v, at), 0
    for _ in range(STEPS):
        if gap <= max(enough, F_ROUNDING * F) or looks >= most_looks:
            break
        far, its_looks = _descended(problem, columns, origin, at, v, b)
        looks += its_looks
        found = _no_worse(problem, (v, b), far, F)
        if found is None:
            break
        F_new, point, at_new = found
        gap_new = duality_gap(problem, point[0], at_new)
        if F_new >= F and gap_new >= gap:  # near the minimum F is rounding, and the gap tells
            break
        F, (v, b), at, gap = F_new, point, at_new, gap_new
    return v, b, looks


def _descended(
    problem: Problem, columns: Columns, origin: np.ndarray, at: FirstOrder, v: np.ndarray, b: np.ndarray
) -> tuple[Point, int]:
    """A point near the minimum of the penalised quadratic about (v, b), whose slopes are `at`; and its looks."""
    kind = ByFeature if isinstance(problem.penalty, GroupLasso) else ByCoefficient
    quadratic = kind(problem, columns, origin, at, v, b)
    total = 0.0
    for looks in range(1, LOOKS + 1):  # noqa: B007
        gained = quadratic.descend()
        total += gained
        if gained <= LAST_LOOK * total:
            break
    return (quadratic.v, quadratic.b - origin @ (quadratic.v - v).reshape(-1, problem.loss.n_outputs)), looks
