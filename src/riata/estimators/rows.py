"""Rows that come in beside others, and what is checked before they are used."""

from operator import eq
from typing import Any

from riata.data.columns.lists import Numbered
from riata.data.dataset import Dataset
from riata.errors import DataError, OptionError


def parts_of(rows, what="validation") -> tuple[Any, Any, Any]:
    """X, y and weights of rows beside those to learn from."""
    if isinstance(rows, Dataset):
        return rows, None, None
    if not isinstance(rows, tuple | list) or len(rows) not in (2, 3):
        raise OptionError(f"{what} must be a Dataset, or (X, y), or (X, y, sample_weight)")
    X, y, *weight = rows
    return X, y, weight[0] if weight else None


def check_alone(y, sample_weight) -> None:
    """Refuse a target or weights beside a dataset, which brings its own."""
    if y is not None or sample_weight is not None:
        raise OptionError(
            "a Dataset brings its own target and weights: name them to riata.open, and give fit no others"
        )


def check_same_features(data: Dataset, others: Dataset) -> None:
    """Refuse other rows whose features, as far as they have names, are not those that are learnt from."""
    mine, theirs = data.feature_names, others.feature_names
    if mine is None or theirs is None or _same(mine, theirs):
        return
    raise DataError(
        f"the validation set has {len(theirs)} features, not one by one the {len(mine)} that are learnt from: "
        "open it with encoding=data.encoding of those"
    )


def _same(mine, theirs) -> bool:
    if isinstance(mine, Numbered) and isinstance(theirs, Numbered):  # there may be millions
        return (len(mine), mine[:1], mine[-1:]) == (len(theirs), theirs[:1], theirs[-1:])
    return len(mine) == len(theirs) and all(map(eq, mine, theirs))
