"""What whole groups cost where a category has thousands of levels: best k, and the group Lasso.

    python benchmarks/levels.py [--levels 2000] [--rows 50000]

Categories of 2,000, 300, 40 and 7 levels, as a column for each level, beside twenty columns of numbers; the first and
the third category matter, and two of the numbers. Times are processor seconds on one core, warm.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])

import argparse  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

from riata.data.in_memory import InMemory  # noqa: E402
from riata.training.fitting import fit  # noqa: E402
from riata.training.spec import Spec  # noqa: E402

OTHERS, NUMBERS = (300, 40, 7), 20
ASKED = {"best 4 groups": {"k": 4}, "group Lasso, max/10": {"alpha_ratio": 0.1}, "max/100": {"alpha_ratio": 0.01}}


def problem(n, levels):
    """The columns, the numbers to predict, and the group of every column."""
    rng = np.random.default_rng(0)
    parts, groups, z = [], [], np.zeros(n)
    for group, count in enumerate((levels, *OTHERS)):
        codes = rng.choice(count, n, p=rng.dirichlet(np.full(count, 0.5)))
        parts.append(sp.csr_array((np.ones(n), (np.arange(n), codes)), shape=(n, count)))
        groups += [group] * count
        z += rng.normal(size=count)[codes] if group % 2 == 0 else 0.0
    numbers = rng.normal(size=(n, NUMBERS))
    z += numbers[:, 0] - numbers[:, 1]
    groups += range(len(OTHERS) + 1, len(OTHERS) + 1 + NUMBERS)
    return sp.csr_array(sp.hstack([*parts, sp.csr_array(numbers)])), z + rng.normal(size=n), np.array(groups)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=50_000)
    options = parser.parse_args()
    X, z, groups = problem(options.rows, options.levels)
    print("| loss | asked for | processor s | groups |\n| --- | --- | --- | --- |")
    for loss, y in (("squared", z), ("logistic", np.where(z > 0.0, 1.0, -1.0))):
        for name, asked in ASKED.items():
            spec = Spec(loss=loss, groups=groups, **asked)
            fit(InMemory(X[::20], y[::20]), spec)  # compiles what is not on disk yet
            began = time.process_time()
            found = fit(InMemory(X, y), spec).result
            spent = time.process_time() - began
            print(f"| {loss} | {name} | {spent:.1f} | {len(np.unique(groups[found.coef != 0.0]))} |", flush=True)


if __name__ == "__main__":
    main()
