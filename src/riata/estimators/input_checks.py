"""Rows that come in beside others, and what is checked before they are used."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_sample_weight, _check_y

from riata.data.dataset import Dataset
from riata.data.offset import Offset
from riata.data.row_marks import MarksGiven
from riata.engines.known_rows import has_columns, with_encoding
from riata.engines.open import is_distributed, open_data
from riata.errors import DataError, OptionError
from riata.matrices.cuda import host_array


class Beside(NamedTuple):
    """Rows beside those to learn from."""

    X: Any
    y: Any = None
    weight: Any = None
    offset: Any = None  # an exposure, if the model was fitted with one

    def offsets(self, role: Offset | None) -> dict[str, Any]:
        """The offset as it is called for a model that was fitted with one of this role."""
        if self.offset is None:
            return {}
        return {"offset" if role is None else role.role: self.offset}


def parts_of(rows: Any, what: str = "validation") -> Beside:
    """X, y, weights and offsets of rows beside those to learn from."""
    if isinstance(rows, Dataset):
        return Beside(rows)
    if not isinstance(rows, tuple | list) or not 2 <= len(rows) <= 4:
        raise OptionError(
            f"{what} must be a Dataset, or (X, y), (X, y, sample_weight) or (X, y, sample_weight, offset)"
        )
    return Beside(*rows)


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
    given = parts_of(rows) if isinstance(rows, tuple | list) else Beside(rows, target)
    if not has_columns(given.X):
        return rows
    offsets = given.offsets(data.facts.offset)
    return open_data(
        given.X, given.y, weight=given.weight, **offsets, encoding=data.encoding, n_features=data.n_features
    )


def checked_target(
    y: Any, sample_weight: Any, n_rows: int, numeric: bool, several: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The target and the weights of rows on a GPU, brought to this machine and checked as those of arrays are."""
    if y is None:
        raise DataError("X needs a target: give fit a y")
    y = _check_y(host_array(y), multi_output=several, y_numeric=numeric)
    if len(y) != n_rows:
        raise DataError(f"X has {n_rows} rows, and y {len(y)} values")
    weight = None if sample_weight is None else host_array(sample_weight)
    return y, _check_sample_weight(weight, y, dtype=np.float64, ensure_non_negative=True)


def check_values(y: Any, numeric: bool) -> None:
    """Refuse a target that holds words where numbers are learnt, or has gaps; the rest is checked by scikit-learn."""
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if numeric and values.dtype.kind == "M":
        raise DataError("y holds dates, and a regressor learns numbers: give it the time since a day, as a number")
    if values.ndim != 1 or values.dtype.kind not in "fOUS":
        return
    gaps = np.isnan(values) if values.dtype.kind == "f" else np.fromiter(map(_is_missing, values), bool, len(values))
    if gaps.any():
        row = int(np.argmax(gaps)) + 1
        raise DataError(f"y has no value in row {row} of {len(values)} (NaN): leave such rows out of X and y")
    word = next((v for v in values.tolist() if _is_word(v)), None) if numeric and values.dtype.kind != "f" else None
    if word is not None:
        raise DataError(f"y holds {word!r}, and a regressor learns numbers: give it numbers, or take SparseClassifier")
    words = [isinstance(v, str) for v in values] if not numeric and values.dtype.kind == "O" else []
    if any(words) and not all(words):
        raise DataError(
            f"y holds {values[words.index(True)]!r}, and {values[words.index(False)]!r}, which is no text: give labels "
            "of one type"
        )


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


def check_alone(*given: Any) -> None:
    """Refuse a target, weights or offsets beside a dataset, which brings its own."""
    if any(one is not None for one in given):
        raise OptionError(
            "a Dataset brings its own target, weights and offsets: name them to riata.open, and give fit no others"
        )


def check_no_offset(*given: Any) -> None:
    """Refuse offsets beside a Dask collection, which is predicted block by block."""
    if any(one is not None for one in given):
        raise OptionError(
            "the offset of a Dask collection is one of its columns, or taken for 0: add it to the margins"
        )


def with_origin(data: Dataset, exposure: Any) -> Dataset:
    """The data of arrays, which says what its offsets are the logarithms of."""
    if data.facts.offset is not None and exposure is not None:
        data.facts = data.facts.but(offset=Offset(exposure=True))
    return data
