"""Branch and bound over models of at most k of some columns: all of them are looked at, most without being tried.

A node is a part of all models, given by the columns that they have and those that they do not have. Its relaxation
bounds them all; where the bound is not below the objective of the best model known, the node is ruled out. Otherwise it
has two children: the models with one more column and those without it. The node of least bound is branched at first, so
that the least bound of all nodes that are left, which bounds every model, rises as fast as it can. Each relaxation
starts where that of its parent ended, suggests a model to refit, and fixes columns by their reliefs (`planes`).
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from riata.outcome.proofs import NOTHING_BETTER
from riata.solvers.subset.proof.deadline import Deadline, OutOfTimeError
from riata.solvers.subset.proof.frontier import Frontier, OpenNode, SavedFrontier
from riata.solvers.subset.proof.relaxation import Node, Relaxed
from riata.threads import n_cores, one_blas_thread

WHOLE = 1e-3  # shares nearer to 0 or 1 count as whole
REPORT = 0.5  # seconds between two states


class BatchRelaxer(Protocol):
    """Who relaxes nodes in batches."""

    @property
    def batch(self) -> int:
        """How many nodes are relaxed by one call."""

    def relaxed_together(self, nodes: Sequence[Node], k: Sequence[int], target: float) -> Sequence[Relaxed]:
        """The relaxations of nodes where so many more columns may come in."""


class Subsets(Protocol):
    """A loss over some columns, of which models may have at most k."""

    @property
    def k(self) -> int: ...

    @property
    def n_columns(self) -> int:
        """How many columns, or groups of them, there are to choose k from."""

    @property
    def n_weights(self) -> int: ...

    @property
    def at_once(self) -> int:
        """How many nodes are branched at by one call, whatever the number of cores: so that all do the same."""

    @property
    def together(self) -> BatchRelaxer | None:
        """Who relaxes several nodes by one call; None: each is relaxed by itself."""

    @property
    def exact(self) -> bool:
        """Whether refits are exact, and need no bound beside."""

    def relaxed(self, node: Node, k: int, target: float) -> Relaxed:
        """The relaxation of a node where k more columns may come in; it may end early once its bound is the target."""

    def reliefs(self, relaxed: Relaxed) -> np.ndarray:
        """What each column can lower the plane of a relaxation by."""

    def refitted(
        self, members: np.ndarray, start: np.ndarray | None = None, below: float = np.inf
    ) -> tuple[float, np.ndarray]:
        """The least objective of a model of these columns, and the weights of all columns there.

        It may start at given weights, and end early where it will not be below a number.
        """


class _Child(NamedTuple):
    """A node that is to be relaxed, where that starts, and a bound that it has already."""

    state: np.ndarray
    w: np.ndarray
    price: float = 0.0
    least: float = -np.inf


@dataclass
class State:
    """How far a search has come."""

    members: np.ndarray | None  # of the best model known; None: it came from elsewhere
    objective: float  # its objective
    bound: float = -np.inf  # that no model has an objective below
    n_nodes: int = 0
    finished: bool = False  # whether the gap is closed
    frontier: Callable[[], SavedFrontier] | None = None  # what is left, where it is asked for


class Budget(NamedTuple):
    """What a search may take, and the gap that is small enough."""

    gap: float  # that is small enough
    deadline: Deadline
    n_bytes: float


def branch_and_bound(
    subsets: Subsets, start: State, first: np.ndarray | SavedFrontier, budget: Budget
) -> Iterator[State]:
    """States on the way, the last one finished or out of budget.

    `first` tells which columns are in, out or free, or has the nodes of a search that goes on.
    """
    search = _Search(subsets, start, budget)
    if isinstance(first, SavedFrontier):
        search.restore(first)
    else:
        search.begin(first)
    last = time.perf_counter()
    with ThreadPoolExecutor(n_cores()) as threads, one_blas_thread():
        while search.goes_on and not budget.deadline.over and search.n_bytes <= budget.n_bytes:
            with suppress(OutOfTimeError):
                search.branch(threads)
            if time.perf_counter() - last >= REPORT:
                last = time.perf_counter()
                yield search.state
    search.finish()
    yield search.state


class _Search:
    """The nodes that are left, and the best model so far."""

    def __init__(self, subsets: Subsets, state: State, budget: Budget):
        self.subsets, self.state, self._gap = subsets, state, max(budget.gap, 0.5 * NOTHING_BETTER)
        self._deadline = budget.deadline
        self.frontier = Frontier()
        self._tried: set[bytes] = set()
        self._key_bytes = 0
        self._known = state.bound  # that of all models, from elsewhere
        self._floor = np.inf  # the least bound of single models, and of nodes that were dropped within the gap
        state.frontier = self._saved

    def _saved(self) -> SavedFrontier:
        return self.frontier.saved(self.subsets.n_columns, self._floor)

    def restore(self, saved: SavedFrontier) -> None:
        """Go on with these nodes."""
        self.frontier, self._floor = Frontier.restored(saved), saved.floor

    @property
    def target(self) -> float:
        """Nodes of at least this bound have no model that is better by more than the gap."""
        return self.state.objective * (1.0 - self._gap)

    @property
    def goes_on(self) -> bool:
        """Whether there are nodes that may have a better model."""
        return self.frontier.least_bound < self.target

    @property
    def n_bytes(self) -> int:
        """The size of what grows with the search: nodes that are left, and models that were tried."""
        return self.frontier.n_bytes + sys.getsizeof(self._tried) + self._key_bytes

    def branch(self, threads: ThreadPoolExecutor) -> None:
        """Replace some nodes, those of least bound, by their children, which are relaxed on all cores.

        Cut short, by Ctrl-C or the end of the time, it puts them back: nothing is lost of what is to be searched.
        """
        try:
            taken = self.frontier.take(self.subsets.at_once, self.target)
            children = [child for bound, node in taken for child in self._children(bound, node)]
            for child, found in zip(children, self._all_relaxed(children, threads), strict=True):
                self._digest(child, found)
        except BaseException:
            self._deadline.stopped = True  # other threads need not end what they do
            self.frontier.put_back()
            raise
        self.state.bound = self._least_bound()

    def _children(self, bound: float, node: OpenNode) -> Iterator[_Child]:
        """The models with the column to branch at, and those without it."""
        w = np.zeros(self.subsets.n_weights)
        w[node.places] = node.weights
        for side in (1, -1):
            state = node.state.copy()
            state[node.branch] = side
            yield _Child(state, w, node.price, bound)

    def _least_bound(self) -> float:
        """The bound on all models: those tried, those of nodes dropped, and those of nodes that are left."""
        least = min(self.frontier.least_bound, self._floor)
        return min(max(least, self._known), self.state.objective)

    def begin(self, state: np.ndarray) -> None:
        """Take all models for the root; without the time to relax it, as it is."""
        w = np.zeros(self.subsets.n_weights)
        try:
            self.consider(_Child(state, w))
        except OutOfTimeError:
            branch = int(np.flatnonzero(state == 0)[0])
            self.frontier.push(self._known, OpenNode(state, np.empty(0, dtype=np.int64), np.empty(0), 0.0, branch))

    def consider(self, child: _Child) -> None:
        """Relax a node, and keep it unless it is ruled out."""
        self._digest(child, self._relaxed(self.target, child))

    def _all_relaxed(self, children: list[_Child], threads: ThreadPoolExecutor) -> Iterable[Relaxed | None]:
        """The relaxations of all these nodes, one by one or in batches, on all cores."""
        apply = threads.map if self.subsets.at_once > 1 else map
        if (together := self.subsets.together) is None:
            return apply(partial(self._relaxed, self.target), children)
        found: list[Relaxed | None] = [None] * len(children)
        open_ = [i for i, child in enumerate(children) if not self._decided(child.state)]
        batches = [open_[i : i + together.batch] for i in range(0, len(open_), together.batch)]
        relax = partial(self._batch_relaxed, together, self.target)
        relaxed = apply(relax, [[children[i] for i in batch] for batch in batches])
        for batch, relaxations in zip(batches, relaxed, strict=True):
            for i, one in zip(batch, relaxations, strict=True):
                found[i] = one
        return found

    def _batch_relaxed(self, together: BatchRelaxer, target: float, children: list[_Child]) -> Sequence[Relaxed]:
        nodes = [Node(child.state, child.w, child.price) for child in children]
        return together.relaxed_together(nodes, [self._left(child.state) for child in children], target)

    def _relaxed(self, target: float, child: _Child) -> Relaxed | None:
        """The relaxation of a node; None where at most one model of it is to be tried."""
        if self._decided(child.state):
            return None
        self._deadline.check()
        return self.subsets.relaxed(Node(child.state, child.w, child.price), self._left(child.state), target)

    def _decided(self, state: np.ndarray) -> bool:
        """Whether one model is the best of a node."""
        left = self._left(state)
        return bool(left <= 0 or np.count_nonzero(state == 0) <= left)

    def _left(self, state: np.ndarray) -> int:
        """How many columns may still come in."""
        return self.subsets.k - int(np.count_nonzero(state == 1))

    def _digest(self, child: _Child, relaxed: Relaxed | None) -> None:
        """Keep a node that was relaxed, unless it is ruled out."""
        state, least = child.state, child.least
        self.state.n_nodes += 1
        left, free = self._left(state), np.flatnonzero(state == 0)
        if left < 0:
            return  # every better model would have more columns than it may
        if relaxed is None:  # one model is the best of them
            self._last(np.flatnonzero(state == 1) if left == 0 else np.flatnonzero(state >= 0), least)
            return
        bound = max(relaxed.bound, least)
        if bound < self.target:
            first = free[np.argsort(-relaxed.shares[free])[:left]]
            self._try(np.append(np.flatnonzero(state == 1), first), relaxed.w)
        if bound >= self.target:
            self._floor = min(self._floor, bound)
            return
        state = self._fixed(state, relaxed, left)
        places = np.flatnonzero(relaxed.w)
        node = OpenNode(state, places, relaxed.w[places], relaxed.price, _branching_column(state, relaxed))
        if node.branch < 0 or self._left(state) <= 0:
            self.consider(_Child(state, relaxed.w, relaxed.price, bound))  # all is decided by now
        else:
            self.frontier.push(bound, node)

    def _last(self, members: np.ndarray, least: float) -> None:
        """Try the only model of a node that can be the best; where its refit may not be exact, its bound counts."""
        if self.subsets.exact:
            self._try(members, None)
            return
        objective, w = self.subsets.refitted(members)
        self._take(members, objective)
        state = np.full(self.subsets.n_columns, -1, dtype=np.int8)
        state[members] = 1
        self._floor = min(self._floor, max(least, self.subsets.relaxed(Node(state, w), 0, self.target).bound))

    def _try(self, members: np.ndarray, start: np.ndarray | None) -> None:
        """Refit a model, unless it has been tried."""
        members = np.sort(members)
        key = members.tobytes()
        if key not in self._tried:
            self._tried.add(key)
            self._key_bytes += sys.getsizeof(key)
            self._take(members, self.subsets.refitted(members, start, self.state.objective)[0])

    def _take(self, members: np.ndarray, objective: float) -> None:
        """Keep a model if it is better."""
        if objective < self.state.objective:
            self.state.members, self.state.objective = members, objective

    def _fixed(self, state: np.ndarray, relaxed: Relaxed, left: int) -> np.ndarray:
        """The node without models that its plane rules out: columns that are out, or in, for all the others."""
        reliefs = self.subsets.reliefs(relaxed)
        free = state == 0
        order = np.partition(reliefs[free], [-left - 1, -left])
        following, last = order[-left - 1], order[-left]
        state = state.copy()
        state[free & (relaxed.bound + last - reliefs > self.state.objective)] = -1
        state[free & (relaxed.bound + reliefs - following > self.state.objective)] = 1
        return state

    def finish(self) -> None:
        """What is known at the end."""
        self.state.bound = self._least_bound()
        allowed = max(self._gap, NOTHING_BETTER)  # the search went on to half of that: rounding may take some
        self.state.finished = self.state.bound >= self.state.objective * (1.0 - allowed)


def _branching_column(state: np.ndarray, relaxed: Relaxed) -> int:
    """The free column whose share is least decided; if all are whole, the largest one; -1 if there is none."""
    free = np.flatnonzero(state == 0)
    if len(free) == 0:
        return -1
    shares = relaxed.shares[free]
    undecided = np.minimum(shares, 1.0 - shares)
    if undecided.max() > WHOLE:
        return int(free[np.argmax(undecided)])
    return int(free[np.argmax(shares)])
