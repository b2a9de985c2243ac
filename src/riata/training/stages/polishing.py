"""Polishing: an online solver finds candidates in its pass, and an exact one solves over them, with a certificate.

The candidates are the features that any setting of the online solver has, at most 100,000. The strength of the L1
penalty is the one that was asked for, or else the one that the online solver leaves, several times the noise of slopes.
Rows that were to be read once are read again, with the candidates' features alone. A last pass over all features tells
which of the others would enter: their slopes exceed the penalty.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from riata.data.budget import parse_memory
from riata.data.chunk import Chunk, targets_alone
from riata.data.dataset import Dataset
from riata.data.some_features import SomeFeatures
from riata.engines.open import open_data
from riata.errors import DataError
from riata.matrices.moments import Moments
from riata.objective import Problem, duality_gap, gap_unit
from riata.objective.passes import first_order_part, summarise
from riata.outcome.rest import Rest
from riata.solvers.iterate import Leads
from riata.solvers.registry import SOLVERS
from riata.training.checks import refuse
from riata.training.offsets import with_offsets
from riata.training.spec import Spec
from riata.training.targets.several_classes import class_weights, one_against_rest
from riata.training.trained import Course, Known, Trained

ROOM_FOR_REST = 0.25  # of the budget, for the sums over all features
SUMS = 8  # numbers for every feature in these sums, with those of a chunk on its way
ABOVE = 1.0 + 1e-9  # slopes that exceed the penalty by more than rounding


def check_polish(spec: Spec, data: Dataset) -> None:
    """Refuse what cannot be polished, before anything is learnt."""
    solver = SOLVERS[spec.solver_name]
    several = len(data.classes) > 2 if data.classes is not None else data.facts.targets is not None
    refuse([
        (solver.method is None or solver.width_free,
         f"polish follows a pass of solver 'online', not of {spec.solver_name!r}: take that, or leave polish out"),
        (several or bool(spec.loss_function.levels), "polish is for one margin: a number, or two classes"),
        (spec.normalize is not None, "rows of unit norm need all features, and polish reads some: leave one out"),
        (spec.half_life is not None, "in an exact fit all rows count alike: leave polish out, or half_life"),
        (spec.checkpoint is not None, "polish has no checkpoints: leave one of them out"),
        (spec.k is not None or spec.alpha == "auto" or bool(spec.debias),
         "polish is a fit with one L1 penalty: leave out k and debias, and give alpha a number or leave it out"),
        (data.single_pass and data.opened is None,
         "polish reads rows again, and this stream can be read only once: give it a file, or cache=True"),
    ])  # fmt: skip


def second_fit(spec: Spec, leads: Leads) -> Spec:
    """What is asked for of the candidates."""
    alpha = spec.alpha if spec.alpha is not None or spec.alpha_ratio is not None else leads.alpha
    return replace(
        spec, polish=False, solver="exact", alpha=alpha, batch=None, step=None, order=None, rounds=False,
        max_steps=None, max_passes=None,
    )  # fmt: skip


def leads_of(found: Trained) -> Leads:
    """The candidates: those an online solver names, or the features of its model."""
    return found.leads or Leads(found.support, None)


def without_numbers(found: Trained) -> Trained:
    """What an online pass found, but for its numbers for every feature, which candidates make useless."""
    return replace(found, coef=np.broadcast_to(0.0, found.coef.shape), scale=None, leads=None)


def rows_of(data: Dataset, found: Trained, features: np.ndarray) -> Dataset:
    """The rows that the online pass has seen, with these features alone."""
    if data.single_pass:
        assert found.encoding is not None
        rows = _again(data, SomeFeatures.of(found.encoding, features), one_pass=False)  # an exact fit has many passes
        return _checked(rows, found)
    view = data.map(_Narrow(features))
    changes = {"n_features": len(features), "feature_names": None, "encoding": None, "classes": data.classes}
    view.facts = view.facts.but(**changes)
    return view


def all_rows(data: Dataset, found: Trained) -> Dataset:
    """The rows that the online pass has seen, with all features, once more."""
    if not data.single_pass:
        return data
    assert found.encoding is not None
    return _again(data, found.encoding, one_pass=True)


def _again(data: Dataset, encoding: Any, **changes: Any) -> Dataset:
    assert data.opened is not None
    return open_data(data.opened.source, data.opened.target, encoding=encoding, **(data.opened.options | changes))


def _checked(rows: Dataset, found: Trained) -> Dataset:
    """Refuse files that have become others since the first pass."""
    n_rows = None if found.course is None else found.course.n_rows
    if rows.n_rows and n_rows is not None and rows.n_rows != n_rows:
        raise DataError(
            f"the first pass found {n_rows:,} rows, and now there are {rows.n_rows:,}: polish when the data has come "
            "to rest"
        )
    return rows


class _Narrow:
    """Chunks with some features alone; a class, so that it can be sent to workers."""

    def __init__(self, features: np.ndarray) -> None:
        self.features = features

    def __call__(self, chunk: Chunk) -> Chunk:
        return chunk._replace(X=chunk.X.narrowed(self.features))


class Looked(NamedTuple):
    """What is known of the features that are no candidates, the moments of all columns, and how many passes it took."""

    rest: Rest
    moments: Moments | None = None
    passes: float = 0.0


def widened(second: Trained, found: Trained, features: np.ndarray, spec: Spec, looked: Looked) -> Trained:
    """The model of the candidates as one of all features, with what the online pass told."""
    moments = looked.moments
    coef = np.zeros((len(second.coef), found.n_features))
    coef[:, features] = second.coef
    known: Known = {}
    if moments is None and second.scale is not None:
        known = {int(j): (None, float(s)) for j, s in zip(features, second.scale, strict=True)}
    return replace(
        second,
        spec=spec,
        coef=coef,
        feature_names=found.feature_names,
        scale=None if moments is None else moments.scale,
        mean=None if moments is None else moments.mean,
        known=known,
        encoding=found.encoding,
        profile=found.profile,
        course=_whole(second.course, found.course, looked),
    )


def _whole(second: Course | None, first: Course | None, looked: Looked) -> Course | None:
    if second is None or first is None:
        return second
    return replace(
        second,
        passes=first.passes + second.passes + looked.passes,
        seconds=first.seconds + second.seconds,
        progressive=first.progressive,
        progressive_by_day=first.progressive_by_day,
        rest=looked.rest,
    )


class Unit(NamedTuple):
    """What gaps are measured in, and how many passes over the candidates it took to know."""

    size: float
    passes: float


def unit_of(some: Dataset, second: Trained, spec: Spec) -> Unit | None:
    """The unit of the gap of the candidates' fit; None where that has no alpha, or several."""
    alpha = None if second.course is None else second.course.alphas[0]
    if alpha is None:
        return None
    passes_before = some.passes
    narrow, seen = _margin(some, second, spec)
    size = gap_unit(Problem(narrow, seen.loss_function, spec.family.at(alpha), spec.fit_intercept))
    return Unit(size, some.passes - passes_before)


def look_at_rest(
    rows: Callable[[], Dataset], unit: Unit | None, second: Trained, spec: Spec, features: np.ndarray, n_features: int
) -> Looked:
    """What a pass over all features tells of those that are no candidates.

    There is no such pass where its sums would not fit the budget, or slopes are not one number for each feature.
    """
    n_others = n_features - len(features)
    alpha = None if second.course is None else second.course.alphas[0]
    loss = spec.loss_function
    too_large = SUMS * 8 * n_features > ROOM_FOR_REST * parse_memory(spec.memory)
    if not n_others or alpha is None or unit is None or loss.kinked or loss.couples_rows or too_large:
        return Looked(Rest(len(features), n_others))
    data, seen = _margin(rows(), second, spec)
    w, b = np.zeros(n_features), float(second.intercept[0])
    w[features] = second.coef[0]
    part = first_order_part(seen.loss_function, w, b)
    # moments first: what is made on their way is given back before there are slopes
    moments, sums = data.sum(lambda chunk: (chunk.X.moments(targets_alone(chunk.y), chunk.weight), part(chunk)))
    at = summarise(sums, w, b)
    penalty = spec.penalty_at(alpha, moments.scale if spec.standardize else 1.0)
    problem = Problem(data, seen.loss_function, penalty, spec.fit_intercept)
    outside = np.ones(n_features, dtype=bool)
    outside[features] = False
    ratios = np.abs(at.by_w[outside]) / np.broadcast_to(penalty.threshold(n_features), n_features)[outside]
    gap = max(duality_gap(problem, w, at), 0.0) / unit.size
    rest = Rest(len(features), n_others, int(np.sum(ratios > ABOVE)), float(ratios.max()), gap)
    return Looked(rest, moments, 1.0 + unit.passes)


def _margin(data: Dataset, second: Trained, spec: Spec) -> tuple[Dataset, Spec]:
    """The rows as the fit of the margin sees them, and its loss."""
    if second.classes is not None:
        assert second.class_count is not None
        weights = class_weights(spec.class_weight, second.classes, second.class_count)
        data = one_against_rest(data, 1, weights)
    return with_offsets(data, spec)
