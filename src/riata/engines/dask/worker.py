"""The tasks that workers run on a part: apply a view to its chunks, and sum a function over them."""

from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from riata.data.chunk import Chunk, add, added
from riata.engines.dask.parts import Part, RowsInMemory
from riata.engines.dask.payload import Carried
from riata.errors import EngineError


class Mapping(NamedTuple):
    """A step of a view: a function applied to every chunk."""

    f: Callable[[Chunk], Chunk]


class Keeping(NamedTuple):
    """A step of a view: a choice of rows by their positions."""

    keep: Callable[[np.ndarray], np.ndarray]


class Placing(NamedTuple):
    """A step of a view: a function applied to every chunk and the position of its first row, at this step."""

    f: Callable[[int, Chunk], Chunk]


View = tuple[Mapping | Keeping | Placing, ...]
Starts = tuple[int, ...]  # the position of a part's first row, among all rows and among those each Keeping keeps


def chunks_of(part: Part, view: View, starts: Starts) -> Iterator[tuple[int, Chunk]]:
    """The chunks of a part in a view, each with the position of its first row."""
    for i, positions, keeps in _spans(part, view, starts):
        yield positions[-1], _seen(part, i, view, positions, keeps)
        part.release(i)


def _spans(part: Part, view: View, starts: Starts) -> Iterator[tuple[int, Starts, list[np.ndarray]]]:
    """For every chunk with rows in a view: its number, the positions of its first row, the rows each Keeping keeps."""
    positions = list(starts)
    for i, count in enumerate(part.counts):
        keeps: list[np.ndarray] = []
        for step in view:
            if isinstance(step, Keeping):
                start = positions[len(keeps)]
                keeps.append(np.flatnonzero(step.keep(np.arange(start, start + (len(keeps[-1]) if keeps else count)))))
        if count and (not keeps or len(keeps[-1])):
            yield i, tuple(positions), keeps
        for level, kept in enumerate([count, *map(len, keeps)]):
            positions[level] += kept


def _seen(part: Part, i: int, view: View, positions: Starts, keeps: list[np.ndarray]) -> Chunk:
    """A chunk in a view; only rows from the first to the last one kept are read."""
    span = _span(part, i, keeps)
    chunk, offset = part.rows(i, span), span.start
    level = 0  # of the positions: how many steps have kept some rows
    for step in view:
        if isinstance(step, Mapping):
            chunk = step.f(chunk)
        elif isinstance(step, Placing):
            chunk = step.f(positions[level] + offset, chunk)
        else:
            kept = keeps[level] - offset
            chunk, offset, level = chunk if len(kept) == chunk.n_rows else chunk.rows(kept), 0, level + 1
    return chunk


def _span(part: Part, i: int, keeps: list[np.ndarray]) -> slice:
    """The rows of chunk i that have to be read."""
    return slice(int(keeps[0][0]), int(keeps[0][-1]) + 1) if keeps else slice(0, part.counts[i])


class Result(NamedTuple):
    """What came of some rows, with their number: by it the caller knows that none is missing."""

    n_rows: int
    value: Any  # None without any row


def sum_of_part(part: Part, starts: Starts, seen: Carried, carried: Carried) -> Result:
    """The sum of f(chunk) over the chunks of a part, in their order."""
    view, f = seen.value, carried.value
    n_rows = 0

    def values() -> Iterator[Any]:
        nonlocal n_rows
        for _, chunk in chunks_of(part, view, starts):
            n_rows += chunk.n_rows
            yield f(chunk)

    found = values()
    first = next(found, None)
    total = None if first is None else added(chain([first], found))
    return Result(n_rows, total)


def run_of_part(part: Part, numbered: tuple[int, Starts], seen: Carried, carried: Carried) -> Result:
    """f(number, run) of the chunks of a part."""
    (number, starts), view, f = numbered, seen.value, carried.value
    run = chunks_of(part, view, starts)
    first = next(run, None)
    if first is None:
        return Result(0, None)
    return Result(int(rows_of_part(part, starts, seen)[0]), f(number, chain([first], run)))


def run_of_parts(parts: list[Part], starts: list[Starts], seen: Carried, carried: Carried) -> Result:
    """f(run) of the chunks of several parts, one after the other."""
    view, f = seen.value, carried.value
    run = chain.from_iterable(chunks_of(part, view, its) for part, its in zip(parts, starts, strict=True))
    first = next(run, None)
    if first is None:
        return Result(0, None)
    n_rows = sum(int(rows_of_part(part, its, seen)[0]) for part, its in zip(parts, starts, strict=True))
    return Result(n_rows, f(chain([first], run)))


def sum_of(results: list[Result]) -> Result:
    """The sum of the results of parts, in their order."""
    found = values_of(results)
    there = [value for value in found if value is not None]
    try:
        value = reduce(partial(add, plus=_plus), there) if there else None
    except (TypeError, ValueError, AttributeError) as error:  # what is no sum, or of another kind
        raise _other_code(there) from error
    return Result(sum(result.n_rows for result in results), value)


def values_of(results: list[Result]) -> list[Any]:
    """The values of results, all of which must be some."""
    if not all(isinstance(result, Result) for result in results):
        raise _other_code(results)
    return [result.value for result in results]


def _other_code(results: list[Any]) -> EngineError:
    kinds = " and ".join(sorted({type(result).__name__ for result in results}))
    return EngineError(
        f"results of parts, of type {kinds}, cannot be added: one of the workers runs other code; restart all of them "
        "with this version of riata"
    )


def _plus(a: Any, b: Any) -> Any:
    """a + b of equal shapes: NumPy would spread a small array over a large one."""
    shapes = np.shape(a), np.shape(b)
    if shapes[0] != shapes[1]:
        raise EngineError(
            f"results of two parts are of shapes {shapes[0]} and {shapes[1]}: one of the workers runs other code; "
            "restart all of them with this version of riata"
        )
    for value in (a, b):
        if isinstance(value, np.ndarray) and value.dtype.kind not in "biuf":
            raise TypeError(f"an array of {value.dtype}")
    return a + b


def chunks_in_part(part: Part, starts: Starts, carried: Carried) -> Result:
    """How many chunks of a part have rows in a view."""
    n_rows = int(rows_of_part(part, starts, carried)[0])
    return Result(n_rows, sum(1 for _ in _spans(part, carried.value, starts)))


def names_in_part(part: Part, starts: Starts, seen: Carried, carried: Carried) -> dict[int, str]:
    """The names of features with these numbers, as far as rows of a part have them."""
    wanted: np.ndarray = carried.value
    found: dict[int, str] = {}
    for chunk in part.anew():
        if len(found) < len(wanted) and chunk.names is not None:
            found |= chunk.names(wanted)
    return found


def chunk_of_part(part: Part, i: int, starts: Starts, carried: Carried) -> Chunk:
    """Chunk i of those."""
    number, positions, keeps = next(islice(_spans(part, carried.value, starts), i, None))
    return _seen(part, number, carried.value, positions, keeps)


def rows_of_part(part: Part, starts: Starts, carried: Carried) -> np.ndarray:
    """(rows of a part in a view, rows that have to be read for them)"""
    total = np.zeros(2, dtype=np.int64)
    for i, _, keeps in _spans(part, carried.value, starts):
        span = _span(part, i, keeps)
        total += [len(keeps[-1]) if keeps else part.counts[i], span.stop - span.start]
    return total


def part_in_memory(part: Part, starts: Starts, carried: Carried) -> RowsInMemory:
    """The rows of a part in a view, in the memory of the worker."""
    chunks = (chunk for _, chunk in chunks_of(part, carried.value, starts))
    return RowsInMemory([chunk._replace(y=chunk.y.copy(), weight=chunk.weight.copy()) for chunk in chunks])
