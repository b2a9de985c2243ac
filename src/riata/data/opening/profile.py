"""The first pass: what the columns are, how they become features, and what a person should know about them."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.categories import CategoryLearner
from riata.data.columns.column import BadRow, Learner, as_floats, as_strings
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.crosses import CrossLearner
from riata.data.columns.dates import DateLearner, look_like_dates
from riata.data.columns.hashed import LevelsLearner, WordsLearner
from riata.data.columns.lists import DenseLearner, Sparse, SparseLearner, stem
from riata.data.columns.numbers import NumberLearner
from riata.data.columns.texts import TextLearner
from riata.data.encoding import MATRICES, Encoding, weights_of
from riata.data.formats.filesource import is_text
from riata.data.formats.parts import RowRange
from riata.data.formats.source import DENSE, INDICES, VALUES, Source
from riata.data.parallel import in_parallel
from riata.data.row_events import watched
from riata.data.target import Target, TargetLearner
from riata.errors import DataError

logger = logging.getLogger(__name__)
LOOKING = "looking at the columns"
LEAK = 0.5  # a column that explains more of the target than this by itself is worth a question


@dataclass(frozen=True)
class Wishes:
    """What the user said about columns."""

    target: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    task: str = "auto"
    max_levels: int = 10_000
    max_words: int = 50_000
    word_pairs: bool = False
    hash_bits: int = 16
    hash_text: bool = False
    crosses: tuple[tuple[str, ...], ...] = ()
    hashed: bool = False  # no vocabulary: features are known by hashes of their names
    on_error: str = "raise"


@dataclass
class Profile:
    """What the first pass found."""

    n_rows: int  # that count
    n_read: int  # in the source
    without_target: int
    zero_weight: int
    row_bytes: float  # of a row as Arrow holds it
    columns: dict[str, ColumnProfile]
    encoding: Encoding
    named: bool = True  # whether the features have names of their own
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        columns = {name: found.to_json() for name, found in self.columns.items()}
        return vars(self) | {"columns": columns, "encoding": self.encoding.to_json()}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Profile":
        columns = {name: ColumnProfile.from_json(found) for name, found in plain["columns"].items()}
        return cls(**plain | {"columns": columns, "encoding": Encoding.from_json(plain["encoding"])})


def check_columns(schema: pa.Schema, wishes: Wishes) -> None:
    """Refuse a column that is not there."""
    named = [wishes.target, wishes.weight, *(wishes.features or ()), *wishes.drop, *wishes.categorical, *wishes.text]
    named += [name for cross in wishes.crosses for name in cross]
    for name in named:
        if name is not None and name not in schema.names:
            raise DataError(f"there is no column {name!r}; it has {listed(schema.names)}")
    for cross in wishes.crosses:
        if known := {wishes.target, wishes.weight}.intersection(cross):
            raise DataError(f"{known.pop()!r} is the target or the weight, which cannot be part of a cross")


def listed(names, most=30) -> str:
    """Names for a message, not all of a thousand."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def feature_columns(source: Source, wishes: Wishes) -> list[str]:
    """The columns that become features: of a bare array X alone, of a table all that have no other role."""
    names = source.schema.names
    matrix = [name for name in (DENSE, INDICES, VALUES) if name in names]
    if wishes.features is not None:
        names = list(wishes.features)
    elif source.bare and matrix:
        names = matrix
    other = {wishes.target, wishes.weight, *wishes.drop}
    return [name for name in names if name not in other]


def learn_profile(source: Source, wishes: Wishes, rows: int) -> Profile:
    """One pass over the source, `rows` at a time."""
    look = FirstPass(source, wishes)
    if source.fast and source.jumps and source.n_rows:
        starts = watched(range(0, source.n_rows, rows), LOOKING, lambda _: rows, source.n_rows)
        head = source.slice(look.columns, 0, rows)
        look.begin(head)
        for part in in_parallel(partial(_first_pass_of_part, look, head), starts):
            look.merge(part)
    else:
        batches = source.batches(look.columns, rows)
        look.over(watched(batches, LOOKING, lambda batch: batch.num_rows, source.n_rows))
    return look.profile()


def _first_pass_of_part(look: "FirstPass", head: pa.RecordBatch, start: int) -> "FirstPass":
    """What as many rows as the head has, from `start` on, tell; columns are of the kinds that the head says."""
    rows = RowRange(look.source, start, start + head.num_rows)
    part = FirstPass(rows, look.wishes)
    part.begin(head)
    part.over(rows.batches(part.columns, head.num_rows))
    return part


def known_profile(source: Source, encoding: Encoding, rows: int, target: str | None) -> Profile:
    """What there is to know when the encoding is that of a model. Rows are counted only where a target is needed."""
    names = source.schema.names
    encoding = known_encoding(source, encoding, target)
    n_read, n_rows, n_bytes = source.n_rows or 0, source.n_rows or 0, 16.0 * len(names) * (source.n_rows or 0)
    if target is not None:
        n_read = n_rows = 0
        n_bytes = 0.0
        for batch in source.batches(encoding.columns, rows):
            n_read, n_bytes = n_read + batch.num_rows, n_bytes + batch.nbytes
            n_rows += int(encoding.roles(batch)[2].sum())
    return Profile(n_rows, n_read, n_read - n_rows, 0, n_bytes / max(n_read, 1), {}, encoding,
                   has_names(source) and not encoding.hashed)  # fmt: skip


def known_encoding(source: Source, encoding: Encoding, target: str | None) -> Encoding:
    """The encoding of a model for this source: with the target that is needed, and with its weights if it has any.

    Without a target there is nothing to weigh: every row is asked about, and a row of weight zero gets an answer, too.
    """
    names = source.schema.names
    for column in (c for e in encoding.encoders for c in e.columns):
        if column not in names:
            raise DataError(f"there is no column {column!r}, which the model needs; it has {listed(names)}")
    weight = encoding.weight if target is not None and encoding.weight in names else None
    known = None
    if target is not None:
        classes = encoding.target.classes if encoding.target else None
        known = Target(target, None if classes is None else tuple(classes))
    return replace(encoding, target=known, weight=weight)


def has_names(source: Source) -> bool:
    """Columns of a table have, and so have numbered features of svmlight; those of a bare matrix are given or not."""
    return not source.bare or source.any_base or bool(source.feature_names)


class FirstPass:
    """The learners of all columns, and what is counted along the way."""

    def __init__(self, source: Source, wishes: Wishes) -> None:
        check_columns(source.schema, wishes)
        self.source, self.wishes, self.features = source, wishes, feature_columns(source, wishes)
        self.learners: dict[tuple[str, ...], Learner] = {}
        self.notes: list[str] = []
        self.target = None
        if wishes.target is not None:
            self.target = TargetLearner(source.schema.field(wishes.target), wishes.task, wishes.categorical)
        self.n_read = self.n_rows = self.without_target = self.zero_weight = self.n_bytes = self.skipped = 0

    @property
    def columns(self) -> list[str]:
        """The columns that are looked at, each once."""
        roles = [name for name in (self.wishes.target, self.wishes.weight) if name is not None]
        crossed = [name for cross in self.wishes.crosses for name in cross]
        return list(dict.fromkeys(self.features + crossed + roles))

    def begin(self, batch: pa.RecordBatch) -> None:
        """Decide by the first rows what kind of column each is."""
        if not self.learners:
            self.learners = dict(self._learners(batch))

    def over(self, batches: Iterator[pa.RecordBatch]) -> None:
        """Learn from all rows of the source."""
        for batch in batches:
            self.begin(batch)
            self._add(batch)
            self.n_read += batch.num_rows
            self.n_bytes += batch.nbytes
        self.skipped += self.source.skipped

    def merge(self, later: "FirstPass") -> None:
        """Learn what another pass that began alike has seen of later rows."""
        for name in ("n_read", "n_rows", "without_target", "zero_weight", "n_bytes", "skipped"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        if self.target and later.target:
            self.target.merge(later.target)
        for columns, learner in self.learners.items():
            learner.merge(later.learners[columns])

    def _add(self, batch):
        keep = np.ones(batch.num_rows, dtype=bool)
        try:
            weight = weights_of(batch, self.wishes.weight)
            keep, there = weight > 0, self._has_target(batch)
            self.zero_weight += int((~keep).sum())
            self.without_target += int((keep & ~there).sum())
            keep &= there
            if not keep.all():
                batch, weight = batch.filter(pa.array(keep)), weight[keep]
            self.n_rows += batch.num_rows
            y = self.target.add(batch.column(self.wishes.target), weight) if self.target else None
            for columns, learner in self.learners.items():
                learner.add([batch.column(c) for c in columns], weight, y)
        except BadRow as bad:
            raise DataError(
                f"{self.source.where(self.n_read + int(np.flatnonzero(keep)[bad.row]))}: {bad.sentence}"
            ) from bad

    def _has_target(self, batch):
        if self.target is None:
            return np.ones(batch.num_rows, dtype=bool)
        name = self.target.column
        column = batch.column(name)
        if self.target.text:
            return as_strings(column).is_valid().to_numpy(zero_copy_only=False)
        return ~np.isnan(as_floats(column, name))

    def _learners(self, batch: pa.RecordBatch):
        """A learner for every column or pair of columns that can become features."""
        pairs = paired(batch.schema, self.features)
        for name in self.features:
            if name in pairs:
                yield (name, pairs[name]), self._sparse(name, pairs[name])
            elif name not in pairs.values():
                learner = self._learner(name, batch.column(name))
                if learner is None:
                    self.notes.append(f"column {name!r} is {batch.column(name).type}, which is no feature: dropped")
                else:
                    yield (name,), learner
        for cross in self.wishes.crosses:
            yield cross, self._cross(cross, batch)

    def _sparse(self, indices, values):
        width, names = self.source.width, self.source.feature_names
        first = None if self.source.any_base else 0
        return SparseLearner(indices, values, width, first, names)

    def _categories(self, name: str) -> Learner:
        wishes = self.wishes
        return LevelsLearner(name) if wishes.hashed else CategoryLearner(name, wishes.max_levels, wishes.hash_bits)

    def _cross(self, cross: tuple[str, ...], batch: pa.RecordBatch) -> Learner:
        numeric = tuple(is_number(batch.column(name).type) for name in cross)
        return CrossLearner(cross, numeric, self._categories("^".join(cross)))

    def _learner(self, name: str, column: pa.Array) -> Learner | None:
        kind, wishes = column.type, self.wishes
        if name in wishes.text and wishes.hashed:
            return WordsLearner(name, wishes.word_pairs)
        if name in wishes.text:
            return TextLearner(
                name, wishes.max_words, wishes.word_pairs, wishes.hash_bits if wishes.hash_text else None
            )
        if name in wishes.categorical:
            return self._categories(name)
        if is_list(kind):
            return DenseLearner(name, self.source.feature_names)
        if is_text(kind):
            dates = look_like_dates(as_strings(column))
            return DateLearner(name) if dates else self._categories(name)
        if pa.types.is_dictionary(kind):
            return self._categories(name)
        if is_number(kind):
            return NumberLearner(name)
        return DateLearner(name) if pa.types.is_temporal(kind) else None

    def profile(self) -> Profile:
        """All that was found."""
        if self.n_rows == 0:
            raise DataError(
                f"there are no rows to learn from: of {self.n_read} rows {self.without_target} have no target "
                f"and {self.zero_weight} a weight of zero"
            )
        target = self.target.target() if self.target else None
        encoders = tuple(learner.encoder(self.n_rows) for learner in self.learners.values())
        single = all(learner.single for learner in self.learners.values())
        hashed = self.wishes.hashed and any(e.kind not in MATRICES for e in encoders)
        if hashed and any(e.kind == Sparse.kind for e in encoders):
            raise DataError("sparse pairs of lists beside other columns cannot be hashed: drop one of the two kinds")
        encoding = Encoding(encoders, target, self.wishes.weight, single, hashed)
        if encoding.n_features == 0:
            raise DataError("there are 0 features: no column is left to be one")
        columns = {
            "^".join(columns) if isinstance(learner, CrossLearner) else columns[0]: learner.summary()
            for columns, learner in self.learners.items()
        }
        if self.target:
            columns[self.target.column] = self.target.summary()
        self.notes += self._remarks(columns, target)
        return Profile(
            self.n_rows, self.n_read, self.without_target, self.zero_weight, self.n_bytes / max(self.n_read, 1),
            columns, encoding, has_names(self.source) and not hashed, self.notes,
        )  # fmt: skip

    def _remarks(self, columns: dict[str, ColumnProfile], target: Target | None) -> Iterator[str]:
        """What should not pass silently."""
        if target is not None and self.wishes.task == "auto":
            what = "a number" if target.classes is None else f"one of {len(target.classes)} classes"
            yield f"the target {target.column!r} is taken for {what} (task='classification' or 'regression' decides it)"
        for kind, count in (("without a target", self.without_target), ("of weight zero", self.zero_weight)):
            if count:
                yield f"{count} of {self.n_read} rows are {kind}: left out"
        if self.skipped:
            yield f"{self.skipped} rows could not be read: left out"
        for name, found in columns.items():
            if found.counts_from is not None and self.source.any_base:
                yield f"the indices count from {found.counts_from}"
            if target is not None and name != target.column and (found.explains or 0.0) > LEAK:
                yield (
                    f"column {name!r} alone explains {found.explains:.0%} of {target.column!r}: if it is not "
                    f"known when predicting, drop it (drop=[{name!r}], or --drop {name})"
                )


def paired(schema: pa.Schema, features: list[str]) -> dict[str, str]:
    """Pairs of list columns, indices -> values: X.indices and X.values, doc_indices and doc_values, ..."""
    lists = [name for name in features if is_list(schema.field(name).type)]
    by_stem = {stem(name): name for name in lists if name.endswith("values")}
    return {name: by_stem[stem(name)] for name in lists if name.endswith("indices") and stem(name) in by_stem}


def is_list(kind: pa.DataType) -> bool:
    """Whether values are lists of numbers."""
    is_some = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return is_some and is_number(kind.value_type)


def is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_duration)
    return pa.types.is_null(kind) or any(test(kind) for test in tests)
