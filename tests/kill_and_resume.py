"""Kill a fit with SIGKILL at random moments, resume it each time, and compare with the fit never interrupted.

python tests/kill_and_resume.py SOLVER,... KILLS FOLDER prints, for each solver, the number of kills and of finished
fits, or fails. The fits run in forked children, so that no time goes into starting Python.
"""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from riata.data.dataset import Dataset
from riata.data.in_memory import InMemory
from riata.solvers.registry import SOLVERS
from riata.training.fitting import fit
from riata.training.spec import Spec


class SlowChunks(InMemory):
    """Rows in many chunks, each of which takes a moment to come."""

    cheap_passes = False
    n_chunks = 40

    def visit(self, order=None):
        for i in range(self.n_chunks) if order is None else order:
            time.sleep(0.001)
            chunk = self._chunk.rows(slice(i, None, self.n_chunks))
            self.ledger.count(chunk.n_rows)
            yield chunk

    sum = Dataset.sum


def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    return SlowChunks(X, np.sign(X[:, :3].sum(axis=1) + rng.normal(size=400)))


def learn(spec):
    result = fit(problem(), spec).result
    history = np.array([(record.steps, record.n_selected, record.progressive_loss or 0.0) for record in result.history])
    return {"coef": result.coef, "intercept": result.intercept, "steps": result.steps, "history": history}


def child(spec, out: Path):
    """The fit in a process of its own, which leaves its result in a file."""
    pid = os.fork()
    if pid == 0:
        np.savez(out.with_suffix(".part.npz"), **learn(spec))
        os.replace(out.with_suffix(".part.npz"), out)
        os._exit(0)
    return pid


def check(solver, kills, folder):
    how = {"k": 5} if SOLVERS[solver].takes == "k" else {"alpha": 0.05}
    options = {"solver": solver, "loss": "logistic", "max_passes": 6, "seed": 3, "tol": 0.0, **how}
    learn(Spec(**options))  # loads what is compiled
    started = time.monotonic()
    expected = learn(Spec(**options))
    seconds = time.monotonic() - started
    rng = np.random.default_rng()
    killed = finished = 0
    folder.mkdir()
    while killed < kills or finished == 0:
        place = folder / str(finished)
        out = folder / f"{finished}.npz"
        spec = Spec(**options, checkpoint=place, every=0.0, resume=True)
        pid = child(spec, out)
        if killed < kills:
            time.sleep(rng.uniform(0.0, seconds))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        killed += os.WIFSIGNALED(status)
        if out.exists():
            with np.load(out) as found:
                for name, values in expected.items():
                    assert np.array_equal(found[name], values), f"{name} differs after {killed} kills"
            finished += 1
        elif not os.WIFSIGNALED(status):
            raise SystemExit("the fit ended without a result")
    sys.stdout.write(f"{solver}: {killed} kills, {finished} finished fits, all alike\n")


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        check(name, int(sys.argv[2]), Path(sys.argv[3]) / name)
