"""Sums of workers that are not finite: did a loss overflow, or is a worker at fault?

A loss may overflow where a solver tries a long step. Such a part is summed once more in this process, over the same
rows: an overflow is one here, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.engines.dask.cluster import Client, Future, result_of, submit, submit_all
from riata.engines.dask.parts import Part
from riata.errors import EngineError


def not_finite(value: Any) -> np.ndarray:
    """Which of all numbers of a result, one after the other, are NaN or infinite."""
    return np.concatenate([np.zeros(0, bool), *(~np.isfinite(numbers).ravel() for numbers in _numbers(value))])


def _numbers(value: Any) -> Iterator[np.ndarray]:
    """The floats of a result."""
    if isinstance(value, tuple):
        for one in value:
            yield from _numbers(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _numbers(getattr(value, field.name))
    elif isinstance(value, float | np.floating | np.ndarray) and np.asarray(value).dtype.kind == "f":
        yield np.asarray(value)


class Brought:
    """A part whose rows are brought from its worker, a chunk at a time."""

    def __init__(self, client: Client, part: Future) -> None:
        self._client, self._part = client, part
        self.counts: list[int] = result_of(client, submit(client, _counts, part))

    def rows(self, i: int, span: slice) -> Chunk:
        return result_of(self._client, submit(self._client, _rows, self._part, i, span))

    def release(self, i: int) -> None:
        pass

    def anew(self) -> Iterator[Chunk]:
        return (self.rows(i, slice(0, count)) for i, count in enumerate(self.counts))


def _counts(part: Part) -> list[int]:
    return part.counts


def _rows(part: Part, i: int, span: slice) -> Chunk:
    return part.rows(i, span)


def confirm(client: Client, results: list[Future], again: Callable[[int], Any]) -> None:
    """Refuse results of parts that are not finite where those of `again`, by the number of the part, are."""
    explained = np.zeros(0, bool)  # numbers that did overflow: in parts with as many, they may overflow, too
    for i, found in enumerate(result_of(client, submit_all(client, _not_finite, results))):
        if len(explained) == len(found) and not (found & ~explained).any():
            continue
        here = not_finite(again(i)) if found.any() else found
        if len(here) != len(found) or (found & ~here).any():
            raise EngineError(
                f"a worker answers that {np.count_nonzero(found)} sums over its rows are not finite (NaN or infinite); "
                "the same sums over the same rows are finite in this process: its memory or its libraries are at "
                "fault; restart the workers, elsewhere if need be, and repeat the fit"
            )
        explained = here if len(explained) != len(here) else explained | here


def _not_finite(result: Any) -> np.ndarray:
    return not_finite(result.value)
