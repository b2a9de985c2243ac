"""Runs a solver: stopping, history, divergence and progress, written once for all of them."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from riata.errors import DivergenceError
from riata.objective import Problem, gap_unit, objective
from riata.solvers.iterate import Iterate

DIVERGED = 1e3  # times the loss of the empty model: no method that works passes through there
PATIENCE = 10  # passes without a change of F before a method without a certificate has arrived


@dataclass(frozen=True)
class Record:
    """One line of history."""

    passes: float
    steps: int
    seconds: float
    objective: float | None
    gap: float | None  # relative to the loss of the empty model
    n_selected: int


@dataclass(frozen=True)
class Result:
    """Where a solver ended, and why."""

    coef: np.ndarray
    intercept: float
    objective: float
    gap: float | None
    converged: bool
    reason: str
    passes: float
    steps: int
    seconds: float
    history: list[Record]
    proof: str | None = None  # what was proved, in words, where there is no gap


def run(
    problem: Problem,
    iterates: Iterator[Iterate],
    *,
    max_passes: int,
    tol: float,
    progress: Callable[[Record], None] | None = None,
) -> Result:
    """Consume a solver until its certificate, or the change of F, is within `tol` of the empty model's loss."""
    data = problem.data
    started, passes_before = time.perf_counter(), data.passes
    unit = gap_unit(problem)
    watching = data.passes - passes_before  # passes that were read only to watch F
    history: list[Record] = []
    best_gap, converged, reason = None, False, "the solver ended at its last step"
    for point in iterates:
        F = point.objective
        if F is None and data.in_memory:
            F = objective(problem, point.coef, point.intercept)
            watching += 1.0
        _check_divergence(point, F, unit, problem)
        gap = None if point.gap is None else max(point.gap, 0.0) / unit
        best_gap = gap if gap is not None else best_gap
        passes = data.passes - passes_before - watching
        record = Record(passes, point.steps, time.perf_counter() - started, F, gap, int(np.count_nonzero(point.coef)))
        history.append(record)
        if progress is not None:
            progress(record)
        if gap is not None and gap <= tol:
            converged, reason = True, f"the relative duality gap {gap:.1e} is within {tol:.1e}"
            break
        if point.proof is not None:
            converged, reason = True, point.proof
            break
        if best_gap is None and _stalled(history, tol * unit):
            converged, reason = True, f"the objective has not moved for {PATIENCE} passes"
            break
        if len(history) >= max_passes:
            reason = f"it reached max_passes={max_passes}"
            break
    F = history[-1].objective
    if F is None:
        F = objective(problem, point.coef, point.intercept)
    return Result(
        point.coef, float(point.intercept), F, best_gap, converged, reason,
        data.passes - passes_before - watching, point.steps, time.perf_counter() - started, history, point.proof,
    )  # fmt: skip


def _stalled(history, within):
    """Whether F moved by less than `within` over the last passes."""
    recent = [record.objective for record in history[-PATIENCE:]]
    return len(recent) == PATIENCE and None not in recent and max(recent) - min(recent) <= within


def _check_divergence(point, F, empty, problem):
    """Stop before a model of NaN, or one far worse than none, reaches the user."""
    finite = np.isfinite(point.intercept) and np.isfinite(point.coef).all()
    if finite and (F is None or F - problem.penalty.value(point.coef) <= DIVERGED * max(empty, 1.0)):
        return
    raise DivergenceError(
        f"the method diverged after {point.steps} steps (the empty model's loss is {empty:.4g}, here it is "
        f"{F if F is None else format(F, '.4g')}); leave the step to riata, choose a smaller one, or scale the data "
        "(standardize, or rows of unit norm)"
    )
