"""The best models with 1, 2, ..., k features, in about as many passes as one of them takes.

All sizes search among the same candidates: a sweep upwards starts size k from the best k - 1 features and one more, a
sweep downwards from the best k + 1 and one less, and both go on with swaps. Then every size has gains for the features
outside, those of largest gain become candidates in one pass for all sizes, and the sweeps are repeated, until no size
has a gain. For losses other than the squared one two local quadratics propose supports, those at the empty model and at
the best model of the largest size; all supports are refitted in the same passes, and the better ones are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from riata.objective import Problem, empty_intercept, first_order, gap_unit
from riata.outcome.proofs import RefittedSupports, SwapOptimalPath
from riata.penalties import GroupCardinality
from riata.solvers.iterate import Options
from riata.solvers.subset.best_groups import check_memory, refitted, searched
from riata.solvers.subset.best_k_refits import largest_gains, next_count
from riata.solvers.subset.candidates import first_count, make_room, row_limit
from riata.solvers.subset.global_bound import Bounded, Size, quadratic_bounds, true_bounds
from riata.solvers.subset.local_quadratic import NOTHING, LocalQuadratic
from riata.solvers.subset.planes import Costs
from riata.solvers.subset.refit import Fitted, Refits
from riata.solvers.subset.subset import MIN_GAIN, Subset
from riata.threads import one_blas_thread

SIZES = 4  # whose relaxations are made for another loss: each costs a pass


Made = Callable[[int, int], None]  # is told of models made, of how many


def _untold(done: int, total: int) -> None:
    """Nobody is told."""


@dataclass(frozen=True)
class BestPerSize:
    """A model for every number of features, the smallest first, up to the last that helps (or the empty model)."""

    models: list[Fitted]
    proof: SwapOptimalPath | RefittedSupports
    bounded: Callable[[], Bounded]  # what no model of each size has an objective below

    @property
    def objectives(self) -> np.ndarray:
        return np.array([model.objective for model in self.models])


def best_per_size(problem: Problem, k_max: int, options: Options, made: Made = _untold) -> BestPerSize:
    """The best model found for every number of features up to k_max."""
    with one_blas_thread():  # hundreds of small factorisations
        if isinstance(problem.penalty, GroupCardinality):
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
        return BestPerSize(models, SwapOptimalPath("groups"), bounded)
    models = refitted(problem, supports, options)
    return BestPerSize(models, RefittedSupports(1), _true(problem, models, k_max, model.candidates))


def _features_per_size(problem: Problem, k_max: int, options: Options, made: Made) -> BestPerSize:
    """Sweeps over sizes by the local quadratic, refitted where that is not the loss itself."""
    d = problem.data.n_features
    limit, min_gain = row_limit(k_max, d, options), 2.0 * MIN_GAIN * gap_unit(problem)
    model = LocalQuadratic(problem, np.zeros(d), empty_intercept(problem))
    # where supports are refitted that takes longest, and is told
    supports = _support_per_size(model, k_max, min_gain, limit, made if problem.loss.quadratic else _untold)
    if problem.loss.quadratic or not supports:
        models = [_fitted(model, support) for support in supports]
        return BestPerSize(models, SwapOptimalPath(), _quadratic(model, supports, k_max))
    total = 2 * len(supports)  # two local quadratics propose supports
    models = _refitted(problem, supports, options, [], lambda done: made(done, total))
    w = np.zeros(d)
    w[models[-1].support] = models[-1].coef
    local = LocalQuadratic(problem, w, models[-1].intercept)
    others = _support_per_size(local, len(supports), min_gain, limit, _untold)
    found = models + _refitted(problem, others, options, models, lambda done: made(total - len(others) + done, total))
    best = [min((m for m in found if len(m.support) <= k), key=_objective) for k in range(1, len(supports) + 1)]
    return BestPerSize(best, RefittedSupports(2), _true(problem, best, k_max, local.candidates))


def _refitted(
    problem: Problem,
    supports: list[np.ndarray],
    options: Options,
    known: list[Fitted],
    made: Callable[[int], None],
) -> list[Fitted]:
    """Supports of rising size fitted to the true loss, but for those that are known; `made` counts these, too."""
    fitted_already = {fit.support.tobytes() for fit in known}
    new = [support for support in supports if support.tobytes() not in fitted_already]
    made(n_known := len(supports) - len(new))
    if not new:
        return []
    refits = Refits(problem, np.unique(np.concatenate(new)), options.memory)
    w, b = np.zeros(problem.data.n_features), empty_intercept(problem)
    if not refits.cheap_passes:
        return refits.fit(new, [(w[support], b) for support in new], made=lambda done: made(n_known + done))
    found = []
    for support in new:  # each from the one before, most of whose features it has
        [fit] = refits.fit([support], [(w[support], b)])
        found.append(fit)
        made(n_known + len(found))
        w[:], b = 0.0, fit.intercept
        w[support] = fit.coef
    return found


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


def _objective(model: Fitted) -> float:
    return model.objective


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
        members = _sweeps(search, k_max, [np.array([place[j] for j in support]) for support in supports], made)
        made = _untold
        supports = [np.sort(model.candidates[chosen]) for chosen in members]
        model.require(np.unique(np.concatenate([*supports, new[:0]])))
        gains = np.max([model.outlook(S, len(S)).gains for S in supports], axis=0, initial=-np.inf)
        outside = np.delete(gains, model.candidates)
        if np.max(outside, initial=-np.inf) <= min_gain:
            return supports or [np.empty(0, dtype=np.int64)]
        count = min(next_count(k_max), limit - k_max)


def _sweeps(search: Subset, k_max: int, known: list[np.ndarray], made: Made) -> list[np.ndarray]:
    """The best members found for every size, the known ones included: one sweep upwards and one downwards.

    A model is made by both, and so half a one by the first.
    """
    best: dict[int, tuple[float, np.ndarray]] = {}

    def consider() -> None:
        """Swap, and return to the best known members of this size if those are better."""
        search.swap()
        reduction, members = best.get(search.size, (-np.inf, search.members))
        if search.reduction > reduction:
            best[search.size] = search.reduction, search.members
        else:
            search.restart(members)

    for members in known:
        search.restart(members)
        consider()
    search.restart(np.empty(0, dtype=np.int64))
    for k in range(1, k_max + 1):
        search.forward(k)
        if search.size < k:
            break
        consider()
        made(k // 2, k_max)
    largest = search.size
    for k in range(largest - 1, 0, -1):
        search.backward(k)
        consider()
        made((2 * largest - k) // 2, k_max)
    made(k_max, k_max)
    return [best[k][1] for k in sorted(best)]


def _fitted(model: LocalQuadratic, support: np.ndarray) -> Fitted:
    """The best model of a support, where the local quadratic is the loss itself."""
    outlook = model.outlook(support, len(support))
    w, b = model.coefficients(support, outlook.weights)
    return Fitted(support, w[support], b, model.loss - 0.5 * outlook.reduction)
