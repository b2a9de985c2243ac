"""Rows on the workers of a Dask cluster: `sum` is one task per part, and a tree of additions in a fixed order.

What travels is the function of a pass (with the coefficients in it), once to each worker, and sums of the size of its
result between workers. The driver receives one sum. The tree depends on the parts alone, so a repeated pass gives the
same bits whichever worker did what, and however often it had to be done again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.facts import Facts
from riata.data.ledger import Ledger
from riata.data.remote import Remote
from riata.data.row_events import watched
from riata.engines.dask.cluster import Client, Future, carry, in_tree, result_of, submit, submit_all
from riata.engines.dask.payload import Carried
from riata.engines.dask.worker import (
    Keeping,
    Mapping,
    Starts,
    View,
    chunk_of_part,
    chunks_in_part,
    held_part,
    rows_of_part,
    run_of_part,
    sum_of,
    sum_of_part,
)
from riata.errors import DataError

FAN_IN, FAN_IN_RUNS = 4, 2  # sums that are added at a time: few, since each may be as large as memory allows
READY = 8  # chunks that wait on workers while one is visited here


class OnWorkers(Remote):
    """Parts on workers, seen through a view; a view of a view shares its parts. Chunk i is all of part i."""

    def __init__(
        self,
        client: Client,
        parts: Sequence[Future],
        starts: Sequence[Starts],
        facts: Facts,
        row_bytes: float,
        ledger: Ledger | None = None,
    ) -> None:
        super().__init__(facts, ledger)
        self.client, self._parts, self._places, self.row_bytes = client, list(parts), list(starts), row_bytes
        self.n_chunks = len(self._parts)
        self._view: View = ()
        self._rows_per_pass = facts.n_rows  # that are read for a pass over these, which may be fewer

    def _seen_as(self, view: View, starts: Sequence[Starts], facts: Facts) -> "OnWorkers":
        """A view, which counts what it reads in the same ledger."""
        other = OnWorkers(self.client, self._parts, starts, facts, self.row_bytes, self.ledger)
        other._view, other._rows_per_pass = view, self._rows_per_pass
        return other

    def map(self, f: Callable[[Chunk], Chunk]) -> Dataset:
        return self._seen_as((*self._view, Mapping(f)), self._places, self.facts.of_view(classes=None))

    def some_rows(self, keep):
        view = (*self._view, Keeping(keep))
        unknown = [(*its, 0) for its in self._places]  # where each part begins among the kept rows
        counts = np.array(result_of(self.client, self._tasks(rows_of_part, unknown, view)))
        firsts = np.cumsum([0, *counts[:, 0]])
        starts = [(*its, int(first)) for its, first in zip(self._places, firsts[:-1], strict=True)]
        other = self._seen_as(view, starts, self.facts.of_view(n_rows=int(firsts[-1])))
        other._rows_per_pass = int(counts[:, 1].sum())
        return other

    def persisted(self, f):
        parts = self._tasks(held_part, self._places, (*self._view, Mapping(f)))
        self._count(self.n_rows)
        facts = self.facts.of_view(classes=None)
        return OnWorkers(self.client, parts, [its[-1:] for its in self._places], facts, self.row_bytes)

    def sum(self, f: Callable[[Chunk], T]) -> T:
        return self._total(self._tasks(sum_of_part, self._places, (self._view, f)), FAN_IN)

    def sum_runs(self, f):
        return self._total(self._runs(lambda _, run: f(run)), FAN_IN_RUNS)

    def runs(self, f):
        found = result_of(self.client, self._runs(f))
        self._count(self.n_rows)
        return [value for value in found if value is not None]

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        """Chunks are brought here one after the other, while some more are made ready."""
        carried = carry(self.client, Carried(self._view))
        counts = result_of(self.client, self._tasks(chunks_in_part, self._places, self._view))
        wanted = [(n, i) for n in (range(self.n_chunks) if order is None else order) for i in range(counts[n])]
        ready: list[Future] = []
        for number, i in wanted:
            its = self._parts[number], i, self._places[number]
            ready.append(submit(self.client, chunk_of_part, *its, carried))
            if len(ready) > READY:
                yield self._brought(ready.pop(0))
        while ready:
            yield self._brought(ready.pop(0))

    def _brought(self, future: Future):
        chunk = result_of(self.client, future)
        self._count(chunk.n_rows)
        return chunk

    @property
    def chunk_starts(self) -> np.ndarray:
        return np.array([its[-1] for its in self._places])

    def _tasks(self, task, starts, value) -> list[Future]:
        """A task for every part, each with a value that is carried to the workers once."""
        carried = carry(self.client, Carried(value))
        return submit_all(self.client, task, self._parts, starts, [carried] * len(self._parts))

    def _runs(self, f) -> list[Future]:
        return self._tasks(run_of_part, list(enumerate(self._places)), (self._view, f))

    def _total(self, sums: list[Future], fan_in: int):
        total = result_of(self.client, in_tree(self.client, sum_of, sums, fan_in))
        if total is None:
            raise DataError("there are no rows to learn from")
        self._count(self.n_rows)
        return total

    def _count(self, n_rows: int) -> None:
        """So many of these rows have been read, and for them perhaps others."""
        read = round(n_rows * self._rows_per_pass / max(self.n_rows, 1))
        self.ledger.count(read)
        for _ in watched([read], "reading rows", int, self.ledger.n_rows):
            pass

    def __reduce__(self):
        raise TypeError("rows on workers stay there: a function that is sent to them must not hold the dataset")
