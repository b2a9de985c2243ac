"""A path of 100 alphas with 5-fold cross-validation: riata against scikit-learn's LassoCV on the same folds.

    python benchmarks/selection.py [--rows 20000] [--features 100]

Random correlated columns. Seconds are those of the second of two runs; "same" is the largest relative difference of
the mean squared errors over all folds and alphas.
"""

import argparse
import time

import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.model_selection import PredefinedSplit

import riata
from riata.data.folds import fold_of


def make(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    w = np.where(np.arange(d) < 10, rng.normal(size=d), 0.0)
    return X, X @ w + 3.0 * rng.normal(size=n)


def second_of_two(run):
    run()
    started = time.perf_counter()
    result = run()
    return result, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=100)
    options = parser.parse_args()
    X, y = make(options.rows, options.features)
    ours, seconds = second_of_two(lambda: riata.SparseRegressor(alpha="auto", select="cv", standardize=False).fit(X, y))
    folds = PredefinedSplit(fold_of(np.arange(len(y)), 5))
    theirs, their_seconds = second_of_two(
        lambda: LassoCV(alphas=ours.path_.values, cv=folds, tol=1e-6, max_iter=100_000).fit(X, y)
    )
    same = np.max(np.abs(ours.selection_.fold_scores.T / theirs.mse_path_ - 1.0))
    print(
        f"{options.rows} x {options.features}, 100 alphas, 5 folds: riata {seconds:.2f} s ({ours.n_passes_:g} passes), "
    )
    print(f"LassoCV {their_seconds:.2f} s, ratio {their_seconds / seconds:.1f}; same within {same:.0e}; ", end="")
    print(f"alpha {ours.alpha_:.4g} and {theirs.alpha_:.4g}")


if __name__ == "__main__":
    main()
