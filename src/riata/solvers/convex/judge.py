"""How far a point is from the minimum: its duality gap, or its optimality conditions where there is no dual bound."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riata.objective import FirstOrder, Problem, Start, duality_gap, has_dual_bound, slope_unit, stationarity
from riata.solvers.iterate import Iterate, Saved

SAMPLE_PRECISION = 1e-3  # of F, or of the slopes at the start: near enough to the minimum over a sample of rows


@dataclass(frozen=True)
class Judge:
    """Measures the points of one problem."""

    slope_unit: float | None  # unit of stationarity; None where there is a duality gap

    @classmethod
    def of(cls, problem: Problem, start: Start) -> "Judge":
        return cls(None if has_dual_bound(problem) else slope_unit(problem, start))

    @property
    def has_gap(self) -> bool:
        """Whether points are measured by a duality gap."""
        return self.slope_unit is None

    def shortfall(self, problem: Problem, w: np.ndarray, at: FirstOrder) -> float:
        """The duality gap, or the largest violation of an optimality condition."""
        return duality_gap(problem, w, at) if self.slope_unit is None else stationarity(problem, w, at)

    def unit(self, gap_unit: float) -> float:
        """The unit of relative shortfalls, where that of gaps is `gap_unit`."""
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
        """The iterate of a point."""
        if self.slope_unit is None:
            return Iterate(w, b, t, F, shortfall, save=save)
        return Iterate(w, b, t, F, residual=shortfall / self.slope_unit, save=save)

    def near(self, point: Iterate, F: float) -> bool:
        """Whether a point is good enough for a sample of the rows, where F is that of the first point."""
        if point.residual is not None:
            return point.residual <= SAMPLE_PRECISION
        return point.gap is not None and point.gap <= SAMPLE_PRECISION * F
