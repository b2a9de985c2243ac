"""The paper's experiment in miniature: files of UCI's format with a few rows, and few and small measurements.

python tests/reproduction.py DATA OUT    runs it, for tests that kill it
"""

import sys
from pathlib import Path

import numpy as np

from riata.datasets import gisette
from riata.reproduce import plan
from riata.reproduce.algorithms import Effort
from riata.reproduce.experiment import reproduce

N_FEATURES, N_ROWS = 60, {"train": 80, "test": 40}
SMALL = plan.Shapes(((100, 20), (200, 20)), ((100, 20), (100, 40)))
HELD = (5_000, 2_000)  # rows and features of 40 MB, far more than what varies from run to run
EFFORT = Effort(text_passes=2, code_steps=1_000, code_batch_steps=100, batch_passes=10)
SMALLER = {  # what is made small, and where
    (gisette, "N_FEATURES"): N_FEATURES,
    (gisette, "N_ROWS"): N_ROWS,
    (plan, "QUICK_WEIGHED"): ("cd", "fobos"),
    (plan, "QUICK_MEMORY"): plan.Shapes(((100, 20), HELD), ((10, 1000), (10, 50_000))),
    (plan, "QUICK"): EFFORT,
    (plan, "QUICK_TIME"): SMALL,
}


def write_uci(folder: Path) -> Path:
    """Files under UCI's names: the first columns know the label."""
    rng = np.random.default_rng(4)
    folder.mkdir()
    for split, n in N_ROWS.items():
        y = np.where(np.arange(n) % 2 == 0, 1, -1)
        X = rng.integers(0, 300, size=(n, N_FEATURES))
        X[:, :5] += 300 + 200 * y[:, None] * rng.integers(0, 2, size=(n, 5))
        data, labels = gisette.paths(folder, split)
        np.savetxt(data, X, fmt="%d")
        np.savetxt(labels, y, fmt="%d")
    return folder


if __name__ == "__main__":
    for (module, name), value in SMALLER.items():
        setattr(module, name, value)
    reproduce(sys.argv[1], Path(sys.argv[2]), quick=True, seeds=2)
