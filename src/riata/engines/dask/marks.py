"""Which rows belong together in folds, where workers have the rows: each reads the columns of its own parts."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from riata.data.encoding import Encoding
from riata.data.formats.source import Source
from riata.data.row_marks import TYPES, Mark, Marks, marks_in, marks_of
from riata.data.row_numbers import RowNumbers
from riata.engines.dask.cluster import Client, Future, carry, result_of, submit_all
from riata.engines.dask.payload import Carried


class MarksOnWorkers(Marks):
    """Marks in columns of parts on workers; their numbers, eight bytes for each row, come to this process."""

    def __init__(
        self,
        client: Client,
        parts: Sequence[Source | Future],
        encoding: Encoding,
        schema: pa.Schema,
        columns: Mapping[str, str],
        n_rows: int,
    ) -> None:
        super().__init__(columns)
        self._client, self._parts, self._encoding, self._schema = client, parts, encoding, schema
        self._n_rows = n_rows

    def _read(self) -> dict[str, Mark]:
        how = carry(self._client, Carried((self._encoding, self.columns)))
        found = submit_all(self._client, _marks_of_part, self._parts, [how] * len(self._parts))
        numbers = {role: RowNumbers(TYPES[role]) for role in self.columns}
        for future in found:
            for role, values in result_of(self._client, future).items():
                numbers[role].append(values)
        return marks_of(numbers, self._schema, self.columns, self._n_rows)


def _marks_of_part(source: Source, how: Carried) -> dict[str, np.ndarray]:
    """The numbers of every role for the rows of a part."""
    encoding, columns = how.value
    batches = list(marks_in(source, encoding, columns))
    return {role: np.concatenate([np.empty(0, TYPES[role]), *(batch[role] for batch in batches)]) for role in columns}
