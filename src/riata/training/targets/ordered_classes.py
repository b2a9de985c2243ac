"""Classes in an order: which order it is, and the cutpoints between neighbours that a fit ends with."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from riata.coupled_passes import by_rows
from riata.data.dataset import Dataset
from riata.errors import OptionError
from riata.losses import GivenCutpoints, Loss
from riata.training.targets.several_classes import with_classes


def in_order(data: Dataset, loss: Loss) -> Dataset:
    """The rows with places in the order of the classes for their target."""
    labels = np.asarray(data.classes)
    order = _order(labels.tolist(), loss)
    if order == list(range(len(labels))):
        return data
    view, classes = with_classes(data, labels[order]), labels[order]
    encoding = data.encoding
    if encoding is not None and encoding.target is not None and encoding.target.classes is not None:
        named = tuple(encoding.target.classes[place] for place in order)
        encoding = replace(encoding, target=replace(encoding.target, classes=named))
    view.facts = view.facts.but(classes=classes, encoding=encoding)
    return view


def _order(labels: Sequence[Any], loss: Loss) -> list[int]:
    """The numbers of the labels, from the lowest class to the highest."""
    texts = [f"{label:g}" if isinstance(label, float) else str(label) for label in labels]
    if not loss.order:
        if any(isinstance(label, str) for label in labels):
            raise OptionError(
                f"the classes {', '.join(map(repr, texts))} are texts, whose order is not known: name it from the "
                f"lowest to the highest, as in loss='ordinal:{'<'.join(texts)}'"
            )
        return sorted(range(len(labels)), key=lambda place: labels[place])
    if unknown := [name for name in loss.order if name not in texts]:
        raise OptionError(f"the order of loss {loss.name!r} names {unknown[0]!r}, which no row has for a class")
    if left := [text for text in texts if text not in loss.order]:
        raise OptionError(
            f"the order of loss {loss.name!r} lacks the class {left[0]!r}: name all of them, lowest first"
        )
    return [texts.index(name) for name in loss.order]


def cutpoints_of(data: Dataset, loss: Loss, w: np.ndarray, b: float) -> np.ndarray:
    """The best cutpoints for these coefficients: one pass."""
    [settled] = by_rows(data, loss, [(w, b)])
    assert isinstance(settled, GivenCutpoints)
    return settled.cutpoints
