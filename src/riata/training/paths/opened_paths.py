"""`riata.path` and `riata.k_path`: paths of a dataset as it was opened, which `path` and `k_paths` beside it make.

A path is of one margin, that of a number, or of the second of two classes against the first; or of several that are
fitted at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import loss_for
from riata.training.checks import check_exposure, check_rows, check_shares
from riata.training.offsets import with_offsets
from riata.training.paths.k_paths import k_path_of_margin
from riata.training.paths.model_path import ModelPath
from riata.training.paths.path import LENGTH, path_of_margin
from riata.training.preparing import rows_or_statistics, rows_seen
from riata.training.recoding import Recoding, numbered_or_recoded
from riata.training.spec import Spec
from riata.training.stages.relaxing import every_share
from riata.training.targets.number_by_spread import number_by_spread
from riata.training.targets.risk_sets import check_risks, risk_sets
from riata.training.targets.several_classes import class_weights, count_classes, one_against_rest, weighted
from riata.training.targets.several_targets import moments_of_targets, of_targets
from riata.training.targets.usual_loss import with_usual_loss


def path(
    data: Dataset,
    spec: Spec,
    alphas: Sequence[float] | np.ndarray | None = None,
    *,
    length: int = LENGTH,
    reach: float | None = None,
    max_features: int | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> ModelPath:
    """Fit models for decreasing alphas, each with a certificate.

    Without `alphas`, the path ends early where a model explains nearly all of the target, or hardly more than the one
    before; `ended` of the result says so.

    Parameters
    ----------
    data : Dataset
        The result of `riata.open`.
    spec : Spec
        All other parameters of the fits.
    alphas : sequence of float, optional
        From large to small. By default `length` of them, from the smallest alpha whose model is empty down to `reach`
        times that.
    length : int, default=100
        The number of alphas, if none are given.
    reach : float, optional
        The last alpha as a share of the first. By default 0.0001 with more rows than features, and 0.01 otherwise.
    max_features : int, optional
        End the path at the first model with at least this many features.
    progress : callable, optional
        Called after each model, with its alpha and its number of features.

    Returns
    -------
    ModelPath
        The models, the sparsest first.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> found = riata.path(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(), alphas=[4.0, 1.5, 0.1])
    >>> found.n_selected.tolist(), found.certified
    ([0, 1, 2], True)
    """
    data, spec, recoding = _one_margin(data, spec)
    found = path_of_margin(data, spec, alphas, length=length, reach=reach, max_features=max_features, progress=progress)
    return _moved(found, data, spec, recoding)


def k_path(data: Dataset, spec: Spec, k_max: int, *, bounded: bool = True) -> ModelPath:
    """Fit the best models with at most 0, 1, ..., k_max features.

    If a further feature does not improve the model, the last model is repeated.

    Parameters
    ----------
    data : Dataset
        The result of `riata.open`.
    spec : Spec
        All other parameters of the fits.
    k_max : int
        The largest number of features.
    bounded : bool, default=True
        Whether to bound how much better other models of each size could be, where that is possible.

    Returns
    -------
    ModelPath
        The models, the empty one first, and for each size the bound on its objective (`bounds`).

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> found = riata.k_path(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(ridge=0.01), 3)
    >>> [np.flatnonzero(w).tolist() for w in found.coefs[:3]]
    [[], [4], [4, 7]]
    """
    data, spec, recoding = _one_margin(data, replace(spec, k=k_max))
    return _moved(k_path_of_margin(data, spec, k_max, bounded=bounded), data, spec, recoding)


def _moved(found: ModelPath, data: Dataset, spec: Spec, recoding: Recoding | None) -> ModelPath:
    """The path, moved by the share that debias asks for, with coefficients of the features themselves."""
    if spec.debias == "auto":
        raise OptionError("a path has one share of debias: give a number, or choose it with alpha='auto' of a fit")
    moved = every_share(found, data, spec)[0]
    return moved if recoding is None else recoding.path_back(moved)


def _one_margin(data: Dataset, spec: Spec) -> tuple[Dataset, Spec, Recoding | None]:
    """The rows as the fit of a margin sees them, and what is asked for with a number for every feature."""
    offset = data.facts.offset
    spec = with_usual_loss(spec, data.task, data)
    if loss_for(data.task, spec.loss).levels:
        raise OptionError("a path is of one quantile: give one level, such as quantile:0.9")
    check_shares(spec.loss_function, data.facts.trials)
    check_exposure(spec.loss_function, offset is not None and offset.exposure)
    if data.task == "survival":
        check_risks(data, spec)
        marks = data.facts.marks
        data = rows_or_statistics(data, spec, None)
        sets = risk_sets(data, spec, marks)
        data, spec = sets.rows(data), replace(spec, loss=sets.loss, fit_intercept=True)
    elif data.facts.targets is not None:
        spec, data = of_targets(data, spec), rows_seen(data, spec)
        moments_of_targets(data)
    elif data.classes is None:
        data = rows_or_statistics(data, spec, None)
        spec = number_by_spread(spec, data)
    else:
        classes = np.asarray(data.classes)
        loss = spec.loss_function.of_classes(len(classes))
        if len(classes) != 2 and loss.n_outputs == 1:
            raise OptionError(
                f"a path is of one margin, and each of {len(classes)} classes has its own: take riata.train with alpha "
                "or k 'auto', whose course.searched has the paths of all"
            )
        weights = class_weights(spec.class_weight, classes, count_classes(data).rows)
        seen, spec = rows_seen(data, spec), replace(spec, loss=loss)
        data = weighted(seen, weights) if loss.n_outputs > 1 else one_against_rest(seen, 1, weights)
    data, spec = with_offsets(data, spec)
    check_rows(data, spec)
    spec, recoding = numbered_or_recoded(spec, data)
    return data if recoding is None else recoding.of(data), spec, recoding
