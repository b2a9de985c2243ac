"""OKRidge, l0bnb and el0ps on one matrix, in a process of its own: they need an older NumPy than riata.

    python benchmarks/proof_peers.py METHOD MATRIX.npz '{"k": 10, "ridge": 0.1, ...}'

Called by `proof.py`; prints one line of JSON: seconds of the processor in the second of two runs, features, gap.
"""

import json
import sys
import time

import numpy as np


def okridge(X, y, k, ridge, limit_s, **_):
    from okridge.tree import BNBTree

    tree = BNBTree(X=X, y=y, lambda2=ridge * len(y))
    _, coef, gap, _, _ = tree.solve(k=k, gap_tol=1e-4, verbose=False, time_limit=limit_s)
    return np.flatnonzero(coef), float(gap)


def l0bnb(X, y, price, ridge, largest, limit_s, **_):
    from l0bnb import BNBTree

    n = len(y)
    found = BNBTree(X, y).solve(price * n, 0.5 * ridge * n, 1.5 * largest, gap_tol=1e-4, time_limit=limit_s)
    return np.flatnonzero(found.beta), float(found.gap)


def el0ps(X, y, price, ridge, loss, limit_s, **_):
    from el0ps.datafit import Leastsquares, Logistic
    from el0ps.penalty import L2norm
    from el0ps.solver import BnbSolver, Status

    n = len(y)
    solver = BnbSolver(time_limit=limit_s, relative_gap=1e-4, verbose=False)
    datafit = (Leastsquares if loss == "squared" else Logistic)(y)
    found = solver.solve(datafit, L2norm(0.5 * ridge * n), np.asfortranarray(X), price * n)
    return np.flatnonzero(found.x), 0.0 if found.status == Status.OPTIMAL else float("nan")


if __name__ == "__main__":
    method, (matrix, asked) = globals()[sys.argv[1]], (np.load(sys.argv[2]), json.loads(sys.argv[3]))
    X, y = matrix["X"], matrix["y"]
    method(X, y, **asked)
    started = time.process_time()
    features, gap = method(X, y, **asked)
    print(json.dumps({"seconds": time.process_time() - started, "features": features.tolist(), "gap": gap}))
