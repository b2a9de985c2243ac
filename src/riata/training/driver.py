"""Runs a solver: stopping, history, divergence and progress, written once for all of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from riata.data.dataset import Columns
from riata.errors import CheckpointError, DataError, DivergenceError
from riata.losses.several_margins import n_features_in
from riata.objective import Problem, gap_unit, objective
from riata.outcome.proofs import Bound, DualityGap, Proof, Stationary
from riata.outcome.reasons import StopReason
from riata.outcome.sentences import why
from riata.outcome.stop import Stop
from riata.schema import SchemaError, build
from riata.solvers.iterate import Features, Iterate, Leads, Saved
from riata.solvers.online.progressive_validation import ProgressiveValidation
from riata.solvers.saved_checks import check_facts
from riata.training.checkpoint import Checkpoints

DIVERGED = 1e3  # times the loss of the empty model: no method that converges gets there
AGAINST_DIVERGENCE = (
    "leave the step to riata, choose a smaller one, or scale the data (standardize, or rows of unit norm)"
)
GROWTH = 1.1  # of the steps between two records within a pass
PATIENCE = 10  # passes without a change of F after which a method without a certificate stops


@dataclass(frozen=True)
class Record:
    """One line of history."""

    passes: float
    steps: int
    seconds: float
    objective: float | None
    gap: float | None  # relative to the loss of the empty model
    n_selected: int
    progressive_loss: float | None = None  # mean loss of the pass's rows, each before it was learnt
    rows: int | None = None  # so far, where they are learnt one after the other
    accuracy: float | None = None  # of the predictions that `progressive_loss` is the loss of, where they are of labels
    r2: float | None = None  # the same where they are of numbers
    end_of_pass: bool = True  # whether this is the end of a pass
    bound: float | None = None  # that no model of k features has an objective below, in a search of all of them
    parts: int | None = None  # that this search has looked at

    @property
    def along(self) -> float:
        """The position on a chart: rows where they are learnt one after the other, passes otherwise."""
        return self.passes if self.rows is None else self.rows


@dataclass(frozen=True)
class Result:
    """Where a solver ended, and why."""

    coef: np.ndarray  # of several margins, those of the first feature first
    intercept: Any  # a number, or one for each of several margins
    objective: float
    gap: float | None
    stop: Stop
    passes: float
    steps: int
    seconds: float
    history: list[Record]
    features: Features | None = None  # which the coefficients are of; None: all of them
    bound: Bound | None = None  # how much better any other model of k features could be
    leads: Leads | None = None  # for an exact fit, by a method that learns row by row
    close: np.ndarray | None = None  # features that a search of k does not put beside others, if it says so

    @property
    def converged(self) -> bool:
        return self.stop.converged

    @property
    def proof(self) -> Proof | None:
        """What was proved."""
        return self.stop.proof

    @property
    def reason(self) -> str:
        """Why it stopped, in words."""
        return why(self.stop)


def run(
    problem: Problem,
    iterates: Iterator[Iterate],
    *,
    max_passes: int,
    tol: float,
    progress: Callable[[Record], None] | None = None,
    checkpoints: Checkpoints | None = None,
    resumed: Saved | None = None,
) -> Result:
    """Run a solver until its duality gap, or the change of F, is within `tol` of the empty model's loss.

    Interrupted (Ctrl-C) after its first point, it returns the last one. `resumed` is what the solver went on from.
    """
    course = _Course(problem, resumed)
    last: tuple[Iterate, Record] | None = None
    stop, ending = None, StopReason.LAST_STEP
    try:
        while stop is None:
            point = next(iterates)
            record = course.record(point)
            last = point, record
            if progress is not None:
                progress(record)
            course.keep(record, point)
            if point.end_of_pass:
                stop = _stop(course.ends_of_passes, point, tol, course.unit, max_passes)
            if stop is None and checkpoints is not None and point.save is not None and checkpoints.due:
                checkpoints.save(course.saved(point.save(), record))
    except StopIteration as end:  # the solver may return a reason
        ending = end.value or ending
    except KeyboardInterrupt:
        if last is None:
            raise
        ending = StopReason.INTERRUPTED
    if last is None:
        raise CheckpointError("the checkpoint is of a fit that had come to its end: fit without resume")
    point, record = last
    if checkpoints is not None and stop is None and point.searched is not None and point.save is not None:
        checkpoints.save(course.saved(point.save(), record))  # others are not whole within a step
    return course.result(point, record, stop or Stop(ending))


class _Course:
    """One run as it goes: its clock, its passes and its history, with those of the run that it goes on from."""

    def __init__(self, problem: Problem, resumed: Saved | None) -> None:
        self.problem, self.history = problem, history_of(resumed)
        self._started, self._passes_before = time.perf_counter(), problem.data.passes
        if resumed is not None:
            self._passes_before -= resumed.facts["passes"]
            self._started -= resumed.facts["seconds"]
        with problem.data.ledger.monitoring() if problem.data.cheap_passes else nullcontext():
            self.unit = gap_unit(problem)
        if not np.isfinite(self.unit):
            raise DataError(
                "the squares of these numbers are beyond the range of floating-point numbers; scale them down"
            )

    @property
    def passes(self) -> float:
        return self.problem.data.passes - self._passes_before

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started

    @property
    def ends_of_passes(self) -> list[Record]:
        return [record for record in self.history if record.end_of_pass]

    def record(self, point: Iterate) -> Record:
        """The line of history of a point, unless the method diverged."""
        F = self._cheap_objective(point)
        _check_divergence(point, F, self.unit, self.problem)
        gap = None if point.gap is None else max(point.gap, 0.0) / self.unit
        n_selected = n_features_in(point.coef, self.problem.loss.n_outputs)
        record = Record(self.passes, point.steps, self.seconds, F, gap, n_selected, end_of_pass=point.end_of_pass)
        if point.progressive is not None:
            rows = self.problem.data.n_rows * len(self.ends_of_passes) + point.progressive.rows
            record = with_progressive(record, point.progressive, rows)
        if point.searched is not None:
            record = replace(record, bound=point.searched.bound, parts=point.searched.n_parts)
        return record

    def _cheap_objective(self, point: Iterate) -> float | None:
        """F at this point, where the solver or a cheap pass tells it."""
        data = self.problem.data
        if point.objective is not None or not (point.end_of_pass and data.cheap_passes):
            return point.objective
        with data.ledger.monitoring():
            return _objective_at(self.problem, point)

    def keep(self, record: Record, point: Iterate) -> None:
        """Put the record into the history, within a pass only if the last one is a while ago."""
        last = self.history[-1].steps if self.history else 0
        if point.end_of_pass or (point.progressive is not None and point.steps >= GROWTH * last):
            self.history.append(record)

    def saved(self, of_solver: Saved, record: Record) -> Saved:
        """The solver's state with the driver's own."""
        arrays, facts = of_solver
        history = [asdict(one) for one in self.history]
        return Saved(arrays, facts | {"history": history, "passes": record.passes, "seconds": record.seconds})

    def result(self, point: Iterate, record: Record, stop: Stop) -> Result:
        """The result of a run that ended at this point, of which this is the record."""
        if not self.history or self.history[-1] is not record:
            self.history.append(record)
        F = record.objective if record.objective is not None else _objective_at(self.problem, point)
        bound = None if point.bound is None else point.bound()
        intercept = float(point.intercept) if np.ndim(point.intercept) == 0 else point.intercept
        gap = next((one.gap for one in reversed(self.history) if one.gap is not None), None)
        return Result(
            coef=point.coef,
            intercept=intercept,
            objective=F,
            gap=gap,
            stop=stop,
            passes=self.passes,
            steps=point.steps,
            seconds=self.seconds,
            history=self.history,
            features=point.features,
            bound=bound,
            leads=None if point.leads is None else point.leads(),
            close=point.close,
        )


def history_of(resumed: Saved | None) -> list[Record]:
    """The history of the run that this one goes on from."""
    if resumed is None:
        return []
    check_facts(resumed.facts, {"history": list[dict[str, Any]], "passes": float, "seconds": float}, finite=True)
    try:
        return [build(Record, record, "its history") for record in resumed.facts["history"]]
    except SchemaError as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}; start again without resuming") from error


def with_progressive(record: Record, progressive: ProgressiveValidation, rows: int) -> Record:
    """The record with what progressive validation tells after so many rows."""
    return replace(
        record, progressive_loss=progressive.mean_loss, rows=rows, accuracy=progressive.accuracy, r2=progressive.r2
    )


def _stop(history: list[Record], point: Iterate, tol: float, unit: float, max_passes: int) -> Stop | None:
    """Why to stop here, or None to go on."""
    recent = history[-PATIENCE:]
    gap = recent[-1].gap
    if gap is not None and gap <= tol:
        return Stop.proved(DualityGap(gap, tol))
    if point.residual is not None and point.residual <= tol:
        return Stop.proved(Stationary(point.residual, tol))
    if point.proof is not None:
        return Stop.proved(point.proof)
    if (
        point.residual is None
        and len(recent) == PATIENCE
        and all(record.gap is None and record.objective is not None for record in recent)
    ):
        values = [record.objective for record in recent if record.objective is not None]
        if max(values) - min(values) <= tol * unit:
            return Stop(StopReason.OBJECTIVE_STALLED, passes=PATIENCE)
    if len(history) >= max_passes:
        return Stop(StopReason.MAX_PASSES, passes=max_passes)
    return None


def _objective_at(problem: Problem, point: Iterate) -> float:
    """F at this point: a pass."""
    if point.features is None:
        return objective(problem, point.coef, point.intercept)
    on = np.flatnonzero(point.coef)
    part = replace(problem, data=Columns(problem.data, point.features.ids[on]))
    return objective(part, point.coef[on], point.intercept)


def _check_divergence(point: Iterate, F: float | None, empty: float, problem: Problem) -> None:
    """Refuse a model with NaN, or with a loss far above that of the empty model."""
    check_finite(point.coef, point.intercept, point.steps)
    if F is None or F - problem.penalty.value(point.coef) <= DIVERGED * max(empty, 1.0):
        return
    raise DivergenceError(
        f"the method diverged after {point.steps} steps (the empty model's loss is {empty:.4g}, here it is {F:.4g}); "
        f"{AGAINST_DIVERGENCE}"
    )


def check_finite(coef: np.ndarray, intercept: Any, steps: int) -> None:
    """Refuse a model with NaN or an infinite number."""
    if not (np.isfinite(intercept).all() and np.isfinite(coef).all()):
        raise DivergenceError(
            f"the method diverged after {steps} steps: its coefficients are no finite numbers; {AGAINST_DIVERGENCE}"
        )
