"""What a pass over a log of clicks is made of, measured, and what follows for more rows and workers.

    python benchmarks/clicks_cost.py [--rows 300000] [--seed 0] [--folder FOLDER] [--bandwidth 1e9]

Rows are those of `clicks.py`. The parts are measured in one process, on one thread, in processor seconds, after the
rows that the profile takes: decoding a Parquet file, making features of its columns, learning them, and the first look
at all rows that a cluster takes; then what workers leave behind, its size and how long two of them take to add. From
these a table for a cluster of workers with one core each: every worker reads and learns its share, and what they learnt
is added in a tree, over a network of so many bytes a second. That the parts go on like this is assumed, not measured.
"""

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from clicks import write_all

import riata
from riata.data import out_of_core
from riata.data.chunk import add
from riata.data.formats.parquet import Parquet
from riata.data.opening.column_options import ColumnOptions
from riata.data.opening.first_pass import learn_profile
from riata.data.opening.sources import Reading, open_source
from riata.solvers.online.online import Online
from riata.solvers.online.part_learner import LearntPart, LeftRows
from riata.solvers.online.progressive_validation import ProgressiveValidation
from riata.solvers.online.shared_out import pieces
from riata.training.streaming.stream_fit import learn_chunk
from riata.training.streaming.streams import Learner

ROWS, WORKERS = (10**9, 10**10), (10, 100, 1000)
WARM = 60_000  # rows after which parts are measured


def seconds(f, *arguments):
    """(processor seconds, result) of a call."""
    started = time.process_time()
    result = f(*arguments)
    return time.process_time() - started, result


def decoding(path):
    """Of all rows."""
    source = open_source(path, Reading(512 * 10**6))
    assert isinstance(source, Parquet)
    source.as_codes()
    return sum(batch.num_rows for batch in source.batches(source.schema.names, 25_000))


def encoding_and_learning(path):
    """(seconds of decoding and encoding, seconds of learning, rows, the learner), of rows behind the first ones."""
    data = riata.open(str(path), "label", one_pass=True)
    learner = Learner(riata.Spec(solver="online", loss="logistic"), np.array([], dtype=int))
    chunks, read, learnt, n_rows, n_seen = data.visit(), 0.0, 0.0, 0, 0
    while True:
        reading, chunk = seconds(next, chunks, None)
        if chunk is None:
            return read, learnt, n_rows, learner
        learning, _ = seconds(learn_chunk, learner, chunk, data)
        if n_seen >= WARM:
            read, learnt, n_rows = read + reading, learnt + learning, n_rows + chunk.n_rows
        n_seen += chunk.n_rows


def first_look(path):
    """At all columns of all rows."""
    return learn_profile(open_source(path, Reading(512 * 10**6)), ColumnOptions(target="label"), 25_000)


def parts(path, n_rows):
    """Processor seconds for a million rows, by part; and the bytes and seconds of what a worker leaves."""
    pa.set_cpu_count(1)
    out_of_core.ahead = lambda items, depth=1: iter(items)  # one after the other
    decoding(path)
    decode = seconds(decoding, path)[0] / n_rows
    read, learn, n_timed, learner = encoding_and_learning(path)
    read, learn = read / n_timed, learn / n_timed
    profile = seconds(first_look, path)[0] / n_rows
    stream = learner.margins.streams[0]
    method = stream.stepper.method
    assert isinstance(method, Online)
    left = pieces(method, LearntPart(stream.state, False, ProgressiveValidation(), LeftRows()))
    adding, _ = seconds(add, left, left)
    n_bytes = sum(part.nbytes for part in left if isinstance(part, np.ndarray))
    million = 1e6
    return (
        {
            "decoding Parquet": million * decode,
            "making features": million * (read - decode),
            "learning": million * learn,
            "a first look at all rows (on a cluster)": million * profile,
        },
        n_bytes,
        adding,
    )


def hours(s):
    """A time that people can read."""
    return f"{s:.0f} s" if s < 120 else f"{s / 60:.0f} min" if s < 7200 else f"{s / 3600:.1f} h"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where data of clicks.py is, or is made and kept")
    parser.add_argument("--bandwidth", type=float, default=1e9, help="of the network, in bytes a second")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = arguments.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "train.parquet").exists():
            write_all(folder, arguments.rows, arguments.seed, ["parquet"])
        found, n_bytes, adding = parts(folder / "train.parquet", arguments.rows)
    print("| part | processor seconds for 1,000,000 rows |\n| --- | --- |")
    for name, value in found.items():
        print(f"| {name} | {value:.2f} |")
    print(f"\nA worker leaves {n_bytes / 1e6:.0f} MB, and two of them are added in {adding:.2f} s.\n")
    print(f"| rows |{' |'.join(f' {n} workers' for n in WORKERS)} |\n| --- |{' --- |' * len(WORKERS)}")
    for n_rows in ROWS:
        each = sum(found.values()) / 1e6
        times = [
            n_rows / n * each + math.ceil(math.log2(n)) * (adding + n_bytes / arguments.bandwidth) for n in WORKERS
        ]
        print(f"| {n_rows:.0e} | {' | '.join(map(hours, times))} |")


if __name__ == "__main__":
    main()
