"""How good a model is on the rows that it was fitted to: all of them in memory, evenly spread chunks of other data."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset, Mapped
from riata.data.remote import Remote
from riata.data.statistics import SummaryRows
from riata.model.quality import Quality, quality
from riata.model.quality.numbers import of_statistics

if TYPE_CHECKING:
    from riata.model.model import Model

ENOUGH_ROWS = 200_000
FEWEST_CHUNKS, LARGEST_SHARE = 8, 0.1  # of data that is read from files


class SomeChunks(Mapped):
    """A view of some chunks of a dataset, by their numbers."""

    def __init__(self, data: Dataset, chunks: np.ndarray) -> None:
        super().__init__(data, lambda chunk: chunk)
        self.facts = data.facts.of_view()
        self.n_chunks, self._chunks = len(chunks), chunks

    def visit(self, order: Iterable[int] | None = None) -> Iterator[Chunk]:
        return self._data.visit(self._chunks if order is None else [int(self._chunks[i]) for i in order])


def training_quality(model: "Model", data: Dataset) -> Quality | None:
    """How good the model is on training rows; None where they are gone. Its `n_rows` says on how many.

    A tenth of a pass is read of files, or less, unless they are small; what is read is counted as everywhere.
    Statistics in place of rows know squares of residuals, and no more of them.
    """
    if isinstance(data, SummaryRows):
        return None if data.facts.offset is not None else of_statistics(model, data.statistics.total)
    if data.single_pass or data.is_summary:
        return None
    if data.cheap_passes or isinstance(data, Remote):
        return quality(model, data)
    wanted = min(ENOUGH_ROWS / max(data.n_rows, 1), LARGEST_SHARE) * data.n_chunks
    n_chunks = min(data.n_chunks, max(FEWEST_CHUNKS, int(np.ceil(wanted))))
    return quality(model, SomeChunks(data, np.linspace(0, data.n_chunks - 1, n_chunks).round().astype(int)))
