"""Groups and penalty factors of features, by their names or by the columns they come from."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from riata.data.columns.categories import Category
from riata.data.columns.dates import Date
from riata.data.columns.numbers import Number
from riata.data.dataset import Dataset
from riata.data.encoding import Encoding
from riata.errors import OptionError

GROUPED = (Category.kind, Date.kind, Number.kind)  # columns whose features are one group; words and lists are not


def groups_of(groups: Any, data: Dataset) -> np.ndarray | None:
    """The number of every feature's group: features of one label, or those of one column for "columns"."""
    if groups is None:
        return None
    if isinstance(groups, str):
        if groups != "columns" or data.encoding is None:
            raise OptionError(
                "groups must be one label for each feature, or 'columns' for data that riata.open made of columns, "
                f"not {groups!r}"
            )
        return np.unique(_groups_by_column(data.encoding), return_inverse=True)[1]
    labels = np.asarray(groups)
    if labels.shape != (data.n_features,):
        raise OptionError(f"groups must be one label for each of the {data.n_features} features")
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise OptionError("groups must be labels of one kind, numbers or texts, and none may be None") from None


def _groups_by_column(encoding: Encoding) -> list[int]:
    """A number for every feature, which the features of one column share."""
    numbers: list[int] = []
    for encoder in encoding.encoders:
        start = len(numbers)
        grouped = encoder.kind in GROUPED
        numbers += [start] * encoder.width if grouped else list(range(start, start + encoder.width))
    return numbers


def factors_of(given: Any, data: Dataset) -> Any:
    """Penalty factors of all features, from {feature or column: number}, where the others are 1; else as given."""
    if not isinstance(given, Mapping):
        return given
    names = data.feature_names
    place = {str(name): [j] for j, name in enumerate(names if names is not None else _numbered(data.n_features))}
    start = 0
    for encoder in data.encoding.encoders if data.encoding else ():
        place.setdefault(encoder.column, list(range(start, start + encoder.width)))
        start += encoder.width
    factors = np.ones(data.n_features)
    for name, factor in given.items():
        if name not in place:
            raise OptionError(f"penalty_factors name {name!r}, and there is no such feature or column")
        factors[place[name]] = factor
    return factors


def _numbered(n_features: int) -> Iterator[str]:
    return (f"x{j}" for j in range(n_features))
