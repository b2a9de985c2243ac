"""A path along alpha over the features that may be in its models, for models that are scored and not kept.

A few alphas at a time, the columns of the features that the strong rule leaves (Tibshirani et al., 2012) are gathered,
and the path goes along these alone: its passes and vectors are as short as they are few. One pass over all features
then certifies the last model. Where it finds that a feature was left out which should not have been, these alphas are
gone along once more, with it. Models before the last are certified over the features that were gathered.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from riata.data.in_memory import InMemory
from riata.objective import FirstOrder, Problem, Side, Start, at_best_intercept, first_order, pulls
from riata.penalties import ElasticNet, Penalty
from riata.solvers.convex.alpha_path import alpha_path
from riata.solvers.convex.compiled_paths.path_models import AlphaModel, Passed, PathOptions

AT_A_TIME = 5  # alphas for which the same features are gathered
MOST = 0.5  # of all features: to gather more, and to read them, would cost about as much as all


def can_be_screened(problem: Problem) -> bool:
    """Whether features can be left out, and are so many that it pays."""
    data, loss = problem.data, problem.loss
    one_by_one = loss.n_outputs == 1 and not (loss.couples_rows or loss.kinked)
    few_rows = isinstance(data, InMemory) and data.n_features > data.n_rows
    return one_by_one and few_rows and isinstance(problem.penalty, ElasticNet)


def screened_path(
    problem: Problem, largest: float, alphas: np.ndarray, penalties: Sequence[Penalty], options: PathOptions
) -> Iterator[AlphaModel]:
    """The models of falling alphas, as `alpha_path` has them, of a problem that can be screened."""
    assert problem.start is not None
    start, way = problem.start, [Passed(largest, problem.start.w, problem.start.b)]
    for i in range(0, len(alphas), AT_A_TIME):
        some, its_penalties = alphas[i : i + AT_A_TIME], penalties[i : i + AT_A_TIME]
        last = replace(problem, penalty=its_penalties[-1])
        features = _possible(last, start, way[-1].alpha / max(some[-1], 1e-300))
        while True:
            narrow = _narrowed(problem, start, features)
            before = [Passed(one.alpha, one.w[features], one.b) for one in way]
            narrower = [one.of(features) for one in its_penalties]  # type: ignore[attr-defined] # of an elastic net
            found = list(alpha_path(narrow, way[-1].alpha, some, narrower, options, before))
            models = [one._replace(w=_widened(one.w, features, len(start.w))) for one in found]
            w, b = models[-1].w, models[-1].b
            at = first_order(problem, w, b)
            missed = np.setdiff1d(_pulled(last, at, 1.0), features)
            if not len(missed) or options.judge.shortfall(last, w, at) <= options.tol * options.unit:
                break
            features = np.union1d(features, missed)
        yield from models
        start = Start(w, b, at)
        passed = [Passed(alpha, one.w, one.b) for alpha, one in zip(some, models, strict=True) if alpha < largest]
        way = [*way, *passed][-2:]


def _possible(problem: Problem, start: Start, drop: float) -> np.ndarray:
    """The features that the strong rule leaves at an alpha that is `drop` times smaller than that of the start."""
    features = np.union1d(_pulled(problem, start.at, 2.0 - drop), np.flatnonzero(start.w))
    return features if len(features) <= MOST * len(start.w) else np.arange(len(start.w))


def _pulled(problem: Problem, at: FirstOrder, share: float) -> np.ndarray:
    """The features that are pulled by more than so much of their thresholds."""
    pull, threshold = pulls(problem.penalty, at_best_intercept(problem, at))
    return np.flatnonzero(pull > share * threshold)


def _narrowed(problem: Problem, start: Start, features: np.ndarray) -> Problem:
    """The problem of these features alone, from a start that has no others."""
    data = problem.data
    assert isinstance(data, InMemory)
    moments, loss = data.moments.of(features), start.at.loss
    rows = InMemory(data.gather(features), *data.targets()).sharing_moments(lambda _: moments)
    sides = [Side(side.by_w[features], side.by_b, side.conjugate) for side in (start.at.positive, start.at.negative)]
    scale = problem.scale[features] if isinstance(problem.scale, np.ndarray) else problem.scale
    return replace(
        problem, data=rows, scale=scale, start=Start(start.w[features], start.b, FirstOrder(loss, *sides)), empty=None
    )


def _widened(v: np.ndarray, features: np.ndarray, n: int) -> np.ndarray:
    w = np.zeros(n)
    w[features] = v
    return w
