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
    places = {name: find(name) for name in model.names}
    missing = [name for name, place in places.items() if place is None]
    if missing:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise DataError(f"the data has no column {missing[0]!r}{others}, which the model needs")
    return np.array([places[name] for name in model.names], dtype=np.intp)
