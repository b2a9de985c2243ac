"""One cell of the experiment: an algorithm in one reading, at one alpha or k, with one seed."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from riata.errors import DivergenceError
from riata.objective import Problem, objective
from riata.penalties import Penalty
from riata.reproduce.algorithms import ALGORITHMS, Effort
from riata.reproduce.rows import Rows
from riata.solvers.iterate import Iterate
from riata.solvers.registry import SOLVERS
from riata.training.driver import run
from riata.training.fitting import make_problem, solver_options
from riata.training.spec import Spec

POINTS = 50  # of a trace that are kept
EARLY = (10, 30, 100, 300, 1000, 3000)  # steps within the first pass that are looked at


@dataclass(frozen=True)
class FitCell:
    """What to fit; `run` fits it."""

    algorithm: str
    reading: str
    strength: float  # alpha, or k
    seed: int
    effort: Effort
    alone = False  # whether other processes must rest meanwhile

    @property
    def key(self) -> str:
        return f"fit-{self.algorithm}-{self.reading}-{self.strength:g}-{self.seed}"

    @property
    def spec(self) -> Spec:
        algorithm = ALGORITHMS[self.algorithm]
        strength: dict[str, Any] = {algorithm.takes: int(self.strength) if algorithm.takes == "k" else self.strength}
        return Spec(**algorithm.spec_options(self.reading, self.effort), **strength, seed=self.seed)

    def run(self, rows: Rows) -> dict[str, Any]:
        """How good the model is, what it holds, what it cost and its records on the way."""
        spec = self.spec
        problem, _ = make_problem(rows.training(), spec)
        options = solver_options(spec)
        watch = Watch(rows, problem.penalty)
        points = watch.over(SOLVERS[spec.solver_name].start(problem, options))
        facts = {name: getattr(self, name) for name in ("algorithm", "reading", "strength", "seed")}
        try:
            result = run(problem, points, max_passes=options.max_passes, tol=spec.tol)
        except DivergenceError as error:
            return {"kind": "fit", **facts, "failed": str(error)}
        chosen = result.coef != 0
        objectives = [F for record in result.history if (F := record.objective) is not None]  # known in memory
        way = watch.trace(objectives)
        return {
            "kind": "fit",
            **facts,
            "accuracy": rows.accuracy(result.coef, result.intercept),
            "accuracy_without_intercept": rows.accuracy(result.coef),
            "features": int(chosen.sum()),
            "probes": None if rows.probes is None else int((chosen & rows.probes).sum()),
            "objective": result.objective,
            "loss": result.objective - problem.penalty.value(result.coef),
            "gap": result.gap,
            "steps": result.steps,
            "passes": result.passes,
            "seconds": watch.seconds,
            "rises": float(np.mean(np.diff(objectives) > 0)) if len(objectives) > 1 else None,  # share of passes
            "stopped_because": result.reason,
            "trace": (self._beginning(rows, problem, way[0]["steps"]) if self._from_the_first_step else []) + way,
        }

    @property
    def _from_the_first_step(self) -> bool:
        """Whether records are made within the first pass, too: for the first seed of the paper's stochastic methods."""
        return self.seed == 0 and self.reading != "riata" and ALGORITHMS[self.algorithm].random

    def _beginning(self, rows: Rows, problem: Problem, first_pass: float) -> list[dict[str, float]]:
        """Records within the first pass: short runs of the same seed visit the same rows as the long one."""
        spec = self.spec
        if spec.rounds and spec.alpha is not None:
            spec = replace(spec, rounds=False, alpha=0.5 * spec.alpha)  # all of it is in the first half
        within, _ = make_problem(problem.data, spec)
        notes = []
        for steps in (steps for steps in EARLY if steps < first_pass):
            watch = Watch(rows, problem.penalty)
            options = solver_options(replace(spec, max_passes=None, max_steps=steps))
            *_, point = watch.over(SOLVERS[spec.solver_name].start(within, options))
            notes += watch.trace([objective(problem, point.coef, point.intercept)])
        for note, later in reversed(list(pairwise(notes))):
            note["seconds"] = min(note["seconds"], later["seconds"])  # a run that came further passed here before
        return notes


@dataclass
class Watch:
    """Lets a solver's points pass, and notes how good each is. Its clock runs while the solver does, and only then."""

    rows: Rows
    penalty: Penalty
    seconds: float = 0.0
    notes: list[dict[str, float]] = field(default_factory=list)

    def over(self, points: Iterator[Iterate]) -> Iterator[Iterate]:
        while True:
            started = time.perf_counter()
            point = next(points, None)
            self.seconds += time.perf_counter() - started
            if point is None:
                return
            if point.end_of_pass:
                self._note(point)
            yield point

    def _note(self, point: Iterate) -> None:
        self.notes.append(
            {
                "steps": point.steps,
                "seconds": self.seconds,
                "accuracy": self.rows.accuracy(point.coef, point.intercept),
                "features": int(np.count_nonzero(point.coef)),
                "penalty": self.penalty.value(point.coef),
            }
        )

    def trace(self, objectives: list[float]) -> list[dict[str, float]]:
        """Some of the notes, with the objective at each and its part without the penalty."""
        kept = np.unique(np.geomspace(1, len(self.notes), POINTS).astype(int)) - 1  # more of the beginning
        with_loss = [
            {name: value for name, value in note.items() if name != "penalty"}
            | {"objective": F, "loss": F - note["penalty"]}
            for note, F in zip(self.notes, objectives, strict=True)
        ]
        return [with_loss[i] for i in kept]
