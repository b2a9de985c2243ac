"""Rows with the features of a model: its own encoding makes them, whoever opened the rows, and however.

Two sets of rows learn different encodings: days count from another first day, gaps get another mean, hashed levels
another name. A coefficient means something with the encoding that it was learnt with, and with no other.
"""

from dataclasses import replace
from pathlib import Path

from riata.data.columns.numbers import Number
from riata.data.dataset import Dataset
from riata.data.encoding import MATRICES, Encoding
from riata.data.opened import is_arrow_dataset, is_stream
from riata.engines.open import open_data
from riata.errors import DataError


def has_columns(rows) -> bool:
    """Whether rows are a path, a stream or a table, to be encoded, and not a matrix of features."""
    if isinstance(rows, str | Path) or is_arrow_dataset(rows) or is_stream(rows) or hasattr(rows, "__arrow_c_stream__"):
        return True
    return type(rows).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(type(rows), "columns")


def with_encoding(data: Dataset, encoding: Encoding, n_features: int, names=None) -> Dataset:
    """The rows of a dataset with features made by this encoding: as they are where they have been, read anew otherwise.

    Where `names` are given, these features are needed, and no others. Target and weights stay the dataset's own.
    """
    if data.encoding is None or makes_alike(data.encoding, encoding, names):
        return data
    if data.opened is None:
        raise DataError(
            "these rows were not encoded as the model's were, and cannot be read again: give the model the stream "
            "itself, or open it with encoding=train.encoding, where train is what the model was fitted to"
        )
    encoding = replace(encoding, weight=None)  # how the model's own rows were weighed does not matter here
    anew = open_data(
        data.opened.source, data.opened.target, encoding=encoding, n_features=n_features, **data.opened.options
    )
    check_alike(anew, encoding, names)
    return anew


def check_alike(data: Dataset, encoding: Encoding, names=None) -> None:
    """Refuse rows that were encoded, once and for all, otherwise than a model's."""
    if data.encoding is not None and not makes_alike(data.encoding, encoding, names):
        raise DataError(
            "these rows were encoded before, and otherwise than those the model was fitted to: give it the rows that "
            "they were made of"
        )


def check_plain(data: Dataset, names) -> None:
    """Refuse rows for a model of plain numbers where columns that it needs are something else, or have gaps."""
    for encoder in () if data.encoding is None else data.encoding.of_features(names).encoders:
        if encoder.kind not in MATRICES and not (isinstance(encoder, Number) and not encoder.missing):
            raise DataError(
                f"column {encoder.column!r} has gaps or is not of numbers, and the model was fitted to numbers without "
                "gaps: it has not learnt what to make of it"
            )


def makes_alike(mine: Encoding, theirs: Encoding, names=None) -> bool:
    """Whether two encodings make the same features of the same rows, all or those of these names."""
    if names is not None:
        mine, theirs = mine.of_features(names), theirs.of_features(names)
    return (mine.encoders, mine.hashed) == (theirs.encoders, theirs.hashed)
