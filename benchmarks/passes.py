"""How many passes the exact solver reads out of core, on every public set: at most 12 are the aim for one alpha.

    python benchmarks/passes.py [--only golub]

Rows are shown in sixteen chunks, as from a disk; passes are counted in rows read, moments and all.
"""

import argparse
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from problems import LOADERS, SHARED
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.fitting import Spec, fit

CHUNKS = 16


class InChunks(Dataset):
    """Rows of a matrix in a few chunks, offering nothing but `visit`."""

    def __init__(self, X, y):
        super().__init__()
        whole = Chunk(X, y, np.ones(len(y)))
        cuts = np.linspace(0, len(y), min(CHUNKS, len(y)) + 1).astype(int)
        self._chunks = [whole.rows(slice(a, b)) for a, b in pairwise(cuts)]
        self.n_rows, self.n_features, self.n_chunks = *X.shape, len(self._chunks)

    def visit(self, order=None):
        for i in range(self.n_chunks) if order is None else order:
            self.rows_read += self._chunks[i].n_rows
            yield self._chunks[i]


def counts(name):
    """A set of sparse counts, as logarithms."""
    path = SHARED / f"{name}.npz"
    X = sp.csr_array(sp.load_npz(path)).astype(np.float64)
    X.data = np.log1p(X.data)
    with np.load(path) as file:
        return X, file["y"].astype(float)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="sets whose name contains this")
    options = parser.parse_args()
    loaders = LOADERS | {name: lambda name=name: counts(name) for name in ("a9a", "news20_counts")}
    print("| data | loss | alpha | passes | gap | features |\n| --- | --- | --- | --- | --- | --- |")
    for name, load in loaders.items():
        if options.only not in name:
            continue
        X, y = load()
        labels = set(np.unique(y)) == {-1.0, 1.0}
        for loss in ("squared", "logistic") if labels else ("squared",):
            for ratio in (10, 100):
                data = InChunks(X, y)
                result = fit(data, Spec(alpha_ratio=1 / ratio, loss=loss)).result
                cells = [name, loss, f"max/{ratio}", f"{data.passes:.1f}", f"{result.gap:.0e}"]
                print("| " + " | ".join([*cells, str(np.count_nonzero(result.coef))]) + " |", flush=True)


if __name__ == "__main__":
    main()
