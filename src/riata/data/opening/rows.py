"""Opening rows that are read: of files, frames and streams, by this process or by others."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riata.data.budget import (
    TEXT_COLUMN,
    check_text_columns,
    check_width,
    chunk_bytes,
    in_memory_bytes,
    in_words,
    return_what_loading_took,
)
from riata.data.column_names import listed
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.data.formats.csv import Csv
from riata.data.formats.ipc import Ipc
from riata.data.formats.json import Json
from riata.data.formats.parquet import Parquet
from riata.data.formats.sampled_negatives import SampledNegatives, as_share
from riata.data.formats.source import Source, WithColumns
from riata.data.formats.streams import StoredStream, UnstoredStream
from riata.data.offset import Offset
from riata.data.opening.asked import Asked
from riata.data.opening.checks import check_as_encoded, refuse_given
from riata.data.opening.column_options import ColumnOptions, check_columns, columns_read
from riata.data.opening.convert import open_converted
from riata.data.opening.decoded_batches import DecodedBatches
from riata.data.opening.profile import Profile, known_encoding, known_profile
from riata.data.opening.profile_cache import profile_of
from riata.data.opening.sources import open_source, with_roles
from riata.data.opening.stream_profile import profile_of_stream
from riata.data.out_of_core import OutOfCore
from riata.data.row_marks import ENTRY, STRATA, MarksOfSource
from riata.data.target_names import named_targets
from riata.errors import DataError
from riata.near_misses import did_you_mean

EXPANSION = 4  # how many times its size in a file a row is guessed to take in memory
CELL_BYTES = 16.0  # of a column that a row is guessed to take, at least
MOST_ROWS = 1 << 16  # of a first batch


@dataclass(frozen=True)
class ReadyRows:
    """Rows of a source whose columns have their roles, ready for the first pass over them."""

    source: Source
    options: ColumnOptions
    batch_rows: int  # of a first batch
    encoding: Encoding | None  # of a model
    targets: tuple[str, ...]  # the columns; none where no target is needed
    n_features: int | None
    memory: int  # bytes
    cache: bool | str
    once: bool  # whether nothing need be kept for a later pass

    @property
    def columns(self) -> Sequence[str]:
        """The columns that any pass may read."""
        if self.encoding is None:
            return columns_read(self.source, self.options)
        known = known_encoding(self.source, self.encoding, self.targets)
        return [*known.columns, *self.options.marks.values()]


RemoteOpener = Callable[[ReadyRows], Dataset]  # makes the dataset where other processes are to read the rows


def open_rows(source: Any, asked: Asked, remote_opener: RemoteOpener | None) -> Dataset:
    """The dataset of anything that has rows to read."""
    reading = asked.reading()
    rows = open_source(source, reading, asked.target)
    converted = open_converted(rows, asked.memory) if remote_opener is None and isinstance(rows, Ipc) else None
    if converted is not None:
        check_as_encoded(source, converted.encoding, asked.settled_by_encoding)
        refuse_given(asked.sampling, "rows that were encoded before are read as they are")
        return converted.load() if converted.n_bytes <= in_memory_bytes(asked.memory) else converted
    if asked.encoding is not None and asked.need_target:
        check_answers(rows, source, asked.target, asked.encoding)
    asked = asked.with_event(rows.schema.names)
    rows, roles = with_roles(rows, asked.roles, reading, asked.need_target)
    if roles.get("more_targets"):
        refuse_given(
            asked.sampling | {"event": asked.event, "trials": asked.trials},
            "it is for one target, and there are several",
        )
    if asked.sample_negatives is not None and roles["target"] is not None:
        rows = SampledNegatives(rows, roles["target"], roles["weight"], as_share(asked.sample_negatives))
        roles["weight"] = rows.weight
    if reading.skip_bad:
        rows.leave_out_unlearnable(roles["weight"])
    if remote_opener is not None and rows.single_pass:
        raise DataError("a stream is read by one process: give a cluster files, or leave the engine out")
    ready = _ready(rows, roles, asked)
    note = _time_note(asked.marks.get("time"), ready.options)
    if remote_opener is None:
        return _read_here(ready, note)
    remote = remote_opener(ready)
    if remote.profile is not None:
        remote.profile.notes += note
    return remote


def check_answers(rows: Source, source: Any, target: Any, encoding: Encoding) -> None:
    """Refuse rows for a model that are without its target."""
    names = rows.schema.names
    if named_targets(target, names) is not None:
        return
    if isinstance(target, list) and encoding.target is not None and tuple(target) == encoding.target.numbers:
        target = target[0]  # none of them is here: they are no labels of rows
    if rows.bare or not isinstance(target, str) or target in names or os.path.exists(target):
        return
    where = source if isinstance(source, str | Path) else "the data"
    hint = did_you_mean(target, names) or "; to predict without answers use predict"
    raise DataError(f"{where} has no column {target!r}, the target, but {listed(names)}{hint}")


def _ready(rows: Source, roles: Mapping[str, Any], asked: Asked) -> ReadyRows:
    """The rows, kept for later passes where they can be read only once, with all that the first pass asks for."""
    if asked.n_features is not None:
        rows.width = asked.n_features
    if asked.one_pass and (STRATA in asked.marks or ENTRY in asked.marks):
        raise DataError("times to events are learnt from all rows at once, read more than once: leave one_pass out")
    if asked.one_pass and asked.marks:
        raise DataError("groups, times and folds say how rows are read again: leave them out, or one_pass")
    rows.as_codes()
    rows, options = _kept_or_streamed(rows, roles, asked)
    ready = ReadyRows(
        source=rows,
        options=options,
        batch_rows=first_rows(rows, asked.memory),
        encoding=_encoding_of_model(roles, asked, options.offset_role),
        targets=options.targets if asked.need_target else (),
        n_features=asked.n_features,
        memory=asked.memory,
        cache=asked.cache,
        once=rows.single_pass or asked.one_pass,
    )
    rows.judge_by(ready.columns)
    _check_columns_fit(rows, len(ready.columns), asked.memory)
    return ready


def _kept_or_streamed(rows: Source, roles: Mapping[str, Any], asked: Asked) -> tuple[Source, ColumnOptions]:
    """Rows that can be read again, or once by choice, with what is asked of their columns.

    Those that come in another order each time are kept, too, where something belongs to rows by their place.
    """
    options = asked.column_options(roles)
    by_place = isinstance(rows, WithColumns | SampledNegatives) or any(roles[role] is not None for role in asked.marks)
    once = asked.one_pass and asked.encoding is None  # rows for a model need no first pass
    if asked.cache and (rows.single_pass or (rows.unordered and by_place)):
        return StoredStream(rows, asked.cache if isinstance(asked.cache, str) else None), options
    if rows.unordered and isinstance(rows, WithColumns) and not once:
        raise DataError(
            "the query may give its rows in another order in each pass, so that what is given beside them would belong "
            "to other rows: put all columns into one query, or leave cache=False out"
        )
    if not (rows.single_pass or once):
        return rows, options
    columns = rows.schema.names
    if once:
        check_columns(rows.schema, options)
        columns = columns_read(rows, options)
        options = replace(options, drop=())  # they are not read at all
    rows.judge_by(columns)
    rows.read_beside_others()
    return UnstoredStream(rows, first_rows(rows, asked.memory), columns), options


def _encoding_of_model(roles: Mapping[str, Any], asked: Asked, offset: Offset | None) -> Encoding | None:
    """The encoding of a model, with the columns that have these roles here; None where it is yet to be learnt."""
    encoding = asked.encoding
    if encoding is None:
        return None
    target = encoding.target
    if target is not None and roles["event"] is not None:
        happened = target.happened if roles["event"] == target.event else None
        target = replace(target, event=roles["event"], survival=True, happened=asked.happened or happened)
    if target is not None and roles["trials"] is not None:
        target = replace(target, trials=roles["trials"])
    changes = {"target": target, "weight": roles["weight"], "offset": offset}
    return replace(encoding, **{name: value for name, value in changes.items() if value is not None})


def _check_columns_fit(rows: Source, n_columns: int, memory: int) -> None:
    """Refuse more columns than there is memory for, where that goes with their number."""
    if isinstance(rows, Csv | Json):
        check_text_columns(n_columns, TEXT_COLUMN, memory, "to read")
    if isinstance(rows, Parquet):
        check_width(f"to read {n_columns:,} columns of Parquet", rows.needs(n_columns), memory, "write them as .npy")


def first_rows(rows: Source, memory: int) -> int:
    """How many rows to read at once before their size is known."""
    row_bytes = CELL_BYTES * len(rows.schema.names)
    if rows.n_rows and rows.n_bytes:
        row_bytes = max(row_bytes, EXPANSION * rows.n_bytes / rows.n_rows)  # compressed columns may tell too little
    return int(min(max(1, chunk_bytes(memory) // max(row_bytes, 1.0)), MOST_ROWS))


def _time_note(given: Any, options: ColumnOptions) -> list[str]:
    """A note on a column of times that would have been a feature, had it not been named as such."""
    if options.time is None or options.time != given or options.features is not None or options.time in options.drop:
        return []
    keeps = "naming it among the features keeps it"
    return [f"{options.time!r} orders the folds and is no feature; {keeps}"]


def _read_here(ready: ReadyRows, notes: list[str]) -> Dataset:
    """The dataset of rows that this process reads: in memory where they fit, which the first pass tells."""
    rows, budget = ready.source, ready.memory
    room = 0 if ready.once else in_memory_bytes(budget)
    decoded = DecodedBatches(room)
    profile = _profile(ready, decoded)
    profile.notes += notes
    if profile.encoding.names_bytes > budget:
        raise DataError(
            f"the names of {profile.encoding.n_features} features need {in_words(profile.encoding.names_bytes)}, more "
            f"than the budget of {in_words(budget)}; give it more memory, correct the indices, or drop the column"
        )
    data = OutOfCore(rows, profile, budget, ready.cache)
    if marks := ready.options.marks:
        data.facts = data.facts.but(marks=MarksOfSource(rows, profile.encoding, marks, data.n_rows))
    fits = 0 < data.n_bytes <= room and not profile.encoding.hashed
    if not fits:
        return data
    return_what_loading_took()
    return data.load(decoded)


def _profile(ready: ReadyRows, decoded: DecodedBatches) -> Profile:
    """What is known of the rows, or the first pass finds; what that decodes is remembered in `decoded`."""
    if ready.encoding is not None:
        return known_profile(ready.source, ready.encoding, ready.batch_rows, ready.targets, decoded)
    if isinstance(ready.source, UnstoredStream):
        return profile_of_stream(ready.source, ready.options, ready.batch_rows, ready.n_features)
    return profile_of(ready.source, ready.options, ready.batch_rows, decoded=decoded)
