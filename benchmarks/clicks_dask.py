"""Click logs on a cluster of one and of two workers, beside one process on as many cores.

    python benchmarks/clicks_dask.py [--rows 3000000] [--seed 0] [--folder FOLDER] [--workers 1 2]

Rows are those of `clicks.py`, from one Parquet file. Every fit of solver 'online' first looks at all rows, as a cluster
does (what an earlier fit found out is forgotten), then learns them in one pass. Workers have one thread each, and stand
before the clock starts; one process is held to as many cores as there are workers (on Linux). Processor seconds are
those of all processes. Code is compiled before.
"""

import argparse
import os
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from clicks import truth, write_all

import riata
from riata.engines.dask.cluster import Client, local_cluster


def learnt(path, engine):
    """The model of a fit."""
    data = riata.open(str(path), "label", engine=engine, task="classification")
    return riata.train(data, riata.Spec(solver="online", loss="logistic", max_passes=1)).to_model()


def of_one_process(path, n_cores):
    """(processor seconds, seconds by the clock, model)."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_cores])
    cpu, clock = time.process_time(), time.perf_counter()
    model = learnt(path, None)
    return time.process_time() - cpu, time.perf_counter() - clock, model


def of_cluster(path, n_workers):
    """The same."""
    with local_cluster(n_workers) as cluster, Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(n_workers)
        client.run(__import__, "riata.training.train")
        before, cpu, clock = client.run(time.process_time), time.process_time(), time.perf_counter()
        model = learnt(path, client)
        wall, own, after = time.perf_counter() - clock, time.process_time() - cpu, client.run(time.process_time)
        return own + sum(after[worker] - before[worker] for worker in before), wall, model


def row(name, cost, folder, true):
    """A line of the table."""
    cpu, wall, model = cost
    p = model.predict_proba(str(folder / "test.parquet"))[:, 1]
    clicked = pq.read_table(folder / "test.parquet", columns=["label"]).column(0).to_numpy() == 1
    loss = -np.mean(np.log(np.where(clicked, p, 1.0 - p)))
    found = len(set(model.names) & true.names)
    print(f"| {name} | {cpu:.1f} | {wall:.1f} | {loss:.4f} | {len(model.names):,} | {found} |", flush=True)


def in_own_process(cache, task, *arguments):
    """The result of a task in a process that ends with it: what another leaves behind, or has found out, is gone."""
    shutil.rmtree(cache / "profiles", ignore_errors=True)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(task, *arguments).result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where data of clicks.py is, or is made and kept")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    arguments = parser.parse_args()
    true = truth(arguments.seed)
    with tempfile.TemporaryDirectory() as place:
        folder = arguments.folder or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "train.parquet"
        if not path.exists():
            write_all(folder, arguments.rows, arguments.seed, ["parquet"])
        cache = folder / "cache"
        os.environ["RIATA_CACHE"] = str(cache)
        for task in (of_one_process, of_cluster):  # compiles what is not compiled yet
            in_own_process(cache, task, folder / "test.parquet", 1)
        print("| rows are learnt by | processor s | clock s | log loss | features | true ones |")
        print("| --- | --- | --- | --- | --- | --- |")
        for n in arguments.workers:
            of_n = f"{n} core{'s' * (n > 1)}", f"{n} worker{'s' * (n > 1)}"
            row(f"one process, {of_n[0]}", in_own_process(cache, of_one_process, path, n), folder, true)
            row(of_n[1], in_own_process(cache, of_cluster, path, n), folder, true)


if __name__ == "__main__":
    main()
