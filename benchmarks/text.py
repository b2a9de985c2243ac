"""From a text file to a model, end to end, beside Vowpal Wabbit: imdb as svmlight, once and ten times over.

    python benchmarks/text.py [--data ../shared/data] [--copies 10] [--out docs/online-text.md]

Every learner is a process of its own that reads the file once and learns in the order of its rows, which are shuffled
first. Megabytes a second are those of the longer file beyond the shorter one, so that starting Python does not count;
both times are given, too. Needs `riata[bench]`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from online import imdb

from peak_memory import memory_of

PAGE = """# From text to a model

`riata fit -` learns from text on standard input, in one pass and without keeping the rows:

    cat train.svm | riata fit - --task classification --no-cache --solver online --out model.json

This page measures how fast that is, beside Vowpal Wabbit, for the reviews of imdb in svmlight format
({size:.0f} MB) and for a file of {copies} copies of them. `python benchmarks/text.py` wrote it. Every learner
is a process of its own, which reads its file once and learns in the order of the rows; Vowpal Wabbit reads the same
rows in its own format.

- **MB/s** counts only the rows after the first copy, so that starting a process does not matter.
- **Accuracy and features** are those of one copy.

| learner | MB/s | seconds, 1 copy | {copies} copies | peak MB, 1 copy | {copies} copies | test accuracy | features |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


def write_rows(rows, path, bar=""):
    """svmlight lines, or Vowpal Wabbit's with a bar before the features; columns count from one."""
    X, y = rows
    with open(path, "w") as file:
        for i in np.random.default_rng(0).permutation(len(y)):
            span = slice(X.indptr[i], X.indptr[i + 1])
            pairs = " ".join(f"{j + 1}:{v:.4f}" for j, v in zip(X.indices[span].tolist(), X.data[span], strict=True))
            file.write(f"{y[i]:g} {bar}{pairs}\n")


def repeated(path, copies):
    """The same lines, so many times."""
    out = path.with_stem(f"{path.stem}-{copies}")
    with open(out, "wb") as file:
        for _ in range(copies):
            file.write(path.read_bytes())
    return out


def timed(command, stdin=None):
    """(seconds, peak MB) of a process."""
    started = time.perf_counter()
    with open(stdin or os.devnull, "rb") as rows:
        process = subprocess.Popen([str(part) for part in command], stdin=rows, stdout=subprocess.DEVNULL)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, memory_of(process.pid))
            time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return time.perf_counter() - started, peak


class Riata:
    """`riata fit -` on standard input that is not kept."""

    def __init__(self, name, options, width):
        self.name, self.options, self.width = f"riata {name}", options, width
        self.riata = Path(sys.executable).with_name("riata")

    def fit(self, path, model):
        options = ["--task", "classification", "--no-cache", "--n-features", self.width, "--out", model, "--quiet"]
        return timed([self.riata, "fit", "-", *options, *self.options], path)

    def accuracy(self, model, test):
        found = json.loads(subprocess.check_output([self.riata, "evaluate", model, test, "--json"]))
        return found["accuracy"], len(json.loads(model.read_text())["features"])


class VowpalWabbit:
    """`vw` with its default of adaptive steps."""

    def __init__(self, l1):
        self.name, self.l1 = f"Vowpal Wabbit --l1 {l1}", l1
        self.vw = [sys.executable, "-m", "vowpalwabbit", "--quiet"]

    def fit(self, path, model):
        options = ["--loss_function", "logistic", "--l1", self.l1, "-b", "18", "-f", model]
        return timed([*self.vw, "-d", path.with_suffix(".vw"), *options])

    def accuracy(self, model, test):
        rows, text = test.with_suffix(".vw"), model.with_suffix(".txt")
        timed([*self.vw, "-t", "-i", model, "-d", rows, "-p", text, "--readable_model", f"{text}.model"])
        z = np.loadtxt(text)
        y = np.array([float(line.split(" ", 1)[0]) for line in rows.read_text().splitlines()])
        weights = [line for line in Path(f"{text}.model").read_text().splitlines() if line.count(":") == 1]
        return float(np.mean((z > 0) == (y > 0))), sum(line.split(":")[0].isdigit() for line in weights)


def row_of(learner, train, test, copies, folder):
    """A line of the table."""
    model = folder / "model.json"
    short, _ = learner.fit(train, model)
    accuracy, n_selected = learner.accuracy(model, test)
    long, memory = learner.fit(repeated_of(train, copies), model)
    _, memory_short = learner.fit(train, model)
    rate = (copies - 1) * train.stat().st_size / (long - short) / 1e6
    print(learner.name, f"{rate:.0f} MB/s, {accuracy:.4f}, {n_selected} features", flush=True)
    cells = [learner.name, f"{rate:.0f}", f"{short:.1f}", f"{long:.1f}", f"{memory_short:.0f}", f"{memory:.0f}",
             f"{accuracy:.4f}", f"{n_selected:,}"]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def repeated_of(path, copies):
    return path.with_stem(f"{path.stem}-{copies}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("docs/online-text.md"))
    arguments = parser.parse_args()
    rows = imdb(arguments.data)
    if rows is None:
        raise SystemExit(f"there is no imdb_counts.npz in {arguments.data}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, part in zip(("train", "test"), rows, strict=True):
            write_rows(part, folder / f"{name}.svm")
            write_rows(part, folder / f"{name}.vw", "| ")
        for ending in ("svm", "vw"):
            repeated(folder / f"train.{ending}", arguments.copies)
        width = rows[0][0].shape[1]
        learners = [
            Riata("ftrl", ["--solver", "ftrl", "--alpha", "1e-4", "--no-standardize"], width),
            Riata("online", ["--solver", "online"], width),
            Riata("sketch, k = 100", ["--solver", "sketch", "--k", "100", "--memory", "64MB"], width),
            VowpalWabbit("1e-6"),
            VowpalWabbit("1e-7"),
        ]
        size = (folder / "train.svm").stat().st_size / 1e6
        lines = [PAGE.format(size=size, copies=arguments.copies)]
        lines += [row_of(learner, folder / "train.svm", folder / "test.svm", arguments.copies, folder)
                  for learner in learners]  # fmt: skip
    arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
