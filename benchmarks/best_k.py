"""Best k features of digits49 (6000 x 5000): riata's best-k against orthogonal matching pursuit and abess.

    python benchmarks/best_k.py [--repeats 3] [--append docs/benchmarks.md]

Every method gets the same float32 matrix. Its support is refitted by least squares (logistic: by Newton) in float64, so
that all are judged by the same objective; seconds are those of the fastest of some warm runs. Needs `riata[bench]`.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from abess.linear import LinearRegression as AbessLinear
from abess.linear import LogisticRegression as AbessLogistic
from sklearn.linear_model import OrthogonalMatchingPursuit

from riata.data.memory import InMemory
from riata.datasets import load_digits49
from riata.fitting import Spec, fit
from riata.losses import LOSSES
from riata.objective import Problem
from riata.penalties import Cardinality
from riata.solvers.refit import Refits


def riata(loss):
    return lambda X, y, k: fit(InMemory(X, y), Spec(k=k, loss=loss, solver="best-k")).result.coef


def omp(X, y, k):
    return OrthogonalMatchingPursuit(n_nonzero_coefs=k, precompute=False).fit(X, y).coef_


def abess(model):
    return lambda X, y, k: np.ravel(model(support_size=k).fit(X, y).coef_)


METHODS = {
    "squared": {"riata best-k": riata("squared"), "scikit-learn OMP": omp, "abess": abess(AbessLinear)},
    "logistic": {"riata best-k": riata("logistic"), "abess": abess(AbessLogistic)},
}


def judged(loss, k, coef, train, test):
    """Objective and test accuracy of the refitted support."""
    support = np.flatnonzero(coef)
    problem = Problem(InMemory(*train), LOSSES[loss], Cardinality(k))
    best = Refits(problem, support).fit([support], [(np.zeros(len(support)), 0.0)])[0]
    X, y = test
    return best.objective, np.mean(np.sign(X[:, support] @ best.coef + best.intercept) == y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--append", type=Path, help="add the table to this Markdown file")
    options = parser.parse_args()
    lines = [
        "| loss | k | method | objective | test accuracy | seconds | riata is faster by |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    print(*lines, sep="\n")
    for line in measured(options.repeats):
        lines.append(line)
        print(line, flush=True)
    if options.append:
        with options.append.open("a") as file:
            file.write("\n".join(["", "## Best k of digits49", "", *lines, ""]))


def measured(repeats):
    """A line of the table for every loss, k and method."""
    train, test = ((X, y) for X, y, _ in map(load_digits49, ("train", "test")))
    for loss, methods in METHODS.items():
        riata(loss)(*train, 2)  # compile
        for k in (20, 50, 100):
            ours = None
            for name, method in methods.items():
                seconds = []
                for _ in range(repeats):
                    start = time.perf_counter()
                    coef = method(*train, k)
                    seconds.append(time.perf_counter() - start)
                ours = ours or min(seconds)
                objective, accuracy = judged(loss, k, coef, train, test)
                times = f"{min(seconds):.2f} | {min(seconds) / ours:.1f}"
                yield f"| {loss} | {k} | {name} | {objective:.5f} | {accuracy:.3f} | {times} |"


if __name__ == "__main__":
    main()
