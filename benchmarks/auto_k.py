"""`k="auto"` beside `alpha="auto"` and `k="auto"` without a ridge, on all real sets, with all other defaults.

    python benchmarks/auto_k.py [--only golub] [--from docs/auto.md] [--out docs/auto.md]

Every set is learnt from some rows and scored on others that no fit has seen; the sets of few rows five times, on
another fifth each time. What is kept in build/auto_k.json is not measured again; `--from` takes the lines of other sets
from an earlier table.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

import problems
from problems import run_name
from riata import SparseClassifier, SparseRegressor

KEPT = Path(__file__).parents[1] / "build" / "auto_k.json"
FITS = {"alpha": {"alpha": "auto"}, "k without a ridge": {"k": "auto", "ridge": 0.0}, "k": {"k": "auto"}}
HEAD = """# k or alpha, chosen

How well do `alpha="auto"` (the Lasso) and `k="auto"` predict, and with how many features? The middle column is
`k="auto", ridge=0`; `k="auto"` also chooses a [ridge](selection.md#a-ridge-beside-k). All other options are the
defaults. Written by `python benchmarks/auto_k.py --out docs/auto.md`.

- **Loss**: the mean on held-out rows: the log loss of classes, the mean squared error as a share of the variance, the
  Poisson loss of claims. Small sets are fitted five times, each time without another fifth of the rows, which is
  scored.
- **Error**: the standard error, over the held-out rows, of the least of the three losses.
- **Behind**: by how many of these errors `k="auto"` is above the least loss.
- **By folds**: the same in standard errors of the best score over the folds that `k="auto"` chose by. Its rule may give
  up one of them for fewer features. Held-out rows are often many more than those of the folds.
- **Seconds**: processor seconds, beside other work.
- **Run**: when and by which version of the code each line was measured.

Without a ridge, `k="auto"` often chooses one feature or none where classes can be separated: larger models are
over-confident.

"""


def texts(n):
    def load():
        path = problems.SHARED / "imdb_counts.npz"
        with np.load(path) as arrays:
            y, split = arrays["y"], arrays["split"]
        X = sp.csr_array(sp.load_npz(path), dtype=np.float64)
        rng = np.random.default_rng(0)
        order = rng.permutation(np.flatnonzero(split == 0))  # the other half is of other movies
        rows, others = order[:n], order[n : n + 5000]
        used = np.diff(X[rows].tocsc().indptr) > 0
        return [(X[rows][:, used], y[rows], X[others][:, used], y[others])]

    return load


def news20():
    path = problems.SHARED / "news20_counts.npz"
    with np.load(path) as arrays:
        y, split = arrays["y"], arrays["split"]
    X = sp.csr_array(sp.load_npz(path), dtype=np.float64)
    used = np.diff(X[split == 0].tocsc().indptr) > 0
    return [(X[split == 0][:, used], y[split == 0], X[split == 1][:, used], y[split == 1])]


def fifths(name, target=lambda y: y):
    """Five times four fifths of few rows, and the other fifth."""

    def load():
        with np.load(problems.SHARED / f"{name}.npz") as file:
            X, y = file["X"].astype(float), target(file["y"])
        fold = np.random.default_rng(0).permutation(len(y)) % 5
        return [(X[fold != f], y[fold != f], X[fold == f], y[fold == f]) for f in range(5)]

    return load


def some_of(load_all, n):
    """So many rows of a large set to learn from, and 20,000 others."""

    def load():
        X, y = load_all()
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[:n], order[n : n + 20_000]
        varies = np.asarray(X[train].max(axis=0)).ravel() != np.asarray(X[train].min(axis=0)).ravel()
        return [(X[train][:, varies], y[train], X[test][:, varies], y[test])]

    return load


def digits49():
    from riata.datasets import load_digits49

    train, test = load_digits49("train"), load_digits49("test")
    return [(train[0], train[1], test[0], test[1])]


def covtype():
    with np.load(problems.SHARED / "covtype.npz") as file:
        return file["X"].astype(float), file["y"] == 2


def a9a():
    path = problems.SHARED / "a9a.npz"
    with np.load(path) as arrays:
        y = arrays["y"]
    return sp.load_npz(path).toarray().astype(float), y


def flights():
    table = pd.read_parquet(problems.SHARED / "nycflights13.parquet").dropna(subset=["arr_delay"])
    y = table["arr_delay"].to_numpy(float)
    columns = ["month", "day", "sched_dep_time", "sched_arr_time", "dep_delay", "distance", "hour", "minute"]
    levels = pd.get_dummies(table[["carrier", "origin", "dest"]], dtype=float)
    return np.hstack([table[columns].to_numpy(float), levels.to_numpy()]), y


def claims():
    table = pd.read_parquet(problems.SHARED / "fremtpl2.parquet")
    numbers = table.select_dtypes("number")
    y = numbers["ClaimNb"].to_numpy(float)
    left_out = {"ClaimNb", "IDpol", "ClaimAmount"}
    numbers = numbers[[name for name in numbers if name not in left_out]]
    levels = pd.get_dummies(table.select_dtypes(exclude="number").astype(str), dtype=float)
    return np.hstack([numbers.to_numpy(float), levels.to_numpy()]), y


SETS = {
    "golub": fifths("golub"),
    "riboflavin": fifths("riboflavin"),
    "300 texts": texts(300),
    "3,000 texts": texts(3000),
    "digits49": digits49,
    "a9a, 3,000 rows": some_of(a9a, 3000),
    "covtype, 3,000 rows": some_of(covtype, 3000),
    "flights, 3,000 rows": some_of(flights, 3000),
    "claims, 20,000 rows": some_of(claims, 20_000),
    "news20": news20,
    "20,000 texts": texts(20_000),
}
HEADINGS = [
    "set", *(f"{way}: loss (features)" for way in FITS), "error", "behind", "by folds", "seconds of alpha, of k", "run",
]  # fmt: skip
LOSSES = {"riboflavin": "squared", "flights, 3,000 rows": "squared", "claims, 20,000 rows": "poisson"}


def measured(name, options):
    """Losses of rows not seen, features and processor seconds, of one way to choose."""
    losses, features, of_folds, seconds, said = [], [], [], 0.0, None
    for X, y, X_test, y_test in SETS[name]():
        loss = LOSSES.get(name, "logistic")
        model = SparseClassifier(**options) if loss == "logistic" else SparseRegressor(loss=loss, **options)
        began = time.process_time()
        model.fit(X, y)
        seconds += time.process_time() - began
        losses.append(losses_of(model, loss, X_test, y_test, np.var(y) if loss == "squared" else 1.0))
        features.append(int(np.count_nonzero(model.coef_)))
        said, scores = model.selection_.reason, model.selection_.scores
        of_folds.append(float(model.selection_.errors[np.argmin(scores)]) / (np.var(y) if loss == "squared" else 1.0))
    rows = np.concatenate(losses)
    error, features = float(rows.std() / np.sqrt(len(rows))), float(np.mean(features))
    found = {"loss": float(rows.mean()), "error": error, "features": features, "seconds": seconds, "reason": said}
    return {**found, "of folds": float(np.mean(of_folds))}


def losses_of(model, loss, X, y, variance):
    if loss == "squared":
        return (model.predict(X) - y) ** 2 / variance
    if loss == "poisson":
        mean = model.predict(X)
        return mean - y * np.log(mean)
    p = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return -np.log(np.maximum(p, 1e-300))


def lines_of(path):
    """The lines of an earlier table, by the set: each says of which run it is."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in path.read_text().splitlines()]
    return {row[0]: row for row in cells if row[0] in SETS and len(row) == len(HEADINGS)}


def table(kept, earlier):
    lines = ["| " + " | ".join(HEADINGS) + " |", "| --- " * len(HEADINGS) + "|"]
    for name in SETS:
        found = kept.get(name, {})
        if len(found) < len(FITS):
            lines += ["| " + " | ".join(earlier[name]) + " |"] if name in earlier else []
            continue
        least = min(found.values(), key=lambda one: one["loss"])
        behind = found["k"]["loss"] - least["loss"]
        errors = [f"{behind / error:.1f}" for error in (least["error"], found["k"]["of folds"])]
        cells = [f"{found[way]['loss']:.4f} ({found[way]['features']:.0f})" for way in FITS]
        times = f"{found['alpha']['seconds']:.1f}, {found['k']['seconds']:.1f}"
        run = found["k"].get("run", "")
        lines.append("| " + " | ".join([name, *cells, f"{least['error']:.4f}", *errors, times, run]) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="sets whose name contains this")
    parser.add_argument("--ways", nargs="*", choices=list(FITS), default=list(FITS))
    parser.add_argument("--again", action="store_true", help="measure anew what is kept")
    parser.add_argument("--from", type=Path, dest="table", help="an earlier table, for sets that are not kept")
    parser.add_argument("--out", type=Path, help="write the table of all that is kept to this Markdown file")
    arguments = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    earlier = lines_of(arguments.table) if arguments.table else {}
    for name in SETS:
        for way in arguments.ways if arguments.only in name else []:
            found = kept.setdefault(name, {})
            if way not in found or arguments.again:
                found[way] = {**measured(name, FITS[way]), "run": run_name()}
                print(name, way, found[way], flush=True)
                KEPT.parent.mkdir(exist_ok=True)
                KEPT.write_text(json.dumps(kept, indent=1))
    if arguments.out:
        arguments.out.write_text(HEAD + table(kept, earlier) + "\n")
    print(table(kept, earlier))


if __name__ == "__main__":
    main()
