"""The fits of all margins as one result."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from riata.data.dataset import Dataset
from riata.training.coefficients import coefficients, known_features
from riata.training.fitting import Fit, describe
from riata.training.offsets import mean_of_empty_model
from riata.training.selection.fits import SelectedFit
from riata.training.selection.path_choice import PathChoice
from riata.training.spec import Spec
from riata.training.trained import Course, Trained


def joined(
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
            path=one.path,
            selection=one.selection,
            label=label,
            outputs=[] if one.path.n_outputs == 1 else outputs,
            label_is="level" if len(fits) > 1 and classes is None else "class",
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
        spec=spec,
        solver=fits[0].solver,
        coef=coefficients(results, data.n_features),
        intercept=np.concatenate([np.atleast_1d(result.intercept) for result in results]),
        n_iter=max(sum(record.end_of_pass for record in result.history) for result in results),
        classes=classes,
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
    one = "level" if levels else "class"
    return f"{text}; this is for the first {one}, and the others have an alpha or k of their own"
