"""Models of many alphas in a compiled loop, which a pass at the last of them confirms.

Where that pass does not find what was proposed, nothing of it is kept, and the path goes on without it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riata.objective import FirstOrder, Problem, first_order
from riata.penalties import Penalty
from riata.solvers.convex.compiled_paths.column_path import column_path
from riata.solvers.convex.compiled_paths.covariance_path import covariance_path
from riata.solvers.convex.compiled_paths.path_models import AlphaModel, Passed, PathOptions, Proposer

AT_ONCE = 2  # alphas, where the gap that is asked for changes on the way
FAILURES = 2  # after which nobody is asked any more
CONFIRMED = 0.1  # of the gap that is asked for: by how much the loss may differ from what was proposed


class ModelsAhead:
    """Asks a proposer for models of a path, as long as its proposals are confirmed."""

    def __init__(self, proposer: Proposer) -> None:
        self._proposer, self._failures = proposer, 0

    @classmethod
    def of(cls, problem: Problem, n_alphas: int, memory: int | None) -> "ModelsAhead | None":
        """For a path of so many alphas; None where nobody can."""
        proposer = covariance_path(problem, n_alphas, memory) or column_path(problem, memory)
        return None if proposer is None else cls(proposer)

    def proposed(
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
        proposal = self._proposer.proposed(problem, alphas, way, at, options.tol, options.unit)
        if proposal is not None:
            w, b, loss, _ = (every[-1] for every in proposal)
            there = first_order(problem, w, float(b))
            gap = options.judge.shortfall(replace(problem, penalty=penalties[len(proposal.coefs) - 1]), w, there)
            if gap <= asked and abs(there.loss - loss) <= CONFIRMED * asked:
                last = AlphaModel(w, float(b), there.loss, gap / options.unit)
                others = zip(*(every[:-1] for every in proposal), strict=True)
                models = [AlphaModel(w, float(b), float(loss), float(gap) / options.unit) for w, b, loss, gap in others]
                found = [*models, last], there
        self._failures += found is None
        return found
