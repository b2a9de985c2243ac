"""What encoders into hash buckets share: the names of buckets, kept compact, written whole, narrowed to a few."""

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from riata.data.columns.column import Encoder
from riata.data.columns.names import named_alone
from riata.data.columns.packed_names import MANY, compact_names, plain_names
from riata.data.columns.strings import NamedBuckets, bits_fault


@dataclass(frozen=True)
class HashedNames(Encoder):
    """The features of a column are 2^bits buckets, some of which have names."""

    column: str
    bits: int
    bucket_names: Mapping[str, str] = field(hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bucket_names", compact_names(self.bucket_names))

    @property
    @abstractmethod
    def prefix(self) -> str:
        """What stands before the names of buckets in those of features."""

    @property
    @abstractmethod
    def _names(self) -> Any:
        """The names of all features, as `riata.data.columns.names` has them."""

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def narrowed(self, names: Collection[str]) -> Self:
        if len(names) >= MANY and isinstance(self.bucket_names, NamedBuckets):
            return replace(self, bucket_names=self.bucket_names.among(names, self.prefix))
        places = {place for name in names if (place := self._names.find(name)) is not None}
        return self.narrowed_to(np.array(sorted(places), dtype=np.int64))

    def narrowed_to(self, places: np.ndarray) -> Self:
        return replace(self, bucket_names=named_alone(self.bucket_names, places[places < 1 << self.bits]))

    def fault(self) -> str | None:
        return bits_fault(self.bits)

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"bucket_names": plain_names(self.bucket_names)}
