"""The features in a model's file, of which there may be very many: without objects of Python for each."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import string_array
from riata.data.columns.kept_names import AT_ONCE, KeptNames
from riata.data.columns.packed_names import MANY
from riata.schema import LARGEST_NUMBER, is_text

OF_A_FEATURE = {"name", "column", "coef", "deviation"}
LARGEST_COLUMN = 2**62


class ListedFeatures:
    """Features as they come from a file. One that cannot be is kept as it is, for those who say what is wrong."""

    def __init__(self, features: Iterable[Any]) -> None:
        self._odd: dict[int, Any] = {}  # by their places
        self._n_margins = -1  # of the first feature
        self.columns, self._coef, self._deviations = array("q"), array("d"), array("d")
        self._names: list[pa.Array] = []
        some: list[str] = []
        for place, feature in enumerate(features):
            if not self._take(feature):
                self._odd[place] = feature
                continue
            some.append(feature["name"])
            if len(some) == AT_ONCE:
                self._names.append(string_array(some, pa.large_string()))
                some.clear()
        self._names.append(string_array(some, pa.large_string()))

    def _take(self, feature: Any) -> bool:
        """Take in all but the name; whether that can be done."""
        if not _is_plain(feature):
            return False
        self._n_margins = len(feature["coef"]) if self._n_margins < 0 else self._n_margins
        if len(feature["coef"]) != self._n_margins:
            return False
        self.columns.append(feature["column"])
        self._coef.extend(map(float, feature["coef"]))
        self._deviations.append(float(feature["deviation"]))
        return True

    def __len__(self) -> int:
        return len(self.columns) + len(self._odd)

    def __iter__(self) -> Iterator[Any]:
        """What the file has for each."""
        n, plain = self._n_margins, enumerate(name for part in self._names for name in part.to_pylist())
        for place in range(len(self)):
            if place in self._odd:
                yield self._odd[place]
            else:
                i, name = next(plain)
                coef = self._coef[n * i : n * i + n].tolist()
                yield {"name": name, "column": self.columns[i], "coef": coef, "deviation": self._deviations[i]}

    @property
    def have_columns_of_their_own(self) -> bool:
        """Whether no two are the same column."""
        return len(np.unique(np.asarray(self.columns))) == len(self)

    @property
    def names(self) -> Sequence[str]:
        names = pa.concat_arrays(self._names)
        return KeptNames.of(names) if len(self) >= MANY else names.to_pylist()

    @property
    def indices(self) -> Sequence[int]:
        return self.columns if len(self) >= MANY else self.columns.tolist()

    @property
    def deviations(self) -> Sequence[float]:
        return self._deviations if len(self) >= MANY else self._deviations.tolist()

    def coef(self, n_margins: int) -> np.ndarray:
        """The coefficients of all features for each margin."""
        return np.array(self._coef, dtype=float).reshape(len(self), n_margins).T


def _is_plain(feature: Any) -> bool:
    """Whether this may be a feature, but for numbers that do not go with those of the model."""
    if not isinstance(feature, dict) or feature.keys() != OF_A_FEATURE or not is_text(feature["name"]):
        return False
    column, coef = feature["column"], feature["coef"]
    if type(column) is not int or not 0 <= column < LARGEST_COLUMN or not isinstance(coef, list):
        return False
    return all(type(v) in (int, float) and abs(v) < LARGEST_NUMBER for v in (*coef, feature["deviation"]))
