"""What `alpha="auto"` and `k="auto"` cost on text, with all defaults, in processor seconds over all cores.

    python benchmarks/auto.py [imdb news20 few-texts few-messages] [--by alpha k] [--glmstar]

Counts of words of movie reviews (imdb) and of two groups of messages (news20), and of 3,000 reviews (few-texts) or
messages (few-messages) alone. `--glmstar` has glmnet's cross-validation, from Python, over the alphas that riata went
along, with the same folds.
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp

import problems
from riata import SparseClassifier

FEW = 3000  # texts
ENOUGH = 600  # texts, whose fit compiles all that a larger one needs: few of them would be interpreted
PART_OF = {"few-texts": "imdb", "few-messages": "news20"}


def texts(name):
    """(X, y) to learn from, and the same to score."""
    path = problems.SHARED / f"{PART_OF.get(name, name)}_counts.npz"
    with np.load(path) as arrays:
        y, split = arrays["y"], arrays["split"]
    X = sp.csr_array(sp.load_npz(path), dtype=np.float64)
    rows = np.flatnonzero(split == 0)
    if name in PART_OF:
        rows = np.random.default_rng(0).choice(rows, FEW, replace=False)
    used = np.diff(X[rows].tocsc().indptr) > 0
    X = X[:, used]
    return (X[rows], y[rows]), (X[split == 1], y[split == 1])


def against_glmstar(name, X, y):
    """Both choose alpha by the same folds; glmstar goes along as many of the alphas as riata had models for, to its own
    tolerance and to a tighter one, at which its gaps are about those of riata's folds."""
    from glmnet import LogNet
    from glmnet.paths.fastnet import FastNetControl
    from sklearn.model_selection import KFold

    folds = KFold(5, shuffle=True, random_state=0)
    SparseClassifier(alpha="auto", cv=folds).fit(X[:: len(y) // ENOUGH], y[:: len(y) // ENOUGH])
    began = time.process_time()
    model = SparseClassifier(alpha="auto", cv=folds).fit(X, y)
    print(f"{name} {X.shape} riata: {time.process_time() - began:.1f} processor s", flush=True)
    alphas, positive = np.array(model.path_.alphas), y == np.unique(y)[1]
    columns, target = X.tocsc(), positive.astype(float)
    for threshold in (1e-7, 1e-9):
        began = time.process_time()
        peer = LogNet(lambda_values=alphas, standardize=True, control=FastNetControl(thresh=threshold))
        peer.fit(columns, target)
        spent = time.process_time() - began
        gaps = gaps_of(X, positive, alphas, np.asarray(peer.coefs_), np.ravel(peer.intercepts_))
        began = time.process_time()
        peer.cross_validation_path(columns, target, cv=folds)
        spent += time.process_time() - began
        print(
            f"glmstar, thresh={threshold:g}, with its folds: {spent:.1f} processor s; gaps of {len(gaps)} models of "
            f"all rows: {max(gaps):.1e}, in the median {np.median(gaps):.1e}",
            flush=True,
        )


def gaps_of(X, positive, alphas, coefs, intercepts):
    """The relative duality gaps of logistic models by riata's certificate."""
    from riata.data.in_memory import InMemory
    from riata.losses import LOSSES
    from riata.objective import Problem, duality_gap, elastic_net, first_order, gap_unit

    data, gaps = InMemory(X, np.where(positive, 1.0, -1.0)), []
    for alpha, w, b in zip(alphas, coefs, intercepts, strict=False):
        problem = Problem(data, LOSSES["logistic"], elastic_net(alpha, scale=data.moments.scale))
        gaps.append(duality_gap(problem, w, first_order(problem, w, float(b))) / gap_unit(problem))
    return gaps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["imdb", "news20", *PART_OF])
    parser.add_argument("--by", nargs="+", choices=["alpha", "k"], default=["alpha"])
    parser.add_argument("--glmstar", action="store_true", help="its cross-validation, too")
    arguments = parser.parse_args()
    for name in arguments.names:
        (X, y), test = texts(name)
        if arguments.glmstar:
            against_glmstar(name, X, y)
            continue
        for by in arguments.by:
            some = slice(None, None, len(y) // ENOUGH)
            SparseClassifier(**{by: "auto"}).fit(X[some], y[some])  # compiles what is not on disk yet
            began, wall = time.process_time(), time.perf_counter()
            model = SparseClassifier(**{by: "auto"}).fit(X, y)
            spent, wall = time.process_time() - began, time.perf_counter() - wall
            print(
                f"{name} {X.shape[0]} x {X.shape[1]} {by}='auto': {spent:.1f} processor s ({wall:.1f} s), "
                f"{np.count_nonzero(model.coef_)} features, test accuracy {model.score(*test):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
