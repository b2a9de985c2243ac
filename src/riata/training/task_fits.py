"""A fit of rows that can be read as often as needed: a regression, of one or several targets, a risk or classes."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from riata.data.dataset import Dataset
from riata.data.folds import Folds
from riata.engines.known_rows import with_encoding
from riata.errors import ModelWarning, OptionError
from riata.training.checks import check_same_features, check_same_offsets, check_target_varies
from riata.training.coefficients import coefficients
from riata.training.joined_fits import joined
from riata.training.offsets import mean_of_empty_model
from riata.training.one_margin import fit_margin
from riata.training.preparing import rows_or_statistics, rows_seen
from riata.training.selection.asked import search_of
from riata.training.selection.folds_asked import folds_asked
from riata.training.spec import Spec
from riata.training.targets.classes_fit import ClassesFit
from riata.training.targets.number_by_spread import number_by_spread
from riata.training.targets.ordered_classes import in_order
from riata.training.targets.risk_sets import centred, check_risks, risk_sets
from riata.training.targets.several_classes import class_weights, count_classes, with_classes
from riata.training.targets.several_quantiles import about_crossing, n_crossing
from riata.training.targets.several_targets import check_same_targets, means_of, moments_of_targets, of_targets
from riata.training.trained import Trained
from riata.user_warnings import Warn


def fit_by_task(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """The fit that the target asks for."""
    if validation is not None:
        if data.encoding is not None:
            validation = with_encoding(validation, data.encoding, data.n_features)
        check_same_features(data, validation)
        check_same_offsets(data, validation)
        check_same_targets(data, validation)
    of_numbers = _one_margin if data.facts.targets is None else _one_margin_per_target
    fit_margins = {"regression": of_numbers, "classification": _classes, "survival": _one_risk}
    return fit_margins[data.task](data, spec, validation, warn)


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
