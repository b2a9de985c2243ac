"""A GPU against the CPU cores beside it: passes, exact fits, paths and best k, dense and sparse, held and streamed;
small penalties on correlated columns.

    python benchmarks/gpu.py [--rows 2000000] [--features 5000] [--sparse-rows 5000000] [--out docs/gpu.md]

Data is made on the GPU and copied to the host, so that both fit the same rows. Times are of second calls, after
kernels were compiled, and start from rows in place: moments and all passes count, loading does not. The GPU's answers
are checked against the CPU's: `off` is the difference of the objectives, relative to the CPU's.
"""

import argparse
import os
import platform
import time
from datetime import date
from pathlib import Path

import cupy as cp
import numpy as np
import scipy.sparse as sp

from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import OnDevice, Streamed
from riata.engines.cuda.transfers import Gpu
from riata.losses import LOSSES
from riata.objective import first_order_part
from riata.training.fitting import fit
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

HEAD = Path(__file__).with_name("gpu.head.md")
TRUE_FEATURES = 100
PER_ROW, SPARSE_FEATURES = 100, 1_000_000
CORRELATION = np.float32(0.95)  # of neighbouring columns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=5000)
    parser.add_argument("--sparse-rows", type=int, default=5_000_000)
    parser.add_argument("--no-cpu", action="store_true", help="leave out the CPU's times")
    parser.add_argument("--out", type=Path, help="a file for the table")
    options = parser.parse_args()
    table = Table(not options.no_cpu)
    bandwidth = table.bandwidths()
    dense(table, options.rows, options.features, bandwidth)
    cp.get_default_memory_pool().free_all_blocks()
    correlated(table, options.rows // 2, 4 * options.features // 5, 200, 3.0, ((0.1, 0.01, 0.001), (0.01,)))
    cp.get_default_memory_pool().free_all_blocks()
    correlated(table, options.rows // 10, 2 * options.features, 10, 10.0, ((0.01, 0.001), (0.01,)))
    cp.get_default_memory_pool().free_all_blocks()
    sparse(table, options.sparse_rows)
    if options.out:
        options.out.write_text(HEAD.read_text() + table.text())
    print(table.text())


class Table:
    """Rows of a Markdown table, as they are measured."""

    def __init__(self, with_cpu: bool):
        self.gpu, self.with_cpu, self.lines = Gpu(), with_cpu, []

    def bandwidths(self) -> dict[str, float]:
        """Bytes a second of copies on the GPU (read and written) and from pinned host memory to it."""
        a = cp.empty(1 << 30, cp.float32)
        b = cp.empty_like(a)
        copy = 2 * a.nbytes / seconds(lambda: cp.copyto(b, a), 10)
        host = np.frombuffer(cp.cuda.alloc_pinned_memory(1 << 30), np.uint8, 1 << 30)
        stream = cp.cuda.Stream(non_blocking=True)

        def send():
            a.data.copy_from_host_async(host.ctypes.data, host.nbytes, stream)
            stream.synchronize()

        sent = host.nbytes / seconds(send, 5)
        self.add("copy on the GPU, read and written", gpu=2 * a.nbytes / copy, note=f"{copy / 1e9:.0f} GB/s")
        self.add("copy from pinned host memory, 1.07 GB", gpu=host.nbytes / sent, note=f"{sent / 1e9:.1f} GB/s")
        return {"copy": copy, "host": sent}

    def add(self, what, gpu, cpu=None, note=""):
        ratio = "" if cpu is None else f"{cpu / gpu:.0f}"
        self.lines.append(f"| {what} | {words(gpu)} | {words(cpu)} | {ratio} | {note} |")
        print(self.lines[-1], flush=True)

    def compare(self, what, task, on_gpu, on_cpu, note=lambda result: "", repeats=2):
        """Time a task on both, from a fresh dataset each time, and note how far apart the answers are."""
        cpu_seconds, off = None, ""
        for _ in range(repeats):
            gpu_seconds, found = timed(task, on_gpu())
        if self.with_cpu and on_cpu is not None:
            task(on_cpu().take(np.arange(1000)))  # compiles, or reads what was compiled
            cpu_seconds, known = timed(task, on_cpu())
            off = f", off {np.max(np.abs(known[0] - found[0]) / np.abs(known[0])):.0e}"
        self.add(what, gpu_seconds, cpu_seconds, note(found[1]) + off)

    def text(self) -> str:
        name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
        cores = len(os.sched_getaffinity(0))
        head = (
            f"{date.today()}, {name}, {cores} cores of {cpu_name()}, CuPy {cp.__version__}, {platform.python_version()}"
        )
        columns = ["what", "GPU", f"{cores} CPU cores", "ratio", ""]
        rows = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}", *self.lines]
        return f"{head}\n\n" + "\n".join(rows) + "\n"


def dense(table: Table, n: int, d: int, bandwidth):
    X, y, labels = dense_rows(n, d)
    host = cp.asnumpy(X)
    size = f"{n:,} x {d:,} float32"
    rows = [table.gpu.rows(X)]

    def there(y=y):
        return OnDevice(table.gpu, rows[0], y)

    def here(y=y):
        return InMemory(host, y)

    lasso = Spec(alpha_ratio=0.1)
    table.compare(f"exact Lasso, {size}, gap 1e-6", fitting(lasso), there, here, said)
    gradient(table, "gradient pass at its answer", there(), here(), lasso, X.nbytes, bandwidth["copy"])
    table.compare("path of 100 alphas to alpha_max / 100", pathing(Spec()), there, here, said)
    table.compare(f"best k = {TRUE_FEATURES}", fitting(Spec(k=TRUE_FEATURES)), there, here, said)
    logistic = fitting(Spec(loss="logistic", alpha_ratio=0.1))
    table.compare("exact L1-logistic", logistic, lambda: there(labels), lambda: here(labels), said)
    del X, rows[0]
    cp.get_default_memory_pool().free_all_blocks()
    cp.get_default_memory_pool().set_limit(size=16 << 30)
    streamed = Streamed(InMemory(host, y), table.gpu)
    gradient(table, "gradient pass, streamed into 16 GB", streamed, None, lasso, host.nbytes, bandwidth["host"])
    table.compare(
        "exact Lasso, streamed into 16 GB", fitting(lasso), lambda: Streamed(InMemory(host, y), table.gpu), here, said
    )
    cp.get_default_memory_pool().set_limit(size=0)


def correlated(table: Table, n: int, d: int, every: int, noise: float, ratios):
    """Small penalties on columns whose neighbours are alike, one in `every` of which matters: many features join, and
    products and the quadratic of the model are what it takes. `ratios` of the Lasso, and of the logistic loss."""
    X, y = correlated_rows(n, d, every, noise)
    rows, labels = table.gpu.rows(X), np.where(y > 0, 1.0, -1.0)
    size = f"{n:,} x {d:,} float32, neighbours correlated {CORRELATION:g}"
    for name, loss, target, its_ratios in (
        (f"exact Lasso, {size}", "squared", y, ratios[0]),
        ("the same, L1-logistic", "logistic", labels, ratios[1]),
    ):
        for ratio in its_ratios:
            spec = Spec(loss=loss, alpha_ratio=ratio)

            def there(target=target):
                return OnDevice(table.gpu, rows, target)

            table.compare(f"{name}, max x {ratio:g}", fitting(spec), there, None, said)


def sparse(table: Table, n: int):
    host, y = sparse_rows(n)
    size = f"{n:,} x {SPARSE_FEATURES:,}, {PER_ROW} entries a row"
    started = time.perf_counter()
    rows = table.gpu.rows(host)
    cp.cuda.Device().synchronize()
    table.add(f"sparse {size}: load and transpose", time.perf_counter() - started)

    def there():
        return OnDevice(table.gpu, rows, y)

    def here():
        return InMemory(host, y)

    spec = Spec(alpha_ratio=0.1, standardize=False)
    table.compare("sparse exact Lasso, gap 1e-6", fitting(spec), there, here, said)
    gradient(table, "gradient pass at its answer", there(), here(), spec, host.data.nbytes + host.indices.nbytes, None)


def gradient(table: Table, what, there, here, spec, n_bytes, bandwidth):
    """A first-order pass at the model of a spec."""
    part = first_order_part(LOSSES["squared"], fit(there, spec).result.coef, 0.0)
    gpu = seconds(lambda: there.sum(part), 5)
    cpu = seconds(lambda: here.sum(part), 2) if here is not None and table.with_cpu else None
    speed = n_bytes / gpu
    share = "" if bandwidth is None else f", {100 * speed / bandwidth:.0f} % of the copy"
    table.add(what, gpu, cpu, f"{speed / 1e9:.0f} GB/s{share}")


def fitting(spec):
    def task(data):
        result = fit(data, spec).result
        features = int(np.count_nonzero(result.coef))
        return np.array([result.objective]), f"{features} features, {result.passes:.1f} passes"

    return task


def pathing(spec):
    def task(data):
        found = path_of_margin(data, spec, reach=0.01)
        return found.losses, f"{found.n_selected[-1]} features, {found.passes:.0f} passes"

    return task


def said(note):
    return note


def dense_rows(n, d):
    """Normal rows of which some features matter, on the GPU, with numbers and labels to predict."""
    rng = cp.random.default_rng(0)
    X = cp.empty((n, d), cp.float32)
    for i in range(0, n, 100_000):
        X[i : i + 100_000] = rng.standard_normal((len(X[i : i + 100_000]), d), dtype=cp.float32)
    host_rng = np.random.default_rng(0)
    chosen = cp.asarray(np.sort(host_rng.permutation(d)[:TRUE_FEATURES]))
    z = X[:, chosen].astype(cp.float64) @ cp.asarray(host_rng.choice([-1.0, 1.0], TRUE_FEATURES))
    y = (z + rng.standard_normal(n)).get()
    return X, y, np.where(y > 0, 1.0, -1.0)


def correlated_rows(n, d, every, noise):
    """Columns that go on from the one before, on the GPU; one in `every` of them matters."""
    rng, host_rng = cp.random.default_rng(0), np.random.default_rng(0)
    X = cp.empty((n, d), cp.float32)
    X[:, 0] = rng.standard_normal(n, dtype=cp.float32)
    for j in range(1, d):
        new = rng.standard_normal(n, dtype=cp.float32)
        X[:, j] = CORRELATION * X[:, j - 1] + np.float32(np.sqrt(1.0 - CORRELATION**2)) * new
    matter = np.arange(0, d, every)
    z = X[:, cp.asarray(matter)].astype(cp.float64) @ cp.asarray(host_rng.normal(size=len(matter)))
    return X, (z + noise * rng.standard_normal(n)).get()


def sparse_rows(n):
    """Rows with one entry in each of so many runs of columns; the first column of every run matters more often."""
    rng = np.random.default_rng(0)
    run = SPARSE_FEATURES // PER_ROW
    places = cp.random.default_rng(0)
    inside = (run * places.random((n, PER_ROW), dtype=cp.float32) ** 4).astype(cp.int32)  # low numbers are common
    indices = (inside + run * cp.arange(PER_ROW, dtype=cp.int32)).get().reshape(-1)
    data = places.standard_normal(n * PER_ROW, dtype=cp.float32).get()
    X = sp.csr_array((data, indices, np.arange(0, n * PER_ROW + 1, PER_ROW)), shape=(n, SPARSE_FEATURES))
    w = np.zeros(SPARSE_FEATURES)
    w[np.arange(TRUE_FEATURES) * run] = rng.choice([-1.0, 1.0], TRUE_FEATURES)
    return X, X @ w + rng.standard_normal(n)


def seconds(call, repeats):
    """The mean time of a call after a first one."""
    call()
    cp.cuda.Device().synchronize()
    started = time.perf_counter()
    for _ in range(repeats):
        call()
    cp.cuda.Device().synchronize()
    return (time.perf_counter() - started) / repeats


def timed(task, data):
    started = time.perf_counter()
    result = task(data)
    return time.perf_counter() - started, result


def words(time_taken):
    if time_taken is None:
        return ""
    return f"{1000 * time_taken:.1f} ms" if time_taken < 1 else f"{time_taken:.2f} s"


def cpu_name():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
