"""Rows with the features of a model, made by the encoding of the model, however the rows were opened.

Two sets of rows learn different encodings: days are counted from another first day, missing values are replaced by
another mean, hashed levels have other names. A coefficient is valid only with the encoding it was learned with.
"""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from riata.data.columns.numbers import Number
from riata.data.dataset import Dataset
from riata.data.encoding import MATRICES, Encoding
from riata.data.opened import is_arrow_dataset, is_stream
from riata.engines.open import open_data
from riata.errors import DataError


def has_columns(rows: Any) -> bool:
    """Whether rows are a path, a stream or a table, which need an encoding, and not a matrix of features."""
    if isinstance(rows, str | Path) or is_arrow_dataset(rows) or is_stream(rows) or hasattr(rows, "__arrow_c_stream__"):
        return True
    return type(rows).__module__.partition(".")[0] in ("pandas", "polars") and hasattr(type(rows), "columns")


def with_encoding(data: Dataset, encoding: Encoding, n_features: int, names: Collection[str] | None = None) -> Dataset:
    """The rows of a dataset with the features that this encoding makes: read again, if another one made them.

    If `names` are given, only these features have to agree. Target and weights stay those of the dataset.
    """
    if data.encoding is None:
        return data
    lacks_offset = encoding.offset is not None and data.facts.offset is None
    if makes_alike(data.encoding, encoding, names) and not (lacks_offset and data.opened is not None):
        return data
    if data.opened is None:
        raise DataError(
            "these rows were not encoded as the model's were, and cannot be read again: give the model the stream "
            "itself, or open it with encoding=train.encoding, where train is what the model was fitted to"
        )
    encoding = replace(encoding, weight=None)  # the weights of the rows that the model was fitted to do not matter
    again = open_data(
        data.opened.source, data.opened.target, encoding=encoding, n_features=n_features, **data.opened.options
    )
    check_alike(again, encoding, names)
    return again


def check_alike(data: Dataset, encoding: Encoding, names: Collection[str] | None = None) -> None:
    """Refuse rows that cannot be encoded again, if another encoding made them."""
    if data.encoding is not None and not makes_alike(data.encoding, encoding, names):
        raise DataError(
            "these rows were encoded before, and otherwise than those the model was fitted to: give it the rows that "
            "they were made of"
        )


def check_plain(data: Dataset, names: Collection[str]) -> None:
    """Refuse rows for a model of plain numbers, if columns that it needs are not numbers or have missing values."""
    encoding = data.encoding
    if encoding is None:
        return
    # of a column of text come features of other names than its own
    for encoder in (*encoding.of_features(names).encoders, *(one for one in encoding.encoders if one.column in names)):
        if encoder.kind not in MATRICES and not (isinstance(encoder, Number) and not encoder.missing):
            raise DataError(
                f"column {encoder.column!r} has gaps or is not of numbers, and the model was fitted to numbers without "
                "gaps: it has not learnt what to make of it"
            )


def makes_alike(mine: Encoding, theirs: Encoding, names: Collection[str] | None = None) -> bool:
    """Whether two encodings make the same features of the same rows (all features, or those of these names)."""
    alike = (mine.encoders, mine.hashed) == (theirs.encoders, theirs.hashed)
    if alike or names is None:  # to look for very many names takes memory
        return alike
    return makes_alike(mine.of_features(names), theirs.of_features(names))
