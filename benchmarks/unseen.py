"""riata against its peers on problems that are drawn at random, so that nothing can have been tuned to them.

    python benchmarks/unseen.py [--problems 40] [--seed 1] [--limit 40] [--paths] [--single] [--small]
        [--out docs/hard.md]

Shape, correlation, scale, sparsity, noise, balance of classes, loss and penalty are drawn by the seed. As in `hard.py`
every solver has the matrix in the layout it likes best, and its tolerance is tightened until riata's certificate on its
coefficients is within 1e-6 of the loss of the empty model; times are processor seconds on one core. Each solver is
forked from one process that has compiled all of them, and stopped when it has taken ten times the fastest time so far.
With --paths every problem is a path, with --single none; with --small none has more than 200,000 cells, or 2,000
columns.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

os.environ.update(
    dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
)

import convex
import numpy as np
import peers
import scipy.sparse as sp
from pages import write_section

from problems import Benchmark

PEERS = ("celer", "skglm", "glmstar", "scikit-learn", "liblinear")
DENSE_CELLS, SPARSE_CELLS = 2e7, 3e6  # at most
FEW_CELLS, MOST_COLUMNS = 2e5, 2000  # the same of small problems
TRIES, LEAST = 10, 2  # times the fastest so far, and seconds, that a solver may take


@dataclass(frozen=True)
class Drawn(Benchmark):
    """A benchmark whose rows come from a seed."""

    seed: int = 0
    n: int = 0
    d: int = 0

    @property
    def name(self):
        return f"{self.seed}: {self.n} x {self.d} {super().name}"


def independent(rng, n, d):
    return rng.normal(size=(n, d))


def neighbours(rng, n, d):
    X, rho = rng.normal(size=(n, d)), rng.choice([0.5, 0.9, 0.99])
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    return X


def all_alike(rng, n, d):
    rho = rng.uniform(0.3, 0.95)
    return np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1.0 - rho) * rng.normal(size=(n, d))


def few_factors(rng, n, d):
    rank = int(rng.integers(3, 30))
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + rng.uniform(0.1, 2.0) * rng.normal(size=(n, d))


def near_copies(rng, n, d):
    each = int(rng.integers(2, 8))
    return np.repeat(rng.normal(size=(n, -(-d // each))), each, axis=1)[:, :d] + 0.1 * rng.normal(size=(n, d))


def own_units(rng, n, d):
    return rng.normal(size=(n, d)) * rng.lognormal(0.0, 2.0, size=d) + rng.normal(size=d)


def skewed(rng, n, d):
    return np.exp(rng.normal(size=(n, d)) + 0.5 * rng.normal(size=(n, 1)))


def yes_no(rng, n, d):
    return (rng.random((n, d)) < rng.uniform(0.01, 0.5, size=d)).astype(float)


def products(rng, n, d):
    few = rng.normal(size=(n, max(3, int(np.sqrt(2 * d)))))
    left, right = np.triu_indices(few.shape[1])
    return np.hstack([few, few[:, left] * few[:, right]])[:, :d]


def entries_anywhere(rng, n, d):
    density = min(10 ** rng.uniform(-3.0, -1.3), SPARSE_CELLS / n / d)
    return sp.random_array((n, d), density=density, rng=rng, format="csr")


def words(rng, n, d):
    per_row = int(min(rng.integers(10, 200), SPARSE_CELLS / n))
    frequency = 1.0 / np.arange(1, d + 1) ** rng.uniform(0.7, 1.2)
    columns = rng.choice(d, size=n * per_row, p=frequency / frequency.sum())
    counts = sp.csr_array((np.ones(n * per_row), (np.repeat(np.arange(n), per_row), columns)), shape=(n, d))
    counts.data = 1.0 + np.log(counts.data)
    return counts


def levels(rng, n, d):
    parts, left = [], d
    while left > 0:
        width = min(left, int(10 ** rng.uniform(0.5, np.log10(d) + 0.01)) + 1)
        chosen = np.minimum(rng.zipf(rng.uniform(1.1, 2.0), n) - 1, width - 1)
        parts.append(sp.csr_array((np.ones(n), (np.arange(n), chosen)), shape=(n, width)))
        left -= width
        if len(parts) * n > SPARSE_CELLS:
            break
    return sp.csr_array(sp.hstack(parts))


DENSE = [independent, neighbours, all_alike, few_factors, near_copies, own_units, skewed, yes_no, products]
SPARSE = [entries_anywhere, words, levels]


def drawn(seed, paths=False, small=False, single=False):
    """The problem of a seed: a benchmark, X and y."""
    rng = np.random.default_rng(seed)
    sparse = rng.random() < 0.4
    kind = (SPARSE if sparse else DENSE)[rng.integers(len(SPARSE if sparse else DENSE))]
    n, d = (int(10 ** rng.uniform(low, high)) for low, high in ((2.0, 4.5), (1.5, 5.0 if sparse else 4.3)))
    if not sparse:
        n = min(n, int(DENSE_CELLS / d))
    if small:
        d = min(d, MOST_COLUMNS)
        n = min(n, max(50, int(FEW_CELLS / d)))
    X, scaled = kind(rng, n, d), bool(rng.random() < 0.5)
    X, what = unit_deviations(X) if scaled else X, f"{kind.__name__.replace('_', ' ')}{', scaled' if scaled else ''}"
    true = rng.choice(X.shape[1], min(int(10 ** rng.uniform(0.5, 2.5)), X.shape[1]), replace=False)
    z = X[:, true] @ rng.normal(size=len(true))
    z /= z.std() or 1.0
    noise, loss = 10 ** rng.uniform(-1.0, 0.7), str(rng.choice(["squared", "logistic"]))
    y = z + noise * rng.normal(size=n)
    if loss == "logistic":
        y = np.where(y > np.quantile(y, rng.uniform(0.1, 0.9)), 1.0, -1.0)
    path = (bool(rng.random() < 0.25) or paths) and not single
    ratio = round(10 ** rng.uniform(0.5, 2.0 if path else 3.0))
    benchmark = Drawn(what, loss, ratio, path, seed, *X.shape)
    if sparse:
        X = narrow_indices(X)
    elif not benchmark.fit_intercept:
        X, y = X - X.mean(axis=0), y if loss == "logistic" else y - y.mean()
    return benchmark, X, y


def narrow_indices(X):
    """As liblinear asks for them."""
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def unit_deviations(X):
    if not sp.issparse(X):
        return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    mean, squares = np.asarray(X.mean(axis=0)).ravel(), np.asarray(X.power(2).mean(axis=0)).ravel()
    deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
    return sp.csr_array(X @ sp.diags_array(1.0 / np.where(deviation > 0, deviation, 1.0)))


def measured(benchmark, X, y, solver, limit):
    """What a solver told, in a process of its own, before the limit of processor seconds."""
    with tempfile.TemporaryFile("w+") as told:
        child = os.fork()
        if child == 0:
            os.dup2(told.fileno(), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                convex.measure_problem(benchmark, X, y, solver)
            finally:
                sys.stdout.flush()
                os._exit(0)
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.02)
            if processor_seconds(child) > limit:
                os.kill(child, signal.SIGKILL)
        told.seek(0)
        return {**convex.last_told(told.read(), solver), "limit": limit}


def processor_seconds(process):
    """Asked from outside: within a limit of the system's own a process has a clock of 4 ms."""
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def results_of(benchmark, X, y, limit):
    """What every solver told, riata first; others may take ten times the fastest so far."""
    able = peers.offered(benchmark)
    found = [measured(benchmark, X, y, "riata", limit)]
    for solver in PEERS:
        if solver in able:
            fastest = min((one["warm"] for one in found if convex.certified(one)), default=limit)
            found.append(measured(benchmark, X, y, solver, min(limit, LEAST + TRIES * fastest)))
    return found


def compile_all():
    """A small problem of each kind for each solver, so that forked ones have their compiled loops."""
    for loss in ("squared", "logistic"):
        for kind in (independent, words):
            rng = np.random.default_rng(0)
            X = narrow_indices(kind(rng, 60, 40)) if kind is words else kind(rng, 60, 40)
            y = np.where(rng.random(60) < 0.5, 1.0, -1.0)
            for path in (False, True):
                small = Drawn(kind.__name__, loss, 5, path, 0, 60, 40)
                for solver, prepare in peers.offered(small).items():
                    if solver in {"riata", *PEERS}:
                        prepare(X, y, small)([0.1, 0.05] if path else [0.05], 1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1, help="of the first problem; the others follow")
    parser.add_argument("--limit", type=int, default=40, help="processor seconds of a solver")
    parser.add_argument("--paths", action="store_true", help="paths alone")
    parser.add_argument("--single", action="store_true", help="no paths")
    parser.add_argument("--small", action="store_true", help="small problems alone")
    parser.add_argument("--out", type=Path, help="write the table into this page")
    options = parser.parse_args()
    convex.clock, convex.LIMIT = time.process_time, options.limit
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])  # riata has a thread for every core it may use
    compile_all()
    rows = []
    for seed in range(options.seed, options.seed + options.problems):
        benchmark, X, y = drawn(seed, options.paths, options.small, options.single)
        results = results_of(benchmark, X, y, options.limit)
        rows.append((benchmark.name, results))
        print(convex.summary(rows[-1:]).splitlines()[-1], flush=True)
    said = "\n".join(counts(rows))
    if options.out:
        section = "paths drawn at random" if options.paths else "drawn at random"
        write_section(options.out, section, f"{said}\n\n{convex.summary(rows)}")
    print(f"\n{said}\n\n{convex.report(rows)}")


def counts(rows):
    """What the table says, in numbers."""
    both = [convex.compared(results) for _, results in rows]
    ratios = sorted(best["warm"] / ours["warm"] for ours, best in both if ours and best)
    alone = sum(ours is not None and best is None for ours, best in both)
    yield f"riata was certified in {sum(ours is not None for ours, _ in both)} of {len(rows)}, a peer in "
    yield f"{sum(best is not None for _, best in both)}; no peer in {alone} where riata was."
    if ratios:
        shares = ", ".join(f"{np.quantile(ratios, q):.2g}" for q in (0.0, 0.1, 0.25, 0.5, 0.75))
        yield f"Where both were: the least ratio and its 10, 25, 50 and 75 % quantiles are {shares};"
        yield f"riata is slower in {sum(ratio < 1.0 for ratio in ratios)} of {len(ratios)}."


if __name__ == "__main__":
    main()
