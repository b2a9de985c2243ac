"""The weights of solver 'online', which follow from what it keeps of every feature and from its thresholds."""

from typing import NamedTuple

import numpy as np

from riata.kernels.online import LANES, Steep, all_weights, entered, steep_features
from riata.solvers.stochastic.method import MethodMemory

NOWHERE = np.empty(0, dtype=np.int64)
SIZED = 1 << 16  # features whose sizes are found at a time
STEEP = 0.5  # of the threshold: features above are looked at first, where candidates are chosen


class Levels(NamedTuple):
    """The thresholds of all lanes: for columns of unit deviation, and whatever the deviation."""

    of_unit: np.ndarray
    flat: float


def weights_in(block: np.ndarray, memory: MethodMemory, levels: Levels) -> tuple[np.ndarray, np.ndarray]:
    """The weights of the features whose numbers are in a block, a column for each lane, and their deviations."""
    w, deviation = np.empty((len(block), LANES)), np.empty(len(block))
    stiffness = memory["stiffness"] * memory["curvature"]
    all_weights(block, memory["total"][0], levels.of_unit, levels.flat, stiffness, w, deviation)
    return w, deviation


def sizes_in(block: np.ndarray, memory: MethodMemory, levels: Levels) -> np.ndarray:
    """The largest weight of each feature in any lane, for columns of unit deviation."""
    sizes = np.empty(len(block))
    for start in range(0, len(block), SIZED):
        part = slice(start, start + SIZED)
        w, deviation = weights_in(block[part], memory, levels)
        sizes[part] = np.abs(w).max(axis=1) * deviation
    return sizes


def weights_of_lane(memory: MethodMemory, levels: Levels) -> np.ndarray:
    """The current weights of the chosen lane; those that are zero, nearly all, take no other memory or time."""
    features = np.empty(n_entered(memory, levels), dtype=np.int64)
    n_entered(memory, levels, features)
    w = np.zeros(len(memory["block"]))
    w[features] = weights_in(memory["block"][features], memory, levels)[0][:, memory["lane"][0]]
    return w


def n_entered(memory: MethodMemory, levels: Levels, features: np.ndarray = NOWHERE) -> int:
    """How many features have a weight in the chosen lane; `features` takes which."""
    lane, total = int(memory["lane"][0]), float(memory["total"][0])
    return int(entered(memory["block"], total, float(levels.of_unit[lane]), float(levels.flat), lane, features))


def largest_features(memory: MethodMemory, levels: Levels, m: int) -> tuple[np.ndarray, np.ndarray]:
    """The m features of largest weight, for columns of unit deviation; where these are too few, then the steepest.

    Also how many features are in the model of each lane.
    """
    lane = int(memory["lane"][0])
    features, size, slope, n_in_lanes = _steeper(memory, levels, STEEP * float(levels.of_unit[lane]))
    if len(features) < m:
        features, size, slope, n_in_lanes = _steeper(memory, levels, 0.0)
    pool = np.flatnonzero(size)
    if len(pool) < m < len(features):
        steepest = np.argpartition(-slope, m - 1)[:m]  # only these and the pool are sorted
        pool = np.union1d(pool, steepest)
    elif len(pool) < m:
        pool = np.arange(len(features))
    best = pool[np.lexsort((-slope[pool], -size[pool]))[:m]]
    chosen: np.ndarray = np.sort(features[best])
    return chosen, n_in_lanes


def _steeper(memory: MethodMemory, levels: Levels, least: float) -> Steep:
    """The features whose |z| / s in the chosen lane is above `least`."""
    n = len(memory["block"])
    found = Steep(np.empty(n, dtype=np.int64), np.empty(n), np.empty(n), np.zeros(LANES))
    stiffness = memory["stiffness"] * memory["curvature"]
    total, lane = float(memory["total"][0]), int(memory["lane"][0])
    n = steep_features(memory["block"], memory["marks"], total, levels.of_unit, stiffness, lane, least, found)
    return Steep(found.features[:n], found.size[:n], found.slope[:n], found.entered)
