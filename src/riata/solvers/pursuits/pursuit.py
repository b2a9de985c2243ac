"""What the textbook methods for k features share: slopes, the best weights on a support, and a safe step.

They work on the columns a = (x - mean) / scale, with scale 1 where columns are not standardised and mean 0 where there
is no intercept; v are the weights of these columns.
"""

import numpy as np

from riata.data.chunk import Chunk
from riata.objective import Problem, first_order
from riata.outcome.proofs import Proof
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.subgradient import largest_eigenvalue
from riata.solvers.subset.local.refit import Refits


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` largest magnitudes, in increasing order."""
    return np.sort(np.argsort(-np.abs(values), kind="stable")[:count])


class Pursuit:
    """A problem as these methods see it."""

    def __init__(self, problem: Problem, options: Options):
        self.problem, self.k, self._memory = problem, problem.cardinality.k, options.memory
        d = problem.data.n_features
        self._scale = np.broadcast_to(np.asarray(problem.scale, dtype=np.float64), d)
        self._mean = problem.data.moments.mean if problem.fit_intercept else np.zeros(d)

    def at(self, v: np.ndarray, b: float) -> tuple[float, np.ndarray, float]:
        """(mean loss, its slopes in v, its slope in b) where the margins are a . v + b: one pass."""
        first = first_order(self.problem, v / self._scale, self._plain_intercept(v, b))
        return first.loss, (first.by_w - self._mean * first.by_b) / self._scale, first.by_b

    def best_on(self, support: np.ndarray) -> tuple[np.ndarray, float, float]:
        """(v, b, mean loss) of the best weights on the support: one pass, if its columns fit into the memory."""
        zero = np.zeros(len(support)), 0.0
        fit = Refits(self.problem, support, self._memory).fit([support], [zero])[0]
        v = np.zeros(len(self._scale))
        v[support] = fit.coef * self._scale[support]
        return v, float(fit.intercept + self._mean[support] @ fit.coef), fit.objective

    def curvature(self) -> float:
        """An upper bound on the second derivative of the mean loss in any unit direction v: some passes."""

        def second(v: np.ndarray) -> np.ndarray:
            w = v / self._scale
            shift = self._mean @ w

            def part(chunk: Chunk) -> tuple[np.ndarray, float]:
                z = chunk.weight * chunk.X.margins(w, -shift)
                return chunk.X.slopes(z), z.sum()

            by_w, total = self.problem.data.sum(part)
            return (by_w - self._mean * total) / self._scale / self.problem.data.total_weight

        return self.problem.loss.curvature * largest_eigenvalue(second, len(self._scale))

    def iterate(self, v: np.ndarray, b: float, t: int, F: float, proof: Proof | None = None) -> Iterate:
        """The point in the units of the data."""
        return Iterate(v / self._scale, self._plain_intercept(v, b), t, F, proof=proof)

    def _plain_intercept(self, v: np.ndarray, b: float) -> float:
        """The intercept in the units of the data."""
        return float(b - self._mean @ (v / self._scale))
