"""Solver 'online' for billions of features, in memory that does not depend on their number.

The method of `online.py` runs on a table of the features that matter most (the active set of AWM-Sketch, Tai et al.,
SIGMOD 2018). A feature outside has weight zero, so that only its sum of slopes and its sum of squares are needed, and
these are linear in the rows: they are added to one of many buckets, by a hash of the feature's number (a count-sketch,
as in MISSION, Aghazadeh et al., ICML 2018).

Features are ranked by the score
    (sum of slopes)^2 / sum of squares,
which for a feature without information is the square of a random walk over its length, whatever its units and however
rare it is. While the table has room every feature gets a place in its first row, and the method is that of solver
'online'. When the table is full, the half of lower score leaves it, and adds its sums to the buckets; the lowest score
of the other half becomes the bar that features outside must pass to enter. At every review the bar is lowered, until
the table is full again.

Rows are taken in pieces whose length grows with the number of rows so far. Features enter and leave the table between
two pieces, which end after the same rows whatever the chunks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from riata.data.remote import Remote
from riata.errors import OptionError
from riata.kernels.online import MOVED, WIDTH
from riata.kernels.rows import CsrRows
from riata.kernels.sketch import NOWHERE, Places, count_outside, move_in, move_out, places_among, split_rows
from riata.matrices.matrix import Matrix
from riata.objective import Problem
from riata.solvers.iterate import Features, Iterate, Options
from riata.solvers.online import top_k
from riata.solvers.online.candidate_budget import CandidateBudget
from riata.solvers.online.candidate_rows import caps
from riata.solvers.online.feature_block import of_features
from riata.solvers.online.lane_weights import weights_in
from riata.solvers.online.online import Online
from riata.solvers.saved_checks import check_indices, check_set
from riata.solvers.stochastic.method import MethodMemory, State, Sweep, stochastic

SKETCH_BYTES = 64 << 20  # the budget by default
# of the budget; the rest is for rows and names, for the scores by which features leave, and for code that is loaded
METHOD_SHARE = 0.4
TABLE_SHARE = 0.7  # of that, less the statistics of candidates, for the table; the rest is for buckets
PIECE_SHARE, LONGEST_PIECE = 0.02, 1024  # rows of a piece: a share of those before it, at most so many
ROOM_FOR_A_ROW = 64  # places: while so many are free for every row of a piece, it may be longer
BAR_FACTOR = 0.8  # on the bar at every review
# in block and ids, in table (at most four), free and place_of, in waiting and seen
PLACE_BYTES = 8 * (WIDTH + 1) + 4 * (4 + 2) + 2
BUCKET_BYTES = 8

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]  # of rows: where each begins; places or numbers of features; values


@lru_cache(maxsize=1)
def ones(n: int) -> np.ndarray:
    """So many ones, which nobody changes: pieces are short, and places many."""
    return np.ones(n)


def places_of(memory: dict[str, np.ndarray]) -> Places:
    """The places for features in a memory, as kernels take them."""
    return Places(*(memory[name] for name in Places._fields))


@dataclass(frozen=True)
class Sketch(Online):
    """Exactly k of any number of features."""

    budget: int = SKETCH_BYTES  # bytes

    def sizes(self, n_features: int) -> tuple[int, int]:
        """How many places and buckets the budget allows."""
        statistics = top_k.bytes_needed(min(self.n_candidates, n_features))
        room = int(METHOD_SHARE * self.budget) - statistics
        places = min(int(TABLE_SHARE * room) // PLACE_BYTES, n_features + 1)  # with room for all, it is never full
        least = min(4 * self.n_candidates, n_features)  # when half of the features leave, all candidates must stay
        if places < least:
            need = (least * PLACE_BYTES / TABLE_SHARE + statistics) / METHOD_SHARE
            raise OptionError(
                f"solver 'sketch' needs at least {need / 1e6:.1f} MB for k={self.k}, and memory is "
                f"{self.budget / 1e6:.1f} MB; give it more, or ask for a smaller k"
            )
        return places, min(int((1.0 - TABLE_SHARE) * room) // BUCKET_BYTES, n_features)

    @property
    def candidate_budget(self) -> CandidateBudget:
        """Without a limit: `sizes` refuses what has no room beside the table."""
        return CandidateBudget(self.k or 0)

    def width(self, n_features: int) -> int:
        return 0

    def rows(self, X: Matrix, scale: np.ndarray | float) -> CsrRows:
        """Sparse rows with the numbers of their features, of dense rows too."""
        entries = X.csr_parts()
        return CsrRows(entries.indptr, entries.indices, entries.data, np.empty(0))

    def memory(self, n_features: int) -> MethodMemory:
        places, buckets = self.sizes(n_features)
        return super().memory(places) | {
            "ids": np.full(places, NOWHERE), "waiting": np.zeros(places, dtype=bool),
            "table": np.full(2 ** int(np.ceil(np.log2(2 * places))), NOWHERE, dtype=np.int32),
            "free": np.append(np.arange(places)[::-1], places).astype(np.int32),
            "bucket_sums": np.zeros(buckets, dtype=np.float32), "bucket_squares": np.zeros(buckets, dtype=np.float32),
            "bar": np.zeros(1), "piece": np.ones(1, dtype=np.int64),
        }  # fmt: skip

    def bounds(self, n_features: int) -> dict[str, tuple[int, int]]:
        places, _ = self.sizes(n_features)
        return super().bounds(places) | {
            "table": (int(NOWHERE), places), "free": (0, places + 1), "ids": (int(NOWHERE), n_features),
            "piece": (1, 2**62),
        }  # fmt: skip

    def check(self, memory: MethodMemory) -> None:
        """The table has the features that have places, and is never full, or else a search in it would not end."""
        super().check(memory)
        entered, free = memory["table"][memory["table"] != NOWHERE], memory["free"]
        check_set(entered, "table", np.arange(len(memory["ids"])))
        check_indices(free[-1:], "free", 0, len(memory["ids"]) - len(entered) + 1)
        taken, unused = np.sort(entered), np.sort(free[: free[-1]])
        if not (
            np.array_equal(np.flatnonzero(memory["ids"] != NOWHERE), taken)
            and np.array_equal(np.flatnonzero(memory["ids"] == NOWHERE), unused)
            and len(np.unique(memory["ids"][taken])) == len(taken)
        ):
            raise ValueError("'ids' are not those of the features in its 'table'")

    def _due(self, memory: MethodMemory) -> int:
        return min(super()._due(memory), int(memory["piece"][0]))

    def _take(self, sweep: Sweep, visits: np.ndarray, state: State, learn_b: float) -> np.ndarray:
        """Learn these rows: features in the table by `Online`, the others by their buckets."""
        memory, n_free = state.memory, state.memory["free"][-1]
        inside, outside = self._split(sweep.rows, visits, memory)
        indptr, places, values = inside
        rows = CsrRows(indptr, places[: indptr[-1]], values[: indptr[-1]], ones(len(memory["ids"])))
        y, weight, loss = sweep.y[visits], sweep.weight[visits], sweep.loss
        part = replace(sweep, rows=rows, y=y, weight=weight, visits=np.arange(len(visits)), plain=True)
        margins = super()._take(part, part.visits, state, learn_b)
        most = caps(loss, y, margins, memory)
        slopes = weight * np.clip(loss.derivative(y, margins[:, memory["lane"][0]] + margins[:, MOVED]), -most, most)
        bar, sums, squares = memory["bar"][0], memory["bucket_sums"], memory["bucket_squares"]
        count_outside(outside, slopes, weight, bar, sums, squares, places_of(memory))
        if sweep.names is not None and np.count_nonzero(memory["candidates"] >= 0) < (self.k or 0):  # any may be chosen
            newcomers = memory["free"][memory["free"][-1] : n_free]
            state.names |= sweep.names(memory["ids"][newcomers])
        return margins

    def sweep(self, sweep: Sweep, state: State, learn_b: float) -> tuple[float, float]:
        """Learn these rows, and note the names of candidates while the rows that have them are here.

        A name costs as much as a row, and there are millions: of those that are no candidates it is never asked for.
        One that has none yet, and whose statistics are not zero, was met in these rows.
        """
        learnt = super().sweep(sweep, state, learn_b)
        if sweep.names is not None:
            ids = state.memory["ids"][state.memory["candidates"][top_k.places_of_candidates(state.memory)]]
            unnamed = [number for number in ids.tolist() if number not in state.names]
            if unnamed:
                state.names |= sweep.names(np.array(unnamed))
        return learnt

    def _split(self, rows: Any, visits: np.ndarray, memory: MethodMemory) -> tuple[Entries, Entries]:
        """The entries of these rows whose features have a place, by places, and the others, by feature numbers.

        `rows` are `CsrRows`, as the method `rows` makes them.
        """
        n, room = len(visits), int((rows.indptr[visits + 1] - rows.indptr[visits]).sum())
        inside, outside = (
            (np.empty(n + 1, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room, dtype=rows.data.dtype))
            for _ in range(2)
        )
        split_rows(rows, visits, memory["bar"][0] == 0.0, places_of(memory), inside, outside)
        return inside, outside

    def _stop(self, state: State, steps: int) -> None:
        """Between two pieces: features enter and leave the table; a review where one is due."""
        memory = state.memory
        if steps >= memory["piece"][0]:  # more than that only after a checkpoint that somebody made up
            self._move_in(memory)
            if memory["free"][-1] == 0:
                self._make_room(state)
            roomy = int(memory["free"][-1]) // ROOM_FOR_A_ROW if memory["bar"][0] == 0.0 else 0
            memory["piece"][0] = steps + max(min(max(int(PIECE_SHARE * steps), 1), LONGEST_PIECE), roomy)
        if steps >= super()._due(memory):
            super()._stop(state, steps)
            memory["bar"] *= BAR_FACTOR

    def _move_in(self, memory: MethodMemory) -> None:
        """Give waiting features their places, with estimates of their sums from the buckets."""
        waiting = np.flatnonzero(memory["waiting"])
        if not len(waiting):
            return
        sums, squares = np.empty(len(waiting)), np.empty(len(waiting))
        move_in(waiting, memory["ids"], memory["bucket_sums"], memory["bucket_squares"], sums, squares)
        of_features(memory, "z")[waiting] = sums[:, None]
        of_features(memory, "squares")[waiting] = squares
        # `hold` (see `kernels.online`) for slopes as large as those of the empty model: s_j sqrt(sum of squares).
        of_features(memory, "hold_square")[waiting] = squares * squares / memory["total"][0]
        memory["waiting"][waiting] = False

    def _make_room(self, state: State) -> None:
        """Remove the half of the features of lowest score from the table; candidates stay."""
        memory, lane = state.memory, state.memory["lane"][0]
        z, squares = of_features(memory, "z")[:, lane], of_features(memory, "squares")
        scores = z * z  # of all places, as are few other arrays here: each takes a tenth of the table
        scores[squares <= 0] = 0.0
        np.divide(scores, squares, out=scores, where=squares > 0)
        scores[memory["candidates"][memory["candidates"] >= 0]] = np.inf
        gone, stay = np.split(np.argsort(scores, kind="stable"), [len(scores) // 2])
        memory["bar"][0] = scores[stay[0]]
        del scores, stay
        named = np.fromiter(state.names, dtype=np.int64, count=len(state.names))
        for number in named[places_among(named, memory["ids"][gone]) != NOWHERE].tolist():
            del state.names[number]
        move_out(
            gone, memory["ids"], memory["table"], memory["free"],
            memory["bucket_sums"], memory["bucket_squares"], z.copy(), squares.copy(),
        )  # fmt: skip
        memory["block"][gone] = 0.0

    def model(self, state: State) -> tuple[np.ndarray, float]:
        """The weights of the chosen features alone: arrays of all places would be there several times."""
        w, b = super().model(state)
        return w[np.flatnonzero(w)], b

    def features(self, state: State) -> Features:
        """The chosen ones, as `model` has them."""
        places = np.flatnonzero(super().model(state)[0])
        deviation = weights_in(state.memory["block"][places], state.memory, self.levels(state.memory))[1]
        return Features(state.memory["ids"][places], state.names, deviation)


def sketch(problem: Problem, options: Options) -> Iterator[Iterate]:
    """The method on data that may be read several times."""
    method = Sketch(
        k=problem.cardinality.k,
        distinct=float(problem.data.n_rows),
        half_life=options.half_life,
        budget=options.memory or SKETCH_BYTES,
    )
    if isinstance(problem.data, Remote):
        from riata.solvers.online.shared_candidates import shared_candidates
        from riata.solvers.online.shared_out import check_shared

        check_shared(problem, method, options, "sketch")
        return shared_candidates(problem, method, options, by_number=True)
    return stochastic(problem, method, options)
