"""The number of a loss whose name alone is given, where it goes by the spread of the targets: Huber's bend.

The spread is the distance of their quartiles, in that of a normal distribution, so that outliers have no say in what
counts as one. Another unit of the target then changes nothing but units, up to the three digits that the number has.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from riata.arrays import Array, to_host
from riata.data.chunk import Chunk, targets_alone
from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.losses.numbered import NumberedLoss
from riata.training.spec import Spec

NORMAL_QUARTILES = 1.349  # their distance, in deviations
BINS = 4096
FINE_ENOUGH = 64  # bins between the quartiles
REACH = 2.0  # deviations from the mean: no quartile is further away than sqrt(3)


def number_by_spread(spec: Spec, data: Dataset) -> Spec:
    """The spec with a number for its loss, by the spread of all targets, or of the first chunk where rows come once."""
    if not lacks_number(spec):
        return spec
    if data.cheap_passes:
        return number_by_rows(spec, *data.targets())
    if spec.learns_online:
        first = next(iter(data.visit([0])))
        return number_by_rows(spec, first.y, first.weight)
    return _numbered(spec, data)


def number_by_rows(spec: Spec, y: Array, weight: Array) -> Spec:
    """The spec whose loss has its number by some targets and their weights."""
    if not lacks_number(spec):
        return spec
    y = to_host(targets_alone(y))
    return _numbered(spec, InMemory(np.zeros((len(y), 1)), y, to_host(weight)))


def lacks_number(spec: Spec) -> bool:
    loss = spec.loss_function
    return isinstance(loss, NumberedLoss) and loss.by_spread is not None and spec.loss == loss.family


def _numbered(spec: Spec, data: Dataset) -> Spec:
    """The spec with three digits of the number, for a short name; the spread of targets that are all alike is 1."""
    loss = spec.loss_function
    assert isinstance(loss, NumberedLoss)
    assert loss.by_spread is not None
    number = loss.by_spread * (_spread(data) or 1.0)
    return replace(spec, loss=type(loss)(float(f"{number:.3g}")).name)


def _spread(data: Dataset) -> float:
    """The distance of the quartiles in that of a normal distribution; where they are the same, the deviation."""
    moments = data.target_moments
    deviation = float(np.sqrt(moments.y_squares / moments.weight))
    if not 0.0 < deviation < np.inf:
        return 0.0
    low, high = moments.y_mean - REACH * deviation, moments.y_mean + REACH * deviation
    for _ in range(2):
        edges = np.linspace(low, high, BINS + 1)
        below = np.cumsum(data.sum(_weights_between(edges)))
        quartiles = np.clip(np.searchsorted(below, np.array([0.25, 0.75]) * below[-1]), 1, BINS)
        low, high = edges[quartiles[0] - 1], edges[quartiles[1]]
        if np.ptp(quartiles) >= FINE_ENOUGH:
            break
    return float(np.ptp(edges[quartiles])) / NORMAL_QUARTILES or deviation


def _weights_between(edges: np.ndarray) -> Callable[[Chunk], np.ndarray]:
    """What a chunk adds to the weight of targets up to the first edge, between two of them, and beyond the last."""

    def part(chunk: Chunk) -> np.ndarray:
        between = np.searchsorted(edges, to_host(targets_alone(chunk.y)))
        return np.bincount(between, to_host(chunk.weight), len(edges) + 1)

    return part
