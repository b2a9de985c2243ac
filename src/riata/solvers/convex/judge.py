"""How far a point is from the answer: its certified gap, or its slopes where the penalty has no bound from below."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riata.objective import FirstOrder, Problem, Start, duality_gap, has_dual_bound, slope_unit, stationarity
from riata.solvers.iterate import Iterate, Saved

ROUGHLY = 1e-3  # of F, or of the slopes at the start: near enough for a sample of the rows


@dataclass(frozen=True)
class Judge:
    """Judges the points of one problem."""

    slope_unit: float | None  # of stationarity; None where there is a gap

    @classmethod
    def of(cls, problem: Problem, start: Start) -> "Judge":
        return cls(None if has_dual_bound(problem) else slope_unit(problem, start))

    @property
    def has_gap(self) -> bool:
        """Whether points are judged by a certified gap."""
        return self.slope_unit is None

    def shortfall(self, problem: Problem, w: np.ndarray, at: FirstOrder) -> float:
        """The gap, or the largest violation of an optimality condition."""
        return duality_gap(problem, w, at) if self.slope_unit is None else stationarity(problem, w, at)

    def unit(self, gap_unit: float) -> float:
        """What shortfalls are measured against, where gaps are measured against `gap_unit`."""
        return gap_unit if self.slope_unit is None else self.slope_unit

    def iterate(
        self,
        t: int,
        w: np.ndarray,
        b: float,
        F: float,
        shortfall: float,
        save: Callable[[], Saved] | None = None,
    ) -> Iterate:
        """A point with what is known of it."""
        if self.slope_unit is None:
            return Iterate(w, b, t, F, shortfall, save=save)
        return Iterate(w, b, t, F, residual=shortfall / self.slope_unit, save=save)

    def near(self, point: Iterate, F: float) -> bool:
        """Whether a point is good enough for a sample of the rows, where F is that of the first point."""
        if point.residual is not None:
            return point.residual <= ROUGHLY
        return point.gap is not None and point.gap <= ROUGHLY * F
