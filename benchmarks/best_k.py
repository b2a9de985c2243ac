"""Best k features: riata's best-k against orthogonal matching pursuit and abess.

    python benchmarks/best_k.py [--repeats 3] [--only digits49] [--append docs/benchmarks.md]

Every method gets the same matrix: digits49 (6000 x 5000, float32), the gene sets golub and riboflavin (some 70 rows)
and texts (imdb, 25000 x 101902, sparse), which `problems.py` finds. The support of a peer is refitted in float64, so
that all are judged by the same objective (with a ridge, the loss alone); seconds are those of the fastest of some warm
runs. `as good after` is when riata, on its way, had a model whose objective was no higher than the peer's. Needs
`riata[bench]`.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from abess.linear import LinearRegression as AbessLinear
from abess.linear import LogisticRegression as AbessLogistic
from sklearn.linear_model import OrthogonalMatchingPursuit

from problems import LOADERS
from riata.data.in_memory import InMemory
from riata.datasets import load_digits49
from riata.losses import LOSSES
from riata.objective import Problem, mean_loss
from riata.penalties import Cardinality
from riata.solvers.subset.local.refit import Refits
from riata.training.fitting import fit
from riata.training.spec import Spec

SETS = [
    *(("digits49", loss, k) for loss in ("squared", "logistic") for k in (20, 50, 100)),
    ("golub", "squared", 20), ("golub", "logistic", 20), ("riboflavin", "squared", 20),
    ("imdb", "squared", 20), ("imdb", "logistic", 20),
]  # fmt: skip
ABESS = {"squared": AbessLinear, "logistic": AbessLogistic}
INTRO = """\
Every method has the same matrix; the seconds are its fastest warm run. The objective is the mean loss, without
the ridge; the features of a peer are refitted in double precision first. `as good after` is the seconds after
which riata's search had a model at least as good as the peer's. [Best k](best-k.md) explains the method."""


class Found(NamedTuple):
    """Coefficients, the intercept where a method fits the loss itself, and (seconds, objective) on the way."""

    coef: np.ndarray
    intercept: float | None = None
    way: tuple = ()


def riata(loss, ridge=0.0):
    def method(X, y, k):
        result = fit(InMemory(X, y), Spec(k=k, loss=loss, solver="best-k", ridge=ridge)).result
        return Found(result.coef, result.intercept, tuple((r.seconds, r.objective) for r in result.history))

    return method


def omp(X, y, k):
    return Found(OrthogonalMatchingPursuit(n_nonzero_coefs=k, precompute=False).fit(X, y).coef_)


def abess(loss):
    return lambda X, y, k: Found(np.ravel(ABESS[loss](support_size=k).fit(X, y).coef_))


def methods(data, loss):
    """The methods that the data suits: OMP takes the squared loss and dense rows; of texts abess takes minutes."""
    yield "riata best-k", riata(loss)
    if loss == "logistic" and data == "digits49":
        yield "riata best-k, ridge 0.001", riata(loss, 0.001)
    if loss == "squared" and data != "imdb":
        yield "scikit-learn OMP", omp
    if data != "imdb":
        yield "abess", abess(loss)


def judged(loss, k, found: Found, train, test):
    """Loss and test accuracy (None without test rows) of what was found, refitted if that was a support alone."""
    problem = Problem(InMemory(*train), LOSSES[loss], Cardinality(k))
    support = np.flatnonzero(found.coef)
    coef, intercept = found.coef[support], found.intercept
    if intercept is None:
        _, coef, intercept, _ = Refits(problem, support).fit([support], [(np.zeros(len(support)), 0.0)])[0]
    w = np.zeros(len(found.coef))
    w[support] = coef
    accuracy = None if test is None else np.mean(np.sign(test[0] @ w + intercept) == test[1])
    return mean_loss(problem, w, intercept), accuracy


def timed(method, train, k, repeats):
    """(what it found, seconds) of its fastest run."""
    runs = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = method(*train, k)
        runs.append((time.perf_counter() - start, found))
    seconds, found = min(runs, key=lambda run: run[0])
    return found, seconds


def measured(repeats, only):
    """A line of the table for every problem and method."""
    for data, loss, k in SETS:
        if only not in (None, data):
            continue
        train, test = LOADERS[data](), load_digits49("test")[:2] if data == "digits49" else None
        riata(loss)(train[0][:50], train[1][:50], 2)  # compile
        ours, way = None, ()
        for name, method in methods(data, loss):
            found, seconds = timed(method, train, k, repeats)
            ours, way = ours or seconds, way or found.way
            objective, accuracy = judged(loss, k, found, train, test)
            after = next((s for s, F in way if F <= max(objective, 1e-6)), None)  # below, the classes are separated
            as_good = "" if name.startswith("riata") else "never" if after is None else f"{after:.2f}"
            cells = f"{objective:.5f} | {'' if accuracy is None else format(accuracy, '.3f')} | {seconds:.3f}"
            yield f"| {data} | {loss} | {k} | {name} | {cells} | {seconds / ours:.1f} | {as_good} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="one of the data sets")
    parser.add_argument("--append", type=Path, help="add the table to this Markdown file")
    options = parser.parse_args()
    lines = [
        "| data | loss | k | method | objective | test accuracy | seconds | riata is faster by | as good after |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print(*lines, sep="\n")
    for line in measured(options.repeats, options.only):
        lines.append(line)
        print(line, flush=True)
    if options.append:
        with options.append.open("a") as file:
            file.write("\n".join(["", "## Best k", "", INTRO, "", *lines, ""]))


if __name__ == "__main__":
    main()
