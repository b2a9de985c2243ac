"""The nodes of a search that are still to be branched at, the one of least bound first."""

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np

NODE_BYTES = 600  # of a node beside its arrays: three of them, two tuples and the numbers in them
WEIGHT_BYTES = 16  # of a non-zero weight, with its place


class OpenNode(NamedTuple):
    """Models that are still to be looked at."""

    state: np.ndarray  # of every column: in (1), out (-1) or free (0)
    places: np.ndarray  # the non-zero weights of its relaxation
    weights: np.ndarray
    price: float
    branch: int  # the column to branch at

    @property
    def n_bytes(self) -> int:
        return len(self.state) + WEIGHT_BYTES * len(self.places) + NODE_BYTES


class SavedFrontier(NamedTuple):
    """All nodes that are left of a search, as arrays: where it can go on."""

    bounds: np.ndarray
    states: np.ndarray  # a row for each node
    branches: np.ndarray
    prices: np.ndarray
    counts: np.ndarray  # of their non-zero weights
    places: np.ndarray  # of those, node after node
    weights: np.ndarray
    floor: float  # the least bound of all that was dropped


class Frontier:
    """A heap of nodes by their bounds; of equal ones the oldest comes first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, OpenNode]] = []
        self._numbers = count()
        self._taken: list[tuple[float, int, OpenNode]] = []
        self.n_bytes = 0

    @classmethod
    def restored(cls, saved: SavedFrontier) -> "Frontier":
        """The frontier that was saved."""
        frontier, ends = cls(), np.cumsum(saved.counts)[:-1]
        places, weights = np.split(saved.places, ends), np.split(saved.weights, ends)
        for i, bound in enumerate(saved.bounds.tolist()):
            price, branch = float(saved.prices[i]), int(saved.branches[i])
            frontier.push(bound, OpenNode(saved.states[i], places[i], weights[i], price, branch))
        return frontier

    def saved(self, n_columns: int, floor: float) -> SavedFrontier:
        """The nodes that are left, in the order in which they would be taken."""
        ordered = sorted(self._heap)
        nodes = [node for _, _, node in ordered]
        return SavedFrontier(
            bounds=np.array([bound for bound, _, _ in ordered], dtype=np.float64),
            states=np.array([node.state for node in nodes], dtype=np.int8).reshape(len(nodes), n_columns),
            branches=np.array([node.branch for node in nodes], dtype=np.int64),
            prices=np.array([node.price for node in nodes], dtype=np.float64),
            counts=np.array([len(node.places) for node in nodes], dtype=np.int64),
            places=np.concatenate([np.empty(0, dtype=np.int64), *(node.places for node in nodes)]),
            weights=np.concatenate([np.empty(0), *(node.weights for node in nodes)]),
            floor=float(floor),
        )

    @property
    def least_bound(self) -> float:
        """The least bound of all nodes; infinite where there are none."""
        return self._heap[0][0] if self._heap else np.inf

    def push(self, bound: float, node: OpenNode) -> None:
        heapq.heappush(self._heap, (bound, next(self._numbers), node))
        self.n_bytes += node.n_bytes

    def take(self, most: int, below: float) -> list[tuple[float, OpenNode]]:
        """Nodes of least bound, with their bounds, if those are below a number; those taken before are done with."""
        self._taken = []
        while len(self._taken) < most and self.least_bound < below:
            self._taken.append(self._heap[0])  # before it is popped: wherever that is cut short, no node is lost
            heapq.heappop(self._heap)
            self.n_bytes -= self._taken[-1][-1].n_bytes
        return [(bound, node) for bound, _, node in self._taken]

    def put_back(self) -> None:
        """Put back the nodes that were taken last: what was done with them was cut short."""
        there = {number for _, number, _ in self._heap}
        for entry in self._taken:
            if entry[1] not in there:
                heapq.heappush(self._heap, entry)
                self.n_bytes += entry[-1].n_bytes
