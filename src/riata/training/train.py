"""Training: a dataset and what was asked for become a model with all that is known of it.

The one function that estimators and the command line both call.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from riata.data.dataset import Dataset
from riata.data.folds import Folds
from riata.engines.known_rows import with_encoding
from riata.errors import ModelWarning, OptionError
from riata.training.checks import (
    check_exposure,
    check_marks,
    check_request,
    check_same_features,
    check_same_offsets,
    check_shares,
    check_target_varies,
    check_width,
)
from riata.training.classes_fit import ClassesFit
from riata.training.coefficients import coefficients
from riata.training.joined_fits import joined
from riata.training.number_by_spread import number_by_spread
from riata.training.offsets import mean_of_empty_model
from riata.training.one_margin import fit_margin
from riata.training.ordered_classes import in_order
from riata.training.polishing import (
    all_rows,
    check_polish,
    leads_of,
    look_at_rest,
    rows_of,
    second_fit,
    widened,
)
from riata.training.preparing import rows_or_statistics, rows_seen
from riata.training.risk_sets import centred, check_risks, risk_sets
from riata.training.selection.asked import search_of
from riata.training.selection.folds_asked import folds_asked
from riata.training.several_classes import class_weights, count_classes, with_classes
from riata.training.several_quantiles import about_crossing, n_crossing
from riata.training.several_targets import check_same_targets, check_targets, means_of, moments_of_targets, of_targets
from riata.training.spec import Spec
from riata.training.stream_fit import learn_stream
from riata.training.trained import Trained
from riata.training.usual_loss import with_usual_loss
from riata.user_warnings import Warn, warn_user


def train(data: Dataset, spec: Spec, *, validation: Dataset | None = None, warn: Warn = warn_user) -> Trained:
    """Fit what a spec asks for to the rows of a dataset.

    Parameters
    ----------
    data : Dataset
        What `riata.open` gives. With classes for a target a classifier is learnt, otherwise a regression.
    spec : Spec
        What is asked for, by the names of the parameters of the estimators (`random_state` is `seed`).
    validation : Dataset, optional
        Rows that choose k or alpha, with select="validation".
    warn : callable, optional
        What gets a `RiataWarning` for each thing that one should know of the model; by default Python's warnings do.

    Returns
    -------
    Trained
        The coefficients, how they came about and what that cost; `to_model` gives the model on its own.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> trained = riata.train(riata.open(X, 3 * X[:, 4] - X[:, 7]), riata.Spec(k=2))
    >>> trained.to_model().names
    ['x4', 'x7']
    """
    spec = with_usual_loss(spec, data.task, data)
    check_request(spec, data.task)
    check_marks(data)
    check_width(data, spec)
    check_shares(spec.loss_function, data.facts.trials)
    check_exposure(spec.loss_function, data.facts.offset is not None and data.facts.offset.exposure)
    if spec.polish:
        if validation is not None:
            raise OptionError("polish has one strength, and no k or alpha for a validation set to choose")
        check_polish(spec, data)
        return _polished(data, spec, warn)
    return _fitted(data, spec, validation, warn)


def _fitted(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """One fit of what is asked for, of rows as they come or read as often as needed."""
    if data.single_pass and spec.learns_online:
        if validation is not None:
            raise OptionError("a stream that is not kept has no k or alpha for a validation set to choose")
        if data.facts.targets is not None:
            check_targets(data, spec)
        return learn_stream(data, spec, warn)
    if validation is not None:
        if data.encoding is not None:
            validation = with_encoding(validation, data.encoding, data.n_features)
        check_same_features(data, validation)
        check_same_offsets(data, validation)
        check_same_targets(data, validation)
    of_numbers = _one_margin if data.facts.targets is None else _one_margin_per_target
    fit_margins = {"regression": of_numbers, "classification": _classes, "survival": _one_risk}
    return fit_margins[data.task](data, spec, validation, warn)


def _polished(data: Dataset, spec: Spec, warn: Warn) -> Trained:
    """An online pass, and an exact fit over the candidates that it leaves."""
    found = replace(_fitted(data, spec, None, warn), learner=None)  # which takes much memory
    leads = leads_of(found)
    if not len(leads.features) or (found.classes is not None and len(found.classes) > 2):
        warn(ModelWarning("nothing was polished: the online pass found no feature, or more than two classes"))
        return replace(found, spec=spec)
    some = rows_of(data, found, leads.features)
    second = train(some, second_fit(spec, leads), warn=warn)
    looked = look_at_rest(lambda: all_rows(data, found), some, second, second.spec, leads.features, found.n_features)
    return widened(second, found, leads.features, spec, looked)


def _one_margin(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """A regression."""
    passes_before, folds = data.passes, _folds(data, spec)
    data = rows_or_statistics(data, spec, folds)
    spec = number_by_spread(spec, data)
    others = None if validation is None else rows_seen(validation, spec)
    check_target_varies(data)
    if spec.loss_function.levels:
        return _one_margin_per_level(data, spec, others, folds, passes_before, warn)
    return joined([fit_margin(data, spec, others, folds, warn)], data, spec, passes_before)


def _one_margin_per_level(
    data: Dataset,
    spec: Spec,
    others: Dataset | None,
    folds: Folds | None,
    passes_before: float,
    warn: Warn,
) -> Trained:
    """Several quantiles of one target, each with a certificate of its own."""
    loss = spec.loss_function
    fits, constants, labels = [], [], [f"{level:g}" for level in loss.levels]
    for position, one in enumerate(loss.each):
        of_level = replace(spec, loss=one.name)
        if spec.checkpoint is not None:
            of_level = replace(of_level, checkpoint=Path(spec.checkpoint) / str(position))
        of = f"quantile {labels[position]} ({position + 1} of {len(labels)})"
        fits.append(fit_margin(data, of_level, others, folds, warn, of))
        constants.append(mean_of_empty_model(data, of_level))
    results = [one.result for one in fits]
    crossing = n_crossing(data, coefficients(results, data.n_features), np.array([one.intercept for one in results]))
    trained = joined(fits, data, spec, passes_before, outputs=labels)
    if crossing:
        warn(ModelWarning(about_crossing(data.n_rows, crossing)))
    return replace(trained, baseline=constants, n_crossing=crossing)


def _one_margin_per_target(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """A regression of several targets, all at once."""
    of_all, passes_before, folds = of_targets(data, spec), data.passes, _folds(data, spec)
    data = rows_seen(data, spec)
    others = None if validation is None else rows_seen(validation, spec)
    of_each = moments_of_targets(data)
    fitted = fit_margin(data, of_all, others, folds, warn)
    trained = joined([fitted], data, spec, passes_before, outputs=data.facts.targets)
    return replace(trained, targets=data.facts.targets, baseline=means_of(of_each))


def _one_risk(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """A model of the times of events."""
    check_risks(data, spec)
    marks = data.facts.marks
    passes_before, folds = data.passes, _folds(data, spec)
    data = rows_or_statistics(data, spec, folds)
    others = None if validation is None else rows_seen(validation, spec)
    sets = risk_sets(data, spec, marks, others)
    coded = replace(spec, loss=sets.loss, fit_intercept=True)  # which keeps margins near 0
    fitted = fit_margin(sets.rows(data), coded, others and sets.rows(others), folds, warn)
    trained = joined([centred(fitted, data.moments.mean)], data, spec, passes_before)
    return replace(trained, baseline=None, hazard=sets.baseline(data, trained.coef[0], float(trained.intercept[0])))


def _classes(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """A classification."""
    if data.single_pass:
        raise OptionError(
            f"solver {spec.solver_name!r} counts classes before it learns them, and these rows are read once: take "
            "solver 'online', which learns them as they come, or leave one_pass out and keep a stream while it is read "
            "(cache=True)"
        )
    passes_before = data.passes
    if spec.loss_function.ordered:
        data = in_order(data, spec.loss_function)
    classes = np.asarray(data.classes)
    if spec.threshold is not None and len(classes) != 2:
        raise OptionError(f"a threshold decides between two classes, and there are {len(classes)}: leave it out")
    counts, weight_of_each = count_classes(data)
    weights = class_weights(spec.class_weight, classes, counts)
    others = None if validation is None else rows_seen(with_classes(validation, classes), spec)
    folds = _folds(data, spec)
    fits = ClassesFit(
        data=rows_seen(data, spec),
        spec=spec,
        chosen_by=others,
        folds=folds,
        classes=classes,
        weights=weights,
        passes_before=passes_before,
        warn=warn,
    )
    trained = fits.trained(spec.loss_function.of_classes(len(classes)))
    shares = (weight_of_each / weight_of_each.sum()).tolist()
    return replace(trained, class_count=counts, baseline=shares)


def _folds(data: Dataset, spec: Spec) -> Folds | None:
    """The folds of all margins; None where nothing is scored on folds, or statistics know theirs already."""
    search = search_of(spec)
    return None if search is None or not search.needs_folds or data.is_summary else folds_asked(data, spec)
