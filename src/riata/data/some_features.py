"""The encoding of some features alone: what others there are is neither read, as far as columns go, nor kept."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.encoding import SPARSE_BELOW, Encoding
from riata.matrices.host import as_matrix


@dataclass(frozen=True)
class SomeFeatures(Encoding):
    """The features of these numbers, in their order, of all that the encoders make."""

    numbers: tuple[int, ...] = field(default=(), hash=False)

    @classmethod
    def of(cls, encoding: Encoding, numbers: np.ndarray) -> "SomeFeatures":
        """Some features of an encoding, by increasing numbers; columns that give none of them are not read."""
        kept, own, start, place = [], [], 0, 0
        for encoder in encoding.encoders:
            stop = start + encoder.width
            inside = numbers[(numbers >= start) & (numbers < stop)]
            if len(inside):
                kept.append(encoder)
                own.append(inside - start + place)
                place += encoder.width
            start = stop
        values = {one.name: getattr(encoding, one.name) for one in fields(Encoding)}
        found = np.concatenate([np.empty(0, dtype=np.int64), *own])
        return cls(**values | {"encoders": tuple(kept)}, numbers=tuple(found.tolist()))

    @cached_property
    def feature_names(self) -> None:
        """None: names of hash buckets become known while rows are read, and whoever chose the numbers knows them."""
        return

    @cached_property
    def n_features(self) -> int:
        return len(self.numbers)

    @cached_property
    def sparse(self) -> bool:
        """Whether rows are sparse: as they would be with all features of these columns."""
        return self.nonzeros < SPARSE_BELOW * sum(encoder.width for encoder in self.encoders)

    @property
    def is_matrix(self) -> bool:
        return False

    def features(self, batch: pa.RecordBatch) -> Any:
        return as_matrix(super().features(batch)).narrowed(np.array(self.numbers, dtype=np.int64))
