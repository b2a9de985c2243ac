"""The profile of a source: what the first pass over its rows found, and the encoding that follows from it."""

from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from riata.data.column_names import listed, no_column
from riata.data.columns.column_profile import ColumnProfile
from riata.data.columns.dates import Date
from riata.data.columns.numbers import Number
from riata.data.encoding import Encoding
from riata.data.formats.source import DENSE, Source
from riata.data.opening.decoded_batches import DecodedBatches
from riata.data.target import Target
from riata.errors import DataError
from riata.schema import SchemaError, build, checked


@dataclass
class Profile:
    """What the first pass found."""

    n_rows: int  # rows that are used
    n_read: int  # rows in the source
    without_target: int
    zero_weight: int
    row_bytes: float  # the size of a row in Arrow's memory
    columns: dict[str, ColumnProfile]
    encoding: Encoding
    named: bool = True  # whether the features have names of their own
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # columns, and why, as the end of a sentence

    def to_json(self) -> dict[str, Any]:
        columns = {name: found.to_json() for name, found in self.columns.items()}
        return vars(self) | {"columns": columns, "encoding": self.encoding.to_json()}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Profile":
        """The profile in a file; one that was damaged is a `SchemaError` or a `ModelFileError`."""
        columns = checked(dict[str, Any], plain.get("columns"), "the columns of the profile")
        made = {name: ColumnProfile.from_json(found) for name, found in columns.items()}
        encoding = Encoding.from_json(checked(dict[str, Any], plain.get("encoding"), "the encoding"))
        profile: Profile = build(cls, plain | {"columns": made, "encoding": encoding}, "the profile")
        if min(profile.n_rows, profile.n_read, profile.row_bytes) < 0:
            raise SchemaError("the profile counts fewer than no rows")
        return profile


def known_profile(
    source: Source, encoding: Encoding, rows: int, targets: tuple[str, ...], decoded: DecodedBatches
) -> Profile:
    """The profile for the encoding of a model. Rows are counted, by a pass, only if a target is needed."""
    names = source.schema.names
    encoding = known_encoding(source, encoding, targets)
    n_read, n_rows, n_bytes = source.n_rows or 0, source.n_rows or 0, 16.0 * len(names) * (source.n_rows or 0)
    if targets:
        n_read = n_rows = 0
        n_bytes = 0.0
        for batch in decoded.remember(source.batches(encoding.columns, rows)):
            n_read, n_bytes = n_read + batch.num_rows, n_bytes + batch.nbytes
            n_rows += int(encoding.roles(batch)[2].sum())
    skipped = [] if not targets else source.note_on_skipped()  # else they are not known yet
    return Profile(
        n_rows=n_rows,
        n_read=n_read,
        without_target=n_read - n_rows,
        zero_weight=0,
        row_bytes=n_bytes / max(n_read, 1),
        columns={},
        encoding=encoding,
        named=has_names(source) and not encoding.hashed,
        notes=[*source.notes, *skipped],
    )


def known_encoding(source: Source, encoding: Encoding, targets: tuple[str, ...]) -> Encoding:
    """The encoding of a model with the target column of this source, or several, and with its weights if it has any.

    Without a target, weights are ignored: then rows are to be predicted, also those of weight zero. An
    offset is needed in any case.
    """
    names = source.schema.names
    for column in (c for e in encoding.encoders for c in e.columns):
        if column not in names:
            raise DataError(no_column(column, names, f"{source.place()}, which the model needs"))
    for encoder in encoding.encoders:
        why = source.refused.get(encoder.column) or source.strays.get(encoder.column)
        if why is not None and isinstance(encoder, Number | Date):
            raise DataError(why)
    if encoding.offset is not None and encoding.offset.column not in names:
        its = f"{source.place()}: it is the {encoding.offset.role} that the model was fitted with"
        raise DataError(no_column(str(encoding.offset.column), names, its))
    weight = encoding.weight if targets and encoding.weight in names else None
    known = None
    if targets:
        learnt = encoding.target or Target(targets[0], others=targets[1:])
        if len(targets) != len(learnt.numbers):
            raise DataError(
                f"the model predicts {len(learnt.numbers)}, {listed(learnt.numbers)}, and the target here is "
                f"{listed(targets)}: name as many columns, in that order"
            )
        if targets != learnt.numbers and set(targets) == set(learnt.numbers):
            raise DataError(f"the model predicts {listed(learnt.numbers)}: name them in that order, or leave them out")
        if learnt.event is not None and learnt.event not in names:
            raise DataError(
                no_column(learnt.event, names, f"{source.place()}: it says which times are those of events")
            )
        if learnt.trials is not None and learnt.trials not in names:
            raise DataError(no_column(learnt.trials, names, f"{source.place()}: it has the trials of the successes"))
        classes = None if learnt.classes is None else tuple(learnt.classes)
        known = replace(learnt, column=targets[0], classes=classes, others=targets[1:])
    return replace(encoding, target=known, weight=weight)


def has_names(source: Source) -> bool:
    """Whether features have names: in tables and files of text they do, in a bare matrix only if names are given."""
    named = source.any_base or (DENSE in source.schema.names and pa.types.is_map(source.schema.field(DENSE).type))
    return not source.bare or named or bool(source.feature_names)
