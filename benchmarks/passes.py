"""How many passes the exact solver reads out of core, on every public set, to a gap of 1e-6.

    python benchmarks/passes.py [--only golub]

The aim is 12 for one alpha and 60 for a path of 100 alphas to max/100. Rows are shown in sixteen chunks, as from a
disk; passes are counted in rows read, moments and all. Columns are standardised, but for those of texts.
"""

import argparse
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

import riata
from problems import LOADERS, SHARED
from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.facts import Facts
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

CHUNKS = 16
TEXTS = ("imdb", "news20_counts")


class InChunks(Dataset):
    """Rows of a matrix in a few chunks, offering nothing but `visit`."""

    def __init__(self, X, y):
        super().__init__(Facts(*X.shape))
        whole = Chunk(X, y, np.ones(len(y)))
        cuts = np.linspace(0, len(y), min(CHUNKS, len(y)) + 1).astype(int)
        self._chunks = [whole.rows(slice(a, b)) for a, b in pairwise(cuts)]
        self.n_chunks = len(self._chunks)

    def visit(self, order=None):
        for i in range(self.n_chunks) if order is None else order:
            self.ledger.count(self._chunks[i].n_rows)
            yield self._chunks[i]


def counts(name):
    """A set of sparse counts, as logarithms."""
    path = SHARED / f"{name}.npz"
    X = sp.csr_array(sp.load_npz(path)).astype(np.float64)
    X.data = np.log1p(X.data)
    with np.load(path) as file:
        return X, file["y"].astype(float)


def flights():
    """A table of mixed columns, encoded."""
    leaks = ["dep_delay", "dep_time", "arr_time", "air_time"]
    chunk = riata.open(SHARED / "nycflights13.parquet", target="arr_delay", drop=leaks, memory="4GB").chunk
    return chunk.X.array, chunk.y


def measured(X, y, options):
    """(passes, gap, features) of two alphas and a path."""
    for ratio in (10, 100):
        data = InChunks(X, y)
        result = fit(data, Spec(alpha_ratio=1 / ratio, **options)).result
        yield data.passes, result.gap, np.count_nonzero(result.coef)
    found = path_of_margin(InChunks(X, y), Spec(**options), reach=0.01)
    yield found.passes, found.gaps.max(), found.n_selected[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="sets whose name contains this")
    options = parser.parse_args()
    loaders = LOADERS | {name: lambda name=name: counts(name) for name in ("a9a", "news20_counts")}
    loaders["nycflights13"] = flights
    print("| data | loss | max/10 | max/100 | path of 100 | largest gap | features at max/100 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, load in loaders.items():
        if options.only not in name:
            continue
        X, y = load()
        for loss in ("squared", "logistic") if set(np.unique(y)) == {-1.0, 1.0} else ("squared",):
            passes, gaps, features = zip(*measured(X, y, {"loss": loss, "standardize": name not in TEXTS}), strict=True)
            counted = " | ".join(f"{number:.1f}" for number in passes)
            print(f"| {name} | {loss} | {counted} | {max(gaps):.0e} | {features[-1]} |", flush=True)


if __name__ == "__main__":
    main()
