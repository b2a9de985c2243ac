"""Features by their names, and by the column that they come from."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from riata.data.columns.categories import Category
from riata.data.columns.dates import Date
from riata.data.columns.numbers import Number
from riata.data.dataset import Dataset
from riata.errors import OptionError

WHOLE = (Category.kind, Date.kind, Number.kind)  # columns whose features belong together; words and lists do not


def groups_of(wish, data: Dataset) -> np.ndarray | None:
    """The number of every feature's group: of equal labels, or of one column for "columns"."""
    if wish is None:
        return None
    if isinstance(wish, str):
        if wish != "columns" or data.encoding is None:
            raise OptionError(
                "groups must be one label for each feature, or 'columns' for data that riata.open made of columns, "
                f"not {wish!r}"
            )
        return np.unique(_columns(data.encoding), return_inverse=True)[1]
    labels = np.asarray(wish)
    if labels.shape != (data.n_features,):
        raise OptionError(f"groups must be one label for each of the {data.n_features} features")
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise OptionError("groups must be labels of one kind, numbers or texts, and none may be None") from None


def _columns(encoding) -> list[int]:
    """For every feature a number that it shares with those that are to stay with it."""
    numbers: list[int] = []
    for encoder in encoding.encoders:
        start = len(numbers)
        whole = encoder.kind in WHOLE
        numbers += [start] * encoder.width if whole else list(range(start, start + encoder.width))
    return numbers


def factors_of(wish, data: Dataset) -> Any:
    """Penalty factors, one for every feature, from numbers or from {feature or column: number}; others are 1."""
    if not isinstance(wish, Mapping):
        return wish
    names = data.feature_names
    place = {str(name): [j] for j, name in enumerate(names if names is not None else _numbered(data.n_features))}
    start = 0
    for encoder in data.encoding.encoders if data.encoding else ():
        place.setdefault(encoder.column, list(range(start, start + encoder.width)))
        start += encoder.width
    factors = np.ones(data.n_features)
    for name, factor in wish.items():
        if name not in place:
            raise OptionError(f"penalty_factors name {name!r}, and there is no such feature or column")
        factors[place[name]] = factor
    return factors


def _numbered(n_features):
    return (f"x{j}" for j in range(n_features))
