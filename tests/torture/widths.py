"""python -m torture.widths: how many numbers of each feature a solver holds at once (`Solver.vectors`).

Sparse rows of few and of many features are fitted with a budget that leaves no room for more than one thread, and what
the second takes above the first is divided by the features that it has more. Each is fitted twice, in one process: the
first time code is loaded, and some is compiled.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from riata.cli import main as riata  # noqa: F401  # before Arrow is loaded, as in a command
from riata.data import dataset
from riata.training import checks
from torture.cap_cases import Case
from torture.caps import Files, load_code, run_forked, write

ROWS, PER_ROW = 30_000, 60
MB, FEW, MANY = 64, 250_000, 1_000_000


def sparse_rows(path: Path, width: int) -> Path:
    """Rows that are not loaded with the budget, each of whose features is as likely as the others."""
    rng = np.random.default_rng(0)
    indices = np.sort((width // PER_ROW * rng.random((ROWS, PER_ROW))).astype(np.int32) * PER_ROW, axis=1)
    indices += np.arange(PER_ROW, dtype=np.int32)  # which are different within a row
    values = rng.normal(size=indices.shape)
    y = np.where(indices < width // 100, values, 0.0).sum(axis=1) + rng.normal(size=ROWS)
    indptr = np.arange(0, indices.size + 1, PER_ROW, dtype=np.int32)
    shape, data = (ROWS, width), values.ravel()
    np.savez(path, indptr=indptr, indices=indices.ravel(), data=data, shape=shape, format=b"csr", y=y)
    return path


def vectors(solver: str, folder: Path, few: Path, many: Path) -> float | None:
    """How many a solver holds; None where it refuses so many features."""
    case = Case(solver, "sparse", "npz")
    small = Files(folder).of(case.shape, case.kind, True)
    commands = [case.words(path, MB) for path in (small, few, few, many)]
    found = run_forked(commands, folder)
    if len(found) < 3 or any(one.code for one in found):
        return None
    return (found[2].more_mb - found[1].more_mb) / (8e-6 * (MANY - FEW))


def main() -> int:
    from riata.solvers.registry import SOLVERS

    parser = argparse.ArgumentParser(prog="python -m torture.widths", description=__doc__)
    parser.add_argument("--only", default="", help="solvers, with commas")
    only = list(filter(None, parser.parse_args().only.split(","))) or list(SOLVERS)
    load_code()
    # as if there were room: more features are to be fitted than are let
    checks.least_for_vectors, dataset.room_for_moments = lambda *_: 0.0, lambda *_: True
    with tempfile.TemporaryDirectory(prefix="riata-widths-") as name:
        folder = Path(name)
        few, many = (sparse_rows(folder / f"{width}.npz", width) for width in (FEW, MANY))
        for solver in only:
            found = vectors(solver, folder, few, many)
            said = "refused" if found is None else f"{found:.1f}"
            write(f"{solver:18} {said:>7} vectors, {SOLVERS[solver].vectors} declared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
