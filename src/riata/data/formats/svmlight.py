"""svmlight / libsvm text, plain or compressed.

Indices start at zero or at one, which only the complete data can tell: any index 0 means zero. So they are passed on
as written, and the profile decides. Features are named by the numbers in the file.
"""

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of
from riata.data.formats.parsed_lines import Parsed, ParsedLines
from riata.data.formats.source import INDICES, TARGET, VALUES
from riata.data.formats.tables import list_column
from riata.kernels.svmlight import PROBLEMS, most_rows, read_lines


class Svmlight(ParsedLines):
    """Rows of svmlight files: the target `y` and the pair X.indices, X.values."""

    any_base = True
    problems = PROBLEMS
    schema = pa.schema(
        [(TARGET, pa.float64()), (INDICES, pa.large_list(pa.int64())), (VALUES, pa.large_list(pa.float64()))]
    )

    def parse(self, block: np.ndarray, start: int, stop: int) -> Parsed:
        n_lines, n_pairs = most_rows(block, start, stop)
        y, indptr = np.empty(n_lines), np.empty(n_lines + 1, dtype=np.int64)
        indices, values = np.empty(n_pairs, dtype=np.int64), np.empty(n_pairs)
        rows, nnz, lines, skipped, problem, line = read_lines(
            block, start, stop, self._skip_bad, y, indptr, indices, values
        )
        offsets = indptr[: rows + 1]
        arrays = [arrow_of(y[:rows]), list_column(offsets, indices[:nnz]), list_column(offsets, values[:nnz])]
        return Parsed(pa.RecordBatch.from_arrays(arrays, schema=self.schema), lines, skipped, problem, line)
