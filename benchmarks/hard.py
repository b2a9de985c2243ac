"""riata against its peers where it is hard: small penalties, correlated or wide columns, standardised text.

    python benchmarks/hard.py --list
    python benchmarks/hard.py [--case genotypes "=golub Lasso, max/30"] [--solvers riata celer] [--limit 100] [--again]
        [--out docs/hard.md]

As `convex.py`, to the same certified gap, but in processor seconds on one core (`--cores 2`: two), so that other work
on the machine hardly counts. A solver is stopped at the limit, loading not counted, or where it can no longer be the
fastest. Every result is kept in build/hard.json as soon as it is there, and what is kept is not measured again:
cases can be run one at a time, and a run that was stopped goes on. The table has all that is kept.
"""

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path

if "--cores" not in sys.argv:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])

import convex

import problems

MARK = "<!-- what follows is written by benchmarks/hard.py -->"
KEPT = Path(__file__).parents[1] / "build" / "hard.json"
LIMIT = 100  # processor seconds
COMPILING, TRIES = 20, 10  # seconds, and times the fastest so far: a solver that takes longer is not faster
HEAD = f"""# Where it is hard

Written by `python benchmarks/hard.py --out docs/hard.md`: problems with small penalties, correlated or wide columns, or
text whose columns have unit deviation (which is what standardising it gives, with an intercept). Every solver has the
same matrix in the layout it likes best, runs in a process of its own, and must reach a duality gap of
{convex.TARGET:g}, relative to the loss of the empty model, by riata's certificate on its coefficients. Times are
processor seconds on one core, the best of up to three warm runs. The ratio is the time of the fastest certified peer
over riata's. A solver is stopped at its limit, which is {COMPILING} s and {TRIES} times the fastest time so far,
riata's included, and {LIMIT} s at most; one that is not certified by then is not asked for smaller alphas of the same
problem: *none in time* says that of all peers that were asked. The fastest of them would have needed more seconds than
stand behind >: as many as its last tolerance took, which was too loose, or as it had spent on the next.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default=[""], nargs="*", help="cases whose name contains one of these; with =, is it")
    parser.add_argument("--solvers", default=[], nargs="*", help="these alone")
    parser.add_argument("--limit", type=int, default=LIMIT, help="processor seconds of a solver on a case")
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="measure anew what is kept")
    parser.add_argument("--list", action="store_true", help="name the cases, and do nothing")
    parser.add_argument("--out", type=Path, help="write the table of all that is kept to this Markdown file")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    convex.clock, convex.LIMIT, convex.LAST = time.process_time, options.limit, max(600, 20 * options.limit)
    problems.BENCHMARKS = problems.HARD
    if options.measure:
        number, solver = int(options.measure[0]), options.measure[1]
        problems.load(problems.HARD[number])
        _stop_after(options.limit)
        convex.measure(number, solver)
        return
    if options.list:
        print(*(benchmark.name for benchmark in problems.HARD), sep="\n")
        return
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for number, benchmark in enumerate(problems.HARD):
        if any(_asked(benchmark.name, case) for case in options.case):
            _measured(number, benchmark, options, kept)
    rows = [(one.name, list(_results(kept, one, options.cores).values())) for one in problems.HARD]
    table = convex.report([(name, results) for name, results in rows if results])
    if options.out:
        from peers import missing

        before = options.out.read_text().partition(MARK)[0] if options.out.exists() else f"{HEAD}\n"
        options.out.write_text(f"{before}{MARK}\n\n{convex.machine()} {' '.join(missing())}\n\n{table}\n")
    print(table)


def _stop_after(seconds):
    """End this process after so many more processor seconds: whoever waits for it has what it told until then."""
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent + seconds) + 1,) * 2)


def _asked(name, case):
    return name == case[1:] if case.startswith("=") else case in name


def _results(kept, benchmark, cores):
    return kept.get(f"{benchmark.name}, {cores} cores", {})


def _measured(number, benchmark, options, kept):
    """Measure all solvers of a case that are not kept, each in its own process, and keep what they say."""
    from peers import offered

    results = kept.setdefault(f"{benchmark.name}, {options.cores} cores", {})
    for solver in offered(benchmark):
        unwanted = options.solvers and solver not in options.solvers
        if unwanted or (solver in results and not options.again) or _gave_up(kept, benchmark, solver, options.cores):
            continue
        limit = _limit(results, options.limit)
        result = convex.run(number, solver, ["--limit", str(limit)])
        if result is None:
            result = {"solver": solver, "first": None, "warm": None, "gap": None}
        results[solver] = {**result, "limit": limit}
        print(f"{benchmark.name:45} {solver:14} {result['warm']} s  gap {result['gap']}", flush=True)
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(kept, indent=1))


def _limit(results, most):
    """Seconds for a solver to be the fastest: it may compile, and try a few tolerances."""
    known = [r["warm"] for r in results.values() if convex.certified(r)]
    return min(most, round(COMPILING + TRIES * min(known))) if known else most


def _gave_up(kept, benchmark, solver, cores):
    """Whether the solver was not certified at a larger alpha of the same problem."""
    for other in problems.HARD:
        same = (other.data, other.loss, other.path) == (benchmark.data, benchmark.loss, benchmark.path)
        found = _results(kept, other, cores).get(solver)
        if same and other.ratio < benchmark.ratio and found is not None and not convex.certified(found):
            return True
    return False


if __name__ == "__main__":
    main()
