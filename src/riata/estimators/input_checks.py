"""Rows that come in beside others, and what is checked before they are used."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, _check_y

from riata.data.dataset import Dataset
from riata.data.row_marks import MarksGiven
from riata.engines.known_rows import has_columns, with_encoding
from riata.engines.open import is_distributed, open_data
from riata.errors import DataError, OptionError
from riata.matrices.cuda import host_array


def parts_of(rows: Any, what: str = "validation") -> tuple[Any, Any, Any]:
    """X, y and weights of rows beside those to learn from."""
    if isinstance(rows, Dataset):
        return rows, None, None
    if not isinstance(rows, tuple | list) or len(rows) not in (2, 3):
        raise OptionError(f"{what} must be a Dataset, or (X, y), or (X, y, sample_weight)")
    X, y, *weight = rows
    return X, y, weight[0] if weight else None


def with_marks(data: Dataset, X: Any, sample_weight: Any = None, **given: Any) -> Dataset:
    """The dataset of X with what says which of its rows belong together in folds, where that is given beside X."""
    own = isinstance(X, Dataset) or is_distributed(X)
    counted = not own and hasattr(sample_weight, "__len__")
    if counted and data.kept is None and len(sample_weight) != data.n_rows:
        data.kept = np.asarray(sample_weight) > 0  # rows of no weight were left out as the columns were encoded
    given = {role: values for role, values in given.items() if values is not None}
    if not given:
        return data
    if own:
        raise OptionError(
            f"a column of {next(iter(given))} is named when data is opened, riata.open(..., {next(iter(given))}=...), "
            "and not given to fit beside it"
        )
    n_rows = data.n_rows if data.kept is None else len(data.kept)
    data.facts = data.facts.but(marks=MarksGiven(given, n_rows, data.kept))
    return data


def encoded_like(data: Dataset, rows: Any) -> Any:
    """Rows beside those of a dataset: if they have named columns, the dataset's encoding makes features of them."""
    if data.encoding is None:
        return rows
    if isinstance(rows, Dataset):
        return with_encoding(rows, data.encoding, data.n_features)
    target = data.encoding.target and data.encoding.target.column
    X, y, weight = parts_of(rows) if isinstance(rows, tuple | list) else (rows, target, None)
    if not has_columns(X):
        return rows
    return open_data(X, y, weight=weight, encoding=data.encoding, n_features=data.n_features)


def checked_target(y: Any, sample_weight: Any, n_rows: int, numeric: bool) -> tuple[np.ndarray, np.ndarray]:
    """The target and the weights of rows on a GPU, brought to this machine and checked as those of arrays are."""
    if y is None:
        raise DataError("X needs a target: give fit a y")
    y = _check_y(host_array(y), y_numeric=numeric)
    if len(y) != n_rows:
        raise DataError(f"X has {n_rows} rows, and y {len(y)} values")
    weight = None if sample_weight is None else host_array(sample_weight)
    return y, _check_sample_weight(weight, y, dtype=np.float64, ensure_non_negative=True)


def check_values(y: Any, numeric: bool) -> None:
    """Refuse a target that holds words where numbers are learnt, or has gaps; the rest is checked by scikit-learn."""
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in "fOUS":
        return
    gaps = np.isnan(values) if values.dtype.kind == "f" else np.fromiter(map(_is_missing, values), bool, len(values))
    if gaps.any():
        row = int(np.argmax(gaps)) + 1
        raise DataError(f"y has no value in row {row} of {len(values)} (NaN): leave such rows out of X and y")
    word = next((v for v in values.tolist() if _is_word(v)), None) if numeric and values.dtype.kind != "f" else None
    if word is not None:
        raise DataError(f"y holds {word!r}, and a regressor learns numbers: give it numbers, or take SparseClassifier")


def _is_missing(value: Any) -> bool:
    """Whether this is None, NaN, or what pandas has in place of them."""
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _is_word(value: Any) -> bool:
    """Whether this is text that is no number."""
    if not isinstance(value, str):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def check_alone(y: Any, sample_weight: Any) -> None:
    """Refuse a target or weights beside a dataset, which brings its own."""
    if y is not None or sample_weight is not None:
        raise OptionError(
            "a Dataset brings its own target and weights: name them to riata.open, and give fit no others"
        )
