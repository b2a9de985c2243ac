"""Online methods: accuracy against number of features, against the exact answer, and speed against peers.

    python benchmarks/online.py [--data ../shared/data] [--out docs/online.md]

Writes a page and a plot beside it. digits49 comes with the package; imdb (`imdb_counts.npz`, 50,000 reviews) is left
out where it is absent. All defaults, logistic loss, one seed; times are the fastest of some warm runs, one thread, and
are to be read as ratios. Needs `riata[bench]`.
"""

import argparse
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import orders
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from riata.data.chunk import Chunk
from riata.data.in_memory import InMemory
from riata.datasets import load_digits49
from riata.losses import LOSSES
from riata.solvers.online.ftrl import Ftrl
from riata.solvers.online.online import Online
from riata.solvers.stochastic.method import first_state, make_stepper
from riata.training.fitting import fit
from riata.training.spec import Spec

RATIOS = (0.1, 0.03)
SIZES = (50, 400)
BY_ALPHA = ("fobos", "truncated", "rda", "ftrl", "online")
BY_K = ("l0-sgd", "hsg-ht", "svrg-ht", "online")
RIVER_ROWS = 500


def accuracy(result, test):
    X, y = test
    return float(np.mean((X @ result.coef + result.intercept > 0) == (y > 0)))


def learned(train, test, **options):
    """(features, accuracy) of one fit."""
    result = fit(InMemory(*train), Spec(loss="logistic", seed=0, tol=0.0, **options)).result
    point = int(np.count_nonzero(result.coef)), accuracy(result, test)
    print(options, *point, flush=True)
    return point


def curves(train, test, passes):
    """{method: [(features, accuracy), ...]} over strengths and sizes."""
    found = {
        name: [learned(train, test, solver=name, alpha_ratio=ratio, max_passes=passes) for ratio in RATIOS]
        for name in BY_ALPHA
    }
    for name in BY_K:
        found[f"{name}, k"] = [learned(train, test, solver=name, k=k, max_passes=passes) for k in SIZES]
    found["online, nothing given"] = [learned(train, test, solver="online", max_passes=passes)]
    return found


def table(found):
    lines = ["| method | features: test accuracy |", "| --- | --- |"]
    for name, points in found.items():
        lines.append(f"| {name} | " + ", ".join(f"{n}: {a:.3f}" for n, a in points) + " |")
    return "\n".join(lines)


def plot(by_passes, path):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(by_passes), figsize=(12, 5), sharey=True)
    for axis, (passes, found) in zip(axes, by_passes.items(), strict=True):
        for name, points in found.items():
            points = sorted(point for point in points if point[0] > 0)
            marker = "*" if "nothing" in name else "o"
            axis.plot(*zip(*points, strict=True), marker=marker, linestyle="--" if ", k" in name else "-", label=name)
        axis.set(xscale="log", xlabel="features", title=f"digits49, {passes} pass{'es' if passes > 1 else ''}")
        axis.set_ylim(0.8, 1.0)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("test accuracy")
    axes[-1].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)


def imdb(folder):
    """tf-idf of word counts: (train, test)."""
    path = Path(folder) / "imdb_counts.npz"
    if not path.exists():
        return None
    counts = sp.csr_array(sp.load_npz(path))
    with np.load(path) as extra:
        y, split = np.where(extra["y"] > 0, 1.0, -1.0), extra["split"]
    return tf_idf(counts, y, split)


def tf_idf(counts, y, split):
    """Weighted counts: (train, test)."""
    weights = TfidfTransformer(sublinear_tf=True).fit(counts[split == 0])
    return tuple((sp.csr_array(weights.transform(counts[split == part])), y[split == part]) for part in (0, 1))


def against_exact(train, test):
    """One pass of 'online' and the exact L1-logistic answers of about as many features."""
    n, a = learned(train, test, solver="online")
    lines = ["| method | features | test accuracy |", "| --- | --- | --- |", f"| online, one pass | {n} | {a:.4f} |"]
    for k in (100, 400):
        n, a = learned(train, test, solver="online", k=k)
        lines.append(f"| online, one pass, k = {k} | {n} | {a:.4f} |")
    for ratio in (0.1, 0.07, 0.05):
        result = fit(InMemory(*train), Spec(loss="logistic", solver="exact", alpha_ratio=ratio, tol=1e-4)).result
        n, a = int(np.count_nonzero(result.coef)), accuracy(result, test)
        lines.append(f"| exact, alpha = {ratio} alpha_max | {n} | {a:.4f} |")
    return "\n".join(lines)


def seconds(run, repeats=5):
    times = []
    for _ in range(repeats + 1):  # the first one compiles
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times[1:])


def one_pass(method, X, y):
    def run():
        stepper = make_stepper(method, LOSSES["logistic"], None, 1, True)
        visits = np.random.default_rng(0).permutation(len(y))
        stepper.advance(first_state(method, X.shape[1]), Chunk(X, y, np.ones(len(y))), visits)

    return run


def sgd(X, y):
    model = SGDClassifier(loss="log_loss", penalty="l1", alpha=1e-5, max_iter=1, tol=None)
    return lambda: model.fit(X, y)


def river(X, y):
    from river import linear_model, optim

    part = X[:RIVER_ROWS]
    rows = [dict(zip(part.indices[a:b].tolist(), part.data[a:b].tolist(), strict=True))
            for a, b in pairwise(part.indptr)]  # fmt: skip
    labels = (y[:RIVER_ROWS] > 0).tolist()

    def run():
        model = linear_model.LogisticRegression(optimizer=optim.FTRLProximal(l1=1.0))
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)

    return run, part.nnz


def speed(train):
    """Millions of non-zeros learnt in a second, one thread."""
    X, y = train
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rates = {
            "riata online (four lanes)": X.nnz / seconds(one_pass(Online(), X, y)),
            "riata ftrl": X.nnz / seconds(one_pass(Ftrl(1e-4, 0.0), X, y)),
            "scikit-learn SGDClassifier(penalty='l1')": X.nnz / seconds(sgd(X, y)),
        }
        run, nnz = river(X, y)
        rates["River FTRLProximal"] = nnz / seconds(run, repeats=2)
    base = rates["scikit-learn SGDClassifier(penalty='l1')"]
    lines = ["| learner | million non-zeros a second | times SGDClassifier |", "| --- | --- | --- |"]
    lines += [f"| {name} | {rate / 1e6:.2f} | {rate / base:.3g} |" for name, rate in rates.items()]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--out", type=Path, default=Path("docs/online.md"))
    arguments = parser.parse_args()
    train, test = ((X, y) for X, y, _ in map(load_digits49, ("train", "test")))
    parts = [Path(__file__).with_name("online.head.md").read_text().rstrip()]
    by_passes = {passes: curves(train, test, passes) for passes in (1, 10)}
    plot(by_passes, arguments.out.with_suffix(".svg"))
    for passes, found in by_passes.items():
        parts += [f"## digits49, {passes} pass{'es' if passes > 1 else ''}", table(found)]
    text = imdb(arguments.data)
    if text is not None:
        parts += ["## imdb, tf-idf: one pass against the exact answer", against_exact(*text)]
        parts += ["## Other data, five orders of the rows", orders.table({"imdb": text} | orders.sets(arguments.data))]
        parts += ["## Speed", speed(text[0])]
    arguments.out.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
