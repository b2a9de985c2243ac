"""What the checks of files from outside cost, as a share of the processor time of a fit."""

import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

import riata
import riata.data.encoded_file
import riata.data.formats.ipc
import riata.data.formats.npy
from riata.data.opening.convert import convert

N_ROWS, N_FEATURES = 200_000, 50
N_FITS = 5  # whose mean counts


class Clock:
    """The processor time spent in some functions."""

    seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            started = time.thread_time()  # other threads decode what comes next meanwhile
            try:
                return function(*args, **named)
            finally:
                self.seconds += time.thread_time() - started

        return call


@contextmanager
def timing(*places: tuple[Any, str]):
    """A clock of these functions, while the block runs."""
    clock = Clock()
    patches = [mock.patch.object(owner, name, clock.timed(getattr(owner, name))) for owner, name in places]
    for patch in patches:
        patch.start()
    try:
        yield clock
    finally:
        for patch in patches:
            patch.stop()


def fit(path: Path, target: str | int | None = None) -> float:
    """Processor seconds of a fit from a file."""
    started = time.process_time()
    rows = riata.open(path, target=target, task="regression")
    riata.SparseRegressor(alpha_ratio=0.1).fit(rows)
    return time.process_time() - started


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = X[:, :5].sum(axis=1) + rng.normal(size=N_ROWS)
    S = sp.random_array((N_ROWS, 1000), density=0.02, format="csr", rng=rng)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = pa.table(
            {f"x{j}": X[:, j] for j in range(N_FEATURES)} | {"y": y, "word": [f"w{i % 50}" for i in range(N_ROWS)]}
        )
        with pa.ipc.new_file(folder / "rows.arrow", table.schema) as writer:
            writer.write_table(table, max_chunksize=20_000)
        np.save(folder / "rows.npy", np.column_stack([X, y]))
        np.savez(
            folder / "sparse.npz", indptr=S.indptr, indices=S.indices, data=S.data, shape=S.shape, format=b"csr", y=y
        )
        convert(riata.open(folder / "rows.arrow", target="y"), folder / "dense.converted.arrow")
        convert(riata.open(folder / "sparse.npz", task="regression"), folder / "sparse.converted.arrow")
        encoded = [(riata.data.encoded_file, "check_encoded")]
        cases = {
            "Arrow IPC": (folder / "rows.arrow", "y", [(riata.data.formats.ipc, "validated")]),
            ".npy": (folder / "rows.npy", N_FEATURES, [(riata.data.formats.npy, "read_layout")]),
            "sparse .npz": (folder / "sparse.npz", None, [
                (riata.data.formats.npy, "check_entries"), (riata.data.formats.npy, "read_layout")]),
            "converted, dense": (folder / "dense.converted.arrow", None, encoded),
            "converted, sparse": (folder / "sparse.converted.arrow", None, encoded),
        }  # fmt: skip
        print("| format | checks | fit | share |\n| --- | --- | --- | --- |")
        for title, (path, target, places) in cases.items():
            fit(path, target)  # what is compiled, and what the page cache holds
            with timing(*places) as clock:
                total = sum(fit(path, target) for _ in range(N_FITS))
            checks = clock.seconds / N_FITS
            print(f"| {title} | {1e3 * checks:.1f} ms | {1e3 * total / N_FITS:.0f} ms | {clock.seconds / total:.1%} |")


if __name__ == "__main__":
    main()
