"""riata against its peers on the Lasso and L1-logistic regression, at equal certified accuracy.

    python benchmarks/convex.py [--only digits49] [--out docs/benchmarks.md]

Every solver gets the same matrix in its favourite layout, and runs in a process of its own. Its tolerance is tightened
until riata's certificate on its coefficients is within 1e-6 of the empty model's loss; the time is that of the first
tolerance that gets there, once in a fresh process (compilation and all) and the best of three warm runs. A solver that
has no certified answer when its time is up is listed with the gap it had got to, and not asked for smaller alphas.
"""

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

TARGET = 1e-6
CERTIFIED = 1.001 * TARGET
TOLERANCES = 10.0 ** -np.arange(4, 17)
LOOSE = {"adelie": 1e-9}  # solvers whose looser tolerances never suffice
LIMIT = 20  # seconds after which a solver begins nothing new
REPEATED = 5  # seconds of warm runs after which there is no further one
NEVER = "never"  # in place of seconds: no tolerance is enough
LAST = 40  # seconds after which it is stopped, loading and compilation included
HEAD = f"""# Against peers

This page compares riata with celer, skglm, adelie, glum, liblinear, scikit-learn and R's glmnet on the Lasso
and L1-logistic regression, and with abess and scikit-learn's OMP on the best k features. `make bench` writes it
(`benchmarks/convex.py`, then `benchmarks/best_k.py`).

## Convex problems

Every solver has the same matrix in the layout that suits it best. It must reach a duality gap of {TARGET:g},
relative to the loss of the empty model; riata computes that gap from the solver's coefficients.

- `max/10` is a tenth of the smallest alpha whose model is empty.
- `first s` is the first call in a fresh process, with compilation; `warm s` is the best of three later calls.
- The ratio is the warm time of the fastest peer that got there over riata's. `none in time`: no peer got there.
- The second table has all measurements, also of solvers that did not reach the gap.
"""
clock = time.perf_counter  # benchmarks/hard.py takes processor time instead
PACKAGES = ["riata", "scikit-learn", "celer", "skglm", "adelie", "glum", "glmstar", "abess", "numpy", "scipy", "numba"]


def certificate(benchmark, X, y, alphas, coefs, intercepts):
    """The largest relative duality gap of the models."""
    from riata.data.in_memory import InMemory
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
    from problems import BENCHMARKS, load

    measure_problem(BENCHMARKS[number], *load(BENCHMARKS[number]), solver)


def measure_problem(benchmark, X, y, solver):
    """The same of any problem."""
    from peers import offered

    from riata.data.in_memory import InMemory
    from riata.losses import LOSSES
    from riata.objective import Problem, alpha_max, elastic_net

    problem = Problem(InMemory(X, y), LOSSES[benchmark.loss], elastic_net(1.0), benchmark.fit_intercept)
    largest = alpha_max(problem)
    last = 1.0 / benchmark.ratio
    alphas = list(largest * (np.geomspace(1.0, last, 100) if benchmark.path else np.array([last])))
    solve = offered(benchmark)[solver](X, y, benchmark)
    began, first, gap, warm = clock(), None, np.inf, []
    tolerances = [TARGET] if solver == "riata" else TOLERANCES[TOLERANCES <= LOOSE.get(solver, 1.0)]
    for tol in tolerances:
        before_answer()
        seconds, processor, models = timed(solve, alphas, tol)
        first = first or seconds
        gap = certificate(benchmark, X, y, alphas, *models)
        never = bool(gap > CERTIFIED and tol == TOLERANCES[-1])
        tell(solver, first, seconds, processor, gap, models, solve, clock() - began, never)
        if gap <= CERTIFIED or clock() - began > LIMIT:
            break
    while len(warm) < 3 and sum(seconds for seconds, _ in warm) < REPEATED and clock() - began < LIMIT:
        warm.append(timed(solve, alphas, tol)[:2])
        tell(solver, first, *np.min(warm, axis=0), gap, models, solve, clock() - began)


def before_answer():
    """What is done before each answer, of which there is one for a tolerance: benchmarks/hard.py limits its time."""


def timed(solve, alphas, tol):
    """Seconds of a solve, its own where it counts them, those of all cores together, and its models."""
    started, spent = clock(), time.process_time()
    models = solve(alphas, tol)
    return getattr(solve, "seconds", clock() - started), time.process_time() - spent, models


def tell(solver, first, warm, processor, gap, models, solve, spent, never=False):
    """Print what is known so far: whoever stops this process has the last line. `never`: no tolerance is enough."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    features, passes = int(np.count_nonzero(models[0][-1])), getattr(solve, "passes", None)
    known = {"solver": solver, "first": first, "warm": warm, "processor": processor, "gap": gap, "features": features}
    print(json.dumps({**known, "passes": passes, "peak_mb": peak, "spent": spent, "never": never}), flush=True)


def run(number, solver, more=()):
    """Measure in a fresh process: its last answer, without a gap where it gave none, and why it ended if not by itself
    or by a limit."""
    command = [sys.executable, sys.argv[0], "--measure", str(number), solver, *more]
    failed = None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LAST, check=False)
        told = done.stdout
        if done.returncode not in {0, -signal.SIGXCPU}:
            failed = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
            print(f"    {solver}: {failed}", file=sys.stderr)
    except subprocess.TimeoutExpired as stopped:
        told = (stopped.stdout or b"").decode()
    result = last_told(told, solver)
    return {**result, "failed": failed} if failed else result


def last_told(told, solver):
    """The last measurement that a process printed, one without a gap where there is none."""
    lines = [line for line in told.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"solver": solver, "first": None, "warm": None, "gap": None}


def certified(result):
    """Whether a measurement has an answer that is good enough."""
    return result["gap"] is not None and result["gap"] <= CERTIFIED


def at_least(result):
    """Seconds that a solver needs for an answer that is good enough, which it has not given: more than its last one
    took, at a looser tolerance, and than it had spent on the next when it was stopped; without end where none is."""
    if result.get("never"):
        return np.inf
    return max(result["warm"] or 0.0, result.get("limit", 0.0) - result.get("spent", 0.0))


def peers_that_ran(results):
    """Those that did not end with an error."""
    return [r for r in results if r["solver"] != "riata" and "failed" not in r]


def shown(seconds):
    """So that ratios can be made of what is written."""
    return f"{seconds:.3f}" if seconds >= 0.1 else f"{seconds:.3g}"


def compared(results):
    """riata's measurement (None without an answer) and the fastest peer's that is certified (None without one)."""
    ours = next((r for r in results if r["solver"] == "riata" and certified(r)), None)
    peers = [r for r in results if r["solver"] != "riata" and certified(r)]
    return ours, min(peers, key=lambda r: r["warm"], default=None)


def summary(rows, without=lambda name, asked: "none in time" if asked else "not run", not_run=None):
    """Markdown: a line per benchmark with the ratio to the fastest certified peer, or what there is to say without;
    and, where it is known, which peers were not run."""
    head = ["problem", "riata s", "fastest peer", "its s", "ratio", "riata first call s"]
    head += ["peers not run"] if not_run else []
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for name, results in rows:
        ours, best = compared(results)
        asked = peers_that_ran(results)
        if best:
            its = [best["solver"], shown(best["warm"]), f"{best['warm'] / ours['warm']:.1f}" if ours else ""]
        else:
            least = min((at_least(r) for r in asked), default=0.0)
            known = (
                [f"> {least:.3f}", f"> {least / ours['warm']:.1f}" if ours else ""]
                if 0.0 < least < np.inf
                else ["", ""]
            )
            its = [without(name, asked), *known]
        own = [shown(ours["warm"]), *its, f"{ours['first']:.2f}"] if ours else ["not in time", *its, ""]
        left_out = [", ".join(not_run[name])] if not_run else []
        lines.append("| " + " | ".join([name, *own, *left_out]) + " |")
    return "\n".join(lines)


def measurements(rows):
    """Markdown: a line per benchmark and solver; > stands before seconds that were too few for a certified answer."""
    of_runs = any("run" in r for _, results in rows for r in results)
    head = ["problem", "solver", "first s", "warm s", "certified gap", "features", "passes", "peak MB"]
    head += ["run"] if of_runs else []
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for name, results in rows:
        for r in results:
            if r["gap"] is None:
                cells = ["", r["failed"][:60] if "failed" in r else f"> {at_least(r):.3f}", "", "", "", ""]
            else:
                warm = shown(r["warm"]) if certified(r) else NEVER if r.get("never") else f"> {at_least(r):.3f}"
                passes = "" if r["passes"] is None else f"{r['passes']:.0f}"
                cells = [
                    f"{r['first']:.3f}",
                    warm,
                    f"{r['gap']:.0e}",
                    str(r["features"]),
                    passes,
                    f"{r['peak_mb']:.0f}",
                ]
            lines.append(
                "| " + " | ".join([name, r["solver"], *cells, *([r.get("run", "")] if of_runs else [])]) + " |"
            )
    return "\n".join(lines)


def report(rows):
    """Both tables."""
    return f"{summary(rows)}\n\n{measurements(rows)}"


def machine():
    """One sentence about what this ran on."""
    versions = []
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    processor = names[0] if names else platform.machine()
    cores = f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} cores"
    return f"{cores} ({processor}), Python {platform.python_version()}, {', '.join(versions)}."


def main(head=HEAD):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="benchmarks whose name contains this")
    parser.add_argument("--solvers", default=[], nargs="*", help="these alone")
    parser.add_argument("--out", type=Path, help="write the report to this Markdown file")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(int(options.measure[0]), options.measure[1])
        return
    from peers import missing, offered

    from problems import BENCHMARKS

    for sentence in missing():
        print(sentence, file=sys.stderr)
    rows, given_up = [], set()
    for number, benchmark in enumerate(BENCHMARKS):
        if options.only not in benchmark.name:
            continue
        results = []
        for solver in offered(benchmark):
            task = benchmark.data, benchmark.loss, solver  # alphas fall from one benchmark of it to the next
            if task in given_up or (options.solvers and solver not in options.solvers):
                continue
            result = run(number, solver)
            if not certified(result):
                given_up.add(task)
            if result["gap"] is not None:
                results.append(result)
                print(f"{benchmark.name:45} {solver:14} {result['warm']:8.3f} s  gap {result['gap']:.0e}", flush=True)
        rows.append((benchmark.name, results))
        if options.out:  # so far: it takes long
            options.out.write_text(f"{head}\n{machine()} {' '.join(missing())}\n\n{report(rows)}\n")
    print(report(rows))


if __name__ == "__main__":
    main()
