"""A fitted model on its own: names, coefficients, how it was made. Its file is JSON that a person can read.

Only the chosen features are stored. Loading executes nothing.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from riata import __version__
from riata.data.chunk import Chunk, columns_of, unit_rows
from riata.data.columns.lists import Numbered
from riata.data.dataset import Dataset
from riata.data.remote import Remote
from riata.errors import DataError, ModelFileError
from riata.files import replacing
from riata.losses import LINKS, LOSSES, Link, Loss, recalled_loss

FORMAT, VERSION = "riata-model", 1


@dataclass(frozen=True)
class Model:
    """A sparse linear model: margins z = x . coef + intercept, one per class if there are three or more."""

    task: str  # "regression" or "classification"
    loss: str
    objective: str  # what was minimised, in a formula
    classes: list | None
    n_features: int
    names: list[str]  # of the chosen features
    indices: list[int]  # their columns in the training data
    coef: np.ndarray  # a row per margin, a column per chosen feature
    deviations: list[float]  # standard deviation of each chosen column: coef times it is the effect
    intercept: np.ndarray
    normalize: str | None = None
    encoding: dict[str, Any] | None = None  # how columns of a file become features, see riata.data.encoding
    training: dict[str, Any] = field(default_factory=dict)
    link: str | None = None  # a key of riata.losses.LINKS; None: that of the loss, which is one of riata's own

    @property
    def link_function(self) -> Link:
        """What is predicted at a margin."""
        return LOSSES[self.loss].link if self.link is None else LINKS[self.link]

    @property
    def loss_function(self) -> Loss:
        """The loss, or what is known of it here: it may be somebody's own."""
        return recalled_loss(self.loss, self.link_function)

    @property
    def target(self) -> str | None:
        """The column that the model predicts, where it is known."""
        of_encoding = ((self.encoding or {}).get("target") or {}).get("column")
        return self.training.get("target") or of_encoding

    @property
    def ranked(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Chosen features with coefficients and effects (of one standard deviation), the largest effect first."""
        effect = self.coef * np.asarray(self.deviations)
        order = np.argsort(-np.abs(effect).max(axis=0, initial=0.0), kind="stable")
        return [(self.names[j], self.coef[:, j], effect[:, j]) for j in order]

    def margins(self, X, feature_names=None) -> np.ndarray:
        """z for rows of X, found by name where X has names, by position otherwise."""
        return self._margins(X, self._columns(X.shape[1], feature_names))

    def visit(self, data: Dataset) -> Iterator[tuple[np.ndarray, Chunk]]:
        """(z, chunk) for every chunk of a dataset: one pass. Of rows elsewhere z takes the place of X in the chunk."""
        margins = self.margins_of(data)
        if isinstance(data, Remote):
            for chunk in data.map(lambda chunk: chunk._replace(X=margins(chunk))).visit():
                yield chunk.X, chunk
        else:
            yield from ((margins(chunk), chunk) for chunk in data.visit())

    def margins_of(self, data: Dataset) -> Callable[[Chunk], np.ndarray]:
        """The function that gives z for a chunk of a dataset."""
        if data.stands_in:
            raise DataError("there are statistics in place of rows, and no rows to predict")
        columns = self._columns(data.n_features, data.feature_names)
        return lambda chunk: self._margins(chunk.X, columns)

    def _margins(self, X, columns):
        X = unit_rows(X) if self.normalize == "rows" else X
        z = np.asarray(columns_of(X, columns) @ self.coef.T + self.intercept)
        return z.ravel() if z.shape[1] == 1 else z

    def predict(self, X, feature_names=None) -> np.ndarray:
        """Numbers, or labels."""
        z = self.margins(X, feature_names)
        if self.classes is None:
            return self.link_function.mean(z)
        return np.asarray(self.classes)[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)]

    def _columns(self, n_columns, feature_names):
        if feature_names is None:
            if n_columns != self.n_features:
                raise DataError(f"the data has {n_columns} columns, the model was fitted to {self.n_features}")
            return np.asarray(self.indices, dtype=np.intp)
        numbered = isinstance(feature_names, Numbered)
        find = feature_names.find if numbered else {name: j for j, name in enumerate(feature_names)}.get
        places = {name: find(name) for name in self.names}
        missing = [name for name, place in places.items() if place is None]
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise DataError(f"the data has no column {missing[0]!r}{others}, which the model needs")
        return np.array([places[name] for name in self.names], dtype=np.intp)

    def save(self, path: str | Path) -> None:
        """Write the model; the file appears whole or not at all."""
        features = [
            {"name": name, "column": column, "coef": self.coef[:, j].tolist(), "deviation": deviation}
            for j, (name, column, deviation) in enumerate(zip(self.names, self.indices, self.deviations, strict=True))
        ]
        content = asdict(self) | {"features": features, "intercept": self.intercept.tolist()}
        for moved in ("names", "indices", "coef", "deviations"):
            del content[moved]
        document = {"format": FORMAT, "version": VERSION, "riata": __version__, **content}
        with replacing(path) as file:
            file.write((json.dumps(document, indent=1, allow_nan=False) + "\n").encode())


def load_model(path: str | Path) -> Model:
    """The model in a file written by `Model.save`, `riata fit` or `SparseRegressor.to_model`."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelFileError(f"cannot read the model {path}: {error.strerror or error}") from None
    except ValueError:  # also what is not UTF-8
        raise ModelFileError(f"{path} is not a riata model: it is not JSON, or it was cut short") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{path} is not a riata model: it does not say format {FORMAT!r}")
    if document.get("version") != VERSION:
        raise ModelFileError(
            f"{path} has model format version {document.get('version')}, this riata reads {VERSION}: update riata"
        )
    try:
        features = document["features"]
        intercept = np.array(document["intercept"], dtype=float)
        coef = np.array([f["coef"] for f in features], dtype=float).reshape(len(features), len(intercept)).T
        return Model(
            **{key: document[key] for key in ("task", "loss", "objective", "classes", "n_features", "normalize")},
            names=[f["name"] for f in features],
            indices=[int(f["column"]) for f in features],
            coef=coef,
            deviations=[float(f["deviation"]) for f in features],
            intercept=intercept,
            encoding=document.get("encoding"),
            training=document["training"],
            link=_link_in(document),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} is a damaged riata model: {error!r} is wrong or missing") from None


def _link_in(document: dict[str, Any]) -> str:
    """The link that a model's file names; older files name only a loss, one of riata's own."""
    link = document.get("link")
    return (LOSSES[document["loss"]].link if link is None else LINKS[link]).name


def probabilities(link: Link, z: np.ndarray) -> np.ndarray:
    """Class probabilities by a link that gives them; one-against-rest ones are scaled to sum to one."""
    p = link.mean(z)
    if p.ndim == 1:
        return np.column_stack([1.0 - p, p])
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])
