"""riata against its peers where it is hard: small penalties, correlated or wide columns, standardised text.

    python benchmarks/hard.py [--only genotypes] [--out docs/hard.md]

As `convex.py`, to the same certified gap, but in processor seconds on one core, so that other work on the machine
hardly counts. A solver begins nothing new after a hundred of them.
"""

import os
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])

import convex  # noqa: E402

import problems  # noqa: E402

LIMIT = 100
HEAD = f"""# Where it is hard

Written by `python benchmarks/hard.py --out docs/hard.md`: problems with small penalties, correlated or wide columns, or
text whose columns have unit deviation (which is what standardising it gives, with an intercept). Every solver has the
same matrix in the layout it likes best and must reach a duality gap of {convex.TARGET:g}, relative to the loss of the
empty model, by riata's certificate on its coefficients. Times are processor seconds on one core, the best of up to
three warm runs. A solver begins nothing new after {LIMIT} of them, and one that is not certified by then is not asked
for smaller alphas of the same problem.
"""

if __name__ == "__main__":
    problems.BENCHMARKS = problems.HARD
    convex.clock = time.process_time
    convex.LIMIT, convex.LAST = LIMIT, 6 * LIMIT
    convex.main(HEAD)
