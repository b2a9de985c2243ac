"""Labels of rows as they come: those that are known so far, as codes and as targets of margins."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

FEW_LABELS = 8  # each of which is looked for by itself


def targets_of(codes: np.ndarray, n_classes: int) -> list[np.ndarray]:
    """-1 and +1 for every margin: one against the rest, or the second class against the first."""
    return [np.where(codes == c, 1.0, -1.0) for c in ([1] if n_classes <= 2 else range(n_classes))]


def codes_among(labels: np.ndarray, known: list[Any]) -> np.ndarray:
    """The place of each label among those that are known; -1 where it is none of them."""
    if len(known) > FEW_LABELS:
        places = {label: i for i, label in enumerate(known)}
        return np.array([places.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    codes = np.full(len(labels), -1, dtype=np.intp)
    for i, label in enumerate(known):
        codes[labels == label] = i
    return codes


def runs_of_known_labels(labels: np.ndarray, known: list[Any]) -> Iterator[tuple[slice, list[Any]]]:
    """(rows, labels known up to them): the rows, cut before every row with a new label."""
    if (codes_among(labels, known) >= 0).all():  # as nearly always: without sorting them
        if len(labels):
            yield slice(0, len(labels)), known
        return
    places = {label: i for i, label in enumerate(known)}
    found, first = np.unique(labels, return_index=True)
    news = sorted((int(i), label) for label, i in zip(found.tolist(), first, strict=True) if label not in places)
    cuts = [0, *(i for i, _ in news), len(labels)]
    for n_new, (start, stop) in enumerate(pairwise(cuts)):
        if n_new:
            known = [*known, news[n_new - 1][1]]
        if stop > start:
            yield slice(start, stop), known
