"""Solver 'sketch' in a twentieth of the dense state, against solver 'online' with all of it.

    python benchmarks/sketch.py [--data ../shared/data] [--seeds 8] [--out docs/sketch.md]

imdb: tf-idf of word counts. news20: the same with pairs of words; the file has counts without the order of words, so a
pair is of two words of a document that are neighbours in the vocabulary. One pass, k = 50, logistic loss, defaults.
Beside accuracy: how many of the 50 features of the dense run were found. Two dense runs that differ in the order of
the rows only agree on so many, too.
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from online import imdb, tf_idf

from riata.data.in_memory import InMemory
from riata.matrices.host import as_matrix
from riata.solvers.online.online import Online
from riata.solvers.online.sketch import METHOD_SHARE
from riata.training.fitting import fit
from riata.training.spec import Spec

K = 50
SHARE = 20
MEASURED = """## A twentieth of the memory

Measured by `python benchmarks/sketch.py`: one pass, k = {k}, logistic loss, means over {seeds} seeds, beside the
solver `online` in full memory (dense). "Of {k} found" counts the features of the dense model that the sketch has,
too. The last column says how many features two dense models share if only the order of the rows differs. The shares
of the memory were chosen on these two sets."""


def news20_pairs(folder):
    """Words and pairs of words: (train, test)."""
    path = Path(folder) / "news20_counts.npz"
    if not path.exists():
        return None
    counts = sp.csr_array(sp.load_npz(path)).astype(np.float64)
    counts.sort_indices()
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    together = row[1:] == row[:-1]
    pair = counts.indices[:-1].astype(np.int64) * counts.shape[1] + counts.indices[1:]
    _, column = np.unique(pair[together], return_inverse=True)
    pairs = sp.csr_array((np.ones(len(column)), (row[1:][together], column)))
    with np.load(path) as extra:
        y, split = np.where(extra["y"] > 0, 1.0, -1.0), extra["split"]
    return tf_idf(sp.csr_array(sp.hstack([counts, pairs], format="csr")), y, split)


def learned(train, test, **options):
    """(features, test accuracy) of one fit."""
    result = fit(InMemory(*train), Spec(loss="logistic", k=K, tol=0.0, **options)).result
    on = np.flatnonzero(result.coef)
    ids = on if result.features is None else result.features.ids[on]
    X, y = test
    accuracy = np.mean((as_matrix(X).narrowed(ids).margins(result.coef[on], result.intercept) > 0) == (y > 0))
    print(options, len(ids), f"{accuracy:.4f}", flush=True)
    return set(ids.tolist()), float(accuracy)


def compare(name, train, test, seeds):
    """A row of the table."""
    d = train[0].shape[1]
    dense_bytes = sum(array.nbytes for array in Online(k=K).memory(d).values())
    memory = int(dense_bytes / SHARE / METHOD_SHARE)  # the rest of the budget is for rows
    dense = [learned(train, test, solver="online", seed=seed) for seed in range(seeds)]
    small = [learned(train, test, solver="sketch", seed=seed, memory=memory) for seed in range(seeds)]
    found = [len(a & b) for (a, _), (b, _) in zip(dense, small, strict=True)]
    agree = [len(dense[i][0] & dense[i - 1][0]) for i in range(seeds)] if seeds > 1 else []
    cells = [
        name, f"{d:,}", f"{dense_bytes / 1e6:.1f}", f"{dense_bytes / SHARE / 1e6:.2f}",
        *(f"{np.mean([accuracy for _, accuracy in runs]):.4f}" for runs in (dense, small)),
        f"{np.mean(found):.1f} ({', '.join(map(str, found))})", f"{np.mean(agree):.1f}" if agree else "",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--out", type=Path, default=Path("docs/sketch.md"))
    arguments = parser.parse_args()
    lines = [
        "| data | features | dense, MB | sketch, MB | accuracy, dense | sketch | of 50 found | dense runs agree on |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, load in (("imdb", imdb), ("news20, words and pairs", news20_pairs)):
        data = load(arguments.data)
        if data is not None:
            lines.append(compare(name, *data, arguments.seeds))
    head = Path(__file__).with_name("sketch.head.md").read_text().rstrip()
    measured = MEASURED.format(k=K, seeds=arguments.seeds)
    arguments.out.write_text("\n\n".join([head, measured, "\n".join(lines)]) + "\n")


if __name__ == "__main__":
    main()
