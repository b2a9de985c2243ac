"""Statistics in place of rows: all that the squared loss needs, by folds, saved in a file and added up day by day.

A model, a path, the best k and cross-validation then need no data. Rows of one day keep the folds they had when it was
read, so folds of several days add up, and those of a day that was added before can be taken away again.
"""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add, sub
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile, is_zipfile

import numpy as np

from riata.data.budget import in_words
from riata.data.columns.packed_names import for_json
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.folds import FoldPlan, Folds, by_position
from riata.data.formats.damage import DAMAGE, reason_of
from riata.data.formats.npy import archive_value
from riata.data.gram import Gram, grams_of
from riata.data.in_memory import InMemory
from riata.data.ledger import Ledger, SummaryLedger
from riata.errors import DataError, ModelFileError, OptionError
from riata.files import replacing
from riata.matrices.moments import LARGEST
from riata.outcome.folds_used import FoldKind, FoldsUsed
from riata.schema import checked

NUMBERS = ("weight", "mean", "y_mean", "xx", "xy", "yy", "rows", "whole")
MARK = "riata_statistics"


@dataclass(frozen=True)
class Statistics:
    """The statistics of every fold (of all rows, where there is only one), with the names and encoding of columns.

    Where folds overlap, as those forward in time do, `folds` has the parts that the folds of the plan are made of.
    """

    folds: tuple[Gram, ...]
    readings: tuple[str, ...]  # a hash for each of the statistics that were added up
    feature_names: tuple[str, ...] | None = None
    encoding: Encoding | None = None
    given_plan: FoldPlan | None = None  # by default folds are scored by models of all other folds

    @cached_property
    def total(self) -> Gram:
        return reduce(add, self.folds)

    @property
    def plan(self) -> FoldPlan:
        """From which parts each fold learns, and which it scores."""
        return self.given_plan or FoldPlan.partition(FoldsUsed(FoldKind.POSITION, len(self.folds)))

    def learnt(self, fold: int) -> Gram:
        """The statistics of the rows that a fold learns from."""
        return reduce(add, (gram for gram, mine in zip(self.folds, self.plan.learns[fold], strict=True) if mine))

    def scored(self, fold: int) -> Gram:
        """The statistics of the rows that it scores."""
        return reduce(add, (gram for gram, mine in zip(self.folds, self.plan.scores[fold], strict=True) if mine))

    def __add__(self, other: "Statistics") -> "Statistics":
        """The statistics of both sets of rows, fold by fold where their folds go together."""
        return self._merged(other, add, self.readings + other.readings, self._with_folds_of(other))

    def __sub__(self, other: "Statistics") -> "Statistics":
        """The statistics of these rows without the other ones; folds are kept only if those were added before."""
        left = Counter(self.readings)
        left.subtract(other.readings)
        both = self._with_folds_of(other) if min(left.values()) >= 0 else None
        if both is not None and not all(b is None or (a is not None and a.weight > b.weight) for a, b in both.pairs):
            both = None
        return self._merged(other, sub, tuple(left.elements()), both)

    def _merged(
        self,
        other: "Statistics",
        operator: Callable[[Gram, Gram], Gram],
        readings: tuple[str, ...],
        both: "_Both | None",
    ) -> "Statistics":
        if self.feature_names != other.feature_names:
            raise DataError("these statistics are of different features, and do not go together")
        both = both or _Both([(self.total, other.total)], None)
        there = (operator(a, b) if a and b else a or b for a, b in both.pairs)
        grams = tuple(gram for gram in there if gram is not None)
        return Statistics(grams, readings, self.feature_names, self.encoding, both.plan)

    def _with_folds_of(self, other: "Statistics") -> "_Both | None":
        """Both by folds, where these go together: the same rule made them, which depends on no other rows."""
        mine, theirs = self.plan, other.plan
        if mine.values is not None and theirs.values is not None and mine.used.by == theirs.used.by:
            ours, others = (
                dict(zip(mine.values, self.folds, strict=True)),
                dict(zip(theirs.values, other.folds, strict=True)),
            )
            values = sorted({*ours, *others})  # one day may lack a fold that another has
            return _Both([(ours.get(v), others.get(v)) for v in values], FoldPlan.numbered(values, mine.used.by))
        by_position = mine.used.kind is theirs.used.kind is FoldKind.POSITION
        alike = by_position or (mine.used == theirs.used and mine.used.kind is FoldKind.GROUPS)
        if not alike or len(self.folds) != len(other.folds):
            return None
        return _Both(list(zip(self.folds, other.folds, strict=True)), self.given_plan)

    def as_data(self, of: Ledger | None = None) -> "SummaryRows":
        """Summary rows, which every solver takes; `of` is the ledger of the rows summarised, if they were read here."""
        return SummaryRows(self, of)

    def save(self, path: str | Path) -> None:
        """Write a NumPy .npz file."""
        parts: dict[str, Any] = {MARK: len(self.folds), "readings": np.array(self.readings)}
        for i, gram in enumerate(self.folds):
            parts |= {f"{name}_{i}": getattr(gram, name) for name in NUMBERS}
        if self.feature_names is not None:
            parts["feature_names"] = np.array(self.feature_names)
        if self.given_plan is not None:
            plan = self.given_plan
            parts |= {"learns": plan.learns, "scores": plan.scores, "folds": json.dumps(plan.used.to_json())}
            parts |= {} if plan.values is None else {"fold_values": np.array(plan.values, dtype=np.int64)}
        if self.encoding is not None:
            parts["encoding"] = json.dumps(self.encoding.to_json(), default=for_json)
        with replacing(path) as file:
            np.savez(file, **parts)


class _Both(NamedTuple):
    """The statistics of two sets of rows in each of their folds, and the plan of these folds."""

    pairs: Sequence[tuple[Gram | None, Gram | None]]
    plan: FoldPlan | None


class SummaryRows(InMemory):
    """A few rows with the statistics of many; passes over them do not count as passes over the data."""

    def __init__(self, statistics: Statistics, of: Ledger | None = None) -> None:
        rows = statistics.total.as_rows()
        if not all(np.isfinite(part).all() for part in rows):
            raise DataError("numbers of these statistics are too large to work with: scale the columns down")
        super().__init__(*rows, statistics.feature_names, ledger=SummaryLedger(of))
        self.statistics = statistics
        encoding = statistics.encoding
        self.facts = self.facts.but(
            encoding=encoding,
            n_summarised=statistics.total.rows,
            offset=None if encoding is None else encoding.offset,  # which was taken from the target
        )


def statistics_of(
    data: Dataset, n_folds: int = 1, seed: int = 0, memory: int | None = None, *, folds: Folds | None = None
) -> Statistics:
    """Compute the products of columns that a fit with the squared loss needs, in one pass over the rows.

    They replace the rows: fits, paths and cross-validation read no more data. Streams that can be read only once will
    do, and statistics of other rows can be added or subtracted.

    Parameters
    ----------
    data : Dataset
        The result of `riata.open`, with one numeric target.
    n_folds : int, default=1
        Number of folds that are kept apart, to choose k or alpha by cross-validation.
    seed : int, default=0
        Seed of the folds, which also depend on the positions of the rows.
    memory : int, optional
        Memory budget in bytes.
    folds : Folds, optional
        Other folds than those by position.

    Returns
    -------
    Statistics
        Products of the columns with each other and with the target, for each fold. Its `as_data` gives a dataset, its
        `save` writes a file.

    Examples
    --------
    >>> import numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(1000, 20))
    >>> statistics = riata.statistics_of(riata.open(X, 3 * X[:, 4] - X[:, 7]), n_folds=5)
    >>> riata.train(statistics.as_data(), riata.Spec(k="auto")).to_model().names
    ['x4', 'x7']
    """
    if data.facts.targets is not None:
        raise OptionError(f"statistics are of one target, and there are {len(data.facts.targets)}: name one of them")
    if folds is None and n_folds > 1:
        folds = by_position(n_folds, seed)
    grams = tuple(grams_of(data, folds, memory))
    names = None if data.feature_names is None else tuple(map(str, data.feature_names))
    mark = hashlib.sha256(b"".join(np.append(gram.xy, gram.yy).tobytes() + gram.mean.tobytes() for gram in grams))
    return Statistics(grams, (mark.hexdigest(),), names, data.encoding, None if folds is None else folds.plan)


def is_statistics(path: object) -> bool:
    """Whether this is the path of a file that `Statistics.save` wrote."""
    try:
        if not (isinstance(path, str | Path) and Path(path).is_file() and is_zipfile(path)):
            return False
        with ZipFile(path) as file:
            return f"{MARK}.npy" in file.namelist()
    except DAMAGE:
        return False  # whoever opens it will say what is wrong with it


def load_statistics(path: str | Path, memory: int | None = None) -> Statistics:
    """Load statistics that `Statistics.save` or `riata statistics` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    memory : int, optional
        Memory budget in bytes; a larger file is refused before it is read.

    Returns
    -------
    Statistics
        The statistics as they were saved.

    Examples
    --------
    >>> import os, tempfile, numpy as np, riata
    >>> X = np.random.default_rng(0).normal(size=(1000, 20))
    >>> monday, tuesday = (riata.statistics_of(riata.open(rows, rows[:, 4])) for rows in (X[:500], X[500:]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "monday.npz")
    ...     monday.save(path)
    ...     both = riata.load_statistics(path) + tuesday
    >>> riata.train(both.as_data(), riata.Spec(k=1)).to_model().names
    ['x4']
    """
    if not os.path.exists(path):  # which a path that there cannot be does not
        raise DataError(f"there is no file {path}")
    if not is_statistics(path):
        raise DataError(f"{path} holds no statistics that riata saved")
    try:
        with ZipFile(path) as archive:
            need = sum(member.file_size for member in archive.infolist())
            if memory is not None and need > memory:
                raise DataError(f"they need {in_words(need)}, more than the budget of {in_words(memory)}; give it more")
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            parts = {name: np.asarray(archive_value(archive, name, None, need)) for name in names}
        return _statistics(parts)
    except (*DAMAGE, KeyError, TypeError, ModelFileError) as error:
        raise DataError(f"{path} cannot be read as statistics: {reason_of(error)}") from error


def _statistics(parts: dict[str, np.ndarray]) -> Statistics:
    """The statistics of these arrays, if they are as `Statistics.save` writes them."""
    folds = tuple(_gram(parts, i) for i in range(int(parts[MARK])))
    if len(folds) == 0 or len({len(gram.mean) for gram in folds}) > 1:
        raise DataError("its folds are not of the same features")
    if not sum(gram.weight for gram in folds) > 0:
        raise DataError("they are of no rows")
    width = len(folds[0].mean)
    names = tuple(map(str, np.atleast_1d(parts["feature_names"]))) if "feature_names" in parts else None
    encoding = Encoding.from_json(json.loads(str(parts["encoding"]))) if "encoding" in parts else None
    if (names is not None and len(names) != width) or (encoding is not None and encoding.n_features != width):
        raise DataError(f"its names or its encoding are not of {width} features")
    readings = tuple(map(str, np.atleast_1d(parts["readings"])))
    return Statistics(folds, readings, names, encoding, _plan(parts, len(folds)))


def _plan(parts: dict[str, np.ndarray], n_codes: int) -> FoldPlan | None:
    """Which parts each fold learns from and scores; None in files that do not say."""
    plain = checked(dict[str, Any] | None, json.loads(str(parts.get("folds", "null"))), "what it says of its folds")
    used = None if plain is None else FoldsUsed.from_json(plain)
    if used is None:
        return None
    learns, scores = parts["learns"], parts["scores"]
    for marks in (learns, scores):
        if marks.dtype != np.bool_ or marks.ndim != 2 or marks.shape[1] != n_codes or marks.shape != learns.shape:
            raise DataError("its folds are not of the parts that there are")
    if "fold_values" not in parts:
        return FoldPlan(learns, scores, used)
    values = parts["fold_values"]
    if values.dtype != np.int64 or values.shape != (n_codes,) or (np.diff(values) <= 0).any():
        raise DataError("its folds are not of the numbers that there are")
    return FoldPlan(learns, scores, used, tuple(values.tolist()))


def _gram(parts: dict[str, np.ndarray], fold: int) -> Gram:
    arrays = {name: np.asarray(parts[f"{name}_{fold}"]) for name in NUMBERS if f"{name}_{fold}" in parts}
    d = arrays["mean"].size
    shapes = {"mean": (d,), "xx": (d, d), "xy": (d,)}
    kinds = {"rows": "iu", "whole": "b"}
    most = dict.fromkeys(("xx", "xy", "yy"), LARGEST**2)  # products
    for name, array in arrays.items():
        right = array.shape == shapes.get(name, ()) and array.dtype.kind in kinds.get(name, "f")
        if not right or not np.isfinite(array).all():
            raise DataError(f"{name!r} of fold {fold} is damaged: it is no finite {array.dtype} of shape {array.shape}")
        if (abs(array) > most.get(name, LARGEST)).any():
            raise DataError(f"{name!r} of fold {fold} is damaged: it is beyond {most.get(name, LARGEST):.0e}")
    if arrays["weight"] < 0 or arrays["rows"] < 0:
        raise DataError(f"fold {fold} is of fewer than no rows")
    plain = {name: array.astype(np.float64) if array.dtype.kind == "f" else array for name, array in arrays.items()}
    values: dict[str, Any] = {name: array if array.ndim else array.item() for name, array in plain.items()}
    return Gram(**values)
