"""Where the features of a model are among the columns of other data."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from riata.data.columns.names import Names
from riata.errors import DataError

if TYPE_CHECKING:
    from riata.model.model import Model


def columns_of_features(model: "Model", n_columns: int, feature_names: Sequence[str] | None) -> np.ndarray:
    """The number of each of the model's features among the columns of other data, found by name or by position."""
    if feature_names is None:
        if n_columns != model.n_features:
            raise DataError(f"the data has {n_columns} columns, the model was fitted to {model.n_features}")
        return np.asarray(model.indices, dtype=np.intp)
    if model.normalize == "rows" and n_columns != model.n_features:
        raise DataError(
            f"rows are divided by their norms, which needs exactly the {model.n_features} columns of the fit, and "
            f"there are {n_columns}"
        )
    find: Callable[[str], int | None]
    if isinstance(feature_names, Names):
        find = feature_names.find
    else:
        find = {name: j for j, name in enumerate(feature_names)}.get
    places = np.full(len(model.names), -1, dtype=np.intp)
    for i, (name, column) in enumerate(zip(model.names, model.indices, strict=True)):
        # mostly it is where it was, and of very many names to find one takes longer than to look at it
        place = column if column < len(feature_names) and feature_names[column] == name else find(name)
        places[i] = -1 if place is None else place
    missing = np.flatnonzero(places < 0)
    if len(missing):
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DataError(f"the data has no column {model.names[missing[0]]!r}{others}, which the model needs")
    if len(np.unique(places)) < len(places):  # of a model that was fitted before such names were refused
        order = np.argsort(places)
        twice = model.names[int(order[np.flatnonzero(np.diff(places[order]) == 0)[0]])]
        raise DataError(f"two features of the model are called {twice!r}, and cannot be told apart: fit it again")
    return places
