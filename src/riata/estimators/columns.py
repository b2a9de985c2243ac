"""X whose columns are not all complete numbers: as a table, from which an encoding makes features.

Frames with categories, strings, dates or gaps go through the encoding that files go through, and so do arrays with gaps
or strings, such as a ColumnTransformer makes; their columns are called x0, x1, ...
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import _check_sample_weight, _check_y

from riata.arrays import unmasked
from riata.data.formats.frame_columns import as_column
from riata.data.formats.source import TARGET
from riata.data.formats.tables import checked_names, is_table, to_table
from riata.data.offset import as_numbers
from riata.data.opened import is_arrow_dataset, is_stream
from riata.engines.known_rows import has_columns
from riata.errors import DataError, OptionError
from riata.scipy_later import is_sparse


def is_frame(X: Any) -> bool:
    """Whether X has columns with names, and is neither a path nor a single column."""
    if isinstance(X, str) or hasattr(X, "__fspath__") or isinstance(X, pa.ChunkedArray):
        return False
    return has_columns(X) and len(getattr(X, "shape", (0, 0))) == 2


def collected(X: Any) -> Any:
    """X, or the frame that a lazy one stands for; paths, and rows that come one after the other, are refused."""
    X = unmasked(X)
    if isinstance(X, str | Path):
        raise OptionError(f"fit takes rows: open {X} with riata.open, and fit the dataset")
    if is_stream(X) and not hasattr(X, "__arrow_c_stream__"):
        raise OptionError("fit takes rows that are there: open a stream with riata.open, which brings its target")
    if type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "collect"):
        return X.collect()
    if is_frame(X) and not is_table(X):  # a relation of DuckDB, an Arrow dataset or reader, ...
        return X.to_table() if is_arrow_dataset(X) else pa.table(X)
    return X


def names_of(frame: Any) -> list[str]:
    """The names of the columns of a frame, before structs are taken apart."""
    return [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]


def may_be_numbers(X: Any) -> bool:
    """Whether the types of X say that it is a matrix of numbers, perhaps with gaps."""
    module = type(X).__module__.partition(".")[0]
    if module == "pandas" and X.ndim == 2:
        return all(dtype.kind in "biuf" for dtype in X.dtypes)
    if module == "polars" and hasattr(X, "schema"):
        X = table_of(X.head(0))
    if isinstance(X, pa.Table | pa.RecordBatch):
        return all(map(_is_plain, X.schema.types))
    words = isinstance(X, list | tuple) or getattr(getattr(X, "dtype", None), "kind", "f") in "OUS"
    return is_sparse(X) or not words or not _has_strings(X)


def _is_plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _has_strings(X: Any) -> bool:
    """Whether an array, or a list of rows, holds what is no number; one of wrong size is for others to refuse."""
    try:
        values = np.asarray(X)
    except ValueError:
        return False
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "OUS":
        return False
    try:
        values.astype(np.float64)
    except (ValueError, TypeError):
        return True
    return False


def has_gaps(X: Any) -> bool:
    """Whether a matrix of floats has a NaN; a sum is quick, and tells if it is worth looking."""
    if is_sparse(X) or X.size == 0:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isfinite(X.sum()) and bool(np.isnan(X).any())


def table_of(X: Any, names: Sequence[str] | None = None) -> pa.Table:
    """X as a table; the columns of an array have these names, x0, x1, ... by default."""
    if (table := to_table(X)) is not None:
        return table
    rows = np.array(X, dtype=object) if isinstance(X, list | tuple) else np.asarray(X)
    if rows.ndim != 2:
        raise DataError(f"X must have two dimensions, rows and columns, not {rows.ndim}")
    names = [f"x{j}" for j in range(rows.shape[1])] if names is None else names
    return checked_names(pa.table([as_column(rows[:, j]) for j in range(rows.shape[1])], names=list(names)))


def checked_values(y: Any, n_rows: int, numeric: bool, several: bool = False) -> np.ndarray:
    """The target as an array, one value per row, or a row of them where there are several, none of them missing."""
    if y is None:
        raise DataError("X needs a target: give fit a y")
    values: np.ndarray = _check_y(plain_target(y), multi_output=several, y_numeric=numeric)
    if len(values) != n_rows:
        raise DataError(f"X has {n_rows} rows, and y {len(values)} values")
    return values


def with_roles(
    table: pa.Table, y: np.ndarray, name: Any, beside: Mapping[str, Any]
) -> tuple[pa.Table, str | list[str], dict[str, str]]:
    """The table with the target, and what is given beside it by its role, as columns of their own; the names of them.

    A series brings its `name` along, so that the model knows which column it predicts; several targets have as many.
    """
    target: str | list[str]
    if y.ndim == 2:
        target = []
        for one, values in zip(name, y.T, strict=True):
            target.append(_free(one, table.schema.names))
            table = table.append_column(target[-1], pa.array(values))
    else:
        target = _free(name if isinstance(name, str) and name else TARGET, table.schema.names)
        table = table.append_column(target, pa.array(y.astype(str) if y.dtype.kind == "O" else y))
    roles = {}
    for role, given in beside.items():
        if given is None:
            continue
        values = plain_target(given)
        if role == "weight":
            values = _check_sample_weight(values, y, dtype=np.float64, ensure_non_negative=True)
        values = as_numbers(role, values)
        if values.shape != y.shape[:1]:
            raise DataError(f"X has {len(y)} rows, and the {role} has the shape {values.shape}")
        roles[role] = _free(role, table.schema.names)
        table = table.append_column(roles[role], pa.array(values))
    return table, target, roles


def plain_target(y: Any) -> Any:
    """A target or weights as scikit-learn takes them: an Arrow or polars column, or a table of them, as an array.

    Spans of time are seconds, as in rows of files.
    """
    plain = _plain_array(y)
    kind = getattr(getattr(plain, "dtype", None), "kind", "")
    if kind == "m":
        return np.asarray(plain) / np.timedelta64(1, "s")
    return _of_one_type(plain) if kind == "O" else plain


def _of_one_type(values: Any) -> Any:
    """Objects that are all booleans, or all whole numbers, as an array of these: scikit-learn knows objects as text."""
    kinds = set(map(type, np.ravel(values)))
    if len(kinds) != 1 or not issubclass(kinds.pop(), bool | np.bool_ | int | np.integer):
        return values
    plain = np.array(np.asarray(values).tolist())
    return plain if plain.dtype.kind in "biu" else values


def _plain_array(y: Any) -> Any:
    if isinstance(y, pa.Table) or (hasattr(y, "to_arrow") and hasattr(y, "columns")):
        table = y if isinstance(y, pa.Table) else y.to_arrow()
        return np.column_stack([plain_target(column) for column in table.columns])
    if isinstance(y, pa.Array | pa.ChunkedArray) or hasattr(y, "to_arrow"):
        column = y if isinstance(y, pa.Array | pa.ChunkedArray) else y.to_arrow()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        return column.to_numpy(zero_copy_only=False)
    kind = getattr(getattr(y, "dtype", None), "numpy_dtype", None)  # of a nullable type of pandas
    if isinstance(kind, np.dtype) and kind.kind in "biuf" and not y.isna().any():
        return y.to_numpy(dtype=kind)
    return unmasked(y)


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, with underscores before it if a column has it already."""
    while name in taken:
        name = f"_{name}"
    return name
