"""The days of rows, where a column has dates: scores of a stream are also told by day."""

from collections.abc import Callable

import numpy as np

from riata.data.chunk import Chunk
from riata.data.columns.dates import Date
from riata.data.columns.strings import numbers_of
from riata.data.encoding import Encoding

NO_DAY = np.iinfo(np.int64).min  # of rows whose date is missing


def days_of_rows(encoding: Encoding | None) -> Callable[[Chunk], np.ndarray] | None:
    """From a chunk to the day of each row since 1970, by the first column of dates; None where there is none."""
    start = 0
    for encoder in () if encoding is None else encoding.encoders:
        if isinstance(encoder, Date):
            ends = [encoder.names[0], encoder.names[-1]] if encoder.missing else [encoder.names[0]]
            assert encoding is not None
            if encoding.hashed:
                return _Days(numbers_of(ends), encoder.origin)
            return _Days(np.array([start, start + encoder.width - 1])[: len(ends)], encoder.origin)
        start += encoder.width
    return None


class _Days:
    """Reads days from the features that a column of dates became: days since an origin and, maybe, `missing`."""

    def __init__(self, features: np.ndarray, origin: int) -> None:
        self._features, self._origin = features, origin

    def __call__(self, chunk: Chunk) -> np.ndarray:
        found = chunk.X.columns(self._features)
        days = np.floor(found[:, 0]).astype(np.int64) + self._origin
        return np.where(found[:, 1] > 0.0, NO_DAY, days) if found.shape[1] > 1 else days
