"""Second-order statistics of all columns: X'X, X'y, y'y about the means, in one pass and d^2 numbers.

They are all that the squared loss ever asks of the data. Those of several days or machines add up, those of rows to be
forgotten (or of a fold) can be taken away, and `as_data` turns them back into rows that every solver takes.
"""

from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpstrf

from riata.data.dataset import Dataset
from riata.data.memory import InMemory
from riata.errors import DataError, OptionError

BLOCK_ROWS = 2048
NUMBERS = ("weight", "mean", "y_mean", "xx", "xy", "yy", "rows")


@dataclass(frozen=True)
class Gram:
    """Weighted sums of products about the means."""

    weight: float
    mean: np.ndarray
    y_mean: float
    xx: np.ndarray
    xy: np.ndarray
    yy: float
    rows: int = 0
    feature_names: tuple[str, ...] | None = None

    def normal(self, fit_intercept):
        """(A, c, q) with mean squared loss = (v'Av - 2 c'v + q) / 2 at the best intercept, or at none."""
        if fit_intercept:
            return self.xx / self.weight, self.xy / self.weight, self.yy / self.weight
        return (
            self.xx / self.weight + np.outer(self.mean, self.mean),
            self.xy / self.weight + self.mean * self.y_mean,
            self.yy / self.weight + self.y_mean**2,
        )

    def __add__(self, other: "Gram") -> "Gram":
        """The statistics of both sets of rows."""
        return self._merged(other, 1)

    def __sub__(self, other: "Gram") -> "Gram":
        """The statistics of these rows without the others, which must be among them."""
        if not 0 < other.weight < self.weight:
            raise DataError("statistics can be taken away from those of more rows only")
        return self._merged(other, -1)

    def _merged(self, other, sign) -> "Gram":
        if len(self.mean) != len(other.mean) or self.feature_names != other.feature_names:
            raise DataError("these statistics are of different features, and do not go together")
        weight = self.weight + sign * other.weight
        shift, y_shift = other.mean - self.mean, other.y_mean - self.y_mean
        cross = sign * self.weight * other.weight / weight
        return Gram(
            weight,
            self.mean + sign * other.weight / weight * shift,
            self.y_mean + sign * other.weight / weight * y_shift,
            self.xx + sign * other.xx + cross * np.outer(shift, shift),
            self.xy + sign * other.xy + cross * shift * y_shift,
            self.yy + sign * other.yy + cross * y_shift**2,
            self.rows + sign * other.rows,
            self.feature_names,
        )

    def mean_loss(self, w, b):
        """The mean squared loss, halved, of the margins x . w + b over these rows."""
        spread = self.yy - 2.0 * self.xy @ w + w @ self.xx @ w
        return 0.5 * (max(spread, 0.0) / self.weight + (self.y_mean - self.mean @ w - b) ** 2)

    def as_data(self) -> InMemory:
        """At most 2 (d + 1) weighted rows with these statistics: for squared losses they are as good as the data.

        With [xx xy; xy' yy] = R'R, rows mean + c r_i and mean - c r_i have the means and, for one c, the products.
        """
        joint = np.block([[self.xx, self.xy[:, None]], [self.xy[None, :], np.array([[self.yy]])]])
        R = _root(joint)
        means = np.append(self.mean, self.y_mean)
        c = np.sqrt(len(R) / self.weight)
        rows = np.vstack([means + c * R, means - c * R])
        weight = np.full(len(rows), self.weight / len(rows))
        return InMemory(rows[:, :-1], rows[:, -1], weight, self.feature_names)

    def save(self, path) -> None:
        """Write a NumPy .npz file."""
        parts: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        if self.feature_names is not None:
            parts["feature_names"] = np.array(self.feature_names)
        with Path(path).open("wb") as file:
            np.savez(file, riata_gram=1, **parts)


def is_gram(path) -> bool:
    """Whether a file is what `Gram.save` writes."""
    if not (Path(path).is_file() and is_zipfile(path)):
        return False
    with ZipFile(path) as file:
        return "riata_gram.npy" in file.namelist()


def load_gram(path) -> Gram:
    """Read what `Gram.save` wrote."""
    try:
        with np.load(path, allow_pickle=False) as file:
            parts = {key: file[key] for key in file}
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read as statistics: {error}") from error
    if "riata_gram" not in parts:
        raise DataError(f"{path} holds no statistics that riata saved")
    names = parts.get("feature_names")
    return Gram(
        float(parts["weight"]), parts["mean"], float(parts["y_mean"]), parts["xx"], parts["xy"], float(parts["yy"]),
        int(parts["rows"]), None if names is None else tuple(map(str, names)),
    )  # fmt: skip


def gram_bytes(n_features: int) -> int:
    """What the statistics of so many columns need while they are made and used."""
    return 2 * 8 * n_features**2


def check_gram_fits(n_features: int, memory: int | None) -> None:
    """Refuse d x d numbers that the budget does not hold."""
    need = gram_bytes(n_features)
    if memory is not None and need > memory:
        raise OptionError(
            f"the statistics of {n_features} features need {need / 1e6:.0f} MB, more than the budget of "
            f"{memory / 1e6:.0f} MB; take solver 'exact', which needs those of a few features only"
        )


def gram_of(data: Dataset, memory: int | None = None) -> Gram:
    """The statistics of a dataset: one pass, so that a source that can be read only once will do."""
    check_gram_fits(data.n_features, memory)
    names = None if data.feature_names is None else tuple(map(str, data.feature_names))
    n_features = data.n_features
    gram = data.sum_runs(lambda run: gram_of_chunks((chunk for _, chunk in run), n_features))
    return replace(gram, feature_names=names)


def gram_of_chunks(chunks, n_features: int) -> Gram:
    """Products about the means of the first chunk, which are near enough to all means to keep the digits."""
    chunks = iter(chunks)
    first = next(chunks, None)
    if first is None:
        raise DataError("there are no rows to learn from")
    shift = np.append(first.weight @ first.X, first.weight @ first.y) / first.weight.sum()
    products, sums, weight, rows = np.zeros((n_features + 1, n_features + 1)), np.zeros(n_features + 1), 0.0, 0
    for chunk in chain([first], chunks):
        for i in range(0, chunk.n_rows, BLOCK_ROWS):
            X, y, s = chunk.rows(slice(i, i + BLOCK_ROWS))
            A = np.column_stack([X.toarray() if sp.issparse(X) else X, y]).astype(np.float64) - shift
            sums += s @ A
            weight += s.sum()
            A *= np.sqrt(s)[:, None]
            products += A.T @ A
        rows += chunk.n_rows
    off = sums / weight
    products -= weight * np.outer(off, off)
    mean = shift + off
    return Gram(weight, mean[:-1], mean[-1], products[:-1, :-1], products[:-1, -1], products[-1, -1], rows)


def _root(A):
    """R with R'R = A for a matrix that is not negative: Cholesky's, with pivots, of columns of unit size."""
    sizes = np.sqrt(np.maximum(np.diag(A), 0.0))
    unit = np.where(sizes > 0, sizes, 1.0)
    U, pivots, rank, _ = dpstrf(A / np.outer(unit, unit))
    R = np.zeros((max(rank, 1), len(A)))
    R[:rank, pivots - 1] = np.triu(U)[:rank]
    return R * sizes
