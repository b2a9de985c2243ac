"""Small random problems of best k of many kinds, and their optima by trying every support."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from riata.data.in_memory import InMemory
from riata.losses import LOSSES
from riata.solvers.subset.local.refit import Refits
from riata.training.fitting import make_problem
from riata.training.spec import Spec

CURVED = ("squared", "logistic", "squared-hinge", "huber", "poisson")


@dataclass(frozen=True)
class SmallSubset:
    """Rows, and what is asked of them."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    spec: Spec

    def data(self):
        return InMemory(self.X, self.y, self.weight)


def small_subset(seed, loss=None, groups=None, d=None, ridge=None, always_in=None):
    """A problem of its own for every seed: correlated, collinear, weighted, of any units, with any ridge or none."""
    rng = np.random.default_rng(seed)
    loss = CURVED[seed % len(CURVED)] if loss is None else loss
    d = int(rng.integers(5, 9)) if d is None else d
    n, k = int(rng.integers(12, 60)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) + rng.choice([0.0, 0.5, 3.0]) * rng.normal(size=(n, 1))
    w = np.where(rng.random(d) < 0.5, rng.normal(size=d), 0.0)
    z = X @ w / max(np.std(X @ w), 1e-3) + rng.uniform(0.1, 1.5) * rng.normal(size=n)
    if rng.random() < 0.2:
        X[:, -1] = X[:, 0] - 2.0 * X[:, 1]  # collinear
    if rng.random() < 0.2:
        X[:, 2] = 3.0  # constant
    X = X * 10.0 ** rng.uniform(-2, 2, d) + rng.choice([0.0, 1.0]) * rng.normal(size=d)
    y = z
    if LOSSES[loss].labels:
        y = np.where(z > np.quantile(z, rng.uniform(0.3, 0.7)), 1.0, -1.0)
    elif loss == "poisson":
        y = rng.poisson(np.exp(0.5 * z)).astype(float)
        y[0] += 1.0
    else:
        y = z * 10.0 ** rng.uniform(-2, 2) + rng.choice([0.0, 5.0])
    weight = rng.integers(0, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    weight[:2], weight[y == y.max()], weight[y == y.min()] = 1.0, 1.0, 1.0
    if ridge is None:
        ridge = 0.0 if rng.random() < 0.15 and loss == "squared" else 10.0 ** rng.uniform(-6, 0.5)
    labels = None
    if groups if groups is not None else rng.random() < 0.2:
        labels = np.unique(rng.integers(0, max(2, d // 2), d), return_inverse=True)[1]
        k = min(k, int(labels.max()) + 1)
    factors = np.ones(d)
    if always_in if always_in is not None else rng.random() < 0.25:  # some features are always in
        chosen = rng.permutation(d if labels is None else labels.max() + 1)[: int(rng.integers(1, 3))]
        factors[np.isin(np.arange(d) if labels is None else labels, chosen)] = 0.0
        k = min(k, (d if labels is None else int(labels.max()) + 1) - len(chosen))
        factors = np.ones(d) if k == 0 else factors
    k = max(k, 1)
    options = {"fit_intercept": bool(rng.random() < 0.7), "standardize": bool(rng.random() < 0.7)}
    return SmallSubset(
        X, y, weight, Spec(k=k, loss=loss, ridge=float(ridge), groups=labels, penalty_factors=factors, **options)
    )


def choices_of(case):
    """Every set of k features, or of k groups, beside those that are always in; and its columns."""
    labels = np.arange(case.X.shape[1]) if case.spec.groups is None else case.spec.groups
    always = labels[:0] if case.spec.always_in is None else labels[case.spec.always_in]
    for chosen in combinations(np.setdiff1d(labels, always).tolist(), case.spec.k):
        yield chosen, np.flatnonzero(np.isin(labels, chosen) | np.isin(labels, always))


def every_optimum(case):
    """(the least objective, the features or groups of all models within rounding of it): every support is refitted."""
    problem, _ = make_problem(case.data(), case.spec)
    chosen, supports = zip(*choices_of(case), strict=True)
    starts = [(np.zeros(len(support)), 0.0) for support in supports]
    fits = Refits(problem, np.arange(case.X.shape[1])).fit(list(supports), starts)
    objectives = np.array([fit.objective for fit in fits])
    least = objectives.min()
    return least, [set(chosen[i]) for i in np.flatnonzero(objectives <= least * (1 + 1e-9) + 1e-300)]
