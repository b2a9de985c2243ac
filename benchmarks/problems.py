"""The problems of the convex benchmark: one matrix for everybody, in the layout each solver likes best.

`SHARED` names the folder with the public sets (see its README); digits49 comes with riata.
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp

SHARED = Path(os.environ.get("RIATA_DATA", Path(__file__).parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Benchmark:
    """Minimise mean loss + alpha |w|_1 at alpha_max / ratio, or at 100 alphas from alpha_max down to that."""

    data: str
    loss: str
    ratio: float
    path: bool = False

    @property
    def name(self):
        what = "Lasso" if self.loss == "squared" else "L1-logistic"
        return f"{self.data} {what}, " + (f"path of 100 to max/{self.ratio:g}" if self.path else f"max/{self.ratio:g}")

    @property
    def fit_intercept(self):
        """Where few peers can have one, nobody does: the columns (not the sparse ones) are centred instead."""
        return (self.loss == "squared" and not self.path) or self.data == "covtype"


BENCHMARKS = [
    *(Benchmark("digits49", "squared", ratio) for ratio in (10, 30, 100)),
    Benchmark("digits49", "squared", 100, path=True),
    *(Benchmark("imdb", loss, ratio) for loss in ("squared", "logistic") for ratio in (10, 100)),
    *(Benchmark(data, "squared", 10, path) for data in ("golub", "riboflavin") for path in (False, True)),
    *(Benchmark("golub", "logistic", 10, path) for path in (False, True)),
    *(Benchmark("covtype", "logistic", ratio) for ratio in (10, 100)),
]


@cache
def load(benchmark: Benchmark):
    """X and y: float64 standardised columns (float32 as it comes for digits49), tf-idf for text."""
    X, y = LOADERS[benchmark.data]()
    if not benchmark.fit_intercept and not sp.issparse(X):
        X = X - X.mean(axis=0)
        y = y - y.mean() if benchmark.loss == "squared" else y
    return X, y


def _digits49():
    from riata.datasets import load_digits49

    X, y, _ = load_digits49("train")
    return X, y


def _imdb():
    from sklearn.feature_extraction.text import TfidfTransformer

    path = SHARED / "imdb_counts.npz"
    with np.load(path) as file:
        train, y = file["split"] == 0, file["y"].astype(float)
    counts = sp.csr_array(sp.load_npz(path))[train]
    return sp.csr_array(TfidfTransformer().fit_transform(counts)), y[train]


def _golub():
    with np.load(SHARED / "golub.npz") as file:
        return _standardised(file["X"]), np.where(file["y"] == "ALL", 1.0, -1.0)


def _riboflavin():
    with np.load(SHARED / "riboflavin.npz") as file:
        return _standardised(file["X"]), file["y"]


def _covtype():
    with np.load(SHARED / "covtype.npz") as file:
        return _standardised(file["X"]), np.where(file["y"] == 2, 1.0, -1.0)


def _standardised(X):
    X = X.astype(np.float64)
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


LOADERS = {
    "digits49": _digits49, "imdb": _imdb, "golub": _golub, "riboflavin": _riboflavin, "covtype": _covtype,
}  # fmt: skip
