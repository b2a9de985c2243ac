"""What one standard error costs: `select="cv-1se"`, the default, beside `select="cv"`, of `alpha="auto"` on real sets.

    python benchmarks/rules.py [--only golub texts]

The sets, and the loss on rows that no fit has seen, are those of `auto_k.py`.
"""

import argparse

import numpy as np
from auto_k import LOSSES, SETS, losses_of

from riata import SparseClassifier, SparseRegressor

RULES = ("cv-1se", "cv")


def measured(name, rule):
    """The losses of rows not seen, and how many features there are in the mean."""
    losses, features, loss = [], [], LOSSES.get(name, "logistic")
    for X, y, X_test, y_test in SETS[name]():
        options = {"alpha": "auto", "select": rule}
        model = SparseClassifier(**options) if loss == "logistic" else SparseRegressor(loss=loss, **options)
        model.fit(X, y)
        losses.append(losses_of(model, loss, X_test, y_test, np.var(y) if loss == "squared" else 1.0))
        features.append(np.count_nonzero(model.coef_))
    return np.concatenate(losses), float(np.mean(features))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[""], help="sets whose name contains one of these")
    arguments = parser.parse_args()
    print("| set | `cv-1se`: loss (features) | `cv`: loss (features) | difference | its standard error |")
    print("| --- " * 5 + "|")
    for name in SETS:
        if any(part in name for part in arguments.only):
            (sparse, few), (best, many) = (measured(name, rule) for rule in RULES)
            more = sparse - best
            cells = [name, f"{sparse.mean():.4f} ({few:.0f})", f"{best.mean():.4f} ({many:.0f})"]
            cells += [f"{more.mean():.4f}", f"{more.std() / np.sqrt(len(more)):.4f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
