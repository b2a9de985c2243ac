"""Times to an event."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from riata.data.dataset import Dataset
from riata.data.survival import from_structured
from riata.engines.open import is_distributed, lazily
from riata.errors import DataError, OptionError
from riata.estimators.base import Predictions, SparseLinear
from riata.estimators.input_checks import check_no_offset
from riata.losses import Loss
from riata.model.concordance import concordance
from riata.model.hazard import BaselineHazard, StepFunction, given_strata
from riata.penalties import Penalty
from riata.training.trained import Trained


class SparseSurvival(SparseLinear):
    """Cox's proportional hazards model with few non-zero coefficients, for censored times to an event.

    Minimises half the deviance of the partial likelihood, divided by the number (or the weight) of all rows,
    ``+ alpha * (l1_ratio * |w|_1 + (1 - l1_ratio) / 2 * |w|_2^2)``, to a certified gap; or the deviance alone
    (``+ ridge / 2 * |w|_2^2``) with at most ``k`` features. Rows may come in any order, and from files of any size. The
    conventions are those of scikit-survival.

    The parameters mean what they mean in `SparseRegressor`; the signature shows those there are. The solver is "exact",
    or "best-k" with ``k``, without ``certify``. Learning row by row and GPUs are not supported.

    Parameters
    ----------
    loss : {"cox", "cox-efron"}
        The method for ties, events at the same time: "cox" is Breslow's, "cox-efron" is Efron's, which is more accurate
        if many events share a time.

    Attributes
    ----------
    coef_ : what one unit of each feature adds to the logarithm of the hazard.
    intercept_ : such that the prediction of the average row is 0.
    unique_times_, cum_baseline_hazard_ : times of events, and the cumulative hazard of the average row at each.
    solver_, n_iter_, n_passes_, objective_, gap_, converged_, stopped_because_ : as in `SparseRegressor`.
    how_much_better_, scale_, profile_, n_features_in_, feature_names_in_, trained_ : as in `SparseRegressor`.
    alpha_, history_, stop_, proof_, bound_, path_, selection_ : as in `SparseRegressor`.

    Examples
    --------
    >>> import numpy as np, riata
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> time, end = rng.exponential(np.exp(X[:, 7] - X[:, 4])), rng.exponential(2.0, 300)
    >>> y = np.rec.fromarrays([time <= end, np.minimum(time, end)], names="event, time")
    >>> model = riata.SparseSurvival(alpha=0.15).fit(X, y)
    >>> [int(j) for j in model.get_support(indices=True)]
    [4, 7]
    """

    _task = "survival"
    solver, device = "auto", None  # there are no others

    def __init__(
        self,
        alpha: float | str | None = None,
        *,
        k: int | str | None = None,
        alpha_ratio: float | None = None,
        l1_ratio: float = 1.0,
        ridge: float | None = None,
        penalty: Penalty | str | None = None,
        penalty_factors: Sequence[float] | np.ndarray | None = None,
        groups: Sequence[Any] | np.ndarray | None = None,
        group_ratio: float = 1.0,
        heredity: str | None = None,
        nonnegative: bool = False,
        bounds: Mapping[str, tuple[float | None, float | None]] | Sequence[Any] | np.ndarray | None = None,
        loss: str | Loss = "cox",
        standardize: bool = True,
        normalize: str | None = None,
        select: str = "cv-1se",
        cv: Any = 5,
        gap: float | str = 0,
        n_alphas: int = 100,
        alpha_reach: float | None = None,
        k_max: int | None = None,
        debias: bool | float | str = False,
        tol: float = 1e-6,
        max_passes: int | None = None,
        memory: str | int | None = None,
        checkpoint: str | None = None,
        every: str | float = "60s",
        resume: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        for name, value in locals().items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def fit(  # type: ignore[override]  # there is no exposure
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        strata: Any = None,
        entry: Any = None,
        groups: Any = None,
        time: Any = None,
        validation: Any = None,
    ) -> "SparseSurvival":
        """Fit to arrays, to a data frame with columns of any kind, or to a `Dataset`, which has its own target.

        `y` is a structured array as in scikit-survival: a field of booleans (whether the event happened) and a field of
        numbers (the time of the event, or of the end of observation). `offset` is a number per row that is added to the
        logarithm of the hazard. `strata` is a label per row; each stratum has a baseline hazard of its own. `entry` is
        the time at which a row came under observation. A `Dataset` has all of these itself (`riata.open`).

        `groups`, `time` and `validation` are those of `SparseRegressor.fit`, for the choice of ``alpha`` or ``k``.
        """
        marks = {"strata": strata, "entry": entry, "groups": groups, "time": time}
        return self._fit(X, y, sample_weight, {"offset": offset}, marks, validation)

    def _dataset(self, X: Any, y: Any = None, sample_weight: Any = None, **more: Any) -> Dataset:
        return super()._dataset(X, y if y is None or is_distributed(X) else from_structured(y), sample_weight, **more)

    def _coded(self, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        return y, None

    def _of_task(self, data: Dataset) -> Dataset:
        if data.task != "survival":
            raise DataError(
                "the target holds no times to an event: name the column of events to riata.open(..., target='days', "
                "event='died')"
            )
        return data

    def _take_over(self, trained: Trained) -> None:
        super()._take_over(trained)
        self.coef_, self.intercept_ = trained.coef[0], float(trained.intercept[0])
        assert trained.hazard is not None
        self.unique_times_, self.cum_baseline_hazard_ = trained.hazard.times, trained.hazard.cumulative

    def predict(self, X: Any, *, offset: Any = None) -> Predictions:
        """The logarithm of each row's hazard, relative to the average row: higher means sooner.

        X may also be a data frame, a `Dataset` or a path, whose columns the model encodes as in the fit.
        """
        if is_distributed(X):
            check_no_offset(offset, None)
            return lazily(self.predict, X, np.float64)
        return self._margins(X, offset)[:, 0]

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False, *, offset: Any = None, strata: Any = None
    ) -> np.ndarray:
        """The cumulative hazard of each row: step functions of time, or with `return_array` values at `unique_times_`.

        `strata` is a label per row, to use the baseline hazards of the strata; by default it is that of all rows.
        """
        z = self._risks(X, offset)
        hazards = self._baseline.of_rows(z, strata=given_strata(strata, len(z)))
        return _functions(self.unique_times_, hazards, 0.0, return_array)

    def predict_survival_function(
        self, X: Any, return_array: bool = False, *, offset: Any = None, strata: Any = None
    ) -> np.ndarray:
        """The probability that the event has not happened yet, for each row; returned as cumulative hazards are.

        `strata` is a label per row, to use the baseline hazards of the strata; by default it is that of all rows.
        """
        z = self._risks(X, offset)
        survival = self._baseline.survival(z, strata=given_strata(strata, len(z)))
        return _functions(self.unique_times_, survival, 1.0, return_array)

    @property
    def _baseline(self) -> BaselineHazard:
        known = self.trained_.hazard
        by_stratum = {} if known is None else known.by_stratum
        return BaselineHazard(self.unique_times_, self.cum_baseline_hazard_, by_stratum)

    def _risks(self, X: Any, offset: Any) -> np.ndarray:
        if is_distributed(X):
            raise OptionError("curves of a Dask collection are not there: predict it, or give curves some of its rows")
        return np.asarray(self.predict(X, offset=offset))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None) -> float:
        """The concordance (Harrell's C): of two rows, how often the one with the higher risk had its event first."""
        if y is not None and not isinstance(X, Dataset | str | Path):
            times, risk = from_structured(y), np.asarray(self.predict(X, offset=offset))
            check_consistent_length(risk, times)
            weight = _check_sample_weight(sample_weight, times, dtype=np.float64, ensure_non_negative=True)
            return concordance(times, risk, weight)
        return self.to_model().score(X, y, sample_weight, offset=offset)


def _functions(times: np.ndarray, values: np.ndarray, first: float, as_array: bool) -> np.ndarray:
    """A step function for each row, or the values themselves."""
    if as_array:
        return values
    functions = np.empty(len(values), dtype=object)
    functions[:] = [StepFunction(times, row, first) for row in values]
    return functions
