"""Sub-gradient descent (the paper's Algorithms 2 and 3), which takes sign(w) as the slope of |w|:
    w <- w - eta_t (mean over the batch of a' loss'(y, a . w) + l1 sign(w)),
with eta_t = 1/t on rows or batches drawn at random. On all rows the step is constant and the best iterate is returned;
for the squared loss A'A and A'y are kept where they fit, so that no step reads the data again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from riata.data.chunk import Chunk
from riata.data.gram import gram_bytes, gram_of
from riata.kernels.subgradient import subgradient_sweep
from riata.objective import Problem, first_order
from riata.solvers.iterate import Iterate, Options
from riata.solvers.stochastic.method import Method, State, Sweep, stochastic
from riata.solvers.stochastic.schedules import parse_step

Smooth = Callable[[np.ndarray], tuple[float, np.ndarray]]  # weights -> mean loss and its slopes


@dataclass(frozen=True)
class Subgradient(Method):
    l1: float
    schedule = "1/t"

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        return subgradient_sweep(sweep.steps, self.l1, state.w, state.b, learn_b, state.largest)


def subgradient(problem: Problem, options: Options) -> Iterator[Iterate]:
    """Full, mini-batch or stochastic, as options.batch says."""
    if options.batch == "full":
        return full_subgradient(problem, options)
    l1, _ = problem.standardised_strengths
    return stochastic(problem, Subgradient(l1), options)


def full_subgradient(problem: Problem, options: Options) -> Iterator[Iterate]:
    """The best iterate so far, after every step over all rows. The intercept is one more weight, not penalised."""
    d = problem.data.n_features
    l1, _ = problem.standardised_strengths
    fits = options.memory is None or gram_bytes(d + 1) <= options.memory
    smooth, curvature = (_by_gram if problem.loss.quadratic and fits else _by_passes)(problem)
    step = parse_step(1.0 / curvature if options.step is None else options.step, "constant")
    strengths = np.append(np.full(d, l1), np.zeros(int(problem.fit_intercept)))
    v, t, best = np.zeros(len(strengths)), 0, None
    _, slope = smooth(v)
    while options.max_steps is None or t < options.max_steps:
        t += 1
        v = v - step(t) * (slope + strengths * np.sign(v))
        loss, slope = smooth(v)
        F = loss + strengths @ np.abs(v)
        if best is None or F < best.objective or not np.isfinite(F):
            best = Iterate(v[:d] / problem.scale, float(v[d:].sum()), t, float(F))
        yield best._replace(steps=t)


def _by_gram(problem: Problem) -> tuple[Smooth, float]:
    """The mean squared loss and its slope from B = A'A and C = A'y, and the largest eigenvalue of B: one pass."""
    gram = gram_of(problem.data)
    B, C, q = gram.normal(fit_intercept=False)
    B, C, mean = B / np.outer(problem.scale, problem.scale), C / problem.scale, gram.mean / problem.scale
    if problem.fit_intercept:
        B = np.block([[B, mean[:, None]], [mean[None, :], np.ones((1, 1))]])
        C = np.append(C, gram.y_mean)

    def smooth(v: np.ndarray) -> tuple[float, np.ndarray]:
        Bv = B @ v
        return float(0.5 * (v @ Bv - 2.0 * C @ v + q)), Bv - C

    return smooth, largest_eigenvalue(lambda v: B @ v, len(C))


def _by_passes(problem: Problem) -> tuple[Smooth, float]:
    """Any loss and its slope, a pass each time, and a bound on its curvature: a few passes."""
    data, scale, d = problem.data, problem.scale, problem.data.n_features

    def smooth(v: np.ndarray) -> tuple[float, np.ndarray]:
        at = first_order(problem, v[:d] / scale, v[d:].sum())
        return at.loss, np.append(at.by_w / scale, [at.by_b] * problem.fit_intercept)

    def hessian_bound(v: np.ndarray) -> np.ndarray:
        def part(chunk: Chunk) -> tuple[np.ndarray, float]:
            z = chunk.weight * chunk.X.margins(v[:d] / scale, v[d:].sum())
            return chunk.X.slopes(z), z.sum()

        by_w, by_b = data.sum(part)
        return np.append(by_w / scale, [by_b] * problem.fit_intercept) / data.total_weight

    return smooth, problem.loss.curvature * largest_eigenvalue(hessian_bound, d + problem.fit_intercept)


def largest_eigenvalue(product: Callable[[np.ndarray], np.ndarray], size: int) -> float:
    """An upper bound, within some percent, for a positive semi-definite matrix given by its product with a vector."""
    if size < 3:
        return float(max(np.linalg.eigvalsh(np.array([product(e) for e in np.eye(size)]))[-1], 1e-300))
    from scipy.sparse.linalg import LinearOperator, eigsh  # slow to import

    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    # few vectors: each takes a pass and, of millions of features, megabytes
    top = eigsh(operator, k=1, tol=1e-2, ncv=min(6, size), v0=np.ones(size), return_eigenvectors=False)[0]
    return float(max(1.02 * top, 1e-300))
