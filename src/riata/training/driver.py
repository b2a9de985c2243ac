"""Runs a solver: stopping, history, divergence and progress, written once for all of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from riata.data.dataset import Columns
from riata.errors import CheckpointError, DataError, DivergenceError
from riata.objective import Problem, gap_unit, objective
from riata.outcome.proofs import Bound, DualityGap, Proof, Stationary
from riata.outcome.reasons import StopReason
from riata.outcome.sentences import why
from riata.outcome.stop import Stop
from riata.schema import SchemaError, build
from riata.solvers.iterate import Features, Iterate, Saved
from riata.solvers.online.progressive_validation import ProgressiveValidation
from riata.solvers.saved_checks import check_facts
from riata.training.checkpoint import Checkpoints

DIVERGED = 1e3  # times the loss of the empty model: no method that converges gets there
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

    coef: np.ndarray
    intercept: float
    objective: float
    gap: float | None
    stop: Stop
    passes: float
    steps: int
    seconds: float
    history: list[Record]
    features: Features | None = None  # which the coefficients are of; None: all of them
    bound: Bound | None = None  # how much better any other model of k features could be

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
    data = problem.data
    started, passes_before = time.perf_counter(), data.passes
    with data.ledger.monitoring() if data.cheap_passes else nullcontext():
        unit = gap_unit(problem)
    if not np.isfinite(unit):
        raise DataError("the squares of these numbers are beyond the range of floating-point numbers; scale them down")
    history: list[Record] = []
    if resumed is not None:
        check_facts(resumed.facts, {"history": list[dict[str, Any]], "passes": float, "seconds": float}, finite=True)
        try:
            history = [build(Record, record, "its history") for record in resumed.facts["history"]]
        except SchemaError as error:
            raise CheckpointError(f"the checkpoint is damaged: {error}; start again without resuming") from error
        passes_before -= resumed.facts["passes"]
        started -= resumed.facts["seconds"]
    stop: Stop | None = None
    point = None
    ending: list[StopReason] = []
    for point in _until_interrupted(iterates, ending):
        F = point.objective
        if F is None and point.end_of_pass and data.cheap_passes:
            with data.ledger.monitoring():
                F = _objective_at(problem, point)
        _check_divergence(point, F, unit, problem)
        gap = None if point.gap is None else max(point.gap, 0.0) / unit
        passes = data.passes - passes_before
        seconds, n_selected = time.perf_counter() - started, int(np.count_nonzero(point.coef))
        record = Record(passes, point.steps, seconds, F, gap, n_selected, end_of_pass=point.end_of_pass)
        if point.progressive is not None:
            rows = data.n_rows * sum(earlier.end_of_pass for earlier in history) + point.progressive.rows
            record = with_progressive(record, point.progressive, rows)
        if point.searched is not None:
            record = replace(record, bound=point.searched.bound, parts=point.searched.n_parts)
        if progress is not None:
            progress(record)
        last = history[-1].steps if history else 0
        if point.end_of_pass or (point.progressive is not None and point.steps >= GROWTH * last):
            history.append(record)
        if point.end_of_pass:
            stop = _stop([record for record in history if record.end_of_pass], point, tol, unit, max_passes)
            if stop is not None:
                break
        _save_if_due(checkpoints, point, history, passes, seconds)
    if point is None and ending == [StopReason.INTERRUPTED]:
        raise KeyboardInterrupt
    if point is None:
        raise CheckpointError("the checkpoint is of a fit that had come to its end: fit without resume")
    if not history or history[-1] is not record:
        history.append(record)
    F = history[-1].objective
    if F is None:
        F = _objective_at(problem, point)
    bound = None if point.bound is None else point.bound()
    gap = next((record.gap for record in reversed(history) if record.gap is not None), None)
    return Result(
        point.coef, float(point.intercept), F, gap, stop or Stop(ending[0]),
        data.passes - passes_before, point.steps, time.perf_counter() - started, history, point.features, bound,
    )  # fmt: skip


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


def _until_interrupted(iterates: Any, ending: list[StopReason]) -> Iterator[Iterate]:
    """The iterates, up to a Ctrl-C. Why there are no more goes to `ending`: the solver may return a reason."""
    try:
        ending.append((yield from iterates) or StopReason.LAST_STEP)
    except KeyboardInterrupt:
        ending.append(StopReason.INTERRUPTED)


def _save_if_due(
    checkpoints: Checkpoints | None, point: Iterate, history: list[Record], passes: float, seconds: float
) -> None:
    """Save the solver's state with the driver's own, now and then."""
    if checkpoints is not None and point.save is not None and checkpoints.due:
        arrays, facts = point.save()
        own = {"history": [asdict(record) for record in history], "passes": passes, "seconds": seconds}
        checkpoints.save(Saved(arrays, facts | own))


def _check_divergence(point: Iterate, F: float | None, empty: float, problem: Problem) -> None:
    """Refuse a model with NaN, or with a loss far above that of the empty model."""
    finite = np.isfinite(point.intercept) and np.isfinite(point.coef).all()
    if finite and (F is None or F - problem.penalty.value(point.coef) <= DIVERGED * max(empty, 1.0)):
        return
    raise DivergenceError(
        f"the method diverged after {point.steps} steps (the empty model's loss is {empty:.4g}, here it is "
        f"{F if F is None else format(F, '.4g')}); leave the step to riata, choose a smaller one, or scale the data "
        "(standardize, or rows of unit norm)"
    )
