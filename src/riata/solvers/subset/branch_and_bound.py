"""Branch and bound over models of at most k of some columns: all of them are looked at, most without being tried.

A part of all models is given by the columns that they have and those that they do not have. Its relaxation bounds them
all; where the bound is not below the objective of the best model known, the part is ruled out. Otherwise it is cut in
two: the models with one more column and those without it. The part of least bound is cut first, so that the least bound
of all parts that are left, which bounds every model, rises as fast as it can. Each relaxation starts where that of the
part it was cut from ended, suggests a model to refit, and fixes columns by their reliefs (`planes`).
"""

import heapq
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import NamedTuple, Protocol

import numpy as np

from riata.outcome.proofs import NOTHING_BETTER
from riata.solvers.subset.deadline import Deadline, OutOfTimeError
from riata.solvers.subset.relaxation import Node, Relaxed
from riata.threads import n_cores, one_blas_thread

WHOLE = 1e-3  # shares nearer to 0 or 1 count as whole
REPORT = 0.5  # seconds between two states
NODE_BYTES = 600  # of a part beside its columns


class Together(Protocol):
    """Relaxations of parts in batches."""

    @property
    def batch(self) -> int:
        """How many parts are relaxed by one call."""

    def relaxed_together(self, nodes: Sequence[Node], k: Sequence[int], target: float) -> Sequence[Relaxed]:
        """The relaxations of parts where so many more columns may come in."""


class Subsets(Protocol):
    """A loss over some columns, of which models may have at most k."""

    @property
    def k(self) -> int: ...

    @property
    def n_columns(self) -> int:
        """Of what models have at most k: columns, or groups of them."""

    @property
    def n_weights(self) -> int: ...

    @property
    def at_once(self) -> int:
        """How many parts are cut at a time, whatever the number of cores: so that all of them do the same."""

    @property
    def together(self) -> "Together | None":
        """Who relaxes several parts by one call; None: each is relaxed by itself."""

    @property
    def exact(self) -> bool:
        """Whether refits are exact, and need no bound beside."""

    def relaxed(self, node: Node, k: int, target: float) -> Relaxed:
        """The relaxation of a part where k more columns may come in; it may end early once its bound is the target."""

    def reliefs(self, relaxed: Relaxed) -> np.ndarray:
        """What each column can lower the plane of a relaxation by."""

    def refitted(
        self, members: np.ndarray, start: np.ndarray | None = None, below: float = np.inf
    ) -> tuple[float, np.ndarray]:
        """The least objective of a model of these columns, and the weights of all columns there.

        It may start at given weights, and end early where it will not be below a number.
        """


class _Half(NamedTuple):
    """A part that is to be relaxed, where that starts, and a bound that it has already."""

    state: np.ndarray
    w: np.ndarray
    price: float = 0.0
    least: float = -np.inf


class Parts(NamedTuple):
    """All parts that are left of a search, as arrays: where it can go on."""

    bounds: np.ndarray
    states: np.ndarray  # a row for each part
    branches: np.ndarray
    prices: np.ndarray
    counts: np.ndarray  # of their non-zero weights
    places: np.ndarray  # of those, part after part
    weights: np.ndarray
    floor: float  # the least bound of all that was dropped


@dataclass
class State:
    """How far a search has come."""

    members: np.ndarray | None  # of the best model known; None: it came from elsewhere
    objective: float  # its objective
    bound: float = -np.inf  # that no model has an objective below
    n_parts: int = 0
    finished: bool = False  # whether the gap is closed
    parts: Callable[[], Parts] | None = None  # what is left, where it is asked for


class _Part(NamedTuple):
    """Models that are still to be looked at."""

    state: np.ndarray  # of every column: in (1), out (-1) or free (0)
    places: np.ndarray  # the non-zero weights of its relaxation
    weights: np.ndarray
    price: float
    branch: int  # the column to cut at


class Budget(NamedTuple):
    """When to give up."""

    gap: float  # that is small enough
    deadline: Deadline
    n_bytes: float


def branch_and_bound(subsets: Subsets, start: State, first: np.ndarray | Parts, budget: Budget) -> Iterator[State]:
    """States on the way, the last one finished or out of budget.

    `first` tells which columns are in, out or free, or has the parts of a search that goes on.
    """
    search = _Search(subsets, start, budget)
    if isinstance(first, Parts):
        search.restore(first)
    else:
        search.begin(first)
    last = time.perf_counter()
    with ThreadPoolExecutor(n_cores()) as threads, one_blas_thread():
        while search.parts and not search.closed and not budget.deadline.over and search.n_bytes <= budget.n_bytes:
            with suppress(OutOfTimeError):
                search.cut(threads)
            if time.perf_counter() - last >= REPORT:
                last = time.perf_counter()
                yield search.state
    search.finish()
    yield search.state


class _Search:
    """Parts that are left, the one of least bound first, and the best model so far."""

    def __init__(self, subsets: Subsets, state: State, budget: Budget):
        self.subsets, self.state, self._gap = subsets, state, max(budget.gap, 0.5 * NOTHING_BETTER)
        self._deadline = budget.deadline
        self.parts: list[tuple[float, int, _Part]] = []
        self._numbers = count()
        self._tried: set[bytes] = set()
        self._known = state.bound  # that of all models, from elsewhere
        self._floor = np.inf  # the least bound of single models, and of parts that were dropped within the gap
        state.parts = self._saved

    def _saved(self) -> Parts:
        """The parts that are left."""
        ordered = sorted(self.parts)  # of equal bounds the oldest first, as it is taken
        parts = [part for _, _, part in ordered]
        return Parts(
            np.array([bound for bound, _, _ in ordered], dtype=np.float64),
            np.array([part.state for part in parts], dtype=np.int8).reshape(len(parts), self.subsets.n_columns),
            np.array([part.branch for part in parts], dtype=np.int64),
            np.array([part.price for part in parts], dtype=np.float64),
            np.array([len(part.places) for part in parts], dtype=np.int64),
            np.concatenate([np.empty(0, dtype=np.int64), *(part.places for part in parts)]),
            np.concatenate([np.empty(0), *(part.weights for part in parts)]),
            float(self._floor),
        )

    def restore(self, saved: Parts) -> None:
        """Go on with these parts."""
        ends = np.cumsum(saved.counts)[:-1]
        places, weights = np.split(saved.places, ends), np.split(saved.weights, ends)
        for i, bound in enumerate(saved.bounds.tolist()):
            part = _Part(saved.states[i], places[i], weights[i], float(saved.prices[i]), int(saved.branches[i]))
            heapq.heappush(self.parts, (bound, next(self._numbers), part))
        self._floor = saved.floor

    @property
    def target(self) -> float:
        """Parts of at least this bound have no model that is better by more than the gap."""
        return self.state.objective * (1.0 - self._gap)

    @property
    def closed(self) -> bool:
        return self.parts[0][0] >= self.target

    @property
    def n_bytes(self) -> int:
        return len(self.parts) * (self.subsets.n_columns + NODE_BYTES)

    def cut(self, threads: ThreadPoolExecutor) -> None:
        """Replace some parts, those of least bound, by their two halves, which are relaxed on all cores.

        Cut short, by Ctrl-C or the end of the time, it puts them back: nothing is lost of what is to be searched.
        """
        taken: list[tuple[float, int, _Part]] = []
        try:
            while self.parts and not self.closed and len(taken) < self.subsets.at_once:
                taken.append(self.parts[0])
                heapq.heappop(self.parts)
            halves = [half for bound, _, part in taken for half in self._halves(bound, part)]
            for half, found in zip(halves, self._all_relaxed(halves, threads), strict=True):
                self._digest(half, found)
        except BaseException:
            self._deadline.stopped = True  # other threads need not end what they do
            there = {number for _, number, _ in self.parts}
            for entry in taken:
                if entry[1] not in there:
                    heapq.heappush(self.parts, entry)
            raise
        self.state.bound = self._least_bound()

    def _halves(self, bound: float, part: _Part) -> Iterator[_Half]:
        """The models with the column to cut at, and those without it."""
        w = np.zeros(self.subsets.n_weights)
        w[part.places] = part.weights
        for side in (1, -1):
            state = part.state.copy()
            state[part.branch] = side
            yield _Half(state, w, part.price, bound)

    def _least_bound(self) -> float:
        """The bound on all models: those tried, those of parts dropped, and those of parts that are left."""
        least = min(self.parts[0][0] if self.parts else np.inf, self._floor)
        return min(max(least, self._known), self.state.objective)

    def begin(self, state: np.ndarray) -> None:
        """Take all models for the first part; without the time to relax it, as it is."""
        w = np.zeros(self.subsets.n_weights)
        try:
            self.consider(_Half(state, w))
        except OutOfTimeError:
            branch = int(np.flatnonzero(state == 0)[0])
            whole = _Part(state, np.empty(0, dtype=np.int64), np.empty(0), 0.0, branch)
            heapq.heappush(self.parts, (self._known, next(self._numbers), whole))

    def consider(self, half: _Half) -> None:
        """Relax a part, and keep it unless it is ruled out."""
        self._digest(half, self._relaxed(self.target, half))

    def _all_relaxed(self, halves: list[_Half], threads: ThreadPoolExecutor) -> Iterable[Relaxed | None]:
        """The relaxations of all these parts, one by one or in batches, on all cores."""
        apply = threads.map if self.subsets.at_once > 1 else map
        if (together := self.subsets.together) is None:
            return apply(partial(self._relaxed, self.target), halves)
        found: list[Relaxed | None] = [None] * len(halves)
        open_ = [i for i, half in enumerate(halves) if not self._decided(half.state)]
        batches = [open_[i : i + together.batch] for i in range(0, len(open_), together.batch)]
        relax = partial(self._batch_relaxed, together, self.target)
        relaxed = apply(relax, [[halves[i] for i in batch] for batch in batches])
        for batch, relaxations in zip(batches, relaxed, strict=True):
            for i, one in zip(batch, relaxations, strict=True):
                found[i] = one
        return found

    def _batch_relaxed(self, together: Together, target: float, halves: list[_Half]) -> Sequence[Relaxed]:
        nodes = [Node(half.state, half.w, half.price) for half in halves]
        return together.relaxed_together(nodes, [self._left(half.state) for half in halves], target)

    def _relaxed(self, target: float, half: _Half) -> Relaxed | None:
        """The relaxation of a part; None where at most one model of it is to be tried."""
        if self._decided(half.state):
            return None
        self._deadline.check()
        return self.subsets.relaxed(Node(half.state, half.w, half.price), self._left(half.state), target)

    def _decided(self, state: np.ndarray) -> bool:
        """Whether one model is the best of a part."""
        left = self._left(state)
        return bool(left <= 0 or np.count_nonzero(state == 0) <= left)

    def _left(self, state: np.ndarray) -> int:
        """How many columns may still come in."""
        return self.subsets.k - int(np.count_nonzero(state == 1))

    def _digest(self, half: _Half, relaxed: Relaxed | None) -> None:
        """Keep a part that was relaxed, unless it is ruled out."""
        state, least = half.state, half.least
        self.state.n_parts += 1
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
        part = _Part(state, places, relaxed.w[places], relaxed.price, _branch(state, relaxed))
        if part.branch < 0 or self._left(state) <= 0:
            self.consider(_Half(state, relaxed.w, relaxed.price, bound))  # all is decided by now
        else:
            heapq.heappush(self.parts, (bound, next(self._numbers), part))

    def _last(self, members: np.ndarray, least: float) -> None:
        """Try the only model of a part that can be the best; where its refit may not be exact, its bound counts."""
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
            self._take(members, self.subsets.refitted(members, start, self.state.objective)[0])

    def _take(self, members: np.ndarray, objective: float) -> None:
        """Keep a model if it is better."""
        if objective < self.state.objective:
            self.state.members, self.state.objective = members, objective

    def _fixed(self, state: np.ndarray, relaxed: Relaxed, left: int) -> np.ndarray:
        """The part without models that its plane rules out: columns that are out, or in, for all the others."""
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
        allowed = max(self._gap, NOTHING_BETTER)  # parts are cut until half of that, of which rounding may take some
        self.state.finished = self.state.bound >= self.state.objective * (1.0 - allowed)


def _branch(state: np.ndarray, relaxed: Relaxed) -> int:
    """The free column whose share is least decided; if all are whole, the largest one; -1 if there is none."""
    free = np.flatnonzero(state == 0)
    if len(free) == 0:
        return -1
    shares = relaxed.shares[free]
    undecided = np.minimum(shares, 1.0 - shares)
    if undecided.max() > WHOLE:
        return int(free[np.argmax(undecided)])
    return int(free[np.argmax(shares)])
