"""Stability selection: how often is a feature chosen when half of the rows are left out?

Every round cuts the rows into two random halves and fits both (complementary pairs; Shah & Samworth, 2013). A feature
is stable if the share of halves that choose it is at least the threshold. Let q be the number of features that a half
chooses, on average, of p. The expected number of stable features that a half would choose no more often than by chance,
with probability q / p or less, is at most
    E[V] <= q^2 / ((2 threshold - 1) p),
the bound of Meinshausen & Buehlmann (2010), which for pairs needs no assumption about the noise features.

The coefficients of the halves tell how certain those of all rows are: their standard deviation over random halves
estimates the standard error of the fit to all rows (the jackknife that deletes half; Shao & Wu, 1989).
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from riata.data.folds import inside, some_rows
from riata.errors import OptionError
from riata.training.path import ModelPath


@dataclass(frozen=True)
class Stability:
    """How stable each feature is."""

    frequencies: np.ndarray  # the share of halves that choose each feature
    threshold: float
    n_halves: int
    q: float  # features that a half chooses, on average
    spread: np.ndarray  # of the coefficients over halves, one row per margin: about the standard error of coef_

    @property
    def stable(self) -> np.ndarray:
        """The features at or above the threshold, the most stable first."""
        order = np.argsort(-self.frequencies, kind="stable")
        return order[self.frequencies[order] >= self.threshold]

    @property
    def error_bound(self) -> float:
        """The most that the expected number of stable noise features can be."""
        return self.q**2 / ((2.0 * self.threshold - 1.0) * len(self.frequencies))


def at_chosen_strength(estimator):
    """An estimator like this one, not fitted, with the alpha or k that its search chose in place of "auto"."""
    path = getattr(estimator, "path_", None)
    if not isinstance(path, ModelPath):  # nothing was searched, or every class has a strength of its own
        return clone(estimator)
    chosen = path.values[estimator.selection_.index].item()
    return clone(estimator).set_params(**{"alpha": None, "k": None, path.by: chosen})


def stability_selection(
    estimator, X, y=None, *, sample_weight=None, rounds: int = 50, threshold: float = 0.75, seed: int = 0
) -> Stability:
    """Fit clones of an estimator to both halves of the rows, `rounds` times, and count what they choose.

    Parameters
    ----------
    estimator : SparseRegressor or SparseClassifier
        With the k, the alpha or the alpha_ratio at which features are to be stable.
    X, y, sample_weight
        What the estimator's `fit` takes; a `Dataset` brings its own target.
    rounds : int, default=50
        Pairs of halves: twice as many fits.
    threshold : float, default=0.75
        The share of halves, above one half, from which on a feature is stable.
    seed : int, default=0
        Of the halves.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> found = riata.stability_selection(riata.SparseRegressor(k=2), X, 3 * X[:, 4] - X[:, 7], rounds=5)
    >>> [int(j) for j in found.stable], round(found.error_bound, 2)
    ([4, 7], 0.4)
    """
    if not 0.5 < threshold <= 1:
        raise OptionError(f"threshold must lie above 0.5 and at most at 1, not be {threshold}")
    if rounds < 1:
        raise OptionError(f"rounds must be at least 1, not {rounds}")
    if estimator.solver == "sketch":
        raise OptionError("stability selection counts every feature, and solver 'sketch' keeps none: take another one")
    data = clone(estimator)._dataset(X, y, sample_weight)
    if data.is_summary:
        raise OptionError("there are statistics in place of rows, and stability selection needs halves of the rows")
    if data.n_rows < 4:
        raise OptionError(f"stability selection needs halves of at least 2 rows, and there are {data.n_rows} in all")
    counts, n_halves = np.zeros(data.n_features), 0
    mean, squares = np.zeros((1, 1)), np.zeros((1, 1))  # of coefficients, and their squares about it
    for number in range(rounds):
        for half in (0, 1):
            rows = some_rows(data, inside(half, 2, seed + number))
            fitted = clone(estimator).fit(rows)
            counts += fitted.get_support()
            n_halves += 1
            shift = np.atleast_2d(fitted.coef_) - mean
            mean = mean + shift / n_halves
            squares = squares + shift * (np.atleast_2d(fitted.coef_) - mean)
    spread = np.sqrt(squares / (n_halves - 1))
    return Stability(counts / n_halves, threshold, n_halves, float(counts.sum()) / n_halves, spread)
