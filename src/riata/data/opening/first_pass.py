"""The first pass over the rows of a source: what kind each column is, and how it becomes features."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of
from riata.data.columns.categories import HashedCategory
from riata.data.columns.column import ENOUGH_ROWS, BadRow, Encoder, Learner
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.crosses import Cross
from riata.data.columns.lists import Sparse
from riata.data.columns.unfit import unfit, without_values
from riata.data.encoding import MATRICES, Encoding, offsets_of, weights_of
from riata.data.formats.parts import RowRange
from riata.data.formats.source import Source, skipped_note
from riata.data.opening.column_learners import ColumnLearners
from riata.data.opening.column_options import (
    ColumnOptions,
    check_cells,
    check_columns,
    check_words,
    columns_read,
    is_index,
)
from riata.data.opening.decoded_batches import DecodedBatches
from riata.data.opening.footer import note_on_total
from riata.data.opening.profile import Profile, has_names
from riata.data.opening.target_notes import leaks, on_target
from riata.data.parallel import in_parallel
from riata.data.row_events import watched
from riata.data.same_names import check_names
from riata.data.target import Target
from riata.data.target_learners import TargetLearner, TargetsLearner
from riata.errors import DataError

NUMBER = 8  # bytes
LOOKING = "looking at the columns"
SQUARES = np.errstate(over="ignore", invalid="ignore")  # those that overflow are refused later, in a sentence
ROWS_THAT_TELL = 100  # such as whether strings are free text: some formats begin with a few rows


def learn_profile(source: Source, options: ColumnOptions, rows: int, decoded: DecodedBatches | None = None) -> Profile:
    """The profile of a source: one pass, in batches of `rows`, which `decoded` may remember."""
    look = FirstPass(source, options)
    if source.fast and source.random_access and source.n_rows:
        starts = watched(range(0, source.n_rows, rows), LOOKING, lambda _: rows, source.n_rows)
        head = source.slice(look.columns, 0, rows)
        look.begin(head)
        for part in in_parallel(partial(_first_pass_of_part, look, head), starts):
            look.merge(part)
    else:
        batches = source.batches(look.columns, rows)
        if decoded is not None:
            batches = decoded.remember(batches)
        look.over(watched(batches, LOOKING, lambda batch: batch.num_rows, source.about_rows()))
    return look.profile()


def _first_pass_of_part(look: "FirstPass", head: pa.RecordBatch, start: int) -> "FirstPass":
    """The first pass over as many rows, from `start` on, as the head has; the head decides the kinds of columns."""
    rows = RowRange(look.source, start, start + head.num_rows)
    part = FirstPass(rows, look.options)
    part.begin(head)
    part.over(rows.batches(part.columns, head.num_rows))
    return part


class FirstPass:
    """The learners of all columns, and counts of rows."""

    def __init__(self, source: Source, options: ColumnOptions) -> None:
        check_columns(source.schema, options)
        check_words(options)
        self.source, self.options = source, options
        self.columns = columns_read(source, options)
        check_cells(source, options, self.columns)
        self.learners: dict[tuple[str, ...], Learner] = {}
        self._choice = ColumnLearners(source, options)
        self.notes, self.left_out = self._choice.notes, self._choice.left_out
        self.target: TargetLearner | TargetsLearner | None = None
        if options.more_targets:
            self.target = TargetsLearner([source.schema.field(name) for name in options.targets])
        elif options.target is not None:
            field = source.schema.field(options.target)
            self.target = TargetLearner(
                field, options.task, options.categorical, options.event, options.trials, options.positive,
                options.happened,
            )  # fmt: skip
        self.n_read = self.n_rows = self.without_target = self.zero_weight = self.n_bytes = self.skipped = 0
        self.on_total: str | None = None  # a note about the last row

    def begin(self, batch: pa.RecordBatch) -> None:
        """Choose the learner of each column by the first rows, unless that has been done."""
        if not self.learners:
            self.learners = dict(self._choice.chosen(batch))

    def over(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Learn from these batches, which are all rows of the source."""
        for batch in _joined(batches):
            self.begin(batch)
            self._add(batch)
            self.n_read += batch.num_rows
            self.n_bytes += batch.nbytes
        self.skipped += self.source.skipped

    @SQUARES
    def merge(self, later: "FirstPass") -> None:
        """Take over what another pass, with the same learners, has seen in later rows."""
        for name in ("n_read", "n_rows", "without_target", "zero_weight", "n_bytes", "skipped"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        if self.target and later.target:
            self.target.merge(later.target)  # type: ignore[arg-type]  # both are of one kind
        for columns, learner in self.learners.items():
            learner.merge(later.learners[columns])
        self.on_total = later.on_total

    @SQUARES
    def _add(self, batch: pa.RecordBatch) -> None:
        keep = np.ones(batch.num_rows, dtype=bool)
        try:
            weight = weights_of(batch, self.options.weight, self.options.trials)
            keep, has_target = weight > 0, self._has_target(batch)
            self.zero_weight += int((~keep).sum())
            self.without_target += int((keep & ~has_target).sum())
            keep &= has_target
            if not keep.all():
                batch, weight = batch.filter(arrow_of(keep)), weight[keep]
            self.n_rows += batch.num_rows
            self.on_total = note_on_total(batch)
            offsets_of(batch, self.options.offset_role)  # which says what is wrong with them
            y = self.target.add(self.target.of(batch), weight) if self.target else None  # None: nothing is explained
            for columns, learner in self.learners.items():
                learner.add([batch.column(c) for c in columns], weight, y)
        except BadRow as bad:
            raise DataError(
                f"{self.source.where(self.n_read + int(np.flatnonzero(keep)[bad.row]))}: {bad.sentence}"
            ) from bad

    def _has_target(self, batch: pa.RecordBatch) -> np.ndarray:
        """Which rows have a target."""
        return np.ones(batch.num_rows, dtype=bool) if self.target is None else self.target.there(batch)

    @SQUARES
    def profile(self) -> Profile:
        """The profile of all rows seen."""
        if self.n_read == 0:
            raise DataError(f"there are no rows to learn from{self.source.place()}, but the names of its columns")
        if self.n_rows == 0:
            raise DataError(
                f"there are no rows to learn from: of {self.n_read} rows {self.without_target} have no target "
                f"and {self.zero_weight} a weight of zero"
            )
        target = self.target.target() if self.target else None
        columns = dict(self._summaries())
        encoders = tuple(self._encoders(columns))
        check_names(encoders, self.source.place())
        single = all(learner.single for learner in self.learners.values())
        hashed = self.options.hashed and any(e.kind not in MATRICES for e in encoders)
        if hashed and any(e.kind == Sparse.kind for e in encoders):
            raise DataError("sparse pairs of lists beside other columns cannot be hashed: drop one of the two kinds")
        cells = {name: one for name, one in self.source.cells.items() if name in self.columns}
        encoding = Encoding(encoders, target, self.options.weight, self.options.offset_role, single, hashed, cells)
        if encoding.n_features == 0:
            reasons = "; ".join(self.notes) or "there is none beside the target"
            raise DataError(f"there are 0 features: no column is left to be one ({reasons})")
        if self.target:
            columns |= self.target.summaries()
        self.notes += [*self._remarks(columns, target), *_on_small_crosses(encoders, self.options)]
        return Profile(
            n_rows=self.n_rows,
            n_read=self.n_read,
            without_target=self.without_target,
            zero_weight=self.zero_weight,
            row_bytes=self.n_bytes / max(self.n_read, 1),
            columns=columns,
            encoding=encoding,
            named=has_names(self.source) and not hashed,
            notes=self.notes,
            left_out={name: self.left_out[name] for name in self.columns if name in self.left_out},
        )

    def _summaries(self) -> Iterator[tuple[str, ColumnProfile]]:
        """What was found in every column and cross."""
        for columns, learner in self.learners.items():
            found = learner.summary()
            spread = None if self.target is None else self.target.spread
            explained = None if spread is None else learner.explained(spread)
            if explained is not None:
                found = replace(found, explains=explained.share, tells=explained.told)
            yield learner.name_of(columns), found

    def _encoders(self, columns: dict[str, ColumnProfile]) -> Iterator[Encoder]:
        """The encoders of all columns but those that should not be in; with notes on those."""
        options = self.options
        named = {*(options.features or ()), *options.categorical, *options.text}
        as_they_are = self.source.partial or self.source.width is not None  # how many there are is given, by a model
        left_out = self.left_out
        for of, learner in self.learners.items():
            name, interaction = learner.name_of(of), bool(learner.between)
            unnamed = interaction and self._choice.all_pairs and of not in options.crosses
            if unnamed and (learner.too_many_levels or not left_out.keys().isdisjoint(of)):
                continue  # what is no feature has no interactions, unless they are named
            encoder = learner.encoder(self.n_rows)
            judged = None if name in named or as_they_are else unfit(name, columns[name], self.n_rows, encoder)
            if judged is None or not judged.left_out or learner.constant:
                learner.check_sizes(self.source)
            if judged is not None and not interaction:
                stray = self.source.strays.get(name) if judged.left_out else None
                self.notes.append(f"{stray}; until then it is left out" if stray else judged.sentence)
                if judged.why is not None:
                    left_out[name] = judged.why
                    yield from without_values(encoder, columns[name])
                    continue
            yield encoder

    def _remarks(self, columns: dict[str, ColumnProfile], target: Target | None) -> Iterator[str]:
        """Notes for the user: guesses that were made, rows left out, and columns that give the target away."""
        said_before = tuple(self.notes)
        yield from (note for note in self.source.notes if not any(said.startswith(note) for said in said_before))
        if target is not None:
            yield from on_target(target, self.options.task)
        weightless = "of weight zero" if self.options.trials is None else "without trials or of weight zero"
        for kind, count in (("without a target", self.without_target), (weightless, self.zero_weight)):
            if count:
                yield f"{count} of {self.n_read} rows are {kind}: left out"
        if self.on_total is not None and not self.source.partial:
            yield self.on_total
        for name in filter(is_index, self.source.schema.names):
            if name not in (*self.columns, *self.options.drop):
                yield f"column {name!r} is the index of a pandas frame: left out (unless named among the features)"
        here = self.skipped == self.source.skipped  # else other processes have read parts, and know the places
        yield from self.source.note_on_skipped() if here else skipped_note(self.skipped)
        for found in columns.values():
            if found.counts_from is not None and self.source.any_base:
                yield f"the indices count from {found.counts_from}"
        if target is not None and not target.others and self.n_rows >= ENOUGH_ROWS:
            others = {
                name: found for name, found in columns.items() if name != target.column and name not in self.left_out
            }
            yield from leaks(others, target.column)


def _on_small_crosses(encoders: Iterable[Encoder], options: ColumnOptions) -> Iterator[str]:
    """A note where crosses are so many that each is hashed into fewer buckets than a column."""
    inner = [encoder.inner for encoder in encoders if isinstance(encoder, Cross)]
    small = [one.bits for one in inner if isinstance(one, HashedCategory) and one.bits < options.level_bits]
    if small:
        yield (
            f"{len(small)} crosses are hashed into {1 << small[0]:,} buckets each, which have room in the memory: give "
            "it more, say how many there shall be (hash_bits), or take solver 'sketch', which hashes into none"
        )


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, the first of them joined until there are rows enough to tell what the columns hold.

    Later ones are joined where thousands of columns leave room for a few rows in each: learners take their time for
    every column, however few rows there are. Long texts stay in small batches.
    """
    parts, begun = list[pa.RecordBatch](), False
    for batch in batches:
        parts.append(batch)
        if len(parts) > 1:  # at once: a batch takes some kB for each column, whatever it holds
            parts = pa.Table.from_batches(parts).combine_chunks().to_batches()
        large = begun and sum(one.nbytes for one in parts) > ROWS_THAT_TELL * NUMBER * batch.num_columns
        if large or sum(one.num_rows for one in parts) >= ROWS_THAT_TELL:
            yield from parts
            parts, begun = [], True
    yield from parts
