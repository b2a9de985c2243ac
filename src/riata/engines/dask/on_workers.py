"""Rows on the workers of a Dask cluster: `sum` is one task per part, and a tree of additions in a fixed order.

The function of a pass (with the coefficients in it) is sent once to each worker, and results between workers; this
process receives one sum. The tree depends only on the parts, so that a repeated pass gives the same bits, whichever
worker did what and however often a task had to be repeated.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset, Run
from riata.data.facts import Facts
from riata.data.ledger import Ledger
from riata.data.remote import Remote
from riata.data.row_events import watched
from riata.engines.dask.cluster import Client, Future, carry, in_tree, keep_open, result_of, submit, submit_all
from riata.engines.dask.doubts import Brought, confirm, not_finite
from riata.engines.dask.payload import Carried
from riata.engines.dask.worker import (
    Keeping,
    Mapping,
    Placing,
    Result,
    Starts,
    View,
    chunk_of_part,
    chunks_in_part,
    names_in_part,
    part_in_memory,
    rows_of_part,
    run_of_part,
    run_of_parts,
    sum_of,
    sum_of_part,
    values_of,
)
from riata.errors import DataError, EngineError

T = TypeVar("T")
FAN_IN, FAN_IN_RUNS = 4, 2  # how many sums one task adds: few, since each may take much memory
READY = 8  # how many chunks workers prepare while one is in use


class OnWorkers(Remote):
    """Parts on workers, with a view applied to them; views share the parts. Chunk i consists of all rows of part i."""

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
        keep_open(client, self)
        self.client, self._parts, self._places, self.row_bytes = client, list(parts), list(starts), row_bytes
        self.n_chunks = len(self._parts)
        self._groups = [slice(i, i + 1) for i in range(self.n_chunks)]  # parts that long runs have together
        self._view: View = ()
        self._sent: Future | None = None  # the view, once workers have it: it may hold the folds of all rows
        self._rows_per_pass = facts.n_rows  # rows read in a pass; in a view of some rows, more than it has

    def _seen_as(self, view: View, starts: Sequence[Starts], facts: Facts) -> "OnWorkers":
        """A view of the same parts, with the same ledger."""
        other = OnWorkers(self.client, self._parts, starts, facts, self.row_bytes, self.ledger)
        other._view, other._rows_per_pass, other._groups = view, self._rows_per_pass, self._groups
        return other

    def grouped(self, groups: Sequence[slice]) -> "OnWorkers":
        """These rows, whose long runs (`sum_long_runs`) take parts together that most likely lie on one worker."""
        self._groups = list(groups)
        return self

    def map(self, f: Callable[[Chunk], Chunk]) -> Dataset:
        return self._seen_as((*self._view, Mapping(f)), self._places, self.facts.of_view(classes=None))

    def placed_map(self, f: Callable[[int, Chunk], Chunk]) -> Dataset:
        return self._seen_as((*self._view, Placing(f)), self._places, self.facts.of_view(classes=None))

    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        """The target and the weight of every row, which come to this process without their features."""
        parts = [chunk for run in self.runs(lambda _, run: [(c.y, c.weight) for _, c in run]) for chunk in run]
        return np.concatenate([y for y, _ in parts]), np.concatenate([weight for _, weight in parts])

    def some_rows(self, keep: Callable[[np.ndarray], np.ndarray]) -> "OnWorkers":
        view = (*self._view, Keeping(keep))
        unknown = [(*its, 0) for its in self._places]  # how many kept rows are before each part: to be counted
        sent = carry(self.client, Carried(view))
        counts = np.array(result_of(self.client, self._tasks(rows_of_part, unknown, sent)))
        firsts = np.cumsum([0, *counts[:, 0]])
        starts = [(*its, int(first)) for its, first in zip(self._places, firsts[:-1], strict=True)]
        other = self._seen_as(view, starts, self.facts.of_view(n_rows=int(firsts[-1])))
        other._rows_per_pass, other._sent = int(counts[:, 1].sum()), sent
        return other

    def persisted(self, f: Callable[[Chunk], Chunk]) -> "OnWorkers":
        parts = self._tasks(part_in_memory, self._places, carry(self.client, Carried((*self._view, Mapping(f)))))
        self._count(self.n_rows)
        facts = self.facts.of_view(classes=None)
        return OnWorkers(self.client, parts, [its[-1:] for its in self._places], facts, self.row_bytes)

    def sum(self, f: Callable[[Chunk], T]) -> T:
        return self._total(sum_of_part, self._places, f, FAN_IN)

    def sum_runs(self, f: Callable[[Run], T]) -> T:
        return self._total(run_of_part, list(enumerate(self._places)), lambda _, run: f(run), FAN_IN_RUNS)

    @property
    def n_long_runs(self) -> int:
        return len(self._groups)

    def sum_long_runs(self, f: Callable[[Run], T]) -> T:
        groups, starts = ([its[group] for group in self._groups] for its in (self._parts, self._places))
        return self._total(run_of_parts, starts, f, FAN_IN_RUNS, groups)

    def runs(self, f: Callable[[int, Run], T]) -> list[T]:
        tasks = self._tasks(run_of_part, list(enumerate(self._places)), self._seen, f)
        found = self._of_all_rows(result_of(self.client, tasks))
        self._count(self.n_rows)
        return [value for value in found if value is not None]

    def names_of(self, numbers: np.ndarray) -> dict[int, str]:
        found = result_of(self.client, self._tasks(names_in_part, self._places, self._seen, numbers))
        self._count(self.n_rows)
        return {number: name for names in found for number, name in names.items()}

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        """Chunks, brought to this process one after the other while workers prepare the next ones."""
        found = result_of(self.client, self._tasks(chunks_in_part, self._places, self._seen))
        counts = self._of_all_rows(found)
        wanted = [(n, i) for n in (range(self.n_chunks) if order is None else order) for i in range(counts[n])]
        ready: list[Future] = []
        for number, i in wanted:
            its = self._parts[number], i, self._places[number]
            ready.append(submit(self.client, chunk_of_part, *its, self._seen))
            if len(ready) > READY:
                yield self._brought(ready.pop(0))
        while ready:
            yield self._brought(ready.pop(0))

    def _brought(self, future: Future) -> Chunk:
        chunk: Chunk = result_of(self.client, future)
        self._count(chunk.n_rows)
        return chunk

    @property
    def chunk_starts(self) -> np.ndarray:
        return np.array([its[-1] for its in self._places])

    @property
    def _seen(self) -> Future:
        """The view, sent to the workers once for all passes."""
        if self._sent is None:
            self._sent = carry(self.client, Carried(self._view))
        return self._sent

    def _tasks(
        self, task: Callable[..., Any], starts: Sequence[Any], view: Future, *values: Any, of: Sequence[Any] = ()
    ) -> list[Future]:
        """A task for every part in a view, or group of them, with values that are sent to the workers only once."""
        shared = [view, *(carry(self.client, Carried(value)) for value in values)]
        return submit_all(self.client, task, of or self._parts, starts, *([one] * len(starts) for one in shared))

    def _total(
        self,
        task: Callable[..., Result],
        starts: Sequence[Any],
        f: Callable[..., Any],
        fan_in: int,
        groups: Sequence[list[Future]] = (),
    ) -> Any:
        """The sum over all parts, or groups of them."""
        sums = self._tasks(task, starts, self._seen, f, of=groups)
        (total,) = self._of_all_rows([result_of(self.client, in_tree(self.client, sum_of, sums, fan_in))])
        if total is None:
            raise DataError("there are no rows to learn from")
        if not_finite(total).any():
            view, summed = Carried(self._view), Carried(f)

            def again(i: int) -> Any:
                brought = [Brought(self.client, part) for part in (groups[i] if groups else self._parts[i : i + 1])]
                return task(brought if groups else brought[0], starts[i], view, summed).value

            confirm(self.client, sums, again)
        self._count(self.n_rows)
        return total

    def _of_all_rows(self, results: list[Result]) -> list[Any]:
        """The values of results, which must be of as many rows as there are."""
        values, n_rows = values_of(results), sum(result.n_rows for result in results)
        if n_rows != self.n_rows:
            raise EngineError(
                f"workers have summed {n_rows} rows in a pass, and there are {self.n_rows}: files have changed since "
                "they were opened, or a worker runs other code; open the data again and repeat the fit"
            )
        return values

    def _count(self, n_rows: int) -> None:
        """Record that so many rows of this view have been read, with those that had to be read for them."""
        read = round(n_rows * self._rows_per_pass / max(self.n_rows, 1))
        self.ledger.count(read)
        for _ in watched([read], "reading rows", int, self.ledger.n_rows):
            pass

    def __reduce__(self) -> NoReturn:
        raise TypeError("rows on workers stay there: a function that is sent to them must not hold the dataset")
