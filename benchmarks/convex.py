"""riata against its peers on the Lasso and L1-logistic regression, at equal certified accuracy.

    python benchmarks/convex.py [--only digits49] [--out docs/benchmarks.md]

Every solver gets the same matrix in its favourite layout, and runs in a process of its own. Its tolerance is tightened
until riata's certificate on its coefficients is within 1e-6 of the empty model's loss; the time is that of the first
tolerance that gets there, once in a fresh process (compilation and all) and the best of three warm runs.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

TARGET = 1e-6
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-14]
LIMIT = 300  # seconds a solver may take for one benchmark, all tolerances together
PACKAGES = ["riata", "scikit-learn", "celer", "skglm", "adelie", "glum", "numpy", "scipy", "numba"]


def certificate(benchmark, X, y, alphas, coefs, intercepts):
    """The largest relative duality gap of the models."""
    from riata.data.memory import InMemory
    from riata.losses import LOSSES
    from riata.objective import Problem, duality_gap, elastic_net, first_order, gap_unit

    data = InMemory(X, y)
    gaps = []
    for alpha, w, b in zip(alphas, coefs, intercepts, strict=True):
        problem = Problem(data, LOSSES[benchmark.loss], elastic_net(alpha), benchmark.fit_intercept)
        w = np.asarray(w, dtype=np.float64)
        gaps.append(duality_gap(problem, w, first_order(problem, w, float(b))) / gap_unit(problem))
    return max(gaps)


def measure(number, solver):
    """In a process of its own: first call, warm calls, gap, passes and peak memory, as JSON on standard output."""
    from peers import offered

    from problems import BENCHMARKS, load
    from riata.data.memory import InMemory
    from riata.losses import LOSSES
    from riata.objective import Problem, alpha_max, elastic_net

    benchmark = BENCHMARKS[number]
    X, y = load(benchmark)
    problem = Problem(InMemory(X, y), LOSSES[benchmark.loss], elastic_net(0.0), benchmark.fit_intercept)
    largest = alpha_max(problem)
    last = 1.0 / benchmark.ratio
    alphas = list(largest * (np.geomspace(1.0, last, 100) if benchmark.path else np.array([last])))
    solve = offered(benchmark)[solver](X, y, benchmark)
    spent, first, gap = 0.0, None, np.inf
    for tol in [TARGET] if solver == "riata" else TOLERANCES:
        started = time.perf_counter()
        models = solve(alphas, tol)
        seconds = time.perf_counter() - started
        first, spent = first or seconds, spent + seconds
        gap = certificate(benchmark, X, y, alphas, *models)
        if gap <= 1.001 * TARGET or spent > LIMIT:
            break
    times = [seconds]
    while len(times) < 4 and spent < LIMIT:
        started = time.perf_counter()
        solve(alphas, tol)
        times.append(time.perf_counter() - started)
        spent += times[-1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    features = int(np.count_nonzero(models[0][-1]))
    result = {"solver": solver, "first": first, "warm": min(times[1:] or times), "gap": gap, "features": features}
    print(json.dumps({**result, "passes": getattr(solve, "passes", None), "peak_mb": peak}))


def run(number, solver):
    """Measure in a fresh process; None where the package is missing or the solver fails."""
    command = [sys.executable, __file__, "--measure", str(number), solver]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * LIMIT, check=False)
    except subprocess.TimeoutExpired:
        print(f"    {solver}: no answer in {2 * LIMIT} s", file=sys.stderr)
        return None
    if done.returncode:
        print(f"    {solver}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def report(rows):
    """Markdown: a line per benchmark with the ratio to the fastest certified peer, then every measurement."""
    lines = [
        "| problem | riata s | fastest peer | its s | ratio | riata first call s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, results in rows:
        ours = next((r for r in results if r["solver"] == "riata"), None)
        peers = [r for r in results if r["solver"] != "riata" and r["gap"] <= 1.001 * TARGET]
        best = min(peers, key=lambda r: r["warm"], default=None)
        if ours and best:
            ratio = best["warm"] / ours["warm"]
            cells = [
                name,
                f"{ours['warm']:.3f}",
                best["solver"],
                f"{best['warm']:.3f}",
                f"{ratio:.1f}",
                f"{ours['first']:.2f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "| problem | solver | first s | warm s | certified gap | features | passes | peak MB |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, results in rows:
        for r in results:
            passes = "" if r["passes"] is None else f"{r['passes']:.0f}"
            cells = [name, r["solver"], f"{r['first']:.3f}", f"{r['warm']:.3f}", f"{r['gap']:.0e}", str(r["features"])]
            lines.append("| " + " | ".join([*cells, passes, f"{r['peak_mb']:.0f}"]) + " |")
    return "\n".join(lines)


def machine():
    """One sentence about what this ran on."""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {', '.join(versions)}."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="benchmarks whose name contains this")
    parser.add_argument("--out", type=Path, help="write the report to this Markdown file")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(int(options.measure[0]), options.measure[1])
        return
    from peers import offered

    from problems import BENCHMARKS

    rows = []
    for number, benchmark in enumerate(BENCHMARKS):
        if options.only not in benchmark.name:
            continue
        results = []
        for solver in offered(benchmark):
            if (result := run(number, solver)) is not None:
                results.append(result)
                print(f"{benchmark.name:45} {solver:14} {result['warm']:8.3f} s  gap {result['gap']:.0e}", flush=True)
        rows.append((benchmark.name, results))
    text = report(rows)
    print(text)
    if options.out:
        head = "# Convex benchmarks\n\nWritten by `python benchmarks/convex.py --out docs/benchmarks.md`."
        options.out.write_text(f"{head} Machine: {machine()}\n\n{text}\n")


if __name__ == "__main__":
    main()
