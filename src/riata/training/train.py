"""Training: a dataset and what was asked for become a model with all that is known of it.

The one function that estimators and the command line both call.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from riata.data.dataset import Dataset
from riata.data.folds import Folds
from riata.engines.known_rows import with_encoding
from riata.errors import OptionError
from riata.outcome.proofs import NoBound
from riata.solvers.registry import SOLVERS
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
from riata.training.class_moments import ClassMoments
from riata.training.coefficients import coefficients, known_features
from riata.training.fitting import Fit, describe, fit
from riata.training.offsets import mean_of_empty_model, with_offsets
from riata.training.origin import far_origin
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
from riata.training.progress import pass_progress, path_progress
from riata.training.recoding import numbered_or_recoded
from riata.training.risk_sets import centred, check_risks, risk_sets
from riata.training.selection.asked import Search, search_of
from riata.training.selection.fits import SelectedFit, debiased, fit_selected
from riata.training.selection.folds_asked import folds_asked
from riata.training.selection.path_choice import PathChoice
from riata.training.several_classes import class_weights, count_classes, one_against_rest, weighted, with_classes
from riata.training.several_quantiles import about_crossing, n_crossing
from riata.training.several_targets import check_same_targets, check_targets, means_of, moments_of_targets, of_targets
from riata.training.spec import Spec
from riata.training.streams import learn_stream
from riata.training.trained import Course, Trained
from riata.training.usual_loss import with_usual_loss

Warn = Callable[[str], None]


def warn_in_python(sentence: str) -> None:
    """As a warning of Python."""
    warnings.warn(sentence, stacklevel=4)


def train(data: Dataset, spec: Spec, *, validation: Dataset | None = None, warn: Warn = warn_in_python) -> Trained:
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
        What gets a sentence when a fit ends before its tolerance; by default it is a Python warning.

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
        return learn_stream(rows_seen(data, spec), data, spec, warn)
    if validation is not None:
        if data.encoding is not None:
            validation = with_encoding(validation, data.encoding, data.n_features)
        check_same_features(data, validation)
        check_same_offsets(data, validation)
        check_same_targets(data, validation)
    of_numbers = _one_margin if data.facts.targets is None else _one_margin_per_target
    fit_margins = {"regression": of_numbers, "classification": _one_margin_per_class, "survival": _one_risk}
    return fit_margins[data.task](data, spec, validation, warn)


def _polished(data: Dataset, spec: Spec, warn: Warn) -> Trained:
    """An online pass, and an exact fit over the candidates that it leaves."""
    found = replace(_fitted(data, spec, None, warn), learner=None)  # which takes much memory
    leads = leads_of(found)
    if not len(leads.features) or (found.classes is not None and len(found.classes) > 2):
        warn("nothing was polished: the online pass found no feature, or more than two classes")
        return replace(found, spec=spec)
    some = rows_of(data, found, leads.features)
    second = train(some, second_fit(spec, leads), warn=warn)
    looked = look_at_rest(lambda: all_rows(data, found), some, second, second.spec, leads.features, found.n_features)
    return widened(second, found, leads.features, spec, looked)


def _one_margin(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """A regression."""
    passes_before, folds = data.passes, _folds(data, spec)
    data = rows_or_statistics(data, spec, folds)
    others = None if validation is None else rows_seen(validation, spec)
    check_target_varies(data)
    if spec.loss_function.levels:
        return _one_margin_per_level(data, spec, others, folds, passes_before, warn)
    return _trained([_fit_margin(data, spec, others, folds, warn)], data, spec, passes_before)


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
        fits.append(_fit_margin(data, of_level, others, folds, warn, of))
        constants.append(mean_of_empty_model(data, of_level))
    results = [one.result for one in fits]
    crossing = n_crossing(data, coefficients(results, data.n_features), np.array([one.intercept for one in results]))
    trained = _trained(fits, data, spec, passes_before, outputs=labels)
    if crossing:
        warn(about_crossing(data.n_rows, crossing))
    return replace(trained, baseline=constants, n_crossing=crossing)


def _one_margin_per_target(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """A regression of several targets, all at once."""
    of_all, passes_before, folds = of_targets(data, spec), data.passes, _folds(data, spec)
    data = rows_seen(data, spec)
    others = None if validation is None else rows_seen(validation, spec)
    of_each = moments_of_targets(data)
    fitted = _fit_margin(data, of_all, others, folds, warn)
    trained = _trained([fitted], data, spec, passes_before, outputs=data.facts.targets)
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
    fitted = _fit_margin(sets.rows(data), coded, others and sets.rows(others), folds, warn)
    trained = _trained([centred(fitted, data.moments.mean)], data, spec, passes_before)
    return replace(trained, baseline=None, hazard=sets.baseline(data, trained.coef[0], float(trained.intercept[0])))


def _one_margin_per_class(data: Dataset, spec: Spec, validation: Dataset | None, warn: Warn) -> Trained:
    """One class against the rest, for each of them; of two the second against the first."""
    if data.single_pass:
        raise OptionError(
            "classes are counted before they are learnt, and this stream can be read only once: keep it while it "
            "is read (cache=True), or learn the labels as numbers (task='regression', the squared loss)"
        )
    classes, passes_before = np.asarray(data.classes), data.passes
    if spec.threshold is not None and len(classes) != 2:
        raise OptionError(f"a threshold decides between two classes, and there are {len(classes)}: leave it out")
    counts = count_classes(data)
    weights = class_weights(spec.class_weight, classes, counts)
    others = None if validation is None else rows_seen(with_classes(validation, classes), spec)
    folds = _folds(data, spec)
    data = rows_seen(data, spec)
    shares = (counts / counts.sum()).tolist()
    loss = spec.loss_function.of_classes(len(classes))
    if loss.n_outputs > 1:
        fitted = _fit_margin(
            weighted(data, weights),
            replace(spec, loss=loss),
            None if others is None else weighted(others, weights),
            folds,
            warn,
        )
        return replace(_trained([fitted], data, spec, passes_before, classes), class_count=counts, baseline=shares)
    if loss != spec.loss_function:
        spec = replace(spec, loss=loss.name, shared_support=False)
    shared = ClassMoments(data, weights)
    moments = shared if shared.worth_sharing else None
    fits = []
    for position in [1] if len(classes) == 2 else range(len(classes)):
        of_class = spec
        if spec.checkpoint is not None:
            of_class = replace(spec, checkpoint=Path(spec.checkpoint) / str(position))
        rows = one_against_rest(data, position, weights, moments)
        chosen_by = None if others is None else one_against_rest(others, position, weights)
        of = f" ({position + 1} of {len(classes)})" if len(classes) > 2 else ""
        fits.append(_fit_margin(rows, of_class, chosen_by, folds, warn, f"{classes[position]}{of}"))
    return replace(_trained(fits, data, spec, passes_before, classes), class_count=counts, baseline=shares)


def _folds(data: Dataset, spec: Spec) -> Folds | None:
    """The folds of all margins; None where nothing is scored on folds, or statistics know theirs already."""
    search = search_of(spec)
    return None if search is None or not search.needs_folds or data.is_summary else folds_asked(data, spec)


def _within(search: Search, spec: Spec, data: Dataset, warn: Warn) -> Search:
    """A search for no more features than there are, with a note where it was asked to go further."""
    most = spec.n_choices(data.n_features)
    if not isinstance(search.k_max, int) or search.k_max <= most:
        return search
    warn(f"there are {most} {spec.counted}: the path ends there, and not at k_max={search.k_max}")
    return replace(search, k_max=most)


def _fit_margin(
    data: Dataset, spec: Spec, validation: Dataset | None, folds: Folds | None, warn: Warn, label: str = ""
) -> Fit:
    """Fit one linear function, with a progress bar if asked for and a warning if it did not converge."""
    data, of_loss = with_offsets(data, spec)
    validation = None if validation is None else with_offsets(validation, spec)[0]
    spec = of_loss
    search, origin = search_of(spec), far_origin(data, spec)
    spec, recoding = numbered_or_recoded(spec, data)
    spec = replace(spec, memory=data.memory if spec.memory is None else spec.memory)
    if origin is not None:
        data, validation = origin.moved(data), validation and origin.moved(validation)
    if recoding is not None:
        data, validation = recoding.of(data), validation and recoding.of(validation)
    fitted: Fit
    if search is not None:
        with path_progress(spec.verbose, label) as progress:
            search = replace(_within(search, spec, data, warn), folds=folds)
            fitted = fit_selected(data, replace(spec, k=None, alpha=None), search, validation, progress)
    elif spec.debias == "auto":
        raise OptionError(
            "debias='auto' is chosen by scores along a path: give alpha as 'auto', too, or debias a share"
        )
    elif validation is not None:
        raise OptionError("a validation set chooses k or alpha: give one of them as 'auto', select='validation'")
    else:
        with pass_progress(spec.verbose, label, spec) as progress:
            fitted = fit(data, spec, progress)
    if spec.debias and search is None:  # a search has scored, and moved, all models of its path
        fitted = debiased(fitted, data)
    if recoding is not None:
        fitted = recoding.back(fitted)
    if origin is not None:
        fitted = origin.moved_back(fitted)
    if not fitted.result.converged and not SOLVERS[fitted.solver].stochastic:
        warn(f"solver {fitted.solver!r} stopped before the tolerance: {fitted.result.reason}")
    bound = fitted.result.bound
    asked = spec.certify is not None and spec.certify is not False  # a gap of 0 is asked for, too
    if asked and isinstance(bound, NoBound) and bound.ridge is not None:
        warn(
            "nothing was certified: without a ridge there is no bound here to search by, as where features are "
            "combinations of others (all levels of a column are); give a small ridge, such as 0.01, or a coef_limit"
        )
    return fitted


def _trained(
    fits: list[Fit],
    data: Dataset,
    spec: Spec,
    passes_before: float,
    classes: np.ndarray | None = None,
    outputs: Sequence[str] | None = None,
) -> Trained:
    """The fits of all margins as one result; the ledger stood at `passes_before` when they began."""
    results = [one.result for one in fits]
    gaps = [result.gap for result in results]
    outputs = [str(label) for label in classes] if classes is not None else list(outputs or [])
    labels = [None] if len(fits) == 1 else outputs
    searched = [
        PathChoice(
            one.path,
            one.selection,
            label,
            [] if one.path.n_outputs == 1 else outputs,
            "level" if len(fits) > 1 and classes is None else "class",
        )
        for one, label in zip(fits, labels, strict=True)
        if isinstance(one, SelectedFit)
    ]
    hashed = results[0].features is not None
    offset, knows_mean = data.facts.offset, not (hashed or outputs or spec.loss_function.couples_rows)
    moments = None if hashed else data.moments  # this and the next before passes are counted: they may take some
    baseline = [mean_of_empty_model(data, spec)] if knows_mean else None
    course = Course(
        formula=_formula(fits, spec, offset is not None),
        alphas=[one.alpha for one in fits],
        ks=[one.spec.k for one in fits],
        ridges=[one.spec.ridge for one in fits],
        histories=[result.history for result in results],
        n_rows=data.n_observed,
        passes=data.passes - passes_before,
        seconds=sum(result.seconds for result in results),
        objective=sum(result.objective for result in results),
        gap=None if None in gaps else max(gap for gap in gaps if gap is not None),
        stops=[result.stop for result in results],
        searched=searched,
        counted=fits[0].spec.counted,
        bounds=[result.bound for result in results],
    )
    return Trained(
        spec,
        fits[0].solver,
        coefficients(results, data.n_features),
        np.concatenate([np.atleast_1d(result.intercept) for result in results]),
        max(sum(record.end_of_pass for record in result.history) for result in results),
        classes,
        feature_names=data.feature_names,
        scale=None if moments is None else moments.scale,
        mean=None if moments is None else moments.mean,
        known=known_features(results) if hashed else {},
        encoding=data.encoding,
        profile=data.profile,
        course=course,
        baseline=baseline,
        offset=offset,
        leads=results[0].leads if len(results) == 1 else None,
    )


def _formula(fits: list[Fit], spec: Spec, offset: bool) -> str:
    """What was minimised, in words; of several margins that differ, the first one's."""
    first, levels = fits[0], spec.loss_function.levels
    text = describe(replace(first, spec=replace(first.spec, loss=spec.loss)) if levels else first)
    if isinstance(first, SelectedFit) and first.path.chosen_under is not None:
        text += f", the features chosen under a ridge of {first.path.chosen_under:.3g}"
    text += ", margins moved by the offset of each row" if offset else ""
    if share := first.spec.debias:
        text += ", then " + ("" if float(share) == 1.0 else f"{float(share):g} of the way to ")
        text += "the mean loss alone over the chosen features"
    strengths = {(one.alpha, one.spec.k) for one in fits} if levels else {describe(one) for one in fits}
    if len(strengths) == 1:
        return text
    return text + f"; each {'level' if levels else 'class'} has an alpha or k of its own, and these are the first one's"
