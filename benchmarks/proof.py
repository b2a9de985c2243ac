"""Best k with a proof: riata against OKRidge, l0bnb and el0ps, and the gaps it reaches on real data.

    python benchmarks/proof.py [--peers PYTHON] [--only synthetic] [--large] [--limit 60] [--seconds 10 100] [--cells F]

Synthetic: rows of an autoregressive normal process of correlation .5, k coefficients of 1, signal to noise 5, and the
ridge of OKRidge's notebook, .1 in sums of squares. All methods get the same matrix; OKRidge gets k; l0bnb and el0ps,
which penalise the number of features instead, get the price at which k features are best, as riata's objectives of
k - 1 and k + 1 tell it, and l0bnb a limit on coefficients of 1.5 times the largest. Seconds are those of
the processor in a second run, with all that a method does once it has the matrix; a gap of 1e-4 is enough for all.
Real data: standardised, with a ridge; the gap at the end of a fit, and after each of `--seconds`, up to where a search
ended; with `--cells`, what a run has measured is there for the next one.

Searches: on random problems of 7 to 20 features, how often the search alone finds what certify proves to be the best,
beside scikit-learn's OMP and, where it is installed, abess, whose features are refitted.

Costs: what the bound that comes with every fit adds to its processor time.

Peers run by the PYTHON of an environment that has `okridge`, `l0bnb` and `el0ps` (AGPL), which need NumPy 1.
"""

import argparse
import json
import subprocess
import tempfile
import time
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import OrthogonalMatchingPursuit

from problems import SHARED
from riata.data.in_memory import InMemory
from riata.outcome.proofs import GlobalBound
from riata.solvers.registry import SOLVERS
from riata.solvers.subset.local.refit import Refits
from riata.training.fitting import fit, make_problem, solver_options
from riata.training.spec import Spec

SMALL = [(600, 300, 10), (2000, 1000, 10)]
LARGE = [(6000, 3000, 10)]
LIMIT = 60.0  # seconds by the clock of each method; `--limit` says otherwise


def autoregressive(n, d, k, seed=0, loss="squared", rho=0.5, snr=5.0):
    """(X, y): centred columns, evenly spaced coefficients of 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    signal = X[:, np.linspace(0, d - 1, k).astype(int)].sum(axis=1)
    y = signal + rng.normal(size=n) * signal.std() / np.sqrt(snr)
    X -= X.mean(axis=0)
    return X, np.sign(y) if loss == "logistic" else y - y.mean()


def independent(n, d, k, seed=1, snr=10.0):
    """(X, y) as in l0bnb's README: independent columns, of unit deviation here, and evenly spaced coefficients of 1."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    rng.normal(size=(n, 1))  # what correlation would take
    signal = X[:, [int(i * d / k) for i in range(k)]].sum(axis=1)
    y = signal + rng.normal(size=n, scale=signal.std(ddof=1) / np.sqrt(snr))
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


def riata(X, y, k, loss, ridge, limit=None, certify=1e-4):
    spec = Spec(k=k, loss=loss, ridge=ridge, standardize=False, fit_intercept=False, coef_limit=limit)
    return fit(InMemory(X, y), replace(spec, certify=certify, certify_time=LIMIT)).result


def synthetic(python, name, X, y, k, ridge, loss="squared", limited=False):
    """Lines of a table for one matrix; `limited`: also riata with the limit on coefficients that l0bnb has."""
    fewer, more = (riata(X, y, size, loss, ridge, certify=None).objective for size in (k - 1, k + 1))
    found = riata(X, y, k, loss, ridge, certify=None)
    largest, support = float(np.abs(found.coef).max()), np.flatnonzero(found.coef)
    lines = []
    for limit in (None, 1.5 * largest) if limited else (None,):
        started = time.process_time()
        result = riata(X, y, k, loss, ridge, limit)
        method = "riata" if limit is None else "riata, within the limit of l0bnb"
        same = "the same" if np.array_equal(np.flatnonzero(result.coef), support) else "others"
        lines.append(f"| {name} | {method} | {time.process_time() - started:.2f} | {result.bound.gap:.0e} | {same} |")
        print(lines[-1], flush=True)
    price = 0.5 * (fewer - more)  # of a feature: between what the last one gains and the next one would
    asked = {"k": k, "ridge": ridge, "price": price, "largest": largest, "loss": loss}
    methods = ("okridge", "l0bnb", "el0ps") if loss == "squared" else ("el0ps",)
    for peer in methods if X.shape[1] <= 5000 else ("l0bnb",):  # the others take the products of all columns
        if python is not None and (found := peers(python, peer, X, y, asked)) is not None:
            same = "the same" if found["features"] == support.tolist() else f"others, {len(found['features'])} of them"
            lines.append(f"| {name} | {peer} | {found['seconds']:.2f} | {found['gap']:.0e} | {same} |")
            print(lines[-1], flush=True)
    return lines


def peers(python, method, X, y, asked):
    """What a peer found; None if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        matrix = Path(folder) / "matrix.npz"
        np.savez(matrix, X=X, y=y)
        command = [
            python,
            Path(__file__).with_name("proof_peers.py"),
            method,
            matrix,
            json.dumps(asked | {"limit_s": LIMIT}),
        ]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{method}: {done.stderr.strip().splitlines()[-1]}")
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def random_problem(seed, loss):
    """(X, y, k): 7 to 20 features, correlated up to .95 in one of three ways."""
    rng = np.random.default_rng(seed)
    d, k, n, rho = int(rng.integers(7, 21)), int(rng.integers(1, 9)), int(rng.integers(30, 120)), rng.uniform(0, 0.95)
    kind, X = rng.integers(3), rng.normal(size=(n, d))
    if kind == 0:
        X = np.sqrt(1 - rho) * X + np.sqrt(rho) * rng.normal(size=(n, 1))
    elif kind == 1:
        for j in range(1, d):
            X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    else:
        X = X @ (rng.normal(size=(d, d)) * rho + np.eye(d))
    y = X @ np.where(rng.random(d) < 0.5, rng.normal(size=d), 0)
    y = y + rng.normal(size=n) * (y.std() + 0.1) * rng.choice([0.2, 0.5, 1, 2])
    return X, np.where(y > np.median(y), 1.0, -1.0) if loss == "logistic" else y, min(k, d - 1)


def searches(loss, count):
    """How often searches without certify find the best model that there is: riata, OMP and, if it is there, abess."""
    methods = {"riata": lambda X, y, spec: np.flatnonzero(fit(InMemory(X, y), spec).result.coef)}
    methods |= {"OMP": omp_support} if loss == "squared" else {}
    methods |= {} if abess_support is None else {"abess": abess_support}
    excess = {name: [] for name in methods}
    for seed in range(count):
        X, y, k = random_problem(seed, loss)
        spec = Spec(k=k, loss=loss, ridge=0.0 if loss == "squared" else 0.01)
        best = fit(InMemory(X, y), replace(spec, certify=True)).result
        if not best.bound.is_best:
            continue
        refits = Refits(make_problem(InMemory(X, y), spec)[0], np.arange(X.shape[1]))
        for name, method in methods.items():
            support = method(X, y, spec)
            found = refits.fit([support], [(np.zeros(len(support)), 0.0)])[0]
            excess[name].append(found.objective / best.objective - 1.0)
    for name, above in excess.items():
        found, worst = np.mean(np.array(above) <= 1e-7), 100 * max(above)
        print(
            f"{loss}, {len(above)} of {count} certified: {name} finds {100 * found:.1f} %, {worst:.2g} % off at worst"
        )


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def omp_support(X, y, spec):
    found = OrthogonalMatchingPursuit(n_nonzero_coefs=spec.k).fit(standardised(X), y)
    return np.flatnonzero(found.coef_)


try:
    from abess.linear import LinearRegression, LogisticRegression
except ImportError:
    abess_support = None
else:

    def abess_support(X, y, spec):
        method = LinearRegression if spec.loss == "squared" else LogisticRegression
        return np.flatnonzero(method(support_size=spec.k).fit(standardised(X), y).coef_)


REAL = {
    "digits49": ("squared", "logistic"),
    "covtype": ("squared", "logistic"),
    "a9a": ("squared", "logistic"),
    "riboflavin": ("squared",),
    "golub": ("squared", "logistic"),
    "nycflights13": ("squared",),
}
MOST_ROWS = 20_000
TIMES = 5  # that what the bound costs is measured
FLIGHTS_LEFT_OUT = "dep_time arr_time air_time sched_dep_time sched_arr_time time_hour tailnum year"


@cache
def rows_of(name):
    """(X, y) of a data set, some of its rows: the largest class against the rest, or numbers."""
    if name == "digits49":
        from riata.datasets import load_digits49

        X, y, _ = load_digits49("train")
    elif name == "nycflights13":
        import riata

        path = SHARED / "nycflights13.parquet"
        chunk = riata.open(path, target="arr_delay", drop=FLIGHTS_LEFT_OUT.split(), memory="4GB").chunk
        X, y = chunk.X.toarray(), chunk.y
    else:
        with np.load(SHARED / f"{name}.npz", allow_pickle=False) as file:
            parts = dict(file)
        X = parts["X"] if "X" in parts else sp.csr_array(
            (parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])  # fmt: skip
        y = parts["y"]
    labels, counts = np.unique(y, return_counts=True)
    y = np.where(y == labels[np.argmax(counts)], 1.0, -1.0) if "logistic" in REAL[name] else y.astype(float)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
    return X[rows], y[rows]


def gaps_along(X, y, spec, seconds):
    """The gap of a fit without a search, and those that a search has reached after some seconds by the clock."""
    first = fit(InMemory(X, y), spec).result.bound
    told = []  # (seconds, objective, bound)
    last = fit(
        InMemory(X, y),
        replace(spec, certify=True, certify_time=max(seconds)),
        progress=lambda record: told.append((record.seconds, record.objective, record.bound)),
    ).result
    gaps = [_gap(first)]
    for limit in seconds:
        if last.seconds <= limit or limit == max(seconds):
            gaps.append(_gap(last.bound))
            break
        by_then = [GlobalBound(spec.k, bound, objective) for at, objective, bound in told if at <= limit and bound]
        gaps.append(_gap(by_then[-1]) if by_then else "-")
    return " / ".join(gaps)


class Cells:
    """Cells of the table of real data, each in a line of a file as soon as it is known: minutes each, hours in all."""

    def __init__(self, path):
        self._path, self._known = path, {}
        if path is not None and path.exists():
            self._known = dict(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())

    def get(self, key, make):
        """The cell of this key, made where the file has none."""
        if key not in self._known:
            self._known[key] = make()
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, self._known[key]]) + "\n")
        return self._known[key]


def real(name, seconds, losses, cells):
    """Lines of a table for a data set."""
    X, y = rows_of(name)
    lines = []
    for loss in (loss for loss in REAL[name] if loss in losses):
        for ridge in (0.01, 0.1, 1.0):
            gaps = []
            for k in (5, 10, 20):
                key = f"{name} {loss} {ridge:g} {k} {' '.join(f'{limit:g}' for limit in seconds)}"
                gaps.append(cells.get(key, partial(gaps_along, X, y, Spec(k=k, loss=loss, ridge=ridge), seconds)))
            lines.append(f"| {name}, {loss}, {X.shape[0]} x {X.shape[1]} | {ridge:g} | {' | '.join(gaps)} |")
            print(lines[-1], flush=True)
    return lines


def costs(name):
    """What the bound adds to the processor seconds of a fit."""
    X, y = rows_of(name)
    for loss in REAL[name]:
        for k in (5, 20):
            seconds = []
            for _ in range(TIMES + 1):  # the first time, which may compile, does not count
                started = time.process_time()
                problem, _ = make_problem(InMemory(X, y), spec := Spec(k=k, loss=loss, ridge=0.01))
                *_, last = SOLVERS["best-k"].start(problem, solver_options(spec))
                fitted = time.process_time()
                bound = last.bound()
                seconds.append((fitted - started, time.process_time() - fitted))
            fit, more = np.median(seconds[1:], axis=0)
            share = f"the bound {100 * more / fit:.1f} % more"
            print(f"{name}, {loss}, k = {k}: {fit:.3f} s, {share}, a gap of {100 * bound.gap:.4g} %", flush=True)


def _gap(bound):
    if not isinstance(bound, GlobalBound):
        return "none"
    return "best" if bound.is_best else f"{100 * bound.gap:.2g} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", metavar="PYTHON", help="of an environment that has the peers")
    parser.add_argument("--only", choices=["synthetic", "real", "searches", "costs"])
    parser.add_argument(
        "--large",
        action="store_true",
        help="also 6000 x 3000, as in OKRidge's notebook, and 1000 x 10,000, as in l0bnb's README",
    )
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds by the clock of each method")
    parser.add_argument("--data", nargs="*", default=list(REAL), choices=list(REAL))
    parser.add_argument("--losses", nargs="*", default=["squared", "logistic"], choices=["squared", "logistic"])
    parser.add_argument("--count", type=int, default=600, help="of random problems of --only searches")
    parser.add_argument("--seconds", type=float, nargs="*", default=[10.0, 100.0])
    parser.add_argument(
        "--cells", type=Path, help="a file that keeps each cell of the table of real data for another run"
    )
    parser.add_argument("--append", type=Path)
    options = parser.parse_args()
    globals()["LIMIT"] = options.limit
    lines = []
    if options.only == "searches":
        for loss in options.losses:
            searches(loss, options.count)
        return
    if options.only == "costs":
        for name in options.data:
            costs(name)
        return
    if options.only != "real":
        lines += ["| problem | method | seconds | gap | features |", "| --- | --- | --- | --- | --- |"]
        if options.large:
            X, y = independent(1000, 10_000, 10)
            lines += synthetic(options.peers, "independent, 1000 x 10000, k = 10", X, y, 10, 0.02, limited=True)
        for n, d, k in SMALL + LARGE * options.large:
            X, y = autoregressive(n, d, k)
            lines += synthetic(options.peers, f"squared, {n} x {d}, k = {k}", X, y, k, 0.1 / n)
        X, y = autoregressive(500, 100, 5, loss="logistic")
        lines += synthetic(options.peers, "logistic, 500 x 100, k = 5", X, y, 5, 0.01, "logistic")
    if options.only != "synthetic":
        after = " / ".join(f"after {seconds:g} s" for seconds in options.seconds)
        lines += ["", f"| data | ridge | k = 5: of the fit / {after} | k = 10 | k = 20 |"]
        lines += ["| --- | --- | --- | --- | --- |"]
        for name in options.data:
            lines += real(name, options.seconds, options.losses, Cells(options.cells))
    if options.append is not None:
        with options.append.open("a", encoding="utf-8") as file:
            file.write("\n".join(["", "## Best k with a proof", "", *lines, ""]))


if __name__ == "__main__":
    main()
