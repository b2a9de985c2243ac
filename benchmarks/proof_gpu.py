"""The search of best k on a GPU, whose parts are relaxed hundreds at a time, and on the cores beside it.

    python benchmarks/proof_gpu.py [--seconds 20] [--rows 4000] [--features 200 500 1000 2000] [--loss logistic]

Columns that share a common factor, so that screening rules out few of them, and k = 12: after so many seconds by the
clock, the gap and how many parts were looked at, and whether both have the same bound on a smaller problem.
"""

import argparse
import time
from dataclasses import replace

import numpy as np

from riata.data.in_memory import InMemory
from riata.engines.cuda.on_device import on_device
from riata.engines.cuda.transfers import place_named
from riata.training.fitting import fit
from riata.training.spec import Spec


def common_factor(n, d, loss, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    signal = X[:, :: d // 10][:, :10] @ np.linspace(1.0, 0.1, 10)
    y = signal + 2.0 * signal.std() * rng.normal(size=n)
    if loss == "poisson":
        return X, rng.poisson(np.exp(y / y.std())).astype(float)
    return X, y if loss == "squared" else np.where(y > 0.0, 1.0, -1.0)


def searched(data, spec):
    started = time.perf_counter()
    result = fit(data, spec).result
    parts = result.history[-1].parts if result.history[-1].parts else 0
    return result, parts, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--features", type=int, nargs="*", default=[200, 500, 1000, 2000])
    parser.add_argument("--loss", choices=["squared", "logistic", "squared-hinge", "poisson"], default="squared")
    options = parser.parse_args()
    places = {"processor": lambda data: data, "GPU": lambda data: on_device(data, place_named("cuda"))}
    X, y = common_factor(400, 60, options.loss)
    ends = {}
    for name, place in places.items():  # also the first call of each, which compiles
        spec = Spec(k=6, ridge=0.01, certify=True, certify_time=options.seconds, loss=options.loss)
        ends[name] = fit(place(InMemory(X, y)), spec).result
    same = np.array_equal(*(np.flatnonzero(result.coef) for result in ends.values()))
    gaps = [result.bound.gap for result in ends.values()]
    print(f"400 x 60, k = 6: the same features: {same}, gaps {gaps}", flush=True)
    print(
        "| rows x features | where | seconds | parts | parts per second | gap |\n| --- | --- | --- | --- | --- | --- |"
    )
    for d in options.features:
        X, y = common_factor(options.rows, d, options.loss)
        spec = Spec(k=12, ridge=0.001, certify=True, certify_time=options.seconds, loss=options.loss)
        for name, place in places.items():
            data = place(InMemory(X, y))
            fit(data, replace(spec, certify=None))
            result, parts, seconds = searched(data, spec)
            size, rate, gap = f"{options.rows} x {d}", f"{parts / seconds:.0f}", f"{100 * result.bound.gap:.2f} %"
            print(f"| {size} | {name} | {seconds:.0f} | {parts} | {rate} | {gap} |", flush=True)


if __name__ == "__main__":
    main()
