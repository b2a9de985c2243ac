"""Stability selection: how often is a feature chosen on a random half of the rows?

Every round cuts the rows into two random halves and fits both (complementary pairs; Shah & Samworth, 2013). A feature
is stable if the share of halves that choose it is at least the threshold. Let q be the number of features that a half
chooses, on average, of p. The expected number of stable features that a half would choose no more often than by chance,
with probability q / p or less, is at most
    E[V] <= q^2 / ((2 threshold - 1) p),
the bound of Meinshausen & Buehlmann (2010), which for pairs needs no assumption about the noise features.

The coefficients of the halves tell how certain those of all rows are: their standard deviation over random halves
estimates the standard error of the fit to all rows (the jackknife that deletes half; Shao & Wu, 1989).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riata.data.dataset import Dataset
from riata.data.folds import some_rows
from riata.errors import OptionError
from riata.training.selection.folds_asked import halves_of


@dataclass(frozen=True)
class Stability:
    """The result of `riata.stability_selection`: how often each feature was chosen, and which features are stable."""

    frequencies: np.ndarray  # the share of halves that choose each feature
    threshold: float
    n_halves: int
    q: float  # features that a half chooses, on average
    spread: np.ndarray  # of the coefficients over halves, one row per margin: about the standard error of coef_
    names: Sequence[str] | None = None  # of all features, where they have any

    @property
    def stable(self) -> np.ndarray:
        """The numbers of the features at or above the threshold, the most stable first."""
        order = np.argsort(-self.frequencies, kind="stable")
        return order[self.frequencies[order] >= self.threshold]

    @property
    def stable_names(self) -> list[str]:
        """The names of the stable features, the most stable first; x0, x1, ... if they have none."""
        return [f"x{j}" if self.names is None else str(self.names[j]) for j in self.stable]

    @property
    def error_bound(self) -> float:
        """An upper bound on the expected number of stable features that are noise."""
        return self.q**2 / ((2.0 * self.threshold - 1.0) * len(self.frequencies))

    def about_noise(self) -> str:
        """A sentence that says how many of the stable features may be noise."""
        if len(self.stable) == 0:
            return ""
        if self.error_bound >= len(self.stable):
            return (
                f"How many of them are noise is not known: with so few features the bound on that, "
                f"{self.error_bound:.2g}, says nothing."
            )
        expected = f"at most {self.error_bound:.2g} of them are expected to be noise"
        return f"{expected[0].upper()}{expected[1:]}, which halves choose no more often than by chance."


def stability_of(
    data: Dataset,
    coefficients: Callable[[Dataset], np.ndarray],
    *,
    rounds: int = 50,
    threshold: float = 0.75,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Stability:
    """Fit both halves of the rows, `rounds` times, and count the coefficients (margins x features) that are not 0."""
    if not 0.5 < threshold <= 1:
        raise OptionError(f"threshold must lie above 0.5 and at most at 1, not be {threshold}")
    if rounds < 1:
        raise OptionError(f"rounds must be at least 1, not {rounds}")
    if data.is_summary:
        raise OptionError("there are statistics in place of rows, and stability selection needs halves of the rows")
    if data.n_rows < 4:
        raise OptionError(f"stability selection needs halves of at least 2 rows, and there are {data.n_rows} in all")
    counts, n_halves = np.zeros(data.n_features), 0
    mean, squares = np.zeros((1, 1)), np.zeros((1, 1))  # of coefficients, and their squares about it
    halves_by = halves_of(data)
    for number in range(rounds):
        halves = halves_by(seed + number)
        for half in (0, 1):
            if progress is not None:
                progress(n_halves, 2 * rounds, "halves")
            coef = coefficients(some_rows(data, halves.scored(half)))
            counts += (coef != 0).any(axis=0)
            n_halves += 1
            shift = coef - mean
            mean = mean + shift / n_halves
            squares = squares + shift * (coef - mean)
    spread = np.sqrt(squares / (n_halves - 1))
    q = float(counts.sum()) / n_halves
    return Stability(counts / n_halves, threshold, n_halves, q, spread, data.feature_names)


def check_counts_features(solver: str) -> None:
    """Refuse a solver that has no number for every feature."""
    if solver == "sketch":
        raise OptionError("stability selection counts every feature, and solver 'sketch' keeps none: take another one")
