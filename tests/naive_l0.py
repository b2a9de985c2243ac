"""Best-k models the slow way: every support is refitted from the rows themselves, in float64."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize

from riata.losses.squared import Squared


def refit(X, y, support, *, loss=None, weight=None, fit_intercept=True, l2=0.0):
    """(F, w, b) of the least objective with these features, l2 one strength for each feature of X."""
    loss = Squared() if loss is None else loss
    weight = np.ones(len(y)) if weight is None else weight
    weight = weight / weight.sum()
    X = np.asarray(X, dtype=np.float64)[:, support]
    l2 = np.broadcast_to(l2, X.shape[1]) if np.ndim(l2) == 0 else np.asarray(l2)[support]
    columns = np.column_stack([X, np.ones(len(y))]) if fit_intercept else X
    penalty = np.append(l2, [0.0] * fit_intercept)
    if isinstance(loss, Squared):
        rows = np.vstack([columns * np.sqrt(weight)[:, None], np.diag(np.sqrt(penalty))])
        target = np.append(y * np.sqrt(weight), np.zeros(len(penalty)))
        v = np.linalg.lstsq(rows, target, rcond=None)[0]
    else:

        def F(v):
            z = columns @ v
            slope = columns.T @ (weight * loss.derivative(y, z)) + penalty * v
            return weight @ loss.value(y, z) + 0.5 * penalty @ v**2, slope

        v = minimize(F, np.zeros(columns.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    z = columns @ v
    w, b = (v[:-1], v[-1]) if fit_intercept else (v, 0.0)
    return weight @ loss.value(y, z) + 0.5 * penalty @ v**2, w, b


def best_subset(X, y, k, **options):
    """(F, support) of the best of all supports of k features."""
    return min((refit(X, y, list(S), **options)[0], S) for S in combinations(range(X.shape[1]), k))


def best_swap(X, y, support, **options):
    """The least F over all supports that differ from this one in one feature."""
    outside = np.setdiff1d(np.arange(X.shape[1]), support)
    swapped = ([*np.delete(support, i), j] for i in range(len(support)) for j in outside)
    return min(refit(X, y, S, **options)[0] for S in swapped)


def on_support(A, y, support):
    """Least-squares weights on the support, zero elsewhere."""
    v = np.zeros(A.shape[1])
    v[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return v


def top(values, k):
    """The places of the k largest magnitudes."""
    return np.sort(np.argsort(-np.abs(values), kind="stable")[:k])


def step_size(A):
    """1 / L, with the bound on L a little high, as riata's is."""
    return len(A) / (1.02 * np.linalg.norm(A, 2) ** 2)


def omp(A, y, k):
    """The methods below take centred columns and a centred target, and work on the squared loss."""
    support, v = [], np.zeros(A.shape[1])
    for _ in range(k):
        support.append(int(np.argmax(np.abs(A.T @ (y - A @ v)))))
        v = on_support(A, y, support)
    return v


def iht(A, y, k, steps):
    v = np.zeros(A.shape[1])
    for _ in range(steps):
        u = v + step_size(A) * A.T @ (y - A @ v) / len(y)
        v = np.zeros_like(u)
        v[top(u, k)] = u[top(u, k)]
    return v


def htp(A, y, k):
    v, support = np.zeros(A.shape[1]), None
    while True:
        chosen = top(v + step_size(A) * A.T @ (y - A @ v) / len(y), k)
        if np.array_equal(chosen, support):
            return v
        support, v = chosen, on_support(A, y, chosen)


def cosamp(A, y, k):
    v = np.zeros(A.shape[1])
    while True:
        merged = np.union1d(top(A.T @ (y - A @ v), 2 * k), np.flatnonzero(v))
        u = on_support(A, y, merged)
        pruned = np.where(np.isin(np.arange(len(u)), top(u, k)), u, 0.0)
        if np.sum((y - A @ pruned) ** 2) >= np.sum((y - A @ v) ** 2):
            return on_support(A, y, np.flatnonzero(v))
        v = pruned


def subspace_pursuit(A, y, k):
    v = on_support(A, y, top(A.T @ y, k))
    while True:
        merged = np.union1d(np.flatnonzero(v), top(A.T @ (y - A @ v), k))
        found = on_support(A, y, top(on_support(A, y, merged), k))
        if np.sum((y - A @ found) ** 2) >= np.sum((y - A @ v) ** 2):
            return v
        v = found
