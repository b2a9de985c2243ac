"""Regression."""

from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_pinball_score, r2_score
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.target_names import names_of_targets
from riata.data.trials import given_shares
from riata.engines.open import is_distributed, lazily
from riata.errors import DataError, OptionError
from riata.estimators.base import Predictions, SparseLinear, learns_online
from riata.estimators.columns import plain_target
from riata.estimators.input_checks import check_no_offset, check_values
from riata.losses import USUAL
from riata.model.decisions import finite_means
from riata.training.checks import check_shares
from riata.training.streaming.streams import Learner
from riata.training.trained import Trained


class SparseRegressor(RegressorMixin, SparseLinear):
    """Linear regression with few non-zero coefficients.

    Minimises ``mean(loss(y, X @ w + b)) + alpha * (l1_ratio * |w|_1 + (1 - l1_ratio) / 2 * |w|_2^2)``, or the mean loss
    alone with at most ``k`` non-zero ``w``. With ``standardize=False`` the first objective is that of scikit-learn's
    ``Lasso`` and ``ElasticNet``. If ``y`` has several columns, it is that of ``MultiTaskLasso``: all targets share
    their features.

    Parameters
    ----------
    k : int or "auto", optional
        The largest number of features in the model; "auto" lets ``select`` choose it. Give only one of ``k``, ``alpha``
        and ``alpha_ratio``, except that ``alpha="auto"`` takes ``k``, too.
    alpha : float or "auto", optional
        Strength of the penalty; "auto" lets ``select`` choose it. With ``alpha="auto"`` and a number for ``k``, the
        model is the one of the smallest alpha on the path that has at most ``k`` features.
    alpha_ratio : float, optional
        Strength as a share of the smallest alpha whose model is empty; 0.1 if none of the three is given.
    l1_ratio : float, default=1.0
        Share of the L1 part in the penalty, in (0, 1].
    ridge : float, optional
        Strength of ``ridge / 2 * |w|_2^2``, with ``k``. By default 0; with ``k="auto"`` it is chosen together with k.
    penalty : {"mcp", "scad", "lq", "adaptive", "unilasso"} or Penalty, optional
        Another penalty in place of the elastic net, with strength ``alpha`` and solver "exact": MCP and SCAD with their
        gamma ("mcp:3", "scad:3.7"), Lq with its q ("lq:0.5"), uniLasso, or an object of your own, see
        `riata.penalties.SeparablePenalty`. "adaptive" is the adaptive Lasso, whose weights come from a first fit:
        "adaptive:ridge" (the default), "adaptive:unpenalised" or "adaptive:marginal", and an exponent if you like
        ("adaptive:ridge:2").
    penalty_factors : array of n_features numbers, or dict, optional
        Factors on ``alpha``: one number per feature, or {feature or column: factor} for some of them. A feature with
        factor 0 is always in the model.
    groups : array of n_features labels, lists of names, or "columns", optional
        Features that enter or leave the model together: a label for each feature, or lists of features or columns.
        Features in no list are groups by themselves. "columns" groups the features made from one column, such as the
        levels of a category, the parts of a date, or a number and its missing indicator. With ``k``, groups are
        counted. With ``alpha``, the penalty is the group Lasso, and lists may overlap.
    group_ratio : float, default=1.0
        Share of the group Lasso in the penalty, with ``groups`` and ``alpha``; the rest is L1 (the sparse-group Lasso).
    shared_support : bool, optional
        If ``y`` has several columns: whether a feature is in the model for all targets or for none, as by default, or
        each target chooses its own. With ``alpha`` it is a group Lasso over the targets, which a ``group_ratio`` below
        1 mixes with L1.
    heredity : {"strong", "weak"}, optional
        Interactions (see `riata.open`) enter the model only together with both of their features ("strong") or with at
        least one ("weak"). With ``alpha``.
    nonnegative : bool, default=False
        Whether to allow no negative coefficients.
    bounds : dict or sequence of n_features pairs, optional
        Bounds on coefficients, in the units of X, with solver "exact": {feature or column: (lower, upper)}, or one pair
        per feature. None means no bound, and 0 must lie within. For a column of levels, also an order in which
        coefficients increase: "low<mid<high", "increasing" or "decreasing".
    loss : {"squared", "huber", "quantile", "binomial", "poisson", "negative-binomial", "gamma", "tweedie"} or Loss
        "squared" is least squares. "huber" is robust to outliers: linear beyond 1.35 times the spread of y, or beyond
        5 as "huber:5". "quantile:0.95" predicts that quantile, "quantile" the median. "binomial" is for successes among
        ``trials``; the others are half the deviance of counts and amounts with mean exp(X @ w + b). Or a loss of your
        own, a `riata.losses.Loss`.
    solver : str, default="auto"
        A key of ``riata.SOLVERS``. "auto" is "exact", which gives a certified minimum, or with ``k`` "best-k", which
        stops when no swap of two features improves the model. "online" takes one pass over the rows, or rows as they
        come (``partial_fit``). The page Solvers of the documentation describes the others, such as "cd" and "fobos".
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is never penalised.
    standardize : bool, default=True
        Whether to penalise as if all columns had unit standard deviation. ``coef_`` is in the units of X either way.
    normalize : {None, "rows"}
        "rows" divides every row by its norm, in fits and in predictions.
    select : {"cv-1se", "cv", "validation", "aic", "bic", "ebic"}
        How "auto" chooses. "cv" takes the best model by ``cv``-fold cross-validation, "cv-1se" the sparsest model
        within one standard error of it, "validation" the best on the rows that ``fit`` gets as ``validation``; the
        others are information criteria.
    cv : int, splitter, array or iterable, default=5
        The folds: their number, a splitter of scikit-learn, a fold number for each row, or pairs (rows to learn from,
        rows to score). A number makes folds with equal shares of the classes, from ``random_state`` and the positions
        of the rows. To keep groups of rows together, or folds in the order of time, give ``groups`` or ``time`` to
        ``fit``, or to ``riata.open``.
    gap : float or str, default=0
        If folds go forward in time: the gap between training rows and scored rows, a number of days for dates, or a
        time such as "12h".
    n_alphas : int, default=100
        Number of alphas on the path of ``alpha="auto"``.
    alpha_reach : float, optional
        The smallest alpha of that path, as a share of the largest. By default 0.0001 with more rows than features, and
        0.01 otherwise. The path ends earlier where it stops paying.
    k_max : int, optional
        The largest k of the path of ``k="auto"``. By default 50, or half the number of rows if that is less. If the
        ridge is chosen, too, the path goes on, to at most 1000, while the largest models are clearly better than
        those of half as many features.
    debias : bool, float or "auto", default=False
        Whether to refit the chosen features without the penalty (within their bounds). A number between 0 and 1 goes
        that share of the way from the penalised to the refitted coefficients (the relaxed Lasso). With
        ``alpha="auto"``, "auto" chooses the share, too.
    certify : bool or float, optional
        With ``k``: whether to search all models of k features until none can be better. A number is the gap at which
        the search may stop, as a share of the objective. ``bound_`` has the gap that was reached.
    certify_time : str or float, default="600s"
        Time limit of that search.
    coef_limit : float, optional
        With ``k``: let ``bound_`` and ``certify`` consider only models whose coefficients are at most this large, per
        standard deviation of their columns (or as they are, with ``standardize=False``). This gives a bound where,
        without a ridge, there is none. The model itself is not limited.
    tol : float, default=1e-6
        Tolerance on the duality gap (or on the change of the objective), relative to the loss of the empty model.
    max_passes, max_steps : int, optional
        Limits on the passes over the data and the steps of a solver; each solver has defaults of its own.
    batch : int or "full", optional
        Rows per step of a stochastic solver; by default the solver's own number, mostly 1.
    rounds : bool, default=False
        For solver "fobos": whether to halve the penalty in the first half of the steps.
    step : float or str, optional
        The first step of a stochastic solver, or a schedule "c/t" or "c/sqrt(t)". By default steps adapt to the scale
        of the rows.
    order : {"uniform", "shuffled", "sequential"}, optional
        The order in which a stochastic solver visits rows; each solver has its own default.
    memory : str or int, optional
        Memory budget of the solver, such as "512MB".
    device : {"cuda", "cpu"}, optional
        "cuda" runs passes on a GPU, for solvers "exact" and "best-k" and for paths. Rows that fit in GPU memory stay
        there, others are sent in every pass. If X is already on a GPU (CuPy, PyTorch), it stays there in any case.
    half_life : float, optional
        For solver "online" and data that drifts: a row counts half after this many later rows. By default all rows
        count alike.
    polish : bool, default=False
        Whether solver "exact" fits the features that an online solver has found once more, with a certificate. It also
        says how many of the other features would enter the model.
    checkpoint : str, optional
        A folder in which the fit saves its state from time to time.
    every : str or float, default="60s"
        Time between two checkpoints.
    resume : bool, default=False
        Whether to continue from the checkpoint, if there is one. The result is that of an uninterrupted fit, bit for
        bit.
    random_state : int, RandomState or None
        Seed of all that is random in a fit: the order of rows in stochastic solvers, and the folds of ``cv``.
        `riata.stability_selection` has its own ``seed`` for its halves.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    coef_, intercept_ : the model, in the units of X; one row per target if there are several.
    alpha_ : the alpha of the fit, also if it was chosen or given as a ratio; None with k. A list if there are
        several fits, such as one per quantile.
    solver_ : the solver that "auto" stands for.
    n_iter_, n_passes_ : iterations of the solver (steps, for rows learnt as they come), and passes over the data.
    objective_ : the minimised objective; the sum if there are several fits.
    gap_ : certified relative duality gap; None if the solver has no certificate.
    history_ : one record per pass.
    converged_, stopped_because_ : whether the fit converged, and a sentence that says why it stopped.
    stop_, proof_ : the same for programs: a `StopReason`, and what was proved. Lists if there are several classes.
    bound_, how_much_better_ : with k, how much better another model of at most k features could be, as an object and as
        a sentence. A `GlobalBound` has the `value` that no objective of such a model is below, and the relative `gap`
        to it; a `NoBound` has a ridge with which there would be a bound.
    path_, selection_ : with "auto", all models of the path, and their scores, which one was chosen and why.
    scale_ : standard deviation of every column of X.
    profile_ : what the first pass found in the columns of a file or a table.
    n_crossing_ : with several quantiles, the number of training rows in which they cross.
    n_features_in_, feature_names_in_ : number of columns of X, and their names if they have any.
    trained_ : the result of `riata.train`, a `Trained`.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = riata.SparseRegressor(alpha=0.1).fit(X, 3 * X[:, 4] - X[:, 7])
    >>> [int(j) for j in model.get_support(indices=True)]
    [4, 7]
    """

    _task = "regression"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        at_once = self.solver in ("auto", "exact", "best-k")
        tags.target_tags.multi_output = at_once and self.loss == USUAL[self._task]
        return tags

    def _coded(self, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        return y, None

    def _of_task(self, data: Dataset) -> Dataset:
        if data.classes is not None:
            raise DataError("the target holds classes, not numbers: use SparseClassifier, or task 'regression'")
        return data

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        trials: Any = None,
        offset: Any = None,
        exposure: Any = None,
        groups: Any = None,
        time: Any = None,
        validation: Any = None,
    ) -> Self:
        """Fit to arrays, to a data frame with columns of any kind, or to a `Dataset`, which has its own target.

        `y` may have several columns, which are then predicted together. With loss "binomial" it is the share of
        successes in each row or, with `trials`, their number.

        Data frames may have text, dates and missing values: their columns become features as those of files do, see
        `riata.open`, which also has options for columns. The same holds for arrays with missing values or strings,
        whose columns are called x0, x1, ...

        `offset` is a number per row that is added to the margin. `exposure` is one whose logarithm is added, for losses
        with a logarithmic link. A `Dataset` has its own. Predictions need them, too.

        `groups` (a label per row, such as its customer) keeps rows together in folds, and `time` (a number or a date
        per row) puts folds in order; the parameter `groups` of the estimator is about features. `validation` is another
        dataset, or (X, y); beside a `Dataset` also a path or a table, which gets the encoding of the dataset.
        """
        if trials is not None:
            y, sample_weight = self._shares(X, y, trials, sample_weight)
        return super().fit(
            X, y, sample_weight, offset=offset, exposure=exposure, groups=groups, time=time, validation=validation
        )

    def _shares(self, X: Any, y: Any, trials: Any, sample_weight: Any) -> tuple[Any, Any]:
        """The shares of successes among trials, and weights that count trials."""
        if isinstance(X, Dataset | str | Path):
            raise OptionError("a Dataset brings its own trials: name them to riata.open (trials)")
        check_shares(self._spec_of_task.loss_function, of_trials=True)
        return given_shares(plain_target(y), plain_target(trials), plain_target(sample_weight))

    @available_if(learns_online)
    def partial_fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        trials: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> "SparseRegressor":
        """Update the model with these rows, in their order.

        `trials`, `offset` and `exposure` are one number per row, as in `fit`. Give them in every call or in none.
        """
        if trials is not None:
            y, sample_weight = self._shares(X, y, trials, sample_weight)
        if names_of_targets(y) is not None:
            raise OptionError("partial_fit learns one target: give it a y of one column, or fit all rows at once")
        first = self._begin_stream(X)
        check_values(plain_target(y), numeric=True)
        X, y = self._validated(X, plain_target(y), reset=first, y_numeric=True)
        if first:
            self._learner = Learner(self._spec_of_task)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        rows = Chunk(self._seen(X), y.astype(np.float64), weight, self._offsets(offset, exposure, len(y)))
        self._learner.note_offset(offset is not None, exposure is not None)
        self._learner.learn(rows)
        self._go_on(X.shape[1])
        return self

    def _take_over(self, trained: Trained) -> None:
        super()._take_over(trained)
        if len(trained.intercept) > 1:
            return  # a row of coefficients for each target or level
        self.coef_ = trained.coef if sp.issparse(trained.coef) else trained.coef[0]
        self.intercept_ = float(trained.intercept[0])

    def predict(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Predictions:
        """``X @ coef_ + intercept_ + offset``, or its exponential for losses of counts, amounts and totals.

        X may also be a data frame, a `Dataset` or a path, whose columns the model encodes as in the fit. If the model
        was fitted with an offset or an exposure, a `Dataset` or a path needs the column of that name; an array without
        one is predicted for an offset of 0, an exposure of 1.
        """
        if is_distributed(X):
            check_no_offset(offset, exposure)
            n_margins = len(self.trained_.intercept)
            return lazily(self.predict, X, np.float64, None if n_margins == 1 else n_margins)
        z = self._margins(X, offset, exposure)
        return finite_means(self.trained_.spec.loss_function.mean, z[:, 0] if z.shape[1] == 1 else z)

    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        trials: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> float:
        """R2 of predictions for X and y, or in one pass for a path, a table or a `Dataset`, which have their target.

        With several targets it is the mean of their R2; with `trials`, the R2 of the shares. With several quantiles
        it is the mean share of the pinball loss that they explain.
        """
        if trials is not None:
            y, sample_weight = self._shares(X, y, trials, sample_weight)
        if y is not None and not isinstance(X, Dataset | str | Path):
            loss = self.trained_.spec.loss_function
            if loss.of_shares and not np.all(loss.takes(np.asarray(plain_target(y), dtype=np.float64))):
                raise DataError(loss.refusal)  # counts without their trials, which would score badly
            predicted = self.predict(X, offset=offset, exposure=exposure)
            if levels := self.trained_.spec.loss_function.levels:
                truth, weight = plain_target(y), plain_target(sample_weight)
                columns = zip(levels, predicted.T, strict=True)
                return float(
                    np.mean([d2_pinball_score(truth, z, alpha=level, sample_weight=weight) for level, z in columns])
                )
            return float(r2_score(plain_target(y), predicted, sample_weight=plain_target(sample_weight)))
        return self.to_model().score(X, y, sample_weight, offset=offset, exposure=exposure)
