"""A fitted model on its own: names, coefficients, how it was made. Its file is JSON that a person can read.

Only the chosen features are stored. Loading executes nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.data.columns.names import Names
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.offset import Offset, given_offsets, moved
from riata.data.remote import Remote
from riata.engines.known_rows import check_alike, check_plain, has_columns, with_encoding
from riata.engines.open import open_data
from riata.errors import DataError, OptionError
from riata.losses import LINKS, Link, Loss, loss_of, probabilities, recalled_loss
from riata.matrices.host import as_matrix
from riata.model.decisions import decide
from riata.model.hazard import BaselineHazard, given_strata
from riata.model.model_file import the_document_in, write_document
from riata.model.model_words import in_a_line, in_lines
from riata.model.quality import quality
from riata.model.training_facts import TrainingFacts

ROWS_AT_ONCE, MARGINS_AT_ONCE = 1 << 16, 1 << 18  # predicted at a time: what is made of them takes a few MB


@dataclass(frozen=True)
class Model:
    """A sparse linear model: margins z = x . coef + intercept, one per target, or class if there are three or more."""

    task: str  # "regression", "classification" or "survival"
    loss: str
    objective: str  # what was minimised, in a formula
    classes: list[Any] | None
    n_features: int
    names: list[str]  # of the chosen features
    indices: list[int]  # their columns in the training data
    coef: np.ndarray  # a row per margin, a column per chosen feature
    deviations: list[float]  # standard deviation of each chosen column: coef times it is the effect
    intercept: np.ndarray
    normalize: str | None = None
    encoding: dict[str, Any] | None = None  # how columns of a file become features, see riata.data.encoding
    training: TrainingFacts = field(default_factory=TrainingFacts)
    link: str | None = None  # a key of riata.losses.LINKS; None: that of the loss, which is one of riata's own
    hazard: BaselineHazard | None = None  # of times to an event
    threshold: float | None = None  # of two classes, the least probability of the second at which it is predicted
    targets: list[str] | None = None  # the names of several targets, each of which has a margin

    def __repr__(self) -> str:
        return in_a_line(self)

    def __str__(self) -> str:
        return in_lines(self)

    @property
    def link_function(self) -> Link:
        """What is predicted at a margin."""
        return loss_of(self.loss).link if self.link is None else LINKS[self.link]

    @property
    def loss_function(self) -> Loss:
        """The loss; of a user's own loss, only what the model file tells."""
        loss = recalled_loss(self.loss, self.link_function)
        return loss if self.targets is None else loss.of_targets(len(self.targets))

    @property
    def target(self) -> str | None:
        """The column that the model predicts, where it is known."""
        if self.training.target or self.targets is None:
            return self.training.target or self._encoded_target.get("column")
        return ", ".join(self.targets)

    @property
    def levels(self) -> tuple[float, ...]:
        """Of several quantiles, each of which has a margin."""
        return self.loss_function.levels

    def of_level(self, k: int) -> "Model":
        """The model of one of several quantiles."""
        known, loss = self.training.baseline, self.loss_function
        return replace(
            self,
            loss=loss.each[k].name,
            coef=self.coef[k : k + 1],
            intercept=self.intercept[k : k + 1],
            training=replace(self.training, baseline=None if known is None else known[k : k + 1]),
        )

    @property
    def word_of_outputs(self) -> str:
        """What several margins are of, each of them."""
        return "level" if self.levels else "class" if self.targets is None else "target"

    @property
    def outputs(self) -> list[str]:
        """What the margins are of, where there are several: classes, targets or levels of quantiles."""
        if len(self.intercept) == 1:
            return []
        if self.levels:
            return [f"{level:g}" for level in self.levels]
        return [str(label) for label in (self.classes if self.targets is None else self.targets) or []]

    @property
    def _encoded_target(self) -> dict[str, Any]:
        """The target as the encoding has it, in plain values."""
        return (self.encoding or {}).get("target") or {}

    @property
    def _target_columns(self) -> str | list[str] | None:
        """The columns that rows are to have where it is scored, as `riata.open` takes them."""
        if self.targets is None:
            return self.target
        return [self._encoded_target["column"], *self._encoded_target["others"]] if self._encoded_target else None

    @property
    def ranked(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Chosen features with coefficients and effects (of one standard deviation), the largest effect first."""
        effect = self.coef * np.asarray(self.deviations)
        order = np.argsort(-np.abs(effect).max(axis=0, initial=0.0), kind="stable")
        return [(self.names[j], self.coef[:, j], effect[:, j]) for j in order]

    @property
    def offset(self) -> Offset | None:
        """Where the offsets of the rows that it was fitted to came from; None: they had none."""
        role, of_encoding = self.training.offset, (self.encoding or {}).get("offset")
        if of_encoding is not None:
            return Offset(**of_encoding)
        return None if role is None else Offset(exposure=role == "exposure")

    def to_sql(self, output: str | None = None) -> str:
        """The model as an SQL expression over the columns of a table whose gaps are NULL.

        It gives the prediction of a number, or the probability of the second of two classes. Where there are several
        outputs (classes, targets, quantiles), `output` names one, and the expression is its margin; so it is of times
        to events, and of losses without probabilities. `OptionError` says which column SQL cannot express.
        """
        from riata.model.sql import sql_of

        return sql_of(self, output)

    def rows(
        self, source: Any, target: Any = None, *, weight: Any = None, need_target: bool = True, **reading: Any
    ) -> Dataset:
        """The rows of anything that can be opened, with the features of this model: made by its own encoding.

        A dataset keeps its target, weights and offsets; of other sources these are the model's columns, or those given
        (`offset` and `exposure` are options of `riata.open`).
        """
        encoding = None if self.encoding is None else Encoding.from_json(self.encoding)
        names = self.names if self.normalize is None else None  # the norm of a row needs every feature
        if target is None and (need_target or self.targets is None):
            target = None if isinstance(source, Dataset) else self._target_columns
        if not isinstance(source, Dataset):
            data = open_data(
                source, target, weight=weight, n_features=self.n_features,
                task=self.task if need_target else "auto", encoding=encoding, need_target=need_target, **reading,
            )  # fmt: skip
        elif any(given is not None for given in (target, weight, reading.get("offset"), reading.get("exposure"))):
            raise OptionError("a Dataset brings its own target, weights and offsets: name them to riata.open")
        elif encoding is None or source.is_summary:
            data = source
        else:
            data = with_encoding(source, encoding, self.n_features, names)
        if encoding is None:
            check_plain(data, self.names)
        elif not data.is_summary:
            check_alike(data, encoding, names)
        return data

    def margins(
        self, X: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """z for rows of X: of a path, a table or a dataset by the model's encoding, of an array by position or name.

        Where rows had an offset or an exposure when the model was fitted, those of X need one: a table has its column,
        beside an array it is given. An array without one is taken for rows of offset 0, which is an exposure of 1.
        """
        if isinstance(X, Dataset) or has_columns(X):
            beside = {name: given for name, given in (("offset", offset), ("exposure", exposure)) if given is not None}
            found = [z for z, _ in self.visit(self.rows(X, need_target=False, **beside))]
            n_margins = len(self.intercept)
            return np.concatenate(found) if found else np.empty(0 if n_margins == 1 else (0, n_margins))
        X = X if hasattr(X, "shape") else np.asarray(X)
        if len(X.shape) != 2:
            raise DataError(f"X must have two dimensions, rows and columns, not {len(X.shape)}")
        z = self._margins(X, self._columns(X.shape[1], feature_names))
        return moved(z, given_offsets(offset, exposure, len(z), self.offset is not None))

    def visit(self, data: Dataset) -> Iterator[tuple[np.ndarray, Chunk]]:
        """(z, rows) for runs of rows of a dataset: one pass. On a cluster z takes the place of X among them."""
        data = self.rows(data)
        margins = self.margins_of(data)
        if isinstance(data, Remote):
            for chunk in data.map(lambda chunk: chunk._replace(X=margins(chunk).reshape(chunk.n_rows, -1))).visit():
                yield _by_margin(chunk.X.toarray()), chunk
        else:
            step = min(ROWS_AT_ONCE, max(1, MARGINS_AT_ONCE // len(self.intercept)))
            for chunk in data.visit():
                yield from ((margins(block), block) for block in chunk.blocks(step))

    def margins_of(self, data: Dataset) -> Callable[[Chunk], np.ndarray]:
        """The function that gives z for a chunk of a dataset."""
        if data.is_summary:
            raise DataError("there are statistics in place of rows, and no rows to predict")
        if (data.facts.offset is None) != (self.offset is None):
            raise DataError(self._offsets_differ)
        columns = self.columns_in(data)
        return lambda chunk: moved(self._margins(chunk.X, columns), chunk.offset)

    def columns_in(self, data: Dataset) -> np.ndarray:
        """The number of each of the model's features among those of a dataset."""
        return self._columns(data.n_features, data.feature_names)

    @property
    def _offsets_differ(self) -> str:
        """A sentence on rows that have an offset where those learnt from had none, or the other way round."""
        if (known := self.offset) is None:
            return "these rows have an offset, and those that the model was fitted to had none: open them without it"
        name = "..." if known.column is None else repr(known.column)
        return (
            f"the model was fitted to rows with an {known.role}, and these have none: name it when they are opened, "
            f"riata.open(..., {known.role}={name})"
        )

    def _margins(self, X: Any, columns: np.ndarray) -> np.ndarray:
        """z for rows of X, whose columns of these numbers are the model's features."""
        X = as_matrix(X)
        X = X.unit_rows() if self.normalize == "rows" else X
        z = X.narrowed(columns).margins(self.coef.T, self.intercept)
        if not np.isfinite(z).all():
            row = int(np.argmin(np.isfinite(z).all(axis=1)))
            raise DataError(
                f"the prediction of row {row + 1} of these is not a finite number: a value is missing, or too large"
            )
        return _by_margin(z)

    def predict(
        self, X: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """Numbers, or labels; `margins` tells of the offset or exposure of rows."""
        z = self.margins(X, feature_names, offset=offset, exposure=exposure)
        if self.classes is None:
            numbers: np.ndarray = self.link_function.mean(z)
            return numbers
        labels: np.ndarray = np.asarray(self.classes)[self.decide(z)]
        return labels

    def survival(
        self, X: Any, times: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, strata: Any = None
    ) -> np.ndarray:
        """Of times to an event: the probability that it has not happened by each of these times, rows x times.

        `strata`, a label for each row, asks for the hazards of their strata; without them it is that of all together.
        """
        if self.hazard is None:
            raise OptionError(f"survival is of times to an event, and this is a {self.task}")
        z = self.margins(X, feature_names, offset=offset)
        return self.hazard.survival(z, times, given_strata(strata, len(z)))

    def decide(self, z: np.ndarray) -> np.ndarray:
        """The position of the predicted class of rows with these margins."""
        return decide(z, self.link_function, self.threshold)

    def decision_function(
        self, X: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """Margins: one per row for two classes, one per class otherwise."""
        if self.classes is None:
            raise OptionError("a regression has no classes to decide between: take predict")
        return self.margins(X, feature_names, offset=offset, exposure=exposure)

    def predict_proba(
        self, X: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """Probabilities of the classes, a column each."""
        link = self.link_function
        if self.classes is None or not link.probabilities:
            raise OptionError(
                f"a {self.loss} {self.task} has no probabilities: only classifiers have, of loss 'logistic' and others"
            )
        return probabilities(link, self.margins(X, feature_names, offset=offset, exposure=exposure))

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """Accuracy of a classifier, R2 of a regression, concordance of risks; without y on the model's column.

        Of several targets it is the mean R2, of quantiles the share of the pinball loss that is explained.
        """
        beside = {name: given for name, given in (("offset", offset), ("exposure", exposure)) if given is not None}
        scores = quality(self, self.rows(X, y, weight=sample_weight, **beside)).scores
        loss = self.loss_function
        names = {"regression": "r2", "classification": "accuracy", "survival": "concordance"}
        found = scores[names[self.task] if loss.level is None and not loss.levels else "d2_pinball"]
        return np.nan if found is None else found

    def _columns(self, n_columns: int, feature_names: Sequence[str] | None) -> np.ndarray:
        """The number of each of the model's features among the columns of other data, found by name or by position."""
        if feature_names is None:
            if n_columns != self.n_features:
                raise DataError(f"the data has {n_columns} columns, the model was fitted to {self.n_features}")
            return np.asarray(self.indices, dtype=np.intp)
        if self.normalize == "rows" and n_columns != self.n_features:
            raise DataError(
                f"rows are divided by their norms, which needs exactly the {self.n_features} columns of the fit, and "
                f"there are {n_columns}"
            )
        find: Callable[[str], int | None]
        if isinstance(feature_names, Names):
            find = feature_names.find
        else:
            find = {name: j for j, name in enumerate(feature_names)}.get
        places = {name: find(name) for name in self.names}
        missing = [name for name, place in places.items() if place is None]
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise DataError(f"the data has no column {missing[0]!r}{others}, which the model needs")
        return np.array([places[name] for name in self.names], dtype=np.intp)

    def save(self, path: str | Path) -> None:
        """Write the model; the file appears complete or not at all."""
        features = [
            {"name": name, "column": column, "coef": self.coef[:, j].tolist(), "deviation": deviation}
            for j, (name, column, deviation) in enumerate(zip(self.names, self.indices, self.deviations, strict=True))
        ]
        content = vars(self) | {"features": features, "intercept": self.intercept.tolist()}
        content["training"] = self.training.to_json()
        content["hazard"] = self.hazard and self.hazard.to_json()
        unknown = [name for name in ("threshold", "hazard", "targets") if content[name] is None]
        for name in ("names", "indices", "coef", "deviations", *unknown):
            del content[name]
        write_document(content, path)


def load_model(path: str | Path) -> Model:
    """The model in a file written by `Model.save`, `riata fit` or `SparseRegressor.to_model`."""
    with the_document_in(path) as document:
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
            training=TrainingFacts.from_json(document["training"]),
            link=_link_in(document),
            threshold=document.get("threshold"),
            targets=document.get("targets"),
            hazard=BaselineHazard.from_json(document["hazard"]) if "hazard" in document else None,
        )


def _link_in(document: dict[str, Any]) -> str:
    """The link that a model's file names; older files name only a loss, one of riata's own."""
    link = document.get("link")
    return (loss_of(document["loss"]).link if link is None else LINKS[link]).name


def _by_margin(z: np.ndarray) -> np.ndarray:
    """Margins of rows: a vector where there is one for each."""
    return z.ravel() if z.shape[1] == 1 else z
