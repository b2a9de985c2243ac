"""Features in the billions, in memory that does not depend on their number.

Solver 'online' learns on a table of the features that matter most (see `online.py`; the active set of AWM-Sketch, Tai
et al., SIGMOD 2018). A feature outside has weight zero, so all there is to know of it is the sum of its slopes and of
its squares, and those are linear: they go to one of many buckets, by a hash of the feature's number (a count-sketch, as
in MISSION, Aghazadeh et al., ICML 2018).

A feature stands out by
    (sum of slopes)^2 / sum of squares,
which for one that says nothing is a random walk over its length, whatever its units and however rare it is. While the
table has room every feature gets a place when it is first met, and the method is solver 'online' itself. Then a place
is for those that pass the bar: that of the better half when the table was last full. The other half then moves out,
and leaves its sums in the buckets. Between reviews the bar sinks until the table is full again.

Rows are taken in pieces that grow with their number: who is in the table is settled between two of them, after the same
rows whatever the chunks.
"""

from dataclasses import dataclass, replace

import numpy as np

from riata.errors import OptionError
from riata.kernels.online import EMPTY, WIDTH
from riata.kernels.rows import CsrRows
from riata.kernels.sketch import NOWHERE, Places, count_outside, move_in, move_out, split_rows
from riata.matrices.matrix import Matrix
from riata.objective import Problem
from riata.solvers.iterate import Features, Options
from riata.solvers.online.online import Online, of_features
from riata.solvers.stochastic.method import stochastic

SKETCH_BYTES = 64 << 20
SHARE = 0.5  # of the budget; the rest is for rows, and for the names of the features in the table
TABLE = 0.7  # of that share, beside the statistics of candidates; the rest is for buckets
PIECE, LONGEST = 0.02, 256  # rows of a piece: a share of those before it, at most so many
SINKS = 0.8  # the bar, from review to review
PLACE_BYTES = 8 * (WIDTH + 1) + 4 * (4 + 1) + 1  # in block and ids, in table (at most four) and free, in waiting
BUCKET_BYTES = 8


def places_of(memory: dict[str, np.ndarray]) -> Places:
    """The places for features in a memory, as kernels take them."""
    return Places(*(memory[name] for name in Places._fields))


@dataclass(frozen=True)
class Sketch(Online):
    """Exactly k features of any number of them."""

    budget: int = SKETCH_BYTES  # bytes

    def sizes(self, n_features: int) -> tuple[int, int]:
        """How many places and buckets the budget allows."""
        statistics = 8 * (min(self.n_candidates, n_features) + 1) ** 2
        room = int(SHARE * self.budget) - statistics
        places = min(int(TABLE * room) // PLACE_BYTES, n_features + 1)  # a table that can hold all never is full
        least = min(4 * self.n_candidates, n_features)  # half of them move out, and candidates stay
        if places < least:
            need = (least * PLACE_BYTES / TABLE + statistics) / SHARE
            raise OptionError(
                f"solver 'sketch' needs at least {need / 1e6:.1f} MB for k={self.k}, and memory is "
                f"{self.budget / 1e6:.1f} MB; give it more, or ask for a smaller k"
            )
        return places, min(int((1.0 - TABLE) * room) // BUCKET_BYTES, n_features)

    def width(self, n_features):
        return 0

    def rows(self, X: Matrix, scale: np.ndarray | float) -> CsrRows:
        """Entries with their numbers; dense rows as sparse ones."""
        entries = X.as_csr()
        return CsrRows(entries.indptr, entries.indices, entries.data, np.empty(0))

    def memory(self, n_features):
        places, buckets = self.sizes(n_features)
        return super().memory(places) | {
            "ids": np.full(places, NOWHERE), "waiting": np.zeros(places, dtype=bool),
            "table": np.full(2 ** int(np.ceil(np.log2(2 * places))), NOWHERE, dtype=np.int32),
            "free": np.append(np.arange(places)[::-1], places).astype(np.int32),
            "bucket_sums": np.zeros(buckets, dtype=np.float32), "bucket_squares": np.zeros(buckets, dtype=np.float32),
            "bar": np.zeros(1), "piece": np.ones(1, dtype=np.int64),
        }  # fmt: skip

    def _due(self, memory):
        return min(super()._due(memory), int(memory["piece"][0]))

    def _take(self, sweep, visits, state, learn_b):
        memory, n_free = state.memory, state.memory["free"][-1]
        inside, outside = self._split(sweep.rows, visits, memory)
        indptr, places, values = inside
        rows = CsrRows(indptr, places[: indptr[-1]], values[: indptr[-1]], np.ones(len(memory["ids"])))
        y, weight, loss = sweep.y[visits], sweep.weight[visits], sweep.loss
        part = replace(sweep, rows=rows, y=y, weight=weight, visits=np.arange(len(visits)))
        margins = super()._take(part, part.visits, state, learn_b)
        # In its first steps a model may overshoot, as in the kernel of 'online'.
        cap = np.abs(loss.derivative(y, margins[:, EMPTY]))
        cap += np.sqrt(memory["slope_squares"][EMPTY] / max(memory["total"][0], 1e-300))
        slopes = weight * np.clip(loss.derivative(y, margins[:, memory["lane"][0]]), -cap, cap)
        bar, sums, squares = memory["bar"][0], memory["bucket_sums"], memory["bucket_squares"]
        count_outside(outside, slopes, weight, bar, sums, squares, places_of(memory))
        if sweep.names is not None:
            newcomers = memory["free"][memory["free"][-1] : n_free]
            state.names |= sweep.names(memory["ids"][newcomers])
        return margins

    def _split(self, rows, visits, memory):
        """The entries of rows by whether their feature has a place: (indptr, places, values), (indptr, ids, values)."""
        n, room = len(visits), int((rows.indptr[visits + 1] - rows.indptr[visits]).sum())
        inside, outside = (
            (np.empty(n + 1, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room, dtype=rows.data.dtype))
            for _ in range(2)
        )
        split_rows(rows, visits, memory["bar"][0] == 0.0, places_of(memory), inside, outside)
        return inside, outside

    def _stop(self, state, steps):
        memory = state.memory
        if steps == memory["piece"][0]:
            memory["piece"][0] += min(max(int(PIECE * steps), 1), LONGEST)
            self._move_in(memory)
            if memory["free"][-1] == 0:
                self._make_room(state)
        if steps == super()._due(memory):
            super()._stop(state, steps)
            memory["bar"] *= SINKS

    def _move_in(self, memory):
        """Features that waited get their places, with what their buckets know of them."""
        waiting = memory["waiting"]
        if not waiting.any():
            return
        sums, squares = np.zeros(len(waiting)), np.zeros(len(waiting))
        move_in(memory["ids"], waiting, memory["bucket_sums"], memory["bucket_squares"], sums, squares)
        of_features(memory, "z")[waiting] = sums[waiting, None]
        of_features(memory, "squares")[waiting] = squares[waiting]
        # A slope is about `rest` in size, so a column's sum of squared pushes is its sum of squares.
        of_features(memory, "hold")[waiting] = squares[waiting] / np.sqrt(memory["total"][0])
        waiting[:] = False

    def _make_room(self, state):
        """Half of the features move out, those that stand out least; candidates stay."""
        memory, lane = state.memory, state.memory["lane"][0]
        z, squares = of_features(memory, "z")[:, lane], of_features(memory, "squares")
        scores = np.divide(z * z, squares, out=np.zeros_like(z), where=squares > 0)
        scores[memory["candidates"][memory["candidates"] >= 0]] = np.inf
        gone, stay = np.split(np.argsort(scores, kind="stable"), [len(scores) // 2])
        memory["bar"][0] = scores[stay[0]]
        for number in memory["ids"][gone].tolist():
            state.names.pop(number, None)
        move_out(
            gone, memory["ids"], memory["table"], memory["free"],
            memory["bucket_sums"], memory["bucket_squares"], z.copy(), squares.copy(),
        )  # fmt: skip
        memory["block"][gone] = 0.0

    def features(self, state):
        return Features(state.memory["ids"], state.names, self._weights(state.memory)[1])


def sketch(problem: Problem, options: Options):
    """The recipe on data that may be read several times."""
    method = Sketch(
        k=problem.cardinality.k,
        distinct=float(problem.data.n_rows),
        half_life=options.half_life,
        budget=options.memory or SKETCH_BYTES,
    )
    return stochastic(problem, method, options)
