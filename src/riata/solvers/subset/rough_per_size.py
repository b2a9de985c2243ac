"""Good models of some numbers of features, at little cost: for paths whose models are refitted or scored, not proved.

`best_per_size` proves of every size that no feature outside has a gain, which takes the products of every support with
all d features. Here slopes are all that is asked of the features outside: those of largest slope at a few sizes become
candidates, twice, and supports are searched among them. For losses other than the squared one the local quadratic is
that at a model of the largest size, and all supports are refitted.
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from riata.objective import Problem, empty_intercept, gap_unit
from riata.solvers.iterate import Options
from riata.solvers.subset.best_k_refits import largest_gains
from riata.solvers.subset.local.hessian import NOTHING
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import REFIT_PRECISION, SEPARATED, Fitted, Refits, empty_model
from riata.solvers.subset.memory_untold import MEMORY_UNTOLD
from riata.solvers.subset.search.candidates import first_count, next_count
from riata.solvers.subset.search.size_sweeps import Made, sweeps, untold
from riata.solvers.subset.search.swap_outlook import largest_slopes
from riata.threads import one_blas_thread

MOST_COPIED = 0.25  # of the memory: the columns of all supports are copied once if they take no more
LOOKS = (1.0, 0.5, 0.2)  # of the largest size: at those the slopes of all features are looked at


def rough_per_size(
    problem: Problem,
    sizes: Sequence[int],
    options: Options,
    min_gain: float,
    made: Made = untold,
    precision: float = REFIT_PRECISION,
) -> list[Fitted]:
    """A model of at most so many features for each of these rising sizes, which is the empty one where none helps."""
    empty, always = empty_model(problem), len(problem.always_in)
    with one_blas_thread():  # hundreds of small factorisations
        model = _at_zero(problem) if problem.loss.quadratic else _local_quadratic(problem, empty)
        supports = _supports(model, sizes, NOTHING, min_gain)
        if problem.loss.quadratic:
            found = []
            for support in supports:
                found.append(model.fitted(support))
                made(len(found), len(supports))
        else:
            refits = partial(refitted_in_turn, problem, options=options, precision=precision)
            found = _by_refits(problem, sizes, supports, refits, min_gain, made) if supports else []
    return [min([m for m in found if len(m.support) <= size + always] or [empty], key=_objective) for size in sizes]


def proposed_supports(
    problem: Problem, sizes: Sequence[int], min_gain: float, base: np.ndarray = NOTHING
) -> list[np.ndarray]:
    """A support for each of these rising sizes, by the local quadratic at the empty model, the last one repeated.

    Sizes beyond that of the base, a support, grow from it.
    """
    with one_blas_thread():
        model = _at_zero(problem)
        base = model.others(base)
        found = _supports(model, sizes, base, min_gain) or [base]
    return found + [found[-1]] * (len(sizes) - len(found))


def _by_refits(
    problem: Problem,
    sizes: Sequence[int],
    at_empty: list[np.ndarray],
    refits: Callable[..., list[Fitted]],
    min_gain: float,
    made: Made,
) -> list[Fitted]:
    """The true loss fitted to these supports, and to those that the local quadratic at the largest of them proposes."""
    [top] = refits(at_empty[-1:])
    if top.objective <= SEPARATED * gap_unit(problem):  # there is no curvature left to search on
        return [*refits(at_empty[:-1], made=made), top]
    model = _local_quadratic(problem, top)
    chosen = model.others(top.support)
    at_top = _supports(model, sizes, chosen, min_gain)
    known = {support.tobytes(): support for support in [*at_empty[:-1], *at_top]}
    known.pop(chosen.tobytes(), None)
    return [top, *refits(sorted(known.values(), key=len), made=made)]


def refitted_in_turn(
    problem: Problem,
    supports: Sequence[np.ndarray],
    options: Options,
    made: Made = untold,
    precision: float = REFIT_PRECISION,
) -> list[Fitted]:
    """Supports of rising size fitted to the true loss, in memory each from the one before, most of which it has.

    They end with the first whose classes are separated.
    """
    if not supports:
        return []
    supports = [np.union1d(support, problem.always_in) for support in supports]
    columns = np.unique(np.concatenate(supports))
    memory = MEMORY_UNTOLD if options.memory is None else options.memory
    copied = 8 * problem.data.n_rows * len(columns) <= MOST_COPIED * memory
    refits = Refits(problem, columns, options.memory, at_once=copied, precision=precision)
    w, b = np.zeros(problem.data.n_features), empty_intercept(problem)
    if not refits.cheap_passes:
        return refits.fit(
            supports, [(w[support], b) for support in supports], made=lambda done: made(done, len(supports))
        )
    found: list[Fitted] = []
    separated = SEPARATED * gap_unit(problem)
    for support in supports:
        [fit] = refits.fit([support], [(w[support], b)])
        found.append(fit)
        made(len(found), len(supports))
        if fit.objective <= separated:  # so are classes with more features, and coefficients would grow without end
            break
        w[:], b = 0.0, fit.intercept
        w[support] = fit.coef
    return found


def _at_zero(problem: Problem) -> LocalQuadratic:
    zero = np.zeros(problem.data.n_features)
    return LocalQuadratic.at(problem, zero, empty_intercept(problem), rows_ahead=False)


def _local_quadratic(problem: Problem, fit: Fitted) -> LocalQuadratic:
    w = np.zeros(problem.data.n_features)
    w[fit.support] = fit.coef
    return LocalQuadratic.at(problem, w, fit.intercept, rows_ahead=False)


def _supports(model: LocalQuadratic, sizes: Sequence[int], base: np.ndarray, min_gain: float) -> list[np.ndarray]:
    """A support for every size, up to the last that helps. Sizes beyond that of the base grow from it."""
    k_max, looks = sizes[-1], [base]
    supports: list[np.ndarray] = []
    grown_from = base if sizes[0] > len(base) else NOTHING
    model.add_candidates(base)
    for count in (first_count(k_max), next_count(k_max)):
        slopes = largest_slopes(model.hessian, model.h, looks, [model.best_weights(support) for support in looks])
        model.add_candidates(largest_gains(slopes, model.candidates, count))
        search = model.search(NOTHING, max(k_max, len(base)), min_gain)
        known = [model.places(support) for support in supports]
        found = sweeps(search, sizes, known, model.places(grown_from))
        supports = [np.sort(model.candidates[members]) for members in found]
        if not supports or len(model.candidates) == len(model.w):
            break
        looks = [supports[min(len(supports) - 1, int(share * len(supports)))] for share in LOOKS]
    return supports


def _objective(model: Fitted) -> float:
    return model.objective
