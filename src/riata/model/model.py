"""A fitted model alone: names, coefficients and how it was made. Its file is JSON that a person can read.

It stores the chosen features only, and loading it executes nothing.
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
from riata.model.model_memory import left_beside_model
from riata.model.model_words import in_a_line, in_lines
from riata.model.quality import quality
from riata.model.ranked import Ranked
from riata.model.training_facts import TrainingFacts

ROWS_AT_ONCE, MARGINS_AT_ONCE = 1 << 14, 1 << 18  # predicted at a time: what is made of them takes a MB or two


@dataclass(frozen=True)
class Model:
    """A sparse linear model alone, to predict, save, print or turn into SQL.

    You get one from `to_model` of a fitted estimator or of the result of `riata.train`, or from `riata.load_model`. It
    has no training data, does not need scikit-learn, and encodes files and tables as the fit did.

    A row x has the margin z = x . coef + intercept, and one margin for each target, quantile or class if there are
    several (three classes or more). Classes in an order have one margin and cutpoints on it.

    Attributes
    ----------
    task : "regression", "classification" or "survival".
    loss, objective : the name of the loss, and the minimised objective as a formula.
    classes : the labels; None in a regression.
    n_features : number of features to choose from.
    names, indices : names of the chosen features, and their columns in the training data.
    coef : one row per margin, one column per chosen feature.
    deviations : standard deviation of each chosen column; times coef, it is the effect of the feature.
    intercept : one number per margin.
    normalize : "rows" if each row is divided by its norm.
    encoding : how columns of a file become features, in plain values; None if the features were an array.
    training : how the model was made, and its certificate.
    link : a key of ``riata.losses.LINKS``; None means that of the loss.
    hazard : for times to an event, the baseline hazard.
    cutpoints : for classes in an order, the cutpoints between neighbours.
    threshold : for two classes, the probability of the second from which on it is predicted.
    targets : the names of several targets.

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
        """How predictions follow from margins."""
        if self.cutpoints is not None:
            return ordinal_link(self.cutpoints)
        return loss_of(self.loss).link if self.link is None else LINKS[self.link]

    @property
    def loss_function(self) -> Loss:
        """The loss; for a loss of your own, only what the model file has of it."""
        loss = recalled_loss(self.loss, self.link_function)
        return loss if self.targets is None else loss.of_targets(len(self.targets))

    @property
    def target(self) -> str | None:
        """The column that the model predicts, if it is known."""
        if self.training.target or self.targets is None:
            return self.training.target or self._encoded_target.get("column")
        return ", ".join(self.targets)

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of several quantiles, one per margin."""
        return self.loss_function.levels

    def of_level(self, k: int) -> "Model":
        """The model of one of several quantiles.

        Parameters
        ----------
        k : int
            The position of its level in `levels`.

        Returns
        -------
        Model
            A model with one margin.

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
        """What each of several margins stands for: "class", "target" or "level"."""
        return "level" if self.levels else "class" if self.targets is None else "target"

    @property
    def outputs(self) -> list[str]:
        """The classes, targets or quantile levels that the margins stand for; empty if there is one margin."""
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
        """The chosen features with their coefficients and effects of one standard deviation, largest effect first."""
        return Ranked(self.names, self.coef, self.deviations)

    @property
    def offset(self) -> Offset | None:
        """Where the offsets of the training rows came from; None without offsets."""
        role, of_encoding = self.training.offset, (self.encoding or {}).get("offset")
        if of_encoding is not None:
            return Offset(**of_encoding)
        return None if role is None else Offset(exposure=role == "exposure")

    def to_sql(self, output: str | None = None) -> str:
        """The model as an SQL expression over the columns of a table, in which missing values are NULL.

        An `OptionError` names the column if SQL cannot express its encoding.

        Parameters
        ----------
        output : str, optional
            The name of one of several outputs: a class, a target or a quantile.

        Returns
        -------
        str
            For numbers, the prediction; for two classes, the probability of the second. For one of several classes, for
            times to events and for losses without probabilities, the margin.

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
        """Open rows as `riata.open` does, with the encoding and the features of this model.

        Parameters
        ----------
        source : Dataset, path, table or array
            What `riata.open` takes. A dataset keeps its target, weights and offsets.
        target, weight : column, array or path, optional
            By default the columns of the fit. Not for a dataset.
        need_target : bool, default=True
            Whether to refuse rows without a target.
        **reading :
            Options of `riata.open`, such as `offset`, `exposure` and `memory`.

        Returns
        -------
        Dataset
            Rows for `visit` and `margins_of`.

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
            reading["memory"] = left_beside_model(self.names, self.coef, reading.get("memory"))
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
        """The margins z = x . coef + intercept of rows, plus their offsets.

        Parameters
        ----------
        X, feature_names, offset, exposure :
            As `predict` takes them.

        Returns
        -------
        array
            One number per row, or rows x margins if there are several.

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
        """Go through rows block by block and yield their margins: one pass, in bounded memory.

        Parameters
        ----------
        data : Dataset
            The result of `riata.open` or `rows`.

        Yields
        ------
        (array, Chunk)
            Margins and the rows they belong to, with targets and weights. On a cluster, the rows have their margins in
            place of their features.

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
        """A function that computes the margins of a chunk.

        Parameters
        ----------
        data : Dataset
            The dataset of the chunks; it must have the features of the model, as the result of `rows` has.

        Returns
        -------
        callable
            It takes a chunk of the dataset and returns an array.

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
        """The columns of a dataset that are the features of the model.

        Parameters
        ----------
        data : Dataset
            Features are found by name if it has names, otherwise by position.

        Returns
        -------
        array of int
            The number of a column for each of `names`.

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
        """Predict numbers, or labels.

        Parameters
        ----------
        X : path, table, Dataset or array
            The rows. The model encodes the columns of a path, a table or a dataset; an array has the columns of the
            fit, or those in `feature_names`.
        feature_names : sequence of str, optional
            The names of the columns of an array, which may then be in any order, with others among them.
        offset, exposure : array, optional
            One number per row of an array, if the fit had them; the default is an offset of 0, an exposure of 1. A
            table has its column for them.

        Returns
        -------
        array
            For numbers, the mean (or quantile) of each row, with a column per target or quantile if there are several.
            For classes, a label. For times to an event, the logarithm of the hazard relative to the average row.

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
        return np.asarray(self.classes)[self.decide(z)]

    def survival(
        self, X: Any, times: Any, feature_names: Sequence[str] | None = None, *, offset: Any = None, strata: Any = None
    ) -> np.ndarray:
        """For times to an event: the probability that it has not happened yet.

        Parameters
        ----------
        X, feature_names, offset :
            As `predict` takes them.
        times : float or array
            The times to predict for.
        strata : array, optional
            A label per row, to use the baseline hazards of the strata; by default it is that of all rows.

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
        """The predicted class for given margins.

        Parameters
        ----------
        z : array
            The result of `margins`.

        Returns
        -------
        array of int
            Positions in `classes`.

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
        """The margins of a classifier; for two classes, positive margins favour the second.

        Parameters
        ----------
        X, feature_names, offset, exposure :
            As `predict` takes them.

        Returns
        -------
        array
            One number per row for two classes or classes in an order, otherwise rows x classes.

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
        """Probabilities of the classes, if the loss has any.

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
        """Score the predictions of rows in one number.

        Parameters
        ----------
        X : path, table, Dataset or array
            The rows, as `predict` takes them.
        y : array or column, optional
            The targets; by default the column of the fit, or the targets of the dataset.
        sample_weight : array or column, optional
            Weights of the rows.
        offset, exposure : array or column, optional
            If the fit had them.

        Returns
        -------
        float
            Accuracy of a classifier; R2 of a regression, averaged over several targets; the share of the pinball loss
            that quantiles explain; concordance for times to an event.

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
        """Save the model as JSON that a person can read. The file appears complete or not at all.

        Parameters
        ----------
        path : str or Path
            The file; `riata.load_model`, which has an example, and the commands read it.
        """
        from riata.model.saved_model import document_of

        write_document(document_of(self), path)


def _by_margin(z: np.ndarray) -> np.ndarray:
    """Margins of rows: a vector where there is one for each."""
    return z.ravel() if z.shape[1] == 1 else z
