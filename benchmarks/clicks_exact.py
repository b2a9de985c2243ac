"""The exact L1 model of about k features of a file of clicks: what a model of one pass may be compared with.

    python benchmarks/clicks_exact.py TRAIN MODEL --k 5000 [--debias] [--memory 4GB]

Solver 'best-k' finds the best k features, or nearly so, and refuses thousands of them among hundreds of thousands. The
best L1 model is found, with its certificate, and has as many features as its alpha says: that is halved, then bisected,
until they are within a twentieth of k, in ten fits at most. `--refit` then fits these features alone once more, with
a hundredth of the alpha and its own certificate. Without any there is no best fit: most of 5000 such features are
levels of one row, which clicked, and their coefficients would grow without end. The alpha is kept beside the model, so
that the fit with `--refit` need not look for it again.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import riata

FIRST = 0.2  # alpha, as a share of the one above which no feature is in the model
NEAR, MOST_FITS = 0.05, 10
LEFT = 0.01  # of alpha, in a refit
NEVER = 1e6  # times the penalty, of features that are not to be in the model
TOL = 1e-4  # how far from the best a fit may be on the way, and at the end: features no longer change much


def fitted(data, ratio):
    return riata.train(data, riata.Spec(solver="exact", loss="logistic", alpha_ratio=ratio, tol=TOL))


def refitted(data, first):
    """The features of a first fit alone, with a hundredth of its penalty."""
    factors = np.full(data.n_features, NEVER)
    factors[first.support] = 1.0
    alpha = LEFT * first.course.alphas[0]
    spec = riata.Spec(solver="exact", loss="logistic", alpha=alpha, penalty_factors=factors, tol=TOL)
    return riata.train(data, spec)


def ratio_for(data, k):
    """The share of the largest alpha with which the model has about k features."""
    high, low, ratio = 1.0, None, FIRST
    for _ in range(MOST_FITS):
        n = len(fitted(data, ratio).support)
        if abs(n - k) <= NEAR * k:
            break
        high, low = (ratio, low) if n < k else (high, ratio)
        # down, where fits take longer, no further than needed
        ratio = ratio / 2 if low is None else (high * low) ** 0.5
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("model", type=Path)
    parser.add_argument("--k", type=int, required=True)
    parser.add_argument("--refit", action="store_true")
    parser.add_argument("--memory", default="4GB")
    arguments = parser.parse_args()
    kept = arguments.model.with_name(f"alpha-of-{arguments.k}")
    data = riata.open(arguments.train, "label", memory=arguments.memory, task="classification")
    if arguments.refit and kept.exists():
        ratio = float(kept.read_text())
    else:
        ratio = ratio_for(data, arguments.k)
        kept.write_text(repr(ratio))
    found = fitted(data, ratio)
    if arguments.refit:
        found = refitted(data, found)
    print(f"{len(found.support)} features, gap {found.course.gap:.1e}", file=sys.stderr)
    found.to_model().save(arguments.model)


if __name__ == "__main__":
    main()
