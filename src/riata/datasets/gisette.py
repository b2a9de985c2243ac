"""Gisette itself (Guyon, NIPS 2003), downloaded from UCI.

Its "test" split here is UCI's validation set: the labels of the challenge's own test rows were never
published.
"""

import shutil
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import numpy as np

from riata.datasets.table import Table, check_split, recall, remember
from riata.errors import DataError
from riata.files import cache_folder, replacing

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/gisette"
FILES = {  # data, labels; the validation labels were added later, one folder up
    "train": ("GISETTE/gisette_train.data", "GISETTE/gisette_train.labels"),
    "test": ("GISETTE/gisette_valid.data", "gisette_valid.labels"),
}
N_ROWS = {"train": 6000, "test": 1000}
N_FEATURES = 5000
VERSION = "gisette-v1"
TIMEOUT = 60  # seconds without a byte


def fetch_gisette(split: str = "train") -> Table:
    """Load the `split` "train" or "test" of Gisette, which is downloaded once into the cache folder.

    Its 5000 columns are named f0001 to f5000. Without a network, `load_digits49` is a twin of it.
    """
    check_split(split)
    table = recall(f"{VERSION}-{split}")
    if table is not None:
        return table
    folder = cache_folder() / "gisette"
    for remote in FILES[split]:
        if not (folder / Path(remote).name).exists():
            download(f"{UCI}/{remote}", folder)
    try:
        table = read_gisette(folder, split)
    except DataError as error:
        for path in paths(folder, split):
            path.unlink(missing_ok=True)
        raise DataError(f"{error}; the {split} files in {folder} were deleted: fetch them again") from error
    remember(f"{VERSION}-{split}", table)
    return table


def read_gisette(folder: str | Path, split: str = "train") -> Table:
    """The `split` of Gisette from the files of UCI, under their own names, in `folder`."""
    check_split(split)
    data, labels = paths(folder, split)
    for path in (data, labels):
        if not path.is_file():
            raise DataError(
                f"there is no {path.name} in {folder}: get it from {UCI}, or take digits49, which comes with riata"
            )
    X, y = _numbers(data), _numbers(labels).ravel()
    n = N_ROWS[split]
    if X.shape != (n, N_FEATURES):
        rows, width = X.shape
        raise DataError(f"{data.name} should have {n} rows of {N_FEATURES} numbers, not {rows} of {width}")
    if X.min() < 0 or X.max() > 999:
        raise DataError(f"{data.name} should have values from 0 to 999, not {X.min():g} to {X.max():g}")
    positive, negative = np.sum(y == 1), np.sum(y == -1)
    if not len(y) == n == 2 * positive == 2 * negative:
        raise DataError(
            f"{labels.name} should have {n // 2} labels +1 and {n // 2} labels -1, "
            f"not {positive} and {negative} among {len(y)}"
        )
    names = np.array([f"f{j:04d}" for j in range(1, N_FEATURES + 1)])
    return Table(X, y.astype(np.float64), names)


def paths(folder: str | Path, split: str) -> tuple[Path, Path]:
    """The files of data and labels of `split` in `folder`."""
    data, labels = FILES[split]
    return Path(folder) / Path(data).name, Path(folder) / Path(labels).name


def _numbers(path: Path) -> np.ndarray:
    """The numbers of a text file, one row per line; as float32, which represents 0..999 and the labels exactly."""
    try:
        return np.loadtxt(path, dtype=np.float32, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path.name} is not a table of numbers ({error})") from error


def download(url: str, folder: Path) -> None:
    """Save `url` in `folder`: the complete file, or none."""
    name = url.rsplit("/", 1)[1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with urlopen(url, timeout=TIMEOUT) as source, replacing(folder / name) as file:
            shutil.copyfileobj(source, file)
    except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors
        raise DataError(
            f"could not download {name} from {url} ({error}): place Gisette's files in {folder} by hand, "
            "or take digits49, its twin that comes with riata"
        ) from error
