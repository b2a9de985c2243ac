"""Names of very many features, without an object of Python for each."""

from collections.abc import Iterable
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from riata.data.columns.arrow_values import string_array, values_of
from riata.data.columns.names import Names

AT_ONCE = 1 << 13  # names that are strings of Python while they are taken in


class KeptNames(Names):
    """Names that stay in Arrow's memory, each made a string when it is asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        names, parts = iter(names), [string_array([], pa.large_string())]
        while some := list(islice(names, AT_ONCE)):
            parts.append(string_array(some, pa.large_string()))
        self._strings = pa.concat_arrays(parts)

    @classmethod
    def of(cls, strings: pa.Array) -> "KeptNames":
        """Names that are there already, as strings of 64-bit offsets."""
        names = cls(())
        names._strings = strings
        return names

    def __len__(self) -> int:
        return len(self._strings)

    @property
    def n_bytes(self) -> int:
        """What they take."""
        return int(self._strings.nbytes)

    def at(self, i: int) -> str:
        return str(self._strings[i].as_py())

    def find(self, name: str) -> int | None:
        same = pc.equal(self._strings, string_array([name], pa.large_string())[0])
        places = np.flatnonzero(values_of(same))
        return int(places[-1]) if len(places) else None
