"""'online' on data that played no part when its constants were set, over several orders of the rows, beside peers.

Used by `online.py`. Per data set: one pass of 'online' with nothing given; the exact L1-logistic answer of the nearest
number of features (alpha down to a 300th of the empty model's, sparse columns as they are); and one pass of
SGDClassifier(penalty="l1"), at the alpha of a grid that gives the nearest number of features, on columns as they are or
divided by their deviations, whichever serves it better.
"""

import warnings
from bisect import bisect_left
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from riata.data.in_memory import InMemory
from riata.training.fitting import fit
from riata.training.spec import Spec

ORDERS = 5
ALPHAS = np.geomspace(1e-2, 1e-7, 21)
RATIOS = 0.3 * 0.8 ** np.arange(21)  # down to a three-hundredth of the alpha of the empty model


def sparse_set(folder, name):
    """(train, test) of a data set of counts or indicators; words in rows of unit length."""
    path = Path(folder) / f"{name}.npz"
    X = sp.csr_array(sp.load_npz(path)).astype(float)
    with np.load(path) as file:
        y, split = np.where(file["y"] > 0, 1.0, -1.0), file["split"]
    if name == "news20_counts":
        X.data = 1.0 + np.log(X.data)
        X = sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1)).clip(1e-9)) @ X)
    return tuple((X[split == part], y[split == part]) for part in (0, 1))


def covtype(folder):
    """The commonest kind of forest against all others; every fifth row, of a shuffle, is for the test."""
    with np.load(Path(folder) / "covtype.npz") as file:
        order = np.random.default_rng(0).permutation(len(file["y"]))
        X, y = file["X"][order].astype(float), np.where(file["y"][order] == 2, 1.0, -1.0)
    test = np.arange(len(y)) % 5 == 0
    return (X[~test], y[~test]), (X[test], y[test])


def sets(folder):
    """{name: (train, test)} of those that are there."""
    found = {}
    for name, load in (
        ("news20", lambda: sparse_set(folder, "news20_counts")),
        ("a9a", lambda: sparse_set(folder, "a9a")),
        ("covtype", lambda: covtype(folder)),
    ):
        if (Path(folder) / f"{'news20_counts' if name == 'news20' else name}.npz").exists():
            found[name] = load()
    return found


def accuracy(w, b, test):
    X, y = test
    return float(np.mean((X @ w + b > 0) == (y > 0)))


def shuffled(train, seed):
    order = np.random.default_rng(seed).permutation(len(train[1]))
    return train[0][order], train[1][order]


def online(train, test):
    """[(features, accuracy), ...] over orders of the rows."""
    points = []
    for seed in range(ORDERS):
        spec = Spec(loss="logistic", solver="online", seed=seed, tol=0.0)
        result = fit(InMemory(*shuffled(train, seed)), spec).result
        points.append((np.count_nonzero(result.coef), accuracy(result.coef, result.intercept, test)))
    return points


def exact(train, test, n_features):
    """(features, accuracy) of the certified answer with the nearest number of features."""
    data, points = InMemory(*train), {}
    spec = Spec(loss="logistic", solver="exact", standardize=not sp.issparse(train[0]), tol=1e-3)

    def size(i):
        result = fit(data, replace(spec, alpha_ratio=RATIOS[i])).result
        points[i] = np.count_nonzero(result.coef), accuracy(result.coef, result.intercept, test)
        return points[i][0]

    bisect_left(range(len(RATIOS)), n_features, key=size)
    return min(points.values(), key=lambda point: abs(np.log(max(point[0], 1) / n_features)))


def sgd(train, test, n_features):
    """[(features, accuracy), ...] over orders, at the alpha and the scaling that serve it best."""
    tries = []
    for scaler in (None, StandardScaler(with_mean=False).fit(train[0])):
        (X, y), (X_test, y_test) = ((scaler.transform(X) if scaler else X, y) for X, y in (train, test))
        by_alpha = {alpha: _sgd_pass(X, y, alpha, 0) for alpha in ALPHAS}
        sizes = np.array([np.count_nonzero(model.coef_) for model in by_alpha.values()])
        alpha = ALPHAS[np.argmin(np.abs(np.log(sizes.clip(1) / n_features)))]
        models = [_sgd_pass(X, y, alpha, seed) for seed in range(ORDERS)]
        tries.append([(np.count_nonzero(m.coef_), float(m.score(X_test, y_test))) for m in models])
    return max(tries, key=lambda points: np.mean([a for _, a in points]))


def _sgd_pass(X, y, alpha, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SGDClassifier(
            loss="log_loss", penalty="l1", alpha=alpha, max_iter=1, tol=None, random_state=seed
        ).fit(X, y)  # fmt: skip


def cells(points):
    """Mean features, and mean accuracy with the least and the most."""
    features, accuracies = np.array(points, dtype=float).T
    return f"{features.mean():.0f} | {accuracies.mean():.4f} ({accuracies.min():.4f} to {accuracies.max():.4f})"


def table(found):
    """The lines of the page for {name: (train, test)}."""
    lines = ["| data | method | features | test accuracy |", "| --- | --- | --- | --- |"]
    for name, (train, test) in found.items():
        points = online(train, test)
        n_features = np.mean([n for n, _ in points])
        n_exact, a_exact = exact(train, test, n_features)
        lines += [
            f"| {name} | online, one pass | {cells(points)} |",
            f"| {name} | SGDClassifier, L1, one pass | {cells(sgd(train, test, n_features))} |",
            f"| {name} | exact | {n_exact} | {a_exact:.4f} |",
        ]
        print(*lines[-3:], sep="\n", flush=True)
    return "\n".join(lines)
