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

    def __len__(self) -> int:
        return len(self._strings)

    def at(self, i: int) -> str:
        return str(self._strings[i].as_py())

    def find(self, name: str) -> int | None:
        same = pc.equal(self._strings, string_array([name], pa.large_string())[0])
        places = np.flatnonzero(values_of(same))
        return int(places[-1]) if len(places) else None
