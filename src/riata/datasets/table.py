"""The table that every data set is returned as, and its copy in the user's cache folder.

A cached table is a SciPy CSR file (`scipy.sparse.load_npz` reads it) with `y` and `feature_names` beside. It
is not compressed: at 13 to 20% non-zeros it is already small, and it loads in a tenth of a second.
"""

import logging
from typing import NamedTuple

import numpy as np
from scipy import sparse

from riata.errors import DataError
from riata.files import cache_folder, replacing

log = logging.getLogger(__name__)


class Table(NamedTuple):
    """Rows `X` (float32, dense), labels `y` in {-1, +1} (float64) and the names of the columns."""

    X: np.ndarray
    y: np.ndarray
    feature_names: np.ndarray


def check_split(split: str) -> None:
    """Refuse anything but "train" and "test"."""
    if split not in ("train", "test"):
        raise DataError(f"split must be 'train' or 'test', not {split!r}")


def recall(name: str) -> Table | None:
    """The table cached under `name`, or None if there is no readable one."""
    path = cache_folder() / f"{name}.npz"
    try:
        # opened here, not by np.load, which leaves a damaged zip open
        with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
            values = saved["data"].astype(np.float32)
            X = sparse.csr_array((values, saved["indices"], saved["indptr"]), shape=tuple(saved["shape"]))
            return Table(X.toarray(), saved["y"], saved["feature_names"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Exception as error:  # a damaged zip raises half a dozen types of errors
        log.warning("Ignoring the unreadable cache file %s (%s).", path, error)
        return None


def remember(name: str, table: Table) -> None:
    """Cache a table of integers 0..65535 under `name`; a folder that cannot be written means no cache."""
    X = sparse.csr_array(table.X)
    path = cache_folder() / f"{name}.npz"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez(
                file,
                format=np.array(b"csr"),
                shape=np.array(X.shape),
                data=X.data.astype(np.uint16),
                indices=X.indices,
                indptr=X.indptr,
                y=table.y,
                feature_names=table.feature_names,
            )
    except OSError as error:
        log.warning("Could not cache %s: %s.", name, error)
