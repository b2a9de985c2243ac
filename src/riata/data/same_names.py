"""Features are found by their names, so that no two of different columns, levels or gaps may have the same."""

from collections.abc import Sequence

from riata.data.columns.categories import Category
from riata.data.columns.column import MISSING, RARE, Encoder
from riata.data.columns.hashed import Unbounded
from riata.data.columns.names import Listed, Names
from riata.errors import DataError

BEHIND = "=.:["  # what stands between the name of a column and the rest of the name of a feature
MANY = 100_000  # names of buckets, which are no names of columns


def check_names(encoders: Sequence[Encoder], place: str = "") -> None:
    """Refuse columns of which two features would have the same name."""
    listed = [encoder for encoder in encoders if not isinstance(encoder, Unbounded)]
    by_column = {encoder.column: encoder for encoder in listed}
    for encoder in listed:
        if isinstance(encoder, Category):
            _check_levels(encoder, place)
        for at in (at for at, letter in enumerate(encoder.column) if letter in BEHIND):
            other = by_column.get(encoder.column[:at])
            if other is None or len(encoder.names) > MANY:
                continue
            names = other.names if isinstance(other.names, Names) else Listed(other.names)
            if (same := next((name for name in encoder.names if names.find(name) is not None), None)) is not None:
                raise DataError(
                    f"columns {other.column!r} and {encoder.column!r}{place} would both have a feature called "
                    f"{same!r}: give one of them another name, or drop it"
                )


def _check_levels(encoder: Category, place: str) -> None:
    for there, word, what in ((encoder.missing, MISSING, "gaps"), (encoder.rare, RARE, "rare levels")):
        if there and word in encoder.levels:
            raise DataError(
                f"column {encoder.column!r}{place} has {what}, and a level {word!r} as which they would be known: "
                f"write that level in another way, or let it count as missing (csv={{'missing': [{word!r}]}})"
            )
