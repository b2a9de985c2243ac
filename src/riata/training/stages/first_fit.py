"""The first fit of the adaptive Lasso, and the penalty factors that it gives.

With coefficients b of columns of unit deviation, feature j has the factor (max |b| / |b_j|)^gamma: that of the largest
is 1, so that alpha is what it is for the Lasso, and a feature whose b is 0 is out. Rows that are scored later have no
part in it: every fold makes a first fit of its own.
"""

from dataclasses import replace

import numpy as np

from riata.arrays import to_host
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.gram import COPIES
from riata.errors import OptionError
from riata.losses import Loss
from riata.losses.several_margins import by_margin
from riata.objective import Problem, empty_intercept, empty_start
from riata.penalties import Cardinality
from riata.solvers.subset.local.refit import Refits
from riata.solvers.subset.memory_untold import budget_for
from riata.training.spec import Spec
from riata.training.stages.ridge_by_passes import ridge_by_passes
from riata.training.stages.ridge_by_rows import goes_by_rows, ridge_by_rows

RIDGE = 0.1  # of the mean curvature of the loss, for columns of unit deviation
MANY_FEATURES = 1000  # from which on passes cost less than a matrix of all pairs, or are all that fits
LARGEST_FACTOR = 1e100  # of a feature that is out: no slope exceeds what it makes of alpha


def with_first_fit(data: Dataset, spec: Spec) -> Spec:
    """The spec with the factors of the adaptive Lasso in place of its name; itself where another was asked for."""
    asked = spec.adaptive
    if asked is None:
        return spec
    first = _marginal(data, spec) if asked.first == "marginal" else _all_features(data, spec, asked.first == "ridge")
    sizes = np.abs(np.where(data.moments.squares > 0.0, first, 0.0))
    sizes = sizes if spec.standardize else sizes / data.moments.scale
    largest = float(sizes.max(initial=0.0))
    if largest == 0.0:
        return replace(spec, penalty=None)
    with np.errstate(divide="ignore", over="ignore"):
        factors = np.minimum((largest / sizes) ** asked.gamma, LARGEST_FACTOR)
    return replace(spec, penalty=None, penalty_factors=spec.factors * factors)


def _marginal(data: Dataset, spec: Spec) -> np.ndarray:
    """Coefficients of one feature at a time, up to a factor that all share: the slopes of the empty model."""
    problem = Problem(data, spec.loss_function, spec.family.at(0.0), spec.fit_intercept)
    slopes = by_margin(empty_start(problem).at.by_w, spec.loss_function.n_outputs)
    lengths = np.sqrt(np.sum(slopes**2, axis=0))  # over the outputs, where there are several
    return lengths / data.moments.scale


def _all_features(data: Dataset, spec: Spec, ridge: bool) -> np.ndarray:
    """Coefficients of all features at once, with a small ridge or without."""
    d = data.n_features
    need = 8 * COPIES * d * d
    fits = need <= budget_for(need, spec.memory_bytes)
    if ridge and not (fits and d <= MANY_FEATURES):
        problem = Problem(data, spec.loss_function, spec.family.at(0.0), spec.fit_intercept)
        strength = RIDGE * _mean_curvature(data, spec.loss_function, spec)
        if goes_by_rows(problem):
            return ridge_by_rows(problem, strength, spec.memory_bytes)
        return ridge_by_passes(problem, strength)
    if not fits:
        raise OptionError(
            f"a first fit of all {d:,} features without a penalty needs {need / 1e6:,.0f} MB: take penalty 'adaptive', "
            "whose first fit has a small ridge, or give it more memory"
        )
    scale, loss = data.moments.scale, spec.loss_function
    l2 = RIDGE * _mean_curvature(data, loss, spec) * scale**2 if ridge else 0.0
    problem = Problem(data, loss, Cardinality(d, l2), spec.fit_intercept)
    every = np.arange(d)
    start = np.zeros(d), float(empty_intercept(problem))
    found = Refits(problem, every, spec.memory_bytes).fit([every], [start])[0]
    return found.coef * scale


def _mean_curvature(data: Dataset, loss: Loss, spec: Spec) -> float:
    """The mean second derivative of the loss over the rows, at the empty model."""
    if loss.quadratic:
        return 1.0
    b = float(empty_intercept(Problem(data, loss, spec.family.at(0.0), spec.fit_intercept)))

    def part(chunk: Chunk) -> float:
        z = chunk.weight * 0.0 + b
        return float(to_host(chunk.weight @ loss.second_derivative(chunk.y, z)))

    return data.sum(part) / data.total_weight
