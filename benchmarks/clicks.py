"""Click logs: rows in the shape of Criteo's, learnt in one pass, beside Vowpal Wabbit in the same run.

    python benchmarks/clicks.py [--rows 300000] [--seed 0] [--folder FOLDER] [--vw COMMAND] [--only NAME ...]
        [--repeats 1] [--median] [--clock] [--sizes 500] [--formats parquet tsv vw] [--levels 2000000]
        [--zipf 1.05] [--out docs/clicks-table.md]

A row has 13 counts, of which many are missing, and 26 columns of 8-digit hexadecimal strings with 3 to 2,000,000
levels each, by Zipf's law; about 6 % are clicks. The true weights are known: `truth` lists them. Rows are made block
by block, any number of them, and written as a folder of Parquet files (zstd), as text with tabs and as Vowpal
Wabbit's text; the last tenth is for testing. Every learner is a process of its own. What counts is processor time
(user and system, all threads), because it depends least on what else the machine does; `--clock` adds the time by the
clock. `--sizes` compares models of so many features with exact ones over the same rows: those of solver 'best-k', and
the L1 models of about as many features (`clicks_exact.py`). Vowpal Wabbit is the one of `riata[bench]`, or any `--vw`
command.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from peak_memory import memory_of

REFUSED = 2  # the exit code of a command that asks for what there is no room for
MOST_LEVELS = 2_000_000  # of a column of strings
ZIPF = 1.05  # P(level of rank r) is about r^-ZIPF
RANK_BITS = 21, 27  # of a level's number: up to 2,097,152 levels, and for more
MISSING = np.linspace(0.0, 0.45, 13)  # shares of the counts
MEANS = np.geomspace(1, 200, 13)  # of the counts
TRUE_COUNTS, TRUE_LEVELS = 5, 20  # counts, and levels of each column, that matter
FREQUENT = 1000  # ranks among which those levels are
CLICKS = -3.7  # the intercept: about 6 %
BLOCK = 50_000  # rows made at a time
PART = 10_000_000  # rows of a Parquet file: the table of contents of one of 10^8 would take memory
COUNTS = [f"I{j + 1}" for j in range(13)]
STRINGS = [f"C{j + 1}" for j in range(26)]


@dataclass(frozen=True)
class Truth:
    """The true weights: of counts, and of levels by column and rank."""

    counts: np.ndarray
    levels: list[dict[int, float]]
    rank_bits: int

    @property
    def names(self):
        """The names of the features that matter, as riata calls them."""
        of_counts = {COUNTS[j] for j in np.flatnonzero(self.counts)}
        return of_counts | {
            f"{STRINGS[j]}={one_string(j, rank, self.rank_bits)}"
            for j, levels in enumerate(self.levels)
            for rank in levels
        }


@dataclass(frozen=True)
class Shape:
    """How many levels the columns of strings have, and how rare most of them are."""

    most_levels: int = MOST_LEVELS
    zipf: float = ZIPF

    @property
    def levels(self):
        return np.geomspace(3, self.most_levels, 26).astype(np.int64)

    @property
    def rank_bits(self):
        return next(bits for bits in RANK_BITS if self.most_levels <= 1 << bits)


SHAPE = Shape()


def truth(seed, shape=SHAPE):
    """The true weights of a seed."""
    rng = np.random.default_rng([seed, 0])
    counts = np.zeros(13)
    chosen = rng.choice(13, TRUE_COUNTS, replace=False)
    counts[chosen] = rng.normal(0, 0.3, TRUE_COUNTS) / MEANS[chosen]
    levels = []
    for n_levels in shape.levels:
        n = min(int(n_levels), FREQUENT)
        odds = 1.0 / np.arange(1, n + 1)
        ranks = rng.choice(n, min(TRUE_LEVELS, n), replace=False, p=odds / odds.sum())
        levels.append({int(rank): float(weight) for rank, weight in zip(ranks, rng.normal(0, 0.4, n), strict=False)})
    return Truth(counts, levels, shape.rank_bits)


def one_string(column, rank, bits):
    return f"{(((column << bits) | rank) * 0x9E3779B1) % 2**32:08x}"


def strings_of(column, ranks, bits):
    """A different string of 8 hexadecimal digits for every column and rank, as Arrow strings."""
    numbers = (((column << bits) | ranks).astype(np.uint64) * np.uint64(0x9E3779B1)).astype(np.uint32)
    digits = (numbers[:, None] >> np.arange(28, -1, -4, dtype=np.uint32)) & np.uint32(15)
    letters = np.frombuffer(b"0123456789abcdef", np.uint8)[digits]
    offsets = np.arange(0, 8 * len(ranks) + 1, 8, dtype=np.int32)
    return pa.StringArray.from_buffers(len(ranks), pa.py_buffer(offsets), pa.py_buffer(letters.tobytes()))


def blocks(n_rows, seed, shape=SHAPE):
    """Record batches of all rows: the same for a seed, and the first ones whatever `n_rows` is."""
    true = truth(seed, shape)
    for number, start in enumerate(range(0, n_rows, BLOCK)):
        yield block(np.random.default_rng([seed, 1, number]), true, shape).slice(0, n_rows - start)


def block(rng, true, shape):
    """BLOCK rows."""
    margin = np.full(BLOCK, CLICKS)
    arrays = []
    for j, mean in enumerate(MEANS):
        values = np.floor(rng.exponential(mean, BLOCK) * np.exp(rng.normal(0, 0.5, BLOCK))).astype(np.int64)
        known = rng.random(BLOCK) >= MISSING[j]
        margin += true.counts[j] * np.where(known, values, mean)
        arrays.append(pa.array(values, mask=~known))
    flat = 1.0 - shape.zipf
    for j, n_levels in enumerate(shape.levels):
        span = (n_levels + 1.0) ** flat - 1.0
        ranks = ((rng.random(BLOCK) * span + 1.0) ** (1.0 / flat)).astype(np.int64) - 1
        ranks = np.clip(ranks, 0, n_levels - 1)
        weights = np.zeros(FREQUENT)
        weights[list(true.levels[j])] = list(true.levels[j].values())
        margin += np.where(ranks < FREQUENT, weights[np.minimum(ranks, FREQUENT - 1)], 0.0)
        arrays.append(strings_of(j, ranks, shape.rank_bits))
    clicked = rng.random(BLOCK) < 1.0 / (1.0 + np.exp(-margin))
    return pa.RecordBatch.from_arrays([pa.array(clicked.astype(np.int8)), *arrays], ["label", *COUNTS, *STRINGS])


def as_tsv(batch):
    """Lines with tabs, without a header, as Criteo's are."""
    cells = [pc.fill_null(column.cast(pa.string()), "") for column in batch.columns]
    return pc.binary_join_element_wise(*cells, "\t")


def as_vw(batch):
    """Lines of Vowpal Wabbit: counts with values, strings as names; a missing count is not there."""
    labels = pc.if_else(pc.equal(batch.column("label"), 1), "1", "-1")
    counts = [pc.binary_join_element_wise(name, batch.column(name).cast(pa.string()), ":") for name in COUNTS]
    strings = [pc.binary_join_element_wise(name, batch.column(name), "=") for name in STRINGS]
    parts = [labels, "|n", *counts, "|c", *strings]
    return pc.binary_join_element_wise(*parts, " ", null_handling="skip")


def write_lines(file, lines):
    """Strings as lines."""
    text = pc.binary_join_element_wise(lines, "", "\n")
    _, offsets, content = text.buffers()
    ends = np.frombuffer(offsets, np.int32)
    file.write(content.slice(0, int(ends[len(text)])))


def write_all(folder, n_rows, seed, formats, shape=SHAPE):
    """The files train.* and test.*, the latter of the next tenth of the rows."""
    n_train, done = n_rows, 0
    total = n_rows + n_rows // 10
    with ExitStack() as stack:
        train, test = (Files(folder, part, stack, formats) for part in ("train", "test"))
        for batch in blocks(total, seed, shape):
            cut = min(max(n_train - done, 0), batch.num_rows)
            train.write(batch.slice(0, cut))
            test.write(batch.slice(cut))
            done += batch.num_rows


FORMATS = {"parquet": None, "tsv": as_tsv, "vw": as_vw}  # with what makes lines of rows


class Files:
    """The same rows in some of the three formats."""

    def __init__(self, folder, part, stack, formats):
        self.schema, self.parquet, self.texts = next(blocks(1, 0)).schema, None, []
        for kind in formats:
            path = folder / f"{part}.{kind}"
            if kind == "parquet":
                self.parquet = stack.enter_context(closing(Parts(path, self.schema)))
            else:
                self.texts.append((stack.enter_context(path.open("wb")), FORMATS[kind]))

    def write(self, rows):
        if rows.num_rows:
            rows = pa.RecordBatch.from_arrays([pa.concat_arrays([c]) for c in rows.columns], schema=self.schema)
            if self.parquet is not None:
                self.parquet.write(rows)
            for file, lines in self.texts:
                write_lines(file, lines(rows))


class Parts:
    """A folder of Parquet files."""

    def __init__(self, folder, schema):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.folder, self.schema, self.file, self.n_files, self.n_rows = folder, schema, None, 0, 0

    def write(self, rows):
        if self.file is None or self.n_rows >= PART:
            self.close()
            path = self.folder / f"part-{self.n_files:04d}.parquet"
            self.file = pq.ParquetWriter(path, self.schema, compression="zstd")
            self.n_files, self.n_rows = self.n_files + 1, 0
        self.file.write_batch(rows)
        self.n_rows += rows.num_rows

    def close(self):
        if self.file is not None:
            self.file.close()


def size_of(path):
    """The bytes of a file, or of those in a folder."""
    return sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))


@dataclass
class Cost:
    """What a process took."""

    cpu: float
    wall: float
    peak: float
    ended: bool = True
    refused: bool = False  # by one sentence, before it began


def timed(command, limit, environment):
    """The cost of a process, which is ended after `limit` seconds."""
    before, started, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), 0.0
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, env=environment)
    ended, refused = True, False
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        time.sleep(0.02)
        if time.perf_counter() - started > limit:
            process.kill()
            process.wait()
            ended = False
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended and process.returncode:
        ended, refused = False, process.returncode == REFUSED
        if not refused:
            raise SystemExit(f"{command} failed")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, time.perf_counter() - started, peak, ended, refused)


@dataclass
class Riata:
    """`riata fit`, of a file of one of the three kinds."""

    name: str
    options: list
    ending: str = "parquet"
    target: str = "label"
    environment: dict = field(default_factory=dict)

    def fit(self, folder, model, limit):
        shutil.rmtree(folder / "cache" / "profiles", ignore_errors=True)
        command = [sys.executable, "-m", "riata", "fit", folder / f"train.{self.ending}", "--out", model, "--quiet"]
        return timed([*command, "--target", self.target, *self.options], limit, self.environment)

    def quality(self, folder, model):
        """Log loss on the test rows, features, and the names of those."""
        command = [sys.executable, "-m", "riata", "evaluate", model, folder / f"test.{self.ending}", "--json"]
        found = json.loads(subprocess.check_output([str(part) for part in command], env=self.environment))
        names = {feature["name"] for feature in json.loads(model.read_text())["features"]}
        return found["log_loss"], len(names), names if self.ending == "parquet" else None


@dataclass
class ExactL1(Riata):
    """`clicks_exact.py`: the exact L1 model of about so many features."""

    def fit(self, folder, model, limit):
        script = Path(__file__).with_name("clicks_exact.py")
        return timed([sys.executable, script, folder / "train.parquet", model, *self.options], limit, self.environment)


@dataclass
class VowpalWabbit:
    """`vw` with adaptive steps, as it is by default."""

    name: str
    options: list
    vw: list

    def fit(self, folder, model, limit):
        return timed([*self.vw, "-d", folder / "train.vw", "-f", model, "--quiet", *self.options], limit, None)

    def quality(self, folder, model):
        text, weights = folder / "predictions.txt", folder / "weights.txt"
        test = ["-t", "-i", model, "-d", folder / "test.vw", "-p", text, "--readable_model", weights, "--quiet"]
        timed([*self.vw, *test], 600, None)
        z = np.loadtxt(text)
        y = np.array([line[:2] != "-1" for line in (folder / "test.vw").read_text().splitlines()])
        lines = weights.read_text().splitlines()
        n_features = sum(line.split(":")[0].isdigit() for line in lines if line.count(":") == 1)
        return float(np.mean(np.logaddexp(0.0, np.where(y, -z, z)))), n_features, None


def of_sizes(sizes):
    """Models of so many features: of one pass, and the exact ones over the same rows."""
    for k in sizes:
        yield Riata(f"riata online --k {k}", ["--solver", "online", "--one-pass", "--k", str(k)])
        yield Riata(f"riata best-k --k {k}", ["--solver", "best-k", "--k", str(k), "--memory", "4GB"])
        yield ExactL1(f"riata exact, about {k} features", ["--k", str(k)])
        yield ExactL1(f"riata exact, about {k} features, refitted", ["--k", str(k), "--refit"])


def learners(environment, vw, sizes=()):
    """All that are compared."""
    common = ["--loss_function", "logistic", "-b", "22"]
    online = ["--solver", "online", "--one-pass"]
    made = [
        Riata("riata online", online),
        Riata("riata online --k 500", [*online, "--k", "500"]),
        Riata("riata online from TSV", online, "tsv", "x0"),
        Riata("riata online from Vowpal Wabbit's text", online, "vw", "y"),
        Riata("riata online --k 500 --sample-negatives 0.3", [*online, "--k", "500", "--sample-negatives", "0.3"]),
        Riata("riata online --polish", [*online, "--polish"]),
        Riata("riata online --k 500 --sample-negatives 0.1", [*online, "--k", "500", "--sample-negatives", "0.1"]),
        Riata("riata online --cross C20,C24", [*online, "--cross", "C20,C24"]),
        Riata("riata online --cross all", [*online, "--cross", "all"]),
        Riata("riata online --engine dask", ["--solver", "online", "--engine", "dask"]),
        Riata("riata online --polish --engine dask", ["--solver", "online", "--polish", "--engine", "dask"]),
        Riata("riata ftrl", ["--solver", "ftrl", "--alpha", "1e-5", "--no-standardize", "--one-pass"]),
        Riata("riata sketch --k 500", ["--solver", "sketch", "--k", "500", "--one-pass"]),
        Riata("riata online, all rows first profiled", ["--solver", "online"]),
    ]
    made = list(of_sizes(sizes)) or made
    for one in made:
        one.environment = environment
    if vw is None or sizes:
        return made
    others = [
        VowpalWabbit("Vowpal Wabbit", common, vw),
        VowpalWabbit("Vowpal Wabbit --l1", [*common, "--l1", "1e-7"], vw),
    ]
    return [*others, *made]


@dataclass(frozen=True)
class Counting:
    """How often learners are fitted, in turn, and what of that is told."""

    repeats: int
    limit: float
    median: bool  # in place of the quickest fit
    clock: bool  # also the time by the clock

    def chosen(self, costs, by):
        """What counts of several fits."""
        values = sorted(getattr(cost, by) for cost in costs)
        return values[(len(values) - 1) // 2] if self.median else values[0]

    def times(self, costs, n_rows):
        """The first cells of a line."""
        cpu, wall = self.chosen(costs, "cpu"), self.chosen(costs, "wall")
        cells = [f"{cpu:.1f}", f"{n_rows / cpu:,.0f}"]
        return [*cells, f"{wall:.1f}", f"{n_rows / wall:,.0f}"] if self.clock else cells


def measured(learners, folder, n_rows, true, counting):
    """The lines of the table; learners take turns."""
    model, costs, found = folder / "model", {one.name: [] for one in learners}, {}
    for _ in range(counting.repeats):
        for one in learners:
            cost = one.fit(folder, model, counting.limit)
            print(f"{one.name}: {cost.cpu:.1f} s, {cost.wall:.1f} s by the clock", file=sys.stderr, flush=True)
            if cost.ended and one.name not in found:  # a fit that is made again is the same
                loss, n_features, names = one.quality(folder, model)
                n_true = "" if names is None else f"{len(names & true.names):,}"
                size = f"{model.stat().st_size / 1000:,.0f}"
                found[one.name] = [f"{loss:.4f}", f"{n_features:,}", n_true, size]
            costs[one.name].append(cost)
    lines = []
    for name, its in costs.items():
        ended = [cost for cost in its if cost.ended]
        if ended:
            *first, size = found[name]
            cells = [*counting.times(ended, n_rows), *first, f"{max(cost.peak for cost in ended):.0f}", size]
        else:
            why = "refused" if its[0].refused else "did not end"
            cells = [f"> {min(cost.cpu for cost in its):.1f}", why, *[""] * (7 if counting.clock else 5)]
        lines.append(f"| {' | '.join([name, *cells])} |")
    return lines


def vowpal_wabbit(given):
    """The command of Vowpal Wabbit; None where there is none."""
    command = given.split() if given else [sys.executable, "-m", "vowpalwabbit"]
    try:
        subprocess.run([*command, "--version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("there is no Vowpal Wabbit: pip install 'riata[bench]', or --vw COMMAND", file=sys.stderr)
        return None
    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where data is made, and kept for the next run")
    parser.add_argument("--vw", help="the command of Vowpal Wabbit")
    parser.add_argument("--only", nargs="*", help="learners of these names, or whose names contain one of them")
    parser.add_argument(
        "--repeats", type=int, default=1, help="fits of each learner, in turn with others, of which the quickest counts"
    )
    parser.add_argument("--median", action="store_true", help="the median fit counts, not the quickest")
    parser.add_argument("--clock", action="store_true", help="also tell times by the clock")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[], help="models of so many features, beside exact ones"
    )
    parser.add_argument("--limit", type=float, default=150.0, help="seconds by the clock, for each learner")
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=list(FORMATS), help="that are made")
    parser.add_argument("--levels", type=int, default=MOST_LEVELS, help="of the column that has most, up to 2^27")
    parser.add_argument("--zipf", type=float, default=ZIPF, help="how frequent few levels are; 0: all alike")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = arguments.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        shape = Shape(arguments.levels, arguments.zipf)
        drawn = "" if shape == SHAPE else f"-{shape.most_levels}-{shape.zipf:g}"
        mark = folder / f"rows-{arguments.rows}-{arguments.seed}{drawn}"
        if not mark.exists():
            write_all(folder, arguments.rows, arguments.seed, arguments.formats, shape)
            mark.touch()
        environment = os.environ | {"RIATA_CACHE": str(folder / "cache")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # byte code is kept, as it is of what is installed
        chosen = learners(environment, None if arguments.sizes else vowpal_wabbit(arguments.vw), arguments.sizes)
        if arguments.only:
            whole = [one for one in chosen if one.name in arguments.only]
            parts = [part for part in arguments.only if all(part != one.name for one in whole)]
            chosen = [one for one in chosen if one in whole or any(part in one.name for part in parts)]
        head = [
            "learner",
            "processor s",
            "rows / processor s",
            *(["clock s", "rows / clock s"] if arguments.clock else []),
            "log loss",
            "features",
            "true ones",
            "peak MB",
            "model kB",
        ]
        sizes = ", ".join(
            f"{size_of(folder / f'train.{ending}') / 1e6:.0f} MB as {ending}"
            for ending in FORMATS
            if (folder / f"train.{ending}").exists()
        )
        lines = [
            f"{arguments.rows:,} rows ({sizes}), {len(truth(arguments.seed, shape).names)} true features; log loss is "
            f"that of the next {arguments.rows // 10:,} rows.",
            "",
            f"| {' | '.join(head)} |",
            f"|{' --- |' * len(head)}",
        ]
        timed(
            [sys.executable, "-m", "riata", "warmup", "--solver", "online", "--solver", "ftrl", "--solver", "sketch"],
            600,
            environment,
        )
        true = truth(arguments.seed, shape)
        counting = Counting(arguments.repeats, arguments.limit, arguments.median, arguments.clock)
        lines += measured(chosen, folder, arguments.rows, true, counting)
        print("\n".join(lines))
        if arguments.out is not None:
            arguments.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
