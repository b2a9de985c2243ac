"""Opening what the user points at: a file, or one of the data sets by name.

| source                       | features                         | target                                     |
| digits49, gisette (`:test`)  | as documented in riata.datasets  | its labels                                 |
| .npz                         | array X, or a SciPy sparse file  | array `target`, `y` by default             |
| .npy                         | all columns but the target       | a column number, or another .npy file      |
| .csv, .tsv, .parquet         | all columns but the target       | a column name                              |
| .svm, .svmlight, .libsvm, .txt | zero- or one-based             | the first entry of each line               |
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from riata.data.memory import InMemory
from riata.errors import DataError

DATASETS = {"digits49": "load_digits49", "gisette": "fetch_gisette"}
SVMLIGHT = (".svm", ".svmlight", ".libsvm", ".txt")


class Table(NamedTuple):
    """Rows as they were read: features, target (None where none was asked for), names (None where there are none)."""

    X: np.ndarray | sp.csr_array
    y: np.ndarray | None
    names: list[str] | None


def open_data(source, target=None, *, task="auto", n_features=None, need_target=True) -> InMemory:
    """The data at `source`, checked: finite numbers in X, a target in every row."""
    source = str(source)
    table = _read(source, target, n_features, need_target)
    X, y, names = table
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise DataError(f"{source} has {X.shape[0]} rows and {X.shape[1]} features: there is nothing to learn from")
    X = _float_matrix(source, X, names)
    if y is None:
        return InMemory(X, np.zeros(X.shape[0]), feature_names=names)
    if len(y) != X.shape[0]:
        raise DataError(f"{source} has {X.shape[0]} rows of features but {len(y)} targets")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise DataError(
            f"the target in {source} is missing or infinite in row {_first(~np.isfinite(y))}: drop that row"
        )
    if task == "classification" or (task == "auto" and _looks_like_classes(y)):
        classes, codes = np.unique(y, return_inverse=True)
        return InMemory(X, codes, feature_names=names, classes=classes)
    if y.dtype.kind not in "fiub":
        raise DataError(f"the target in {source} is text ({y[0]!r} in row 1), which regression cannot use")
    return InMemory(X, y.astype(np.float64), feature_names=names)


def _looks_like_classes(y) -> bool:
    """Text, booleans, or just two different values."""
    return y.dtype.kind not in "fiu" or len(np.unique(y)) <= 2


def _read(source, target, n_features, need_target) -> Table:
    name, _, split = source.partition(":")
    if name in DATASETS and not Path(source).exists():
        from riata import datasets

        X, y, names = getattr(datasets, DATASETS[name])(split or "train")
        return Table(X, y, [str(n) for n in names])
    path = Path(source)
    if not path.exists():
        raise DataError(f"there is no file {source}, nor a data set of that name (see riata datasets)")
    readers = {".npz": _npz, ".npy": _npy, ".csv": _tabular, ".tsv": _tabular, ".parquet": _tabular}
    readers |= dict.fromkeys(SVMLIGHT, _svmlight)
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{source} has an ending that riata does not know; it reads {', '.join(readers)}")
    try:
        return reader(path, target, n_features, need_target)
    except DataError:
        raise
    except Exception as error:  # a broken file raises what its library likes
        reason = " ".join(str(error).split())
        raise DataError(f"{source} cannot be read as {path.suffix[1:]}: {reason}") from error


def _npz(path, target, n_features, need_target):
    with np.load(path, allow_pickle=False) as file:
        arrays = set(file)
        X = sp.csr_array(sp.load_npz(path)) if "format" in arrays else file["X"] if "X" in arrays else None
        if X is None:
            raise DataError(f"{path} holds no array X, and is no SciPy sparse matrix; it holds {sorted(arrays)}")
        key = target or "y"
        if key not in arrays and need_target:
            raise DataError(f"{path} has no target array {key!r}; it holds {', '.join(sorted(arrays))}")
        names = [str(n) for n in file["feature_names"]] if "feature_names" in arrays else None
        return Table(X, file[key] if key in arrays else None, names)


def _npy(path, target, n_features, need_target):
    X = np.load(path, allow_pickle=False)
    if X.ndim != 2:
        raise DataError(f"{path} holds an array of {X.ndim} dimensions; riata needs rows and columns")
    if target is None and need_target:
        raise DataError(f"{path} needs a target: name a column number, or another .npy file")
    if target is None or (not need_target and X.shape[1] == n_features):
        return Table(X, None, None)
    if str(target).lstrip("-").isdigit():
        column = int(target)
        if not -X.shape[1] <= column < X.shape[1]:
            raise DataError(f"{path} has no column {column}; it has {X.shape[1]}, counted from 0")
        return Table(np.delete(X, column, axis=1), X[:, column], None)
    if not Path(target).exists():
        raise DataError(f"the target {target} of {path} is neither a column number nor a file")
    return Table(X, np.load(target, allow_pickle=False).ravel(), None)


def _tabular(path, target, n_features, need_target):
    import pyarrow.csv
    import pyarrow.parquet

    if path.suffix.lower() == ".parquet":
        table = pyarrow.parquet.read_table(path)
    else:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        table = pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter))
    columns = table.column_names
    if target is None and need_target:
        raise DataError(f"{path} needs a target: name one of its columns, {_some(columns)}")
    if target is not None and target not in columns:
        if need_target:
            raise DataError(f"{path} has no column {target!r}; it has {_some(columns)}")
        target = None
    names = [name for name in columns if name != target]
    if table.num_rows == 0:
        return Table(np.empty((0, len(names))), None, names)
    arrays = [_numbers(path, name, table[name]) for name in names]
    X = np.column_stack(arrays) if arrays else np.empty((table.num_rows, 0))
    if target is None:
        return Table(X, None, names)
    column = table[target]
    if column.null_count:
        row = _first(column.is_null().to_numpy(zero_copy_only=False))
        raise DataError(f"the target {target!r} is missing in row {row} of {path}: drop that row")
    y = column.to_numpy()
    return Table(X, y.astype(str) if y.dtype == object else y, names)


def _numbers(path, name, column):
    """A column as floats; a null is a missing value, and text is refused with its place."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_boolean(column.type):
        return pc.cast(column, pa.float64()).to_numpy()
    value = next((v for v in column.to_pylist() if v is not None), None)
    raise DataError(f"column {name!r} of {path} holds {column.type} ({value!r}), and numbers are needed: drop it")


def _svmlight(path, target, n_features, need_target):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), n_features=n_features)
    return Table(sp.csr_array(X), y, None)


def _float_matrix(source, X, names):
    """X as floats, every entry finite."""
    if X.dtype.kind not in "fiub":
        raise DataError(f"the features in {source} are {X.dtype}, and numbers are needed")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    values = X.data if sp.issparse(X) else X
    if np.isfinite(values).all():
        return X
    bad = ~np.isfinite(values)
    if sp.issparse(X):
        at = int(np.flatnonzero(bad)[0])
        row, column = int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at])
    else:
        row, column = (int(i) for i in np.argwhere(bad)[0])
    label = f"column {names[column]!r}" if names is not None else f"column {column}"
    value = "missing or NaN" if np.isnan(X[row, column]) else "infinite"
    raise DataError(f"{source} is {value} in row {row + 1}, {label}: fill it in, or drop the row or the column")


def _first(mask) -> int:
    """The first row, counted from 1, where the mask holds."""
    return int(np.flatnonzero(mask)[0]) + 1


def _some(names) -> str:
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
