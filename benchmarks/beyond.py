"""How much of a fit's time goes into precision that was not asked for.

    python benchmarks/beyond.py [--case genotypes "=golub Lasso, max/30"] [--out docs/hard.md]

A fit ends at the first point whose certified gap is within the tolerance, so that only its last step can have been too
precise: its share of the processor time, with the pass that certifies it, is the most that was spent beyond 1e-6.
The problems are those of `hard.py`, warm, on one core.
"""

import argparse
import os
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

from pages import table, write_section  # noqa: E402

import problems  # noqa: E402

TARGET = 1e-6
HEAD = ["problem", "s", "gap before the last step", "gap", "last step, %"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default=[""], nargs="*", help="cases whose name contains one of these; with =, is it")
    parser.add_argument("--out", type=Path, help="write the table into this page, too")
    options = parser.parse_args()
    rows = []
    for benchmark in problems.HARD:
        asked = any(benchmark.name == case[1:] if case[:1] == "=" else case in benchmark.name for case in options.case)
        if asked and not benchmark.path:
            rows.append(measured(benchmark))
            print(*rows[-1], sep=" | ", flush=True)
            if options.out:
                write_section(options.out, "precision", table(HEAD, rows))


def measured(benchmark):
    """A line of the table: the second of two fits, when all is compiled."""
    from riata.data.in_memory import InMemory
    from riata.losses import LOSSES
    from riata.objective import Problem, alpha_max, elastic_net, gap_unit
    from riata.solvers.convex.exact import exact
    from riata.solvers.iterate import Options

    X, y = problems.load(benchmark)
    loss, times, gaps = LOSSES[benchmark.loss], [], []
    for _ in range(2):
        problem = Problem(InMemory(X, y), loss, elastic_net(1.0), benchmark.fit_intercept)
        problem = Problem(
            problem.data, loss, elastic_net(alpha_max(problem) / benchmark.ratio), benchmark.fit_intercept
        )
        unit, times, gaps = gap_unit(problem), [time.process_time()], []
        for point in exact(problem, Options(1000, tol=TARGET)):
            times.append(time.process_time())
            gaps.append(point.gap / unit)
            if gaps[-1] <= TARGET:
                break
    total, last = times[-1] - times[0], times[-1] - times[-2]
    return benchmark.name, f"{total:.3f}", f"{gaps[-2]:.0e}", f"{gaps[-1]:.0e}", f"{100 * last / total:.0f}"


if __name__ == "__main__":
    main()
