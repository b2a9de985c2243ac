"""What the user says about columns, and which columns become features."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from riata.data.columns.strings import bits_fault
from riata.data.formats.source import DENSE, INDICES, VALUES, Source
from riata.errors import DataError, OptionError


@dataclass(frozen=True)
class ColumnOptions:
    """What the user says about columns, see `riata.open`."""

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
    hashed: bool = False  # no vocabulary: features are numbered by hashes of their names
    on_error: str = "raise"

    def __post_init__(self) -> None:
        if (fault := bits_fault(self.hash_bits)) is not None:
            raise OptionError(f"hash_bits {fault}")


def check_columns(schema: pa.Schema, options: ColumnOptions) -> None:
    """Refuse names of columns that do not exist."""
    named = [
        options.target,
        options.weight,
        *(options.features or ()),
        *options.drop,
        *options.categorical,
        *options.text,
    ]
    named += [name for cross in options.crosses for name in cross]
    for name in named:
        if name is not None and name not in schema.names:
            raise DataError(f"there is no column {name!r}; it has {listed(schema.names)}")
    for cross in options.crosses:
        if known := {options.target, options.weight}.intersection(cross):
            raise DataError(f"{known.pop()!r} is the target or the weight, which cannot be part of a cross")


def listed(names: Sequence[str], most: int = 30) -> str:
    """Names for a message; only the first ones, where there are many."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def feature_columns(source: Source, options: ColumnOptions) -> list[str]:
    """The columns that become features: those of X in a bare array, all without another role in a table."""
    names = source.schema.names
    matrix = [name for name in (DENSE, INDICES, VALUES) if name in names]
    if options.features is not None:
        names = list(options.features)
    elif source.bare and matrix:
        names = matrix
    other = {options.target, options.weight, *options.drop}
    return [name for name in names if name not in other]
