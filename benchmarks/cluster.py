"""What a cluster costs: local threads against worker processes on the same cores, and a model of larger clusters.

    python benchmarks/cluster.py [--gigabytes 4] [--format npy] [--features 200] [--folder /tmp] [--out docs/dask.md]

Every engine fits the same file in a process of its own, with as many threads in all as there are cores. The model takes
its parts from the same run: the speed of a pass per thread, what the scheduler needs for a task, the bytes of what is
sent and of what comes back, and the time to add two results; only the network is assumed.
"""

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.lib.format import write_array_header_1_0

STEP, MEMORY, REPEATS = 50_000, "512MB", 5
BANDWIDTH, LATENCY = 1.25e9, 0.5e-3  # of the network of the model: 10 Gbit/s, half a millisecond
WIDE = 100_000  # features of the model's data
MEASURED = """
{command}: {title}.
The budget is `memory="{memory}"` for the process or for each worker. A fit is an exact Lasso at alpha_max / 10, a pass
computes the gradient for all features, and `over local` compares fit, pass and CPU with one process.

{engines}

"""
MODEL = """### Larger clusters

This is a model of a pass over a terabyte of float32 rows with {wide:,} features, on workers of 4 threads, with the
rows in the page cache. {measured} A network of 10 Gbit/s and 0.5 ms is assumed.

{model}

`sent` is the traffic that brings the function of a pass to all workers, which pass it on to each other. `added` is what
goes up the tree of additions, mostly between workers and in parallel. The scheduler's time per task limits a large
cluster, so the number of parts is limited by the size of the data (`riata.engines.dask.opening.part_count`). A thousand
workers only pay for more data than this, or for passes that cost more than reading.
"""


def write_rows(path: Path, n_rows: int, d: int) -> None:
    """Normal numbers in float32, the last column the target."""
    rng = np.random.default_rng(0)
    head = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, d + 1)}
    writer = None
    with path.open("wb") as file:
        if path.suffix == ".npy":
            write_array_header_1_0(file, head)
        for start in range(0, n_rows, STEP):
            rows = rng.standard_normal((min(STEP, n_rows - start), d + 1), dtype=np.float32)
            rows[:, d] += rows[:, 0] - rows[:, 1] + 0.5 * rows[:, 2]
            if path.suffix == ".npy":
                rows.tofile(file)
                continue
            table = pa.table({f"x{j}": rows[:, j] for j in range(d)} | {"y": rows[:, d]})
            writer = writer or pq.ParquetWriter(file, table.schema, compression="none")
            writer.write_table(table)
        if writer is not None:
            writer.close()


def measure(path: str, target: str, workers: int) -> dict:
    """Open, pass and fit, here (no workers) or on so many worker processes that share the cores."""
    import riata
    from riata.losses.squared import Squared
    from riata.machine import peak_rss_mb
    from riata.objective import Problem, first_order
    from riata.penalties import ElasticNet
    from riata.training.fitting import fit
    from riata.training.spec import Spec

    engine = cluster = None
    if workers:
        from distributed import Client

        from riata.engines.dask.cluster import local_cluster

        cluster = local_cluster(workers, (os.cpu_count() or 1) // workers)
        engine = Client(cluster)
        engine.run(lambda: __import__("riata.solvers.convex.exact"))  # as long as it takes a worker to start
    started = time.perf_counter()
    data = riata.open(path, target=target, task="regression", memory=MEMORY, engine=engine)
    opened = time.perf_counter()
    result = fit(data, Spec(alpha_ratio=0.1, memory=data.memory)).result
    fitted = time.perf_counter()
    problem = Problem(data, Squared(), ElasticNet(0.1))
    before = _cpu(engine)
    passes = [_timed(lambda: first_order(problem, result.coef, result.intercept)) for _ in range(REPEATS)]
    cpu = (_cpu(engine) - before) / REPEATS
    found = {
        "open": opened - started, "fit": fitted - opened, "pass": median(passes), "cpu": cpu, "passes": result.passes,
        "driver": peak_rss_mb(), "coef": result.coef.tolist(), "parts": data.n_chunks,
    }  # fmt: skip
    if engine is not None and cluster is not None:
        found["worker"] = max(engine.run(peak_rss_mb).values())
        found |= _parts_of_the_model(engine)
        engine.close()
        cluster.close()
    return found


def _cpu(engine) -> float:
    """Seconds that this process, with the scheduler in it, and the workers have computed."""
    return _own_cpu() + (0.0 if engine is None else sum(engine.run(_own_cpu).values()))


def _own_cpu() -> float:
    times = os.times()
    return times.user + times.system


def _timed(f) -> float:
    started = time.perf_counter()
    f()
    return time.perf_counter() - started


def _parts_of_the_model(client) -> dict:
    """Seconds of the scheduler per task, bytes and seconds of a function and a result of WIDE features."""
    import dask.array as da

    import riata
    from riata.data.chunk import Chunk, add
    from riata.engines.dask.payload import Carried
    from riata.losses.squared import Squared
    from riata.objective import first_order_part

    seconds = {}
    for n_parts in (8, 128):
        rows = da.ones((n_parts, 2), chunks=(1, 2))
        tiny = riata.open(rows, rows[:, 0] * da.arange(n_parts, chunks=1), task="regression", engine=client)
        tiny.sum(_nothing)
        seconds[n_parts] = median(_timed(partial(tiny.sum, _nothing)) for _ in range(REPEATS))
    part = first_order_part(Squared(), np.zeros(WIDE), 0.0)
    result = part(Chunk(np.ones((2, WIDE), dtype=np.float32), np.ones(2), np.ones(2)))
    return {
        "task": (seconds[128] - seconds[8]) / 120, "round": seconds[8] - 8 * (seconds[128] - seconds[8]) / 120,
        "sent": len(Carried(((), part)).content), "result": len(pickle.dumps(result, protocol=5)),
        "add": median(_timed(lambda: add(result, result)) for _ in range(REPEATS)),
    }  # fmt: skip


def _nothing(chunk):
    return chunk.n_rows


def run(path: Path, target: str, workers: int) -> dict:
    """`measure` in a process of its own, which knows no profile from before."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, __file__, "--measure", str(path), target, str(workers)]
        found = subprocess.run(
            command, env=os.environ | {"RIATA_CACHE": cache}, capture_output=True, text=True, check=True
        )
    return json.loads(found.stdout.splitlines()[-1])


def compared(path: Path, target: str) -> tuple[list[str], dict]:
    """The table of engines, and what the last of them measured."""
    cores = os.cpu_count() or 1
    lines = [
        "| engine | open, s | fit, s | a pass, s | its CPU, s | over local | passes | worker, MB | driver, MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    local = None
    for workers in (0, 1, cores):
        name = f"{workers} x {cores // workers} threads" if workers else f"local, {cores} threads"
        found = run(path, target, workers)
        local = local or found
        over = " / ".join(f"{found[what] / local[what] - 1:+.0%}" for what in ("fit", "pass", "cpu"))
        off = max(abs(a - b) for a, b in zip(found["coef"], local["coef"], strict=True))
        worker = f"{found['worker']:.0f}" if workers else ""
        lines.append(
            f"| {name} | {found['open']:.2f} | {found['fit']:.2f} | {found['pass']:.3f} | {found['cpu']:.3f} | "
            f"{over if workers else ''} | {found['passes']:.1f} | {worker} | {found['driver']:.0f} |"
        )
        print(lines[-1], f"(coefficients within {off:.0e})", flush=True)
    return lines, found | {"local": local["pass"]}


def model(found: dict, n_bytes: float, threads: int = 4, data_bytes: float = 1e12) -> list[str]:
    """A pass over a terabyte of WIDE features on 10, 100 and 1000 workers, from the measured parts."""
    from riata.engines.dask.on_workers import FAN_IN
    from riata.engines.dask.opening import part_count

    rate = n_bytes / found["pass"] / (os.cpu_count() or 1)  # bytes a second on a thread
    lines = [
        "| workers | parts | sent, MB | added, MB | rows, s | tasks, s | function, s | tree, s | a pass, s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for workers in (10, 100, 1000):
        parts = part_count(int(data_bytes), threads * workers)
        busy = min(parts, threads * workers)
        tasks = found["task"] * parts * (1 + 1 / (FAN_IN - 1))
        levels = np.ceil(np.log(parts) / np.log(FAN_IN))
        tree = levels * (LATENCY + (FAN_IN - 1) * (found["result"] / BANDWIDTH + found["add"]))
        function = np.ceil(np.log2(workers + 1)) * (LATENCY + found["sent"] / BANDWIDTH)
        rows = data_bytes / (busy * rate)
        total = rows + tasks + function + tree + found["round"]
        lines.append(
            f"| {workers} | {parts} | {workers * found['sent'] / 1e6:.0f} | {parts * found['result'] / 1e6:.0f} | "
            f"{rows:.2f} | {tasks:.2f} | {function:.3f} | {tree:.3f} | {total:.2f} |"
        )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--format", choices=["npy", "parquet"], default="npy")
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--folder")
    parser.add_argument("--out", type=Path, help="a page whose part '## Measured' is written anew")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        path, target, workers = options.measure
        print(json.dumps(measure(path, target, int(workers))))
        return
    n_rows = int(options.gigabytes * 1e9 / 4 / (options.features + 1))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / f"rows.{options.format}"
        write_rows(path, n_rows, options.features)
        size = path.stat().st_size
        title = f"{options.format}, {size / 1e9:.1f} GB, {n_rows:,} x {options.features}, {os.cpu_count()} cores"
        print(f"{title}\n", flush=True)
        engines, found = compared(path, str(options.features) if options.format == "npy" else "y")
    speed = size / found["pass"] / (os.cpu_count() or 1) / 1e9
    task, round_, add = (1e3 * found[what] for what in ("task", "round", "add"))
    measured = (
        f"Measured: {speed:.2f} GB/s on a thread, {task:.2f} ms a task, {round_:.0f} ms a round; for {WIDE:,} features "
        f"{found['sent'] / 1e6:.1f} MB are sent, {found['result'] / 1e6:.1f} MB come back, {add:.2f} ms add two."
    )
    command = f"`python benchmarks/cluster.py --gigabytes {options.gigabytes:g} --format {options.format}`"
    text = MEASURED.format(command=command, title=title, engines="\n".join(engines), memory=MEMORY)
    text += MODEL.format(measured=measured, model="\n".join(model(found, size)), wide=WIDE)
    print(f"\n{text}")
    if options.out:
        before, heading, _ = options.out.read_text().partition("## Measured\n")
        options.out.write_text(before + heading + text)


if __name__ == "__main__":
    main()
