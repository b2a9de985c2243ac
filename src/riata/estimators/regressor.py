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
    alone with at most ``k`` non-zero ``w``. With ``standardize=False`` the first is scikit-learn's ``Lasso`` and
    ``ElasticNet``; where ``y`` has several columns, all of which then have the same features, its ``MultiTaskLasso``.

    Parameters
    ----------
    k : int or "auto", optional
        Number of features to choose, or "auto" to let ``select`` choose it. Give one of ``k``, ``alpha`` and
        ``alpha_ratio``.
    alpha : float or "auto", optional
        Strength of the penalty, or "auto" to let ``select`` choose it; with a number ``k`` beside it, the smallest
        of the path whose model has at most ``k`` features.
    alpha_ratio : float, optional
        Strength as a share of the smallest alpha that gives the empty model; 0.1 if nothing is given.
    l1_ratio : float, default=1.0
        Share of the L1 part in the penalty, in (0, 1].
    ridge : float, optional
        Strength of ``ridge / 2 * |w|_2^2`` beside ``k``: by default 0, and beside ``k="auto"`` chosen together with k.
    penalty : {"mcp", "scad", "lq", "adaptive", "unilasso"} or Penalty, optional
        A penalty of another kind in place of the elastic net, at the strength ``alpha``: "mcp:3" and "scad:3.7" with
        their gamma, "lq:0.5" with its q; the adaptive Lasso, whose first fit is "adaptive:ridge" (the default),
        "adaptive:unpenalised" or "adaptive:marginal", with an exponent such as "adaptive:ridge:2"; uniLasso; or an
        object of your own, see `riata.penalties.SeparablePenalty`. With solver "exact".
    penalty_factors : array of n_features numbers, or dict, optional
        What ``alpha`` is multiplied by for each feature, or for those named: {feature or column: number}. A feature
        with 0 is always in.
    groups : array of n_features labels, lists of names, or "columns", optional
        Features of equal label enter or leave whole: ``k`` counts groups, beside ``alpha`` the penalty is the length of
        their coefficients times the root of their number (the group Lasso). "columns": the levels of a category,
        the parts of a date and a number with its missing flag stay together, where the data was made of columns. Lists
        of features or columns may overlap, beside ``alpha``; what is in none is a group by itself.
    group_ratio : float, default=1.0
        Share of that penalty beside ``groups`` and ``alpha``; the rest is L1 within groups (the sparse-group Lasso).
    shared_support : bool, optional
        Where ``y`` has several columns: whether a feature is in the model for all targets or for none (a group Lasso
        over the targets; `group_ratio` below 1 adds L1 within features). It is, unless False is given.
    heredity : {"strong", "weak"}, optional
        Whether interactions (`riata.open`) are in the model only beside both of the features that they are of, or
        beside one: groups that overlap, beside ``alpha``.
    nonnegative : bool, default=False
        Whether only models without negative coefficients are looked at.
    bounds : dict or sequence of n_features pairs, optional
        Between which numbers coefficients lie, in the units of X: {feature or column: (least, most)}, or such a pair
        for each feature. None is no bound; 0 must be possible. Of a column of levels also their order, such as
        "low<mid<high", "increasing" or "decreasing", in which their coefficients rise. With solver "exact".
    loss : {"squared", "huber", "quantile", "binomial", "poisson", "negative-binomial", "gamma", "tweedie"} or Loss
        Least squares, its robust cousin (bent at 1.35 spreads of y, or at 5 as "huber:5"), a quantile such as
        "quantile:0.95", or half the deviance of successes among ``trials``, or of counts and amounts of mean
        exp(X @ w + b). Or a `riata.losses.Loss`.
    solver : str, default="auto"
        A key of ``riata.SOLVERS``. "auto" is "exact", the certified minimum, or with ``k`` "best-k", which ends where
        no swap of two features helps. "online" learns in one pass over rows, or as they come (``partial_fit``); the
        others, such as "cd", "fobos" and "l0-sgd", are described in the documentation under Solvers.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is never penalised.
    standardize : bool, default=True
        Whether the penalty acts on coefficients of columns of unit standard deviation. ``coef_`` is in the units of X
        either way.
    normalize : {None, "rows"}
        "rows" divides every row by its norm, when fitting and when predicting.
    select : {"cv-1se", "cv", "validation", "aic", "bic", "ebic"}
        How "auto" chooses: by ``cv``-fold cross-validation, the sparsest model within one standard error of the best
        ("cv-1se") or the best; by the rows that ``fit`` gets as ``validation``; or by an information criterion.
    cv : int, splitter, array or iterable, default=5
        A number of folds, by ``random_state`` and the positions of rows, with the same share of every class in each; or
        a splitter of scikit-learn, a fold number for each row, or pairs (rows to learn from, rows to score). Groups and
        times of rows, which folds keep together or in order, are given to ``fit`` or named to ``riata.open``.
    gap : float or str, default=0
        Between the rows learnt from and those scored, where folds go forward in time: days for dates, or such as "12h".
    n_alphas, alpha_reach : int, default=100, and float, optional
        The path of ``alpha="auto"``: how many, down to which share of the alpha of the empty model. By default that is
        0.0001 with more rows than features, and 0.01 otherwise; the path ends where it stops paying.
    k_max : int, optional
        The path of ``k="auto"`` ends there; by default at 50, or at half as many features as rows. With a ridge that is
        chosen it goes on to 200 where the largest models are the best.
    debias : bool, float or "auto", default=False
        Whether the chosen features are fitted once more, without the penalty (within bounds, if there are any); a share
        goes only so far from the penalised coefficients to those (the relaxed Lasso). "auto" lets scores choose the
        share along with ``alpha``.
    certify : bool or float, optional
        Whether, with k, all models of k features are searched until none can be better; or the gap to stop at, as a
        share of the objective. ``bound_`` says how far it came.
    certify_time : str or float, default="600s"
        Time for that search.
    coef_limit : float, optional
        Beside k, ``bound_`` and ``certify`` are then about models whose coefficients, of columns of unit standard
        deviation (or as they are, without standardize), are at most so large. That gives a bound where there is no
        ridge; the model itself is not limited.
    tol : float, default=1e-6
        Where to stop: the duality gap (or the change of the objective) relative to the empty model's loss.
    max_passes, max_steps : int, optional
        Limits on the work; each solver has its own default.
    batch : int or "full", optional
        Rows per step of a stochastic solver: 1, or what the solver says.
    rounds : bool, default=False
        Half the penalty in the first half of the steps (fobos).
    step : float or str, optional
        First step, or a schedule "c/t" or "c/sqrt(t)". By default steps adapt to the scale of the rows.
    order : {"uniform", "shuffled", "sequential"}, optional
        In which order a stochastic solver visits rows; each has its own default.
    memory : str or int, optional
        Budget such as "512MB" for what a solver allocates.
    device : {"cuda", "cpu"}, optional
        Where passes run: here by default, on a GPU with "cuda", for solvers exact and best-k and for paths. Rows that
        fit are held there, others are sent there in every pass. X that is there already (CuPy, PyTorch) stays where it
        is.
    half_life : float, optional
        Rows after which a row counts half, for a world that changes (online); by default all rows count alike.
    polish : bool, default=False
        Whether, after an online solver has found features, solver exact solves over them, with a certificate; of the
        others it is told how many would enter.
    checkpoint : str, optional
        A folder in which a solver saves where it is, so that a killed fit can go on.
    every : str or float, default="60s"
        Time between two checkpoints.
    resume : bool, default=False
        Go on from the checkpoint, if there is one; the result is that of a fit never interrupted, bit for bit.
    random_state : int, RandomState or None
        Seed of all that is random in a fit: the order in which stochastic solvers visit rows, and the folds of ``cv``.
        The halves of `riata.stability_selection` have a ``seed`` of their own.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    coef_, intercept_ : the model, in the units of X; of several targets, a row for each.
    alpha_ : the strength that the fit had, also where it was chosen or given as a ratio; None beside k. Where there
        are several fits, such as one per quantile, a list.
    solver_ : the solver that "auto" stands for.
    n_iter_, n_passes_ : rounds of the solver (of rows learnt as they come, steps), and passes over the data.
    objective_ : what was minimised, at the model; where there are several fits, such as one per class, the sum.
    gap_ : certified relative duality gap, None where the solver has none.
    history_ : one record per pass.
    converged_, stopped_because_ : whether and why it stopped.
    stop_, proof_ : the same for programs, a `StopReason` and what was proved; lists where there are several classes.
    bound_, how_much_better_ : with k, a `GlobalBound`: the `value` that no model of at most k features has an objective
        below, and the relative `gap` to it; or a `NoBound`, with a ridge that would give one; and what it says.
    path_, selection_ : with "auto", all models, their scores, which one was chosen and why.
    scale_ : standard deviation of every column of X.
    profile_ : of a file or a table, what the first pass found in its columns.
    n_crossing_ : with several quantiles, the training rows in which they cross.
    n_features_in_, feature_names_in_ : the number of columns of X, and their names, if they have any.
    trained_ : all of this as `riata.train` gives it, a `Trained`.

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
        """Fit to arrays, to a frame with columns of any kind, or to a `Dataset` that brings its own target.

        `y` may have several columns, all of which are then predicted at once. With loss "binomial" it is the share of
        successes of each row or, beside `trials`, their number.

        Columns of a frame that are no complete numbers become features as those of files do: see `riata.open`, which
        also takes choices about columns. So do those of an array with gaps or strings, called x0, x1, ...

        `offset` is a number for each row that is added to its margin, `exposure` one whose logarithm is (of a loss with
        a logarithmic link): the rows of a `Dataset` bring their own. To predict needs them, too.

        `groups` (a label for each row, such as its customer) and `time` (a number or a date for each row) say which
        rows folds keep together, or in order; the parameter `groups` is of features. `validation` is another dataset,
        or (X, y), or a path or a table beside a `Dataset`, whose encoding it then gets.
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
        """Learn from these rows, in order, keeping what was learnt before.

        `trials`, `offset` and `exposure` are one number for each row, as in `fit`: all rows have one, or none.
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
        """``X @ coef_ + intercept_ + offset``, or its exponential with the losses of counts, amounts and totals.

        X may also be a frame, a `Dataset` or a path: the model's own encoding makes features of their columns. A model
        that was fitted with an offset or an exposure predicts for an offset of 0, which is an exposure of 1, where none
        is given beside X; a `Dataset` or a path has the column of that name.
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
        """R2, on arrays, or in one pass on a path, a table or a `Dataset`, which bring their own target.

        Of several targets it is the mean of theirs, beside `trials` that of shares, of several quantiles that of the
        shares of the pinball loss that they explain.
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
