"""Seconds of one step against the number of rows and of features: what Table 1 calls computation.

Rows are dense and normal, of unit norm, as the paper's O(.) counts them. A step is one row or batch of a stochastic
method, all coordinates of coordinate descent, one slope over all rows; for riata's exact and best-k it is a whole fit.
"""

import time
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from riata.data.in_memory import InMemory
from riata.errors import RiataError
from riata.matrices.host import as_matrix
from riata.outcome.reasons import StopReason
from riata.reproduce.algorithms import ALGORITHMS, SETTING
from riata.reproduce.rows import Rows
from riata.solvers.registry import SOLVERS
from riata.threads import one_blas_thread
from riata.training.fitting import fit, make_problem, solver_options
from riata.training.spec import Spec

SIGNAL = 10  # features that the labels depend on
ALPHA_RATIO, K = 0.1, 20
ROUNDS, FITS = 8, 3  # timings of steps and of whole fits, of which the least counts
WHOLE_FITS = ("exact", "best-k")


@dataclass(frozen=True)
class TimeCell:
    """Which step to time, on rows of which shape."""

    algorithm: str
    n: int
    d: int
    alone = True  # other processes rest meanwhile

    @property
    def key(self) -> str:
        return f"time-{self.algorithm}-{self.n}-{self.d}"

    def run(self, rows: Rows) -> dict[str, Any]:
        timed = seconds_of_a_fit if self.algorithm in WHOLE_FITS else seconds_of_a_step
        with one_blas_thread():
            timed(self.algorithm, made_up_rows(50, 50))  # loads what is compiled
            seconds = timed(self.algorithm, made_up_rows(self.n, self.d))
        return {"kind": "time", "algorithm": self.algorithm, "n": self.n, "d": self.d, "seconds": seconds}


def made_up_rows(n: int, d: int) -> InMemory:
    """Normal rows of unit norm; labels are the sign of the sum of the first features."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    return InMemory(as_matrix(X).unit_rows(), np.where(X[:, :SIGNAL].sum(axis=1) > 0, 1.0, -1.0))


def plain_spec(algorithm: str, **more: Any) -> Spec:
    """The algorithm with its own steps, at a strength that makes sense on any data."""
    strength: dict[str, Any] = {"alpha_ratio": ALPHA_RATIO} if ALGORITHMS[algorithm].takes == "alpha" else {"k": K}
    return Spec(**SETTING, **ALGORITHMS[algorithm].options, **strength, **more, seed=0)


def seconds_of_a_step(algorithm: str, data: InMemory) -> float:
    """Time between two points that the solver yields, divided by the steps that it made."""
    spec = plain_spec(algorithm, max_passes=ROUNDS)
    problem, _ = make_problem(data, spec)
    points = SOLVERS[spec.solver_name].start(problem, solver_options(spec))
    least, before, steps_before = np.inf, time.perf_counter(), 0
    for point in islice(points, ROUNDS):
        now = time.perf_counter()
        least = min(least, (now - before) / (point.steps - steps_before))
        before, steps_before = now, point.steps
    return least


def seconds_of_a_fit(algorithm: str, data: InMemory) -> float:
    """Time from the data to the certificate."""
    results = [fit(data, plain_spec(algorithm)).result for _ in range(FITS)]
    if any(result.stop.reason is StopReason.INTERRUPTED for result in results):
        raise KeyboardInterrupt  # a fit takes it as a wish for the model so far: here it means the experiment
    if not all(result.converged for result in results):
        raise RiataError(f"{algorithm} did not converge, so its time means nothing: {results[0].reason}")
    return min(result.seconds for result in results)
