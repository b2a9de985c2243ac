"""Successes of some trials: the target of a row is the share of them, and its weight is multiplied by the trials.

So counts of successes pass for a target and a weight wherever those are read, cut, stored or sent.
"""

from typing import Any

import numpy as np

from riata.errors import DataError, OptionError


def check_trials(trials: np.ndarray) -> None:
    """Refuse trials that are no whole numbers of zero or more; they may be missing (NaN)."""
    wrong = ~((trials >= 0.0) & (trials == np.floor(trials))) & ~np.isnan(trials)
    wrong |= np.isinf(trials)
    if wrong.any():
        from riata.data.columns.column import BadRow  # which needs Arrow: arrays in memory do without

        row = int(np.argmax(wrong))
        raise BadRow(row, f"there are {trials[row]:g} trials, and trials are a whole number of zero or more")


def shares_of(successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    """The share of successes among the trials of each row: 0 of none, and NaN where either is missing."""
    check_trials(trials)
    missing = np.isnan(successes) | np.isnan(trials)
    wrong = ~((successes >= 0.0) & (successes <= trials) & (successes == np.floor(successes))) & ~missing
    if wrong.any():
        from riata.data.columns.column import BadRow

        row = int(np.argmax(wrong))
        said = "successes are a whole number from zero to the number of trials"
        raise BadRow(row, f"there are {successes[row]:g} successes of {trials[row]:g} trials, and {said}")
    return successes / np.where(trials == 0.0, 1.0, trials)


def given_shares(y: Any, trials: Any, weight: Any) -> tuple[Any, Any]:
    """The target and the weights of an array's rows, from successes, their trials, and weights or None.

    Collections of a cluster are divided where they are, unchecked: losses refuse shares that are none.
    """
    if y is None:
        raise OptionError("trials go with successes: give both")
    if hasattr(y, "__dask_graph__"):
        return y / trials, trials if weight is None else trials * weight
    successes, trials = (_as_numbers(what, given) for what, given in (("successes", y), ("trials", trials)))
    if successes.ndim != 1 or successes.shape != trials.shape:
        raise DataError(
            f"successes are of shape {successes.shape}, and trials of shape {trials.shape}: give one of each"
        )
    from riata.data.columns.column import BadRow

    try:
        shares = shares_of(successes, trials)
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from None
    return shares, trials if weight is None else trials * _as_numbers("weights", weight)


def _as_numbers(what: str, given: Any) -> np.ndarray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the {what} must be a number for every row, and something in them is none") from None
