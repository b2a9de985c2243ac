"""The rows of the experiment: unit norm, in memory, with the test rows and what is known of the columns."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.datasets import fetch_gisette, is_probe, load_digits49, read_gisette
from riata.errors import DataError
from riata.matrices.host import as_matrix

LOADERS = {"digits49": load_digits49, "gisette": fetch_gisette}


class Rows(NamedTuple):
    """Training and test rows, each of unit norm, and which columns are known to be noise."""

    name: str
    X: sp.csr_array
    y: np.ndarray
    X_test: sp.csr_array
    y_test: np.ndarray
    probes: np.ndarray | None  # a mask; None where that is not known

    def training(self) -> InMemory:
        return InMemory(self.X, self.y)

    def accuracy(self, coef: np.ndarray, intercept: float = 0.0) -> float:
        """Share of test rows on the right side; a margin of zero counts as the negative class."""
        return float(np.mean((self.X_test @ coef + intercept > 0) == (self.y_test > 0)))

    def facts(self) -> dict[str, Any]:
        """What tells this data from another."""
        n, d = self.X.shape
        return {
            "data": self.name, "rows": n, "test_rows": len(self.y_test), "features": d,
            "probes": None if self.probes is None else int(self.probes.sum()),
            "non_zeros": self.X.nnz / (n * d),
            "constant_columns": int(np.sum(np.diff(self.X.tocsc().indptr) == 0)),
            "positive": float(np.mean(self.y > 0)), "checksum": float(self.X.data.sum(dtype=np.float64)),
        }  # fmt: skip


def load_rows(data: str) -> Rows:
    """digits49, gisette, or a folder of files under UCI's names."""
    if data not in LOADERS and not Path(data).is_dir():
        raise DataError(f"there is no folder {data}: give --data digits49, gisette, or a folder of UCI's Gisette files")
    train, test = (
        LOADERS[data](split) if data in LOADERS else read_gisette(data, split) for split in ("train", "test")
    )
    probes = is_probe(train.feature_names)
    return Rows(
        data, as_matrix(train.X).unit_rows().as_csr(), train.y, as_matrix(test.X).unit_rows().as_csr(), test.y,
        probes if probes.any() else None,
    )  # fmt: skip
