"""The best models with 1, 2, ..., k features, in about as many passes as one of them takes.

All sizes search among the same candidates: a sweep upwards starts size k from the best k - 1 features and one more, a
sweep downwards from the best k + 1 and one less, and both go on with swaps. Then every size has gains for the features
outside, those of largest gain become candidates in one pass for all sizes, and the sweeps are repeated, until no size
has a gain. For losses other than the squared one that would prove nothing: `rough_per_size` proposes supports by two
local quadratics, those at the empty model and at a model of the largest size, and refits them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riata.objective import Problem, empty_intercept, first_order, gap_unit
from riata.outcome.proofs import RefittedSupports, SwapOptimalPath
from riata.solvers.iterate import Options
from riata.solvers.subset.best_coupled import is_coupled
from riata.solvers.subset.best_groups import check_memory, refitted, searched
from riata.solvers.subset.best_k_refits import largest_gains
from riata.solvers.subset.coupled_per_size import coupled_per_size
from riata.solvers.subset.local.hessian import NOTHING
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import Fitted
from riata.solvers.subset.proof.global_bound import Bounded, Size, quadratic_bounds, true_bounds
from riata.solvers.subset.proof.planes import Costs
from riata.solvers.subset.rough_per_size import rough_per_size
from riata.solvers.subset.search.candidates import first_count, make_room, next_count, room_for
from riata.solvers.subset.search.size_sweeps import Made, sweeps, untold
from riata.solvers.subset.search.subset import MIN_GAIN
from riata.threads import one_blas_thread

SIZES = 4  # whose relaxations are made for another loss: each costs a pass


@dataclass(frozen=True)
class BestPerSize:
    """A model for every number of features, the smallest first, up to the last that helps (or the empty model)."""

    models: list[Fitted]
    proof: SwapOptimalPath | RefittedSupports
    bounded: Callable[[], Bounded] | None  # what no model of each size has an objective below; None: not known

    @property
    def objectives(self) -> np.ndarray:
        return np.array([model.objective for model in self.models])


def best_per_size(problem: Problem, k_max: int, options: Options, made: Made = untold) -> BestPerSize:
    """The best model found for every number of features up to k_max."""
    if is_coupled(problem):
        models, proof = coupled_per_size(problem, range(1, k_max + 1), options, made)
        return BestPerSize(models, proof, None)
    with one_blas_thread():  # hundreds of small factorisations
        if problem.cardinality.groups is not None:
            return _groups_per_size(problem, k_max, options, made)
        return _features_per_size(problem, k_max, options, made)


def _groups_per_size(problem: Problem, k_max: int, options: Options, made: Made) -> BestPerSize:
    """One sweep upwards, with swaps of groups at every size."""
    check_memory(problem.data.n_features, options.memory)
    model, search = searched(problem, np.zeros(problem.data.n_features), empty_intercept(problem))
    supports = []
    for k in range(1, k_max + 1):
        search.forward(k)
        if len(search.members) < k:
            break
        search.swap(k)
        supports.append(search.outlook.support)
        made(k, k_max)
    if problem.loss.quadratic or not supports:
        supports = supports or [NOTHING]
        models, bounded = [_fitted(model, support) for support in supports], _quadratic(model, supports, k_max)
        return BestPerSize(models, SwapOptimalPath(problem.counted), bounded)
    models = refitted(problem, supports, options)
    return BestPerSize(models, RefittedSupports(1), _true(problem, models, k_max, model.candidates))


def _features_per_size(problem: Problem, k_max: int, options: Options, made: Made) -> BestPerSize:
    """Sweeps over sizes by the local quadratic, refitted where that is not the loss itself."""
    d = problem.data.n_features
    min_gain = 2.0 * MIN_GAIN * gap_unit(problem)
    limit, at_once = room_for(k_max, d, options)
    if not problem.loss.quadratic or at_once is not None:
        sizes = range(1, k_max + 1)
        found = rough_per_size(problem, sizes, options, min_gain, made)
        always = len(problem.always_in)
        helpful = [size for size, one in zip(sizes, found, strict=True) if len(one.support) == size + always]
        n_help = max(helpful, default=1)
        models = found[:n_help]
        columns = np.unique(np.concatenate([one.support for one in models]))
        proof = RefittedSupports(1 if problem.loss.quadratic else 2)
        return BestPerSize(models, proof, _true(problem, models, k_max, columns))
    model = LocalQuadratic.at(problem, np.zeros(d), empty_intercept(problem))
    supports = _support_per_size(model, k_max, min_gain, limit, made)
    models = [_fitted(model, support) for support in supports]
    return BestPerSize(models, SwapOptimalPath(problem.counted), _quadratic(model, supports, k_max))


def _quadratic(model: LocalQuadratic, supports: list[np.ndarray], k_max: int) -> Callable[[], Bounded]:
    """Bounds where the local quadratic is the loss itself; a size that does not help has the model of the last one."""
    supports = supports + [supports[-1]] * (k_max - len(supports))
    return lambda: quadratic_bounds(
        model, [Size(k, support, model.outlook(support, k).weights) for k, support in enumerate(supports, 1)]
    )


def _true(problem: Problem, models: list[Fitted], k_max: int, columns: np.ndarray) -> Callable[[], Bounded]:
    """Bounds for another loss, from relaxations among some columns."""
    columns = np.union1d(columns, models[-1].support)

    def bounded() -> Bounded:
        w = np.zeros(problem.data.n_features)
        w[models[-1].support] = models[-1].coef
        slopes = first_order(problem, w, models[-1].intercept).by_w
        if not Costs.of(problem).bounding:
            return Bounded(None, slopes, len(models))
        sizes = sorted({max(1, k_max // 3**i) for i in range(SIZES if problem.data.cheap_passes else 1)})
        found = [true_bounds(problem, k, models[min(k, len(models)) - 1], None, columns, slopes) for k in sizes]
        values = np.zeros(k_max)
        for one in found:
            assert one.values is not None
            values[: len(one.values)] = np.maximum(values[: len(one.values)], one.values)
        return Bounded(values)

    return bounded


def _support_per_size(model: LocalQuadratic, k_max: int, min_gain: float, limit: int, made: Made) -> list[np.ndarray]:
    """A support for every size, for none of which a feature outside has a gain; the first sweeps are told."""
    supports: list[np.ndarray] = []
    gains = model.outlook(np.empty(0, dtype=np.int64), k_max).gains
    count = min(first_count(k_max), limit)
    while True:
        new = largest_gains(gains, model.candidates, count)
        make_room(model, np.unique(np.concatenate([*supports, new[:0]])), gains, len(new), limit)
        model.add_candidates(new)
        search = model.search(np.empty(0, dtype=np.int64), k_max, min_gain)
        place = {j: p for p, j in enumerate(model.candidates)}
        known = [np.array([place[j] for j in support]) for support in supports]
        members = sweeps(search, range(1, k_max + 1), known, NOTHING, made)
        made = untold
        supports = [np.sort(model.candidates[chosen]) for chosen in members]
        model.hessian.require(np.unique(np.concatenate([*supports, new[:0]])))
        gains = np.max([model.outlook(S, max(1, len(S))).gains for S in supports or [NOTHING]], axis=0)
        outside = np.delete(gains, model.candidates)
        if np.max(outside, initial=-np.inf) <= min_gain:
            return supports or [np.empty(0, dtype=np.int64)]
        count = min(next_count(k_max), limit - k_max)


def _fitted(model: LocalQuadratic, support: np.ndarray) -> Fitted:
    """The best model of a support, where the local quadratic is the loss itself."""
    outlook = model.outlook(support, len(support))
    w, b = model.coefficients(support, outlook.weights)
    whole = np.union1d(support, model.problem.always_in)
    return Fitted(whole, w[whole], b, model.loss - 0.5 * outlook.reduction)
