"""The group Lasso against adelie and skglm, in one run.

    python benchmarks/groups.py [--out docs/groups.md]

All solvers have the same matrix, groups, weights (the root of the size) and alpha, without standardising, and are
asked for more and more precision until riata's certificate on their coefficients is within the target. Times are
processor seconds on one core of the fit that was certified, the best of three warm runs. A peer that is not installed
is left out; adelie is not among the extras of riata.
"""

import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import argparse  # noqa: E402
import importlib.metadata  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from riata.data.in_memory import InMemory  # noqa: E402
from riata.losses import LOSSES  # noqa: E402
from riata.objective import Problem, duality_gap, empty_start, first_order, gap_unit, pulls  # noqa: E402
from riata.penalties import GroupLasso  # noqa: E402
from riata.training.fitting import fit  # noqa: E402
from riata.training.spec import Spec  # noqa: E402

TARGET = 1e-6
RUNS = 3
LIMIT = 60.0  # processor seconds, after which a solver is not asked for more precision
PAGE = """# The group Lasso against peers

How long a group Lasso (`groups=...`, see [penalties](penalties.md#groups)) takes beside adelie and skglm, on
synthetic rows with neighbouring columns in groups. `python benchmarks/groups.py --out docs/groups.md` wrote
this page, with {versions}.

- **Seconds** are processor seconds on one core, the best of {runs} warm runs, until the duality gap of a
  solver's coefficients, computed by riata, is {target:g} of the loss of the empty model.
- **A gap** in place of seconds is what a solver reached at its tightest tolerance, where that was not enough.
- **An empty cell**: the peer has no such fit.
- **max x 0.1** is an alpha of a tenth of the smallest alpha whose model is empty.

| problem | riata | adelie | skglm |
| --- | --- | --- | --- |"""
Model = tuple[np.ndarray, float]
Solver = Callable[[float], Model]  # from a precision of its own


def problem_of(
    n: int, d: int, size: int, correlation: float, labels: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns that are correlated with those near them, in groups of neighbours, of which ten matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
    groups = np.arange(d) // size
    w = np.where(np.isin(groups, rng.permutation(groups[-1] + 1)[:10]), rng.normal(size=d), 0.0)
    z = X @ w
    noisy = z + z.std() * rng.normal(size=n)
    return np.asfortranarray(X), np.where(noisy > 0.0, 1.0, -1.0) if labels else noisy, groups


def riata(X: np.ndarray, y: np.ndarray, groups: np.ndarray, alpha: float, loss: str) -> Solver:
    data = InMemory(np.ascontiguousarray(X), y)

    def solve(tol: float) -> Model:
        result = fit(data, Spec(alpha=alpha, loss=loss, groups=groups, standardize=False, tol=tol)).result
        return result.coef, result.intercept

    return solve


def adelie(X: np.ndarray, y: np.ndarray, groups: np.ndarray, alpha: float, loss: str) -> Solver:
    import adelie as ad

    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    family = ad.glm.gaussian(y=y) if loss == "squared" else ad.glm.binomial(y=0.5 * (y + 1.0))

    def solve(tol: float) -> Model:
        found = ad.grpnet(
            X=X, glm=family, groups=starts, penalty=np.sqrt(np.bincount(groups)), lmda_path=[alpha], tol=tol,
            irls_tol=tol, progress_bar=False, early_exit=False,
        )  # fmt: skip
        return found.betas.toarray()[0], float(found.intercepts[0])

    return solve


def skglm(X: np.ndarray, y: np.ndarray, groups: np.ndarray, alpha: float, loss: str) -> Solver | None:
    from skglm import GroupLasso as Peer

    if loss != "squared":  # its estimator has no other loss
        return None
    size = int(np.bincount(groups)[0])

    def solve(tol: float) -> Model:
        model = Peer(groups=size, alpha=alpha, weights=np.sqrt(np.bincount(groups)), tol=tol).fit(X, y)
        return model.coef_, float(model.intercept_)

    return solve


def certified_seconds(solve: Solver, problem: Problem) -> tuple[float, float]:
    """(processor seconds of the first precision that is certified, the relative gap there); the seconds may be NaN."""
    unit, gap = gap_unit(problem), np.inf
    solve(1e-2)  # whatever is compiled is compiled now
    for tol in 10.0 ** -np.arange(3.0, 15.0):
        seconds = []
        for _ in range(RUNS):
            started = time.process_time()
            w, b = solve(float(tol))
            seconds.append(time.process_time() - started)
            if seconds[-1] > LIMIT / RUNS:
                break
        gap = duality_gap(problem, w, first_order(problem, w, b)) / unit
        if gap <= TARGET:
            return min(seconds), gap
        if min(seconds) > LIMIT:
            break
    return np.nan, gap


CASES = [  # rows, columns, size of groups, correlation, loss, alpha as a share of the largest
    (2000, 500, 5, 0.5, "squared", 0.1),
    (2000, 500, 5, 0.5, "squared", 0.01),
    (500, 5000, 10, 0.9, "squared", 0.1),
    (500, 5000, 10, 0.9, "squared", 0.03),
    (500, 5000, 50, 0.9, "squared", 0.1),
    (50_000, 200, 4, 0.3, "squared", 0.05),
    (2000, 500, 5, 0.5, "logistic", 0.1),
]


def rows() -> Iterator[str]:
    for n, d, size, correlation, loss, share in CASES:
        X, y, groups = problem_of(n, d, size, correlation, loss == "logistic")
        problem = Problem(InMemory(np.ascontiguousarray(X), y), LOSSES[loss], GroupLasso(groups))
        pull, threshold = pulls(problem.penalty, empty_start(problem).at.by_w)
        alpha = share * float(np.max(pull / threshold))
        problem = Problem(problem.data, LOSSES[loss], GroupLasso(groups, alpha=alpha))
        cells = []
        for name in (riata, adelie, skglm):
            try:
                solve = name(X, y, groups, alpha, loss)
            except ImportError:
                solve = None
            if solve is None:
                cells.append("")
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds, gap = certified_seconds(solve, problem)
            cells.append(f"{seconds:.3f}" if np.isfinite(seconds) else f"gap {gap:.0e}")
        yield f"| {n:,} x {d:,}, groups of {size}, {loss}, max x {share:g} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("adelie", "skglm", "numpy") if _has(name)
    )
    lines = [PAGE.format(versions=versions, target=TARGET, runs=RUNS)]
    print("\n".join(lines), flush=True)
    for row in rows():
        print(row, flush=True)
        lines.append(row)
    if out is not None:
        out.write_text("\n".join(lines) + "\n")


def _has(name: str) -> bool:
    try:
        return bool(importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return False


if __name__ == "__main__":
    main()
