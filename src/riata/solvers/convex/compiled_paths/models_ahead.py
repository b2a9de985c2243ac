"""Models of many alphas in a compiled loop, which a pass at the last of them confirms.

Where that pass does not find what was told, nothing of it is kept, and the path goes on as if nothing had been told.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riata.objective import FirstOrder, Problem, first_order
from riata.penalties import Penalty
from riata.solvers.convex.compiled_paths.column_path import column_path
from riata.solvers.convex.compiled_paths.covariance_path import covariance_path
from riata.solvers.convex.compiled_paths.told import AlphaModel, Passed, PathOptions, Teller

AT_ONCE = 2  # alphas, where the gap that is asked for changes on the way
FAILURES = 2  # after which nobody is asked any more
CONFIRMED = 0.1  # of the gap that is asked for: by how much the loss may differ from what was told


class ModelsAhead:
    """Asks who can tell models of a path, as long as that is right."""

    def __init__(self, teller: Teller) -> None:
        self._teller, self._failures = teller, 0

    @classmethod
    def of(cls, problem: Problem, memory: int | None) -> "ModelsAhead | None":
        """None where nobody can."""
        teller = covariance_path(problem, memory) or column_path(problem, memory)
        return None if teller is None else cls(teller)

    def told(
        self,
        problem: Problem,
        penalties: Sequence[Penalty],
        alphas: np.ndarray,
        way: list[Passed],
        at: FirstOrder,
        options: PathOptions,
    ) -> tuple[list[AlphaModel], FirstOrder] | None:
        """Models of the first of these alphas, and the pass at the last; None where they have to be found otherwise."""
        if self._failures == FAILURES:
            return None
        asked, found = options.tol * options.unit, None
        alphas = alphas[:AT_ONCE] if options.loosened else alphas
        told = self._teller.told(problem, alphas, way, at, options.tol, options.unit)
        if told is not None:
            w, b, loss, _ = (every[-1] for every in told)
            there = first_order(problem, w, float(b))
            gap = options.judge.shortfall(replace(problem, penalty=penalties[len(told.coefs) - 1]), w, there)
            if gap <= asked and abs(there.loss - loss) <= CONFIRMED * asked:
                last = AlphaModel(w, float(b), there.loss, gap / options.unit)
                others = zip(*(every[:-1] for every in told), strict=True)
                models = [AlphaModel(w, float(b), float(loss), float(gap) / options.unit) for w, b, loss, gap in others]
                found = [*models, last], there
        self._failures += found is None
        return found
