"""A fitted model on its own: names, coefficients, how it was made. Its file is JSON that a person can read.

Only the chosen features are stored. Loading executes nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from riata.data.chunk import Chunk
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.offset import Offset, given_offsets, moved
from riata.data.remote import Remote
from riata.engines.known_rows import check_alike, check_plain, has_columns, with_encoding
from riata.engines.open import open_data
from riata.errors import DataError, OptionError
from riata.losses import LINKS, Link, Loss, loss_of, ordinal_link, probabilities, recalled_loss
from riata.matrices.host import as_matrix
from riata.model.columns_of_features import columns_of_features
from riata.model.decisions import decide, finite_means
from riata.model.hazard import BaselineHazard, given_strata
from riata.model.model_file import write_document
from riata.model.model_memory import left_for_rows
from riata.model.model_words import in_a_line, in_lines
from riata.model.quality import quality
from riata.model.ranked import Ranked
from riata.model.training_facts import TrainingFacts

ROWS_AT_ONCE, MARGINS_AT_ONCE = 1 << 14, 1 << 18  # predicted at a time: what is made of them takes a MB or two


@dataclass(frozen=True)
class Model:
    """A sparse linear model: margins z = x . coef + intercept, one per target, or class if there are three or more.

    Classes in an order have one margin, and cutpoints between them.

    It is what `to_model` of an estimator or of what `riata.train` gives, and what `riata.load_model` reads. It has no
    data, needs no scikit-learn, and makes features of files and tables as the fit did.

    Attributes
    ----------
    task : "regression", "classification" or "survival".
    loss, objective : the loss by name, and what was minimised, in a formula.
    classes : the labels; None of numbers.
    n_features : how many features there were to choose from.
    names, indices : of the chosen features, and their columns in the training data.
    coef : a row per margin, a column per chosen feature.
    deviations : standard deviation of each chosen column: coef times it is the effect.
    intercept : one number per margin.
    normalize : "rows" where each row is divided by its norm.
    encoding : how columns of a file become features, in plain values; None where the features were an array.
    training : how the model was made and what is proved of it.
    link : a key of ``riata.losses.LINKS``; None: that of the loss, which is one of riata's own.
    hazard : the baseline hazard of times to an event.
    cutpoints : of classes in an order, those of the margin between neighbours.
    threshold : of two classes, the least probability of the second at which it is predicted.
    targets : the names of several targets, each of which has a margin.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = riata.SparseRegressor(k=2).fit(X, 3 * X[:, 4] - X[:, 7]).to_model()
    >>> model.names, model.coef.round(6).tolist()
    (['x4', 'x7'], [[3.0, -1.0]])
    >>> bool(np.allclose(model.predict(X), 3 * X[:, 4] - X[:, 7]))
    True
    """

    task: str
    loss: str
    objective: str
    classes: list[Any] | None
    n_features: int
    names: Sequence[str]
    indices: Sequence[int]
    coef: np.ndarray
    deviations: Sequence[float]
    intercept: np.ndarray
    normalize: str | None = None
    encoding: dict[str, Any] | None = None
    training: TrainingFacts = field(default_factory=TrainingFacts)
    link: str | None = None
    hazard: BaselineHazard | None = None
    cutpoints: np.ndarray | None = None
    threshold: float | None = None
    targets: list[str] | None = None

    def __repr__(self) -> str:
        return in_a_line(self)

    def __str__(self) -> str:
        return in_lines(self)

    @property
    def link_function(self) -> Link:
        """What is predicted at a margin."""
        if self.cutpoints is not None:
            return ordinal_link(self.cutpoints)
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
        """The model of one of several quantiles.

        Parameters
        ----------
        k : int
            Its place among `levels`.

        Returns
        -------
        Model
            With one margin.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> both = riata.SparseRegressor(alpha=0.01, loss="quantile:0.1,0.9").fit(X, X[:, 1]).to_model()
        >>> both.levels, both.of_level(1).loss
        ((0.1, 0.9), 'quantile:0.9')
        """
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
    def ranked(self) -> Ranked:
        """Chosen features with coefficients and effects (of one standard deviation), the largest effect first."""
        return Ranked(self.names, self.coef, self.deviations)

    @property
    def offset(self) -> Offset | None:
        """Where the offsets of the rows that it was fitted to came from; None: they had none."""
        role, of_encoding = self.training.offset, (self.encoding or {}).get("offset")
        if of_encoding is not None:
            return Offset(**of_encoding)
        return None if role is None else Offset(exposure=role == "exposure")

    def to_sql(self, output: str | None = None) -> str:
        """The model as an SQL expression over the columns of a table whose gaps are NULL.

        `OptionError` says which column SQL cannot express.

        Parameters
        ----------
        output : str, optional
            The name of one of several outputs: a class, a target or a quantile.

        Returns
        -------
        str
            An expression of the prediction of a number, or of the probability of the second of two classes; of one of
            several classes, of times to events and of losses without probabilities it is that of the margin.

        Examples
        --------
        >>> import numpy as np, pandas as pd, riata
        >>> frame = pd.DataFrame({"size": np.arange(40.0), "noise": np.tile([1.0, -1.0], 20)})
        >>> model = riata.SparseRegressor(k=1).fit(frame, 2.0 * frame["size"] + 3.0).to_model()
        >>> "size" in model.to_sql()
        True
        """
        from riata.model.sql import sql_of

        return sql_of(self, output)

    def rows(
        self, source: Any, target: Any = None, *, weight: Any = None, need_target: bool = True, **reading: Any
    ) -> Dataset:
        """The rows of anything that can be opened, with the features of this model: made by its own encoding.

        Parameters
        ----------
        source : Dataset, path, table or array
            What `riata.open` takes. A dataset keeps its target, weights and offsets.
        target, weight : column, array or path, optional
            Those of other sources; by default the columns that the model was fitted to.
        need_target : bool, default=True
            Whether rows without a target are refused.
        **reading :
            Options of `riata.open`, such as `offset`, `exposure` and `memory`.

        Returns
        -------
        Dataset
            Rows that `visit` and `margins_of` take.

        Examples
        --------
        >>> import pyarrow as pa, riata
        >>> sales = pa.table({"price": [3.5, 1.0, 2.5, 4.0], "city": list("ABAB"), "sold": [1.5, 4.0, 2.5, 1.0]})
        >>> model = riata.train(riata.open(sales, "sold"), riata.Spec(k=1)).to_model()
        >>> list(model.rows(sales).feature_names)
        ['price']
        """
        encoding = None if self.encoding is None else Encoding.from_json(self.encoding)
        names = self.names if self.normalize is None else None  # the norm of a row needs every feature
        if target is None and (need_target or self.targets is None):
            target = None if isinstance(source, Dataset) else self._target_columns
        if not isinstance(source, Dataset):
            reading["memory"] = left_for_rows(self.names, self.coef, reading.get("memory"))
            data = open_data(
                source, target, weight=weight, n_features=self.n_features,
                task=self.task if need_target else "auto", encoding=encoding, need_target=need_target, **reading,
            )  # fmt: skip
            if encoding is not None and not data.is_summary:
                check_alike(data, encoding, names)
        elif any(given is not None for given in (target, weight, reading.get("offset"), reading.get("exposure"))):
            raise OptionError("a Dataset brings its own target, weights and offsets: name them to riata.open")
        elif encoding is None or source.is_summary:
            data = source
        else:
            data = with_encoding(source, encoding, self.n_features, names)
        if encoding is None:
            check_plain(data, self.names)
        return data

    def margins(
        self, X: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """The margins z = x . coef + intercept of rows, with their offsets.

        Parameters
        ----------
        X, feature_names, offset, exposure :
            As `predict` takes them.

        Returns
        -------
        array
            A number for each row, or rows x margins where there are several.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> model = riata.SparseRegressor(k=1).fit(X, X[:, 1]).to_model()
        >>> model.margins([[0.5, 7.0]], feature_names=["x0", "x1"]).round(6).tolist()
        [7.0]
        """
        if isinstance(X, Dataset) or has_columns(X):
            beside = {name: given for name, given in (("offset", offset), ("exposure", exposure)) if given is not None}
            found = [z for z, _ in self.visit(self.rows(X, need_target=False, **beside))]
            n_margins = len(self.intercept)
            return np.concatenate(found) if found else np.empty(0 if n_margins == 1 else (0, n_margins))
        X = X if hasattr(X, "shape") else np.asarray(X)
        if len(X.shape) != 2:
            raise DataError(f"X must have two dimensions, rows and columns, not {len(X.shape)}")
        z = self._margins(X, columns_of_features(self, X.shape[1], feature_names))
        return moved(z, given_offsets(offset, exposure, len(z), self.offset is not None))

    def visit(self, data: Dataset) -> Iterator[tuple[np.ndarray, Chunk]]:
        """Margins for runs of rows, one after the other: one pass, in bounded memory.

        Parameters
        ----------
        data : Dataset
            What `riata.open` or `rows` gives.

        Yields
        ------
        (array, Chunk)
            Margins, and the rows that they are of, with their targets and weights. On a cluster margins take the place
            of the features of these rows.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> model = riata.SparseRegressor(k=1).fit(X, X[:, 1]).to_model()
        >>> round(max(float(np.abs(z - rows.y).max()) for z, rows in model.visit(riata.open(X, X[:, 1]))), 6)
        0.0
        """
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
        """The function that gives the margins of a chunk.

        Parameters
        ----------
        data : Dataset
            What the chunks are of; its features must be those of the model, as `rows` gives them.

        Returns
        -------
        callable
            From a chunk of it to an array.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> model, data = riata.SparseRegressor(k=1).fit(X, X[:, 1]).to_model(), riata.open(X, X[:, 1])
        >>> margins = model.margins_of(data)
        >>> sum(len(margins(chunk)) for chunk in data.visit())
        100
        """
        if data.is_summary:
            raise DataError("there are statistics in place of rows, and no rows to predict")
        if (data.facts.offset is None) != (self.offset is None):
            raise DataError(self._offsets_differ)
        columns = self.columns_in(data)
        return lambda chunk: moved(self._margins(chunk.X, columns), chunk.offset)

    def columns_in(self, data: Dataset) -> np.ndarray:
        """Where the features of the model are among those of a dataset.

        Parameters
        ----------
        data : Dataset
            Found by their names where it has names, and else by position.

        Returns
        -------
        array of int
            A number for each of `names`.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> model = riata.SparseRegressor(k=1).fit(X, X[:, 1]).to_model()
        >>> model.columns_in(riata.open(X, X[:, 1])).tolist()
        [1]
        """
        return columns_of_features(self, data.n_features, data.feature_names)

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
        """Numbers, or labels.

        Parameters
        ----------
        X : path, table, Dataset or array
            The rows: of a path, a table or a dataset the model's own encoding makes features; an array has the columns
            of the fit, or those that are named.
        feature_names : sequence of str, optional
            The names of the columns of an array, which may then be in any order and among others.
        offset, exposure : array, optional
            A number for each row of an array, where the rows of the fit had one: without it they count as rows of
            offset 0, which is an exposure of 1. A table has its column.

        Returns
        -------
        array
            The mean (or quantile) that is expected of each row, a column per target where there are several; of classes
            a label; of times to an event the logarithm of the hazard, relative to the average row's.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(200, 20))
        >>> model = riata.SparseClassifier(k=1).fit(X, np.where(X[:, 4] > 0, "yes", "no")).to_model()
        >>> model.predict(X[:3]).tolist() == np.where(X[:3, 4] > 0, "yes", "no").tolist()
        True
        """
        z = self.margins(X, feature_names, offset=offset, exposure=exposure)
        if self.classes is None:
            return finite_means(self.link_function.mean, z)
        labels: np.ndarray = np.asarray(self.classes)[self.decide(z)]
        return labels

    def survival(
        self, X: Any, times: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, strata: Any = None
    ) -> np.ndarray:
        """Of times to an event: the probability that it has not happened yet.

        Parameters
        ----------
        X, feature_names, offset :
            As `predict` takes them.
        times : float or array
            By which times.
        strata : array, optional
            A label for each row, for the hazards of their strata; without them it is that of all together.

        Returns
        -------
        array
            Rows x times.

        Examples
        --------
        >>> import numpy as np, riata
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 5))
        >>> y = np.rec.fromarrays([np.full(300, True), rng.exponential(np.exp(X[:, 1]))], names="event, time")
        >>> model = riata.SparseSurvival(alpha=0.1).fit(X, y).to_model()
        >>> model.survival(X, [0.5, 1.0, 2.0]).shape
        (300, 3)
        """
        if self.hazard is None:
            raise OptionError(f"survival is of times to an event, and this is a {self.task}")
        z = self.margins(X, feature_names, offset=offset)
        return self.hazard.survival(z, times, given_strata(strata, len(z)))

    def decide(self, z: np.ndarray) -> np.ndarray:
        """The class that is predicted at margins.

        Parameters
        ----------
        z : array
            What `margins` gives.

        Returns
        -------
        array of int
            Places in `classes`.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(200, 20))
        >>> model = riata.SparseClassifier(k=1).fit(X, np.where(X[:, 4] > 0, "yes", "no")).to_model()
        >>> model.decide(np.array([-1.0, 1.0])).tolist()
        [0, 1]
        """
        return decide(z, self.link_function, self.threshold)

    def decision_function(
        self, X: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """The margins of a classifier: positive where the second of two classes is more likely.

        Parameters
        ----------
        X, feature_names, offset, exposure :
            As `predict` takes them.

        Returns
        -------
        array
            A number for each row for two classes, or classes in an order; rows x classes otherwise.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(200, 20))
        >>> model = riata.SparseClassifier(k=1).fit(X, np.where(X[:, 4] > 0, "yes", "no")).to_model()
        >>> bool(((model.decision_function(X) > 0) == (model.predict(X) == "yes")).all())
        True
        """
        if self.classes is None:
            raise OptionError("a regression has no classes to decide between: take predict")
        return self.margins(X, feature_names, offset=offset, exposure=exposure)

    def predict_proba(
        self, X: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, exposure: Any = None
    ) -> np.ndarray:
        """Probabilities of the classes, where the loss gives any.

        Parameters
        ----------
        X, feature_names, offset, exposure :
            As `predict` takes them.

        Returns
        -------
        array
            Rows x classes.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(200, 20))
        >>> model = riata.SparseClassifier(alpha=0.1).fit(X, np.where(X[:, 4] > 0, "yes", "no")).to_model()
        >>> model.predict_proba(X).shape, bool(np.allclose(model.predict_proba(X).sum(axis=1), 1.0))
        ((200, 2), True)
        """
        link = self.link_function
        if self.classes is None or not link.probabilities:
            raise OptionError(
                f"a {self.loss} {self.task} has no probabilities: only classifiers have, of loss 'logistic' and others"
            )
        return probabilities(link, self.margins(X, feature_names, offset=offset, exposure=exposure))

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, offset: Any = None, exposure: Any = None
    ) -> float:
        """How good predictions are, in one number.

        Parameters
        ----------
        X : path, table, Dataset or array
            The rows, as `predict` takes them.
        y : array or column, optional
            Their targets; by default the column that the model was fitted to, or those of the dataset.
        sample_weight : array or column, optional
            Weights of rows.
        offset, exposure : array or column, optional
            Where the rows of the fit had one.

        Returns
        -------
        float
            Accuracy of a classifier, R2 of a regression (the mean of several targets), concordance of risks, of
            quantiles the share of the pinball loss that is explained.

        Examples
        --------
        >>> import numpy as np, riata
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> model = riata.SparseRegressor(k=1).fit(X, X[:, 1]).to_model()
        >>> round(model.score(X, X[:, 1]), 6)
        1.0
        """
        beside = {name: given for name, given in (("offset", offset), ("exposure", exposure)) if given is not None}
        scores = quality(self, self.rows(X, y, weight=sample_weight, **beside)).scores
        loss = self.loss_function
        names = {"regression": "r2", "classification": "accuracy", "survival": "concordance"}
        found = scores[names[self.task] if loss.level is None and not loss.levels else "d2_pinball"]
        return np.nan if found is None else found

    def save(self, path: str | Path) -> None:
        """Write the model as JSON that a person can read; the file appears complete or not at all.

        Parameters
        ----------
        path : str or Path
            The file, which `riata.load_model` (see the example there) and the commands read.
        """
        from riata.model.saved_model import document_of

        write_document(document_of(self), path)


def _by_margin(z: np.ndarray) -> np.ndarray:
    """Margins of rows: a vector where there is one for each."""
    return z.ravel() if z.shape[1] == 1 else z
