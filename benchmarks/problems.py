"""The problems of the convex benchmark: one matrix for everybody, in the layout each solver likes best.

`SHARED` names the folder with the public sets (see its README); digits49 comes with riata.
"""

import os
import subprocess
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
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


HARD = [
    *(
        Benchmark(data, loss, ratio, path)
        for data in (
            "AR(.95) 2000 x 10,000", "AR(.95) 20,000 x 2000", "genotypes", "riboflavin", "golub", "digits49",
            "imdb", "imdb scaled", "news20", "news20 scaled", "covtype pairs",
        )
        for loss in ("squared", "logistic")
        for ratio, path in ((30, False), (100, False), (1000, False), (1000, True))
        if not (data == "riboflavin" and loss == "logistic")
    ),
]  # fmt: skip


@cache
def load(benchmark: Benchmark):
    """X and y: float64 standardised columns (float32 as it comes for digits49), tf-idf for text."""
    X, y = LOADERS[benchmark.data]()
    if benchmark.loss == "logistic" and len(np.unique(y)) > 2:
        y = np.where(y > np.median(y), 1.0, -1.0)
    if not benchmark.fit_intercept and not sp.issparse(X):
        X = X - X.mean(axis=0)
        y = y - y.mean() if benchmark.loss == "squared" else y
    return X, y


def _digits49():
    from riata.datasets import load_digits49

    X, y, _ = load_digits49("train")
    return X, y


def _words(counts_file):
    """Counts of words as tf-idf, and their labels: the rows to learn from."""
    from sklearn.feature_extraction.text import TfidfTransformer

    path = SHARED / counts_file
    with np.load(path) as file:
        train, y = file["split"] == 0, file["y"].astype(float)
    counts = sp.csr_array(sp.load_npz(path))[train]
    return sp.csr_array(TfidfTransformer().fit_transform(counts)), y[train]


_imdb, _news20 = partial(_words, "imdb_counts.npz"), partial(_words, "news20_counts.npz")


def _scaled(load):
    """Columns of unit deviation, still sparse: with an intercept it is what standardising them would give."""

    def scaled():
        X, y = load()
        mean, squares = np.asarray(X.mean(axis=0)).ravel(), np.asarray(X.power(2).mean(axis=0)).ravel()
        deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
        return sp.csr_array(X @ sp.diags_array(1.0 / np.where(deviation > 0, deviation, 1.0))), y

    return scaled


def _neighbours(n, d):
    """Gaussian columns, each correlated .95 with the next; fifty matter, and half of the variance is noise."""

    def correlated():
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        for j in range(1, d):
            X[:, j] = 0.95 * X[:, j - 1] + np.sqrt(1.0 - 0.95**2) * X[:, j]
        return X, _fifty_matter(X, rng)

    return correlated


def _genotypes():
    """0, 1 or 2 by two strands, whose neighbours go together within blocks of fifty."""
    rng = np.random.default_rng(0)
    n, d = 2000, 10_000
    cut, X = 0.7 * rng.normal(size=d), np.zeros((n, d))
    for _ in range(2):
        strand = rng.normal(size=(n, d))
        for j in range(1, d):
            if j % 50:
                strand[:, j] = 0.97 * strand[:, j - 1] + np.sqrt(1.0 - 0.97**2) * strand[:, j]
        X += strand > cut
    return X, _fifty_matter(X, rng)


def _fifty_matter(X, rng):
    z = X[:, rng.choice(X.shape[1], 50, replace=False)] @ rng.normal(size=50)
    return z + z.std() * rng.normal(size=len(z))


def _covtype_pairs():
    """All columns and the products of all pairs of them, of a tenth of the rows; constants are left out."""
    X, y = _covtype()
    X, y = X[::10], y[::10]
    left, right = np.triu_indices(X.shape[1])
    pairs = _standardised(np.hstack([X, X[:, left] * X[:, right]]))
    return pairs[:, pairs.std(axis=0) > 0], y


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


def run_name():
    """A name for results of today's code."""
    command = ["git", "-C", Path(__file__).parent, "rev-parse", "--short", "HEAD"]
    return f"{date.today()} {subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()}"


LOADERS = {
    "digits49": _digits49, "imdb": _imdb, "golub": _golub, "riboflavin": _riboflavin, "covtype": _covtype,
    "news20": _news20, "imdb scaled": _scaled(_imdb), "news20 scaled": _scaled(_news20),
    "AR(.95) 2000 x 10,000": _neighbours(2000, 10_000), "AR(.95) 20,000 x 2000": _neighbours(20_000, 2000),
    "genotypes": _genotypes, "covtype pairs": _covtype_pairs,
}  # fmt: skip
