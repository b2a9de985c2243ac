"""Classes: how many rows each has, what they weigh, and one of them against the rest."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import namespace, to_host
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.errors import DataError, OptionError
from riata.matrices.moments import Moments
from riata.training.targets.class_moments import ClassMoments

ClassWeight = Mapping[Any, float] | str | None


class ClassCounts(NamedTuple):
    """How many rows each class has, and what they weigh."""

    rows: np.ndarray
    weights: np.ndarray


def count_classes(data: Dataset) -> ClassCounts:
    """The rows of each class, of which there are two at least: a pass, unless the targets are at hand."""
    classes = np.asarray(data.classes)

    def counted(y: Any, weight: Any) -> ClassCounts:
        labels = to_host(y).astype(np.intp)
        weights = np.bincount(labels, to_host(weight), minlength=len(classes))
        return ClassCounts(np.bincount(labels, minlength=len(classes)), weights)

    found = counted(*data.targets()) if data.cheap_passes else data.sum(lambda chunk: counted(chunk.y, chunk.weight))
    counts = found.rows
    if np.count_nonzero(counts) < 2:
        raise DataError("the target has one class only: there is nothing to tell apart")
    if not counts.all():
        raise DataError(f"class {classes[counts == 0].tolist()[0]!r} has no row of positive weight")
    return found


def check_class_weight(class_weight: ClassWeight) -> None:
    """Refuse class weights that are neither "balanced" nor numbers of zero or more."""
    if isinstance(class_weight, Mapping):
        for label, weight in class_weight.items():
            if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
                raise OptionError(f"class_weight must be zero or more, and of {label!r} it is {weight!r}")
    elif class_weight not in (None, "balanced"):
        raise OptionError(f"class_weight must be a dict of weights, 'balanced' or None, not {class_weight!r}")


def check_labels(by_label: Mapping[Any, float], labels: list[Any]) -> None:
    """Refuse weights of labels that are no class, unless every class has one: then a label merely has no row here."""
    unknown = [label for label in by_label if label not in labels]
    if unknown and any(label not in by_label for label in labels):
        raise OptionError(f"class_weight names {unknown[0]!r}, which is not among the classes {labels}")


def class_weights(class_weight: ClassWeight, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The weight of every class; those that a dict does not name weigh 1."""
    if class_weight == "balanced":
        return counts.sum() / (len(counts) * counts)
    by_label = class_weight if isinstance(class_weight, Mapping) else {}
    labels = classes.tolist()
    check_labels(by_label, labels)
    return np.array([by_label.get(label, 1.0) for label in labels], dtype=np.float64)


def one_against_rest(data: Dataset, position: int, weights: np.ndarray, moments: ClassMoments | None = None) -> Dataset:
    """The data with target +1 for one class and -1 for all others, and the moments that all classes share, if any."""

    def relabel(chunk: Chunk) -> Chunk:
        xp = namespace(chunk.y)
        mine = xp.where(chunk.y == position, xp.ones_like(chunk.y), -xp.ones_like(chunk.y))
        return chunk._replace(y=mine, weight=_with_class_weights(chunk, weights))

    view = data.map(relabel)
    if moments is not None:
        return view.sharing_moments(partial(moments.of, position))
    if len(weights) == 2 and (weights == 1.0).all() and not data.cheap_passes:  # then theirs are also wanted
        return view.sharing_moments(partial(_of_two, data, position))
    return view


def _of_two(data: Dataset, position: int, target_only: bool) -> Moments:
    """The moments of one of two classes against the other, from those of places 0 and 1."""
    found, sign = data.target_moments if target_only else data.moments, 2.0 * position - 1.0
    return replace(
        found, cross=2.0 * sign * found.cross, y_mean=sign * (2.0 * found.y_mean - 1.0), y_squares=4.0 * found.y_squares
    )


def weighted(data: Dataset, weights: np.ndarray) -> Dataset:
    """The data with places among the classes for its target, and rows that weigh as their classes do, too."""

    def reweigh(chunk: Chunk) -> Chunk:
        return chunk._replace(weight=_with_class_weights(chunk, weights))

    if np.any(weights == 0.0):
        raise OptionError("a class of weight 0 has no probability to learn: leave its rows out")
    return data.map(reweigh)


def _with_class_weights(chunk: Chunk, weights: np.ndarray) -> Any:
    xp = namespace(chunk.y)
    return chunk.weight * xp.take(xp.asarray(weights), xp.astype(chunk.y, xp.int64), axis=0)


def with_classes(data: Dataset, classes: np.ndarray) -> Dataset:
    """The data with places among these classes for its target."""
    places = {label: i for i, label in enumerate(np.asarray(classes).tolist())}
    labels = np.asarray(data.classes).tolist()
    unknown = [label for label in labels if label not in places]
    if unknown:
        raise DataError(f"the validation set holds the label {unknown[0]!r}, the rows to learn from {list(places)}")
    recode = np.array([float(places[label]) for label in labels])

    def recoded(chunk: Chunk) -> Chunk:
        xp = namespace(chunk.y)
        return chunk._replace(y=xp.take(xp.asarray(recode), xp.astype(chunk.y, xp.int64), axis=0))

    return data.map(recoded)
