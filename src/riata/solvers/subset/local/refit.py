"""The least objective with given features: damped Newton steps, for several supports in the same passes.

Internally columns are standardised, so that the steps do not depend on units, and the last one is the intercept.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import Array, at_least
from riata.data.chunk import Chunk, gathered
from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.data.remote import Remote
from riata.losses import Loss
from riata.matrices.matrix import Matrix
from riata.objective import Problem, empty_intercept, empty_loss, gap_unit
from riata.positive import solve_positive
from riata.solvers.subset.local.refit_columns import Columns, DenseColumns, SparseColumns, stay_sparse
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD
from riata.threads import one_blas_thread

REFIT_PRECISION = 1e-12  # of the empty model's loss: how far above the least objective a fit may end,
SCORED_PRECISION = 1e-5  # and, of its own, one that is scored only; of that Newton's last step leaves next to nothing
SEPARATED = 1e-6  # of the empty model's loss: below it classes are separated, and coefficients would grow without end
STEPS = 100
CAREFUL_STEPS = 10  # with the least curvature that a loss asks for,
HALVED = 8  # as are all steps after one that had to be halved more often
LONG_STEP = 0.05  # of the objective: where a step should gain more, its best length is searched
LENGTHS = np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.1])  # that are tried
LAST_STEP, LAST_SCORED = 1e-3, 0.1  # of the largest coefficient: Newton's last step is no longer
BESIDE = 3  # numbers of a row that are kept beside the columns: a constant, its target and its weight
SHARE_OF_COPY = 0.25  # of the memory: names, chunks and sums take the rest
SHARE_OF_BLOCK = 1 / 64  # of the memory: a pass makes about four arrays of the size of a block, on every core


class Fitted(NamedTuple):
    """A model with some features, in the units of the data."""

    support: np.ndarray
    coef: np.ndarray  # of the support
    intercept: Any  # a number, or one for each output
    objective: float


class Slack(NamedTuple):
    """How far above the least objective a fit may end: so much, or this share of it."""

    least: float
    share: float

    def at(self, objective: float) -> float:
        return max(self.least, self.share * objective)

    @property
    def last_step(self) -> float:
        return LAST_STEP if self.share <= REFIT_PRECISION else LAST_SCORED


Proposal = tuple[np.ndarray, tuple[np.ndarray, float]]  # a support, and the (coefficients, intercept) to start at


class Refits:
    """Fits supports within some columns, which are read once and kept if they fit into the memory budget.

    Features that are always in come with every support. Of data in memory those of each fit are copied anew, unless
    they are to be copied `at_once`.
    """

    def __init__(
        self,
        problem: Problem,
        columns: np.ndarray,
        memory: int | None = None,
        at_once: bool = False,
        precision: float = REFIT_PRECISION,
    ):
        data, moments = problem.data, problem.data.moments
        self._always = problem.always_in
        self._problem, self._columns = problem, np.union1d(columns, self._always)
        self._mean = moments.mean if problem.fit_intercept else np.zeros(data.n_features)
        self._scale = moments.scale
        self._l2 = np.broadcast_to(np.asarray(problem.cardinality.l2, dtype=np.float64), data.n_features)
        self._unit, self._precision = gap_unit(problem), precision
        self._memory = MEMORY_UNTOLD if memory is None else memory
        self._rows = None if data.cheap_passes and not at_once else self._narrowed(self._columns)

    def fit(
        self,
        supports: Sequence[np.ndarray],
        starts: Sequence[tuple[np.ndarray, float]],
        target: float = np.inf,
        made: Callable[[int], None] | None = None,
    ) -> list[Fitted]:
        """The best model of each support, from a start (coefficients, intercept): every step is one pass for all.

        A fit that cannot end below the target is abandoned early. `made` is told after each pass how many are there.
        """
        rows, columns = self._rows, self._columns
        if len(self._always):
            supports, starts = zip(*map(self._with_always, supports, starts), strict=True) if supports else ([], [])
        if rows is None:  # in memory the columns of just these supports are selected for every call
            columns = np.unique(np.concatenate(supports))
            rows = self._narrowed(columns)
        newtons = [self._newton(columns, *task) for task in zip(supports, starts, strict=True)]
        total = self._problem.data.total_weight
        with one_blas_thread():
            for n_steps in range(STEPS):
                active = [newton for newton in newtons if not newton.done]
                if not active:
                    break
                for newton, sums in zip(active, rows.sum(self._second_order(active)), strict=True):
                    newton.take(*(part / total for part in sums))
                    if n_steps == 0 and newton.F > self._unit and newton.v.any():
                        newton.start_at_zero()
                    # Newton's decrement is the distance to the minimum of F, within a factor once steps converge.
                    hopeless = newton.F - 4.0 * newton.decrement > target
                    separated = newton.F <= SEPARATED * self._unit and not newton.has_ridge
                    newton.done = newton.done or hopeless or separated
                if made is not None:
                    made(sum(newton.done for newton in newtons))
                far = [newton for newton in active if not newton.done and newton.decrement > LONG_STEP * newton.F]
                if self.cheap_passes and far:
                    for newton, losses in zip(far, rows.sum(self._lengths(far)), strict=True):
                        newton.lengthen(losses / total)
        return [self._in_units_of_the_data(*task) for task in zip(supports, newtons, strict=True)]

    def _with_always(self, support: np.ndarray, start: tuple[np.ndarray, float]) -> Proposal:
        """A support and its start, with the features that are always in."""
        whole = np.union1d(support, self._always)
        coef = np.zeros(len(whole))
        coef[np.searchsorted(whole, support)] = start[0]
        return whole, (coef, start[1])

    @property
    def cheap_passes(self) -> bool:
        """Whether the columns are in memory, so that a step of one support alone is cheap."""
        return self._rows is None or self._rows.cheap_passes

    def best_below(self, target: float, proposals: list[Proposal]) -> Fitted | None:
        """The best of these supports, all fitted in the same passes, if its objective is below the target."""
        supports, starts = [support for support, _ in proposals], [start for _, start in proposals]
        fits = self.fit(supports, starts, target) if proposals else []
        return min((fit for fit in fits if fit.objective < target), key=lambda fit: fit.objective, default=None)

    def first_below(self, target: float, proposals: list[Proposal]) -> Fitted | None:
        """The first of these supports, most promising first, whose objective is below the target, if any."""
        if not self.cheap_passes:
            return self.best_below(target, proposals)
        return next(filter(None, (self.best_below(target, [proposal]) for proposal in proposals)), None)

    def _narrowed(self, columns: np.ndarray) -> Dataset:
        mean, scale, constant = self._mean[columns], self._scale[columns], float(self._problem.fit_intercept)

        if self._sparse(columns):
            return cut_to(self._problem, columns).data

        def cut(chunk: Chunk) -> Chunk:
            return chunk._replace(X=chunk.X.standardised(columns, mean, scale, constant))

        return cut_data(self._problem.data, cut, len(columns), self._memory)

    def _newton(self, columns: np.ndarray, support: np.ndarray, start: tuple[np.ndarray, float]) -> "_Newton":
        coef, intercept = start
        places = np.searchsorted(columns, support)
        v = np.append(coef * self._scale[support], intercept + self._mean[support] @ coef)
        l2 = np.append(self._l2[support] / self._scale[support] ** 2, 0.0)
        standard = None
        if self._sparse(columns):
            standard = self._mean[support], self._scale[support], float(self._problem.fit_intercept)
        else:
            places = np.append(places, len(columns))
        return _Newton(places, v, l2, Slack(REFIT_PRECISION * self._unit, self._precision), standard)

    def _sparse(self, columns: np.ndarray) -> bool:
        """Whether columns are taken as they are, not as a dense copy."""
        data = self._problem.data
        return isinstance(data, InMemory) and stay_sparse(data, columns, self._mean[columns], self._scale[columns])

    def _second_order(self, newtons: list["_Newton"]) -> Callable[[Chunk], tuple[Any, ...]]:
        """What a chunk adds to loss, slope and curvature of every support at its trial point."""
        loss = self._problem.loss

        def sums(newton: _Newton, A: Columns, y: Array, weight: Array) -> tuple[float, np.ndarray, np.ndarray]:
            z = A.margins(newton.trial)
            curvature = at_least(loss.second_derivative(y, z), least_curvature(loss, newton.n_bold))
            slope = A.slopes(weight * loss.derivative(y, z))
            return float(weight @ loss.value(y, z)), slope, A.squares(weight * curvature)

        return _of_each(newtons, sums)

    def _lengths(self, newtons: list["_Newton"]) -> Callable[[Chunk], tuple[Any, ...]]:
        """What a chunk adds to the losses of every support at all LENGTHS of its step."""
        loss = self._problem.loss

        def losses(newton: _Newton, A: Columns, y: Array, weight: Array) -> np.ndarray:
            z, dz = (A.margins(v) for v in (newton.v, newton.step))
            with np.errstate(over="ignore"):
                return np.array([float(weight @ loss.value(y, z + length * dz)) for length in LENGTHS.tolist()])

        return _of_each(newtons, losses)

    def _in_units_of_the_data(self, support: np.ndarray, newton: "_Newton") -> Fitted:
        coef = newton.v[:-1] / self._scale[support]
        return Fitted(support, coef, float(newton.v[-1] - self._mean[support] @ coef), float(newton.F))


def least_curvature(loss: Loss, n_steps: int) -> float:
    """The least curvature that a row counts with after so many Newton steps: less and less in the end.

    That of the loss keeps steps short where few rows have any curvature. Where rows beyond a hinge are many and the
    ridge is tiny, it is most of the curvature, and steps would remain too short.
    """
    return float(loss.least_curvature * 0.1 ** max(0, n_steps - CAREFUL_STEPS))


def empty_model(problem: Problem) -> Fitted:
    """The model of no feature but those that are always in."""
    nothing, b = np.empty(0, dtype=np.int64), empty_intercept(problem)
    if len(problem.always_in):
        return Refits(problem, nothing).fit([nothing], [(np.empty(0), b)])[0]
    return Fitted(nothing, np.empty(0), b, empty_loss(problem))


def cut_data(data: Dataset, cut: Callable[[Chunk], Chunk], n_columns: int, memory: int) -> Dataset:
    """The data with every chunk cut to some columns: read once, if they fit into the memory, or else at every pass."""
    if data.cheap_passes:  # a copy of a few columns, made by one pass: what is read of it is not read of the data
        data.ledger.count(data.n_rows)
        return data.map(cut).with_own_ledger()
    if 8 * data.n_rows * (n_columns + BESIDE) > memory * SHARE_OF_COPY:
        return data.map(cut)
    if isinstance(data, Remote):
        return data.persisted(cut)
    rows = InMemory.of(gathered(map(cut, data.visit()), data.n_rows))
    rows.block_bytes = min(rows.block_bytes, int(memory * SHARE_OF_BLOCK))
    return rows


def narrowed(data: Dataset, columns: np.ndarray, memory: int | None) -> Dataset:
    """The data with these columns alone."""

    def cut(chunk: Chunk) -> Chunk:
        return chunk._replace(X=chunk.X.narrowed(columns))

    some = cut_data(data, cut, len(columns), MEMORY_UNTOLD if memory is None else memory)
    some.facts = some.facts.but(n_features=len(columns))
    return some


def cut_to(problem: Problem, columns: np.ndarray, memory: int | None = None) -> Problem:
    """The problem with these features alone, among them those that are always in."""
    data = narrowed(problem.data, columns, memory)
    l2 = np.broadcast_to(problem.cardinality.l2, problem.data.n_features)[columns]
    scale = problem.scale if np.ndim(problem.scale) == 0 else np.asarray(problem.scale)[columns]
    always = None if problem.cardinality.always_in is None else np.flatnonzero(np.isin(columns, problem.always_in))
    return replace(problem, data=data, penalty=replace(problem.cardinality, l2=l2, always_in=always), scale=scale)


class _Newton:
    """Newton's method for one support: its current point v and the next one, `trial`."""

    def __init__(
        self,
        places: np.ndarray,
        v: np.ndarray,
        l2: np.ndarray,
        slack: Slack,
        standard: tuple[np.ndarray, np.ndarray, float] | None = None,
    ):
        self._places, self._standard = places, standard  # of its columns; their means, scales and constant, if sparse
        self.v, self.trial, self._l2, self._slack = v, v, l2, slack
        self.F, self.decrement, self.done = np.inf, np.inf, False
        self.step, self._n_halved = np.zeros_like(v), 0
        self._n_steps, self._careful = 0, False
        self.has_ridge = bool(l2[:-1].all())  # which keeps coefficients from growing without end

    def columns(self, X: Matrix) -> Columns:
        """The columns of its support in some rows."""
        if self._standard is None:
            return DenseColumns(X.columns(self._places))
        return SparseColumns(X, self._places, *self._standard)

    def take(self, loss: float, slope: np.ndarray, H: np.ndarray) -> None:
        """Move to the trial point if it is better, and choose the next one; otherwise go half as far."""
        self._n_steps += 1
        F = float(loss + 0.5 * self._l2 @ self.trial**2)
        if F <= self.F:
            self.v, self.F, self._n_halved = self.trial, F, 0
            slope = slope + self._l2 * self.v
            self.step = -solved(H + np.diag(self._l2), slope)
            self.decrement = float(-0.5 * slope @ self.step)
            self.done = bool(self.decrement <= self._slack.at(self.F))
            if self.done and np.max(np.abs(self.step)) <= self._slack.last_step * np.max(np.abs(self.v)):
                self.v = self.v + self.step  # unchecked: it improves digits of the coefficients that F does not show
        else:
            self.step, self._n_halved = 0.5 * self.step, self._n_halved + 1
            self.done = bool(np.max(np.abs(self.step)) <= 1e-12 * np.max(np.abs(self.v)))
        self.trial = self.v + self.step
        if self._n_halved > HALVED and self.n_bold > CAREFUL_STEPS:
            self._careful, self.done, self.trial = True, False, self.v  # from there anew

    @property
    def n_bold(self) -> int:
        """How many steps the least curvature of rows may be taken from."""
        return 0 if self._careful else self._n_steps

    def start_at_zero(self) -> None:
        """Begin anew, as a start that is worse than no features at all is none.

        Far out there is next to no curvature, as where a local quadratic promised much of a level that few rows have,
        and steps from there are longer by many powers of ten than any that would help.
        """
        self.v = self.trial = np.zeros_like(self.v)
        self.F, self.decrement, self.done = np.inf, np.inf, False

    def lengthen(self, losses: np.ndarray) -> None:
        """Make the best of the LENGTHS of the step, whose losses are given, the next trial."""
        ends = self.v + LENGTHS[:, None] * self.step
        best = int(np.argmin(np.nan_to_num(losses + 0.5 * ends**2 @ self._l2, nan=np.inf)))
        if best == len(LENGTHS) - 1:  # all were too long: should this one be, too, half of it comes next
            self.step = LENGTHS[best] * self.step
        self.trial = ends[best]


def _of_each(
    newtons: list[_Newton], f: Callable[[_Newton, Columns, Array, Array], Any]
) -> Callable[[Chunk], tuple[Any, ...]]:
    """What a chunk adds for every support: f(newton, its columns, targets, weights)."""
    return lambda chunk: tuple(f(newton, newton.columns(chunk.X), chunk.y, chunk.weight) for newton in newtons)


def solved(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """H^-1 times the right side, from the upper triangle of H.

    A small ridge is added, and a larger one where H is singular (no intercept, separated classes) or indefinite by
    rounding.
    """
    if len(H) == 0:
        return right
    ridge = 1e-14 * max(np.trace(H), 1e-300)
    while np.isfinite(ridge):
        if (solution := solve_positive(H + ridge * np.eye(len(H)), right)) is not None:
            return solution
        ridge *= 100.0
    raise ValueError("the curvature is not finite")


def least(H: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, float]:
    """The weights at the least of w'Hw / 2 - h'w, and twice what they reduce it by.

    The ridge that solving adds counts where large weights make up for each other, as with a row that is far out. A
    second step takes most of it off, and the reduction is that of the weights as they are: none better is claimed.
    """
    w = solved(H, h)
    w = w + solved(H, h - H @ w)
    return w, float(w @ (2.0 * h - H @ w))
