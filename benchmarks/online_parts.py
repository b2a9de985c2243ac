"""Solver 'online' in parts that are put together, as workers of a cluster do it, beside one part of all rows.

    python benchmarks/online_parts.py

Rows have some of many features each, by Zipf's law, of which few tell something; without a cluster, in one process.
Parts leave no rows, or some of all rows (`left`) by which the whole chooses one of four thresholds. Log loss is that of
50,000 other rows.
"""

from dataclasses import replace
from functools import reduce

import numpy as np
import scipy.sparse as sp

import riata
from riata.data.chunk import Chunk, add
from riata.solvers.online import shared_out
from riata.solvers.online.online import Online
from riata.solvers.online.part_learner import PartLearner
from riata.solvers.stochastic.method import make_stepper

PROBLEMS = [  # rows, features, features of a row, true ones, exponent of Zipf's law
    (200_000, 20_000, 20, 60, 1.1),
    (200_000, 20_000, 20, 60, 0.7),
    (100_000, 2_000, 10, 30, 1.1),
    (30_000, 2_000, 10, 30, 1.1),
]
PARTS, N_TEST = (1, 4, 16), 50_000


def click_rows(rng, n, d, per_row, n_true, zipf):
    """(rows, labels)."""
    shares = np.arange(1, d + 1) ** -zipf
    features = rng.choice(d, size=(n, per_row), p=shares / shares.sum())
    X = sp.csr_array((np.ones(features.size), features.ravel(), np.arange(0, features.size + 1, per_row)), shape=(n, d))
    X.sum_duplicates()
    true = np.zeros(d)
    true[rng.choice(min(d, 400), n_true, replace=False)] = rng.normal(0.0, 0.5, n_true)
    return X, np.where(rng.random(n) < 1.0 / (1.0 + np.exp(2.5 - X @ true)), 1.0, -1.0)


def fitted(X, y, n_parts, n_left):
    """(weights, intercept, which threshold)."""
    method = replace(Online(), from_first_row=False)
    loss = riata.Spec(solver="online", loss="logistic").loss_function
    stepper = make_stepper(method, loss, None, 1, True, 1.0)
    learner = PartLearner(stepper, X.shape[1], 1.0, None, 0.0, 0, shared_out.pieces, n_left // n_parts)
    rows = np.array_split(np.arange(len(y)), n_parts)
    parts = (learner(iter([(i, Chunk(X[its], y[its], np.ones(len(its))))])) for i, its in enumerate(rows))
    learnt = reduce(add, parts)
    state = shared_out.together(method, learner, learnt)
    shared_out.learn_left(method, learner, state, learnt.left)
    return *method.model(state), int(state.memory["lane"][0])


def main():
    head = ["rows", "features", "parts", "left", "threshold", "log loss", "chosen"]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for seed, (n, d, *how) in enumerate(PROBLEMS):
        X, y = click_rows(np.random.default_rng(seed), n + N_TEST, d, *how)
        for n_parts in PARTS:
            for n_left in (0, int(min(shared_out.LEFT_SHARE * n, shared_out.MOST_LEFT))):
                w, b, lane = fitted(X[:n], y[:n], n_parts, n_left)
                loss = np.mean(np.logaddexp(0.0, -y[n:] * (X[n:] @ w + b)))
                cells = f"{n:,}", f"{d:,}", n_parts, f"{n_left:,}", lane, f"{loss:.4f}", np.count_nonzero(w)
                print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
