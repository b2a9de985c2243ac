"""Slow and obvious versions of best k for losses of several margins a row, or whose rows go together."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from naive import cox_loss


def softmax_loss(z, y, weight):
    each = logsumexp(z, axis=1) - z[np.arange(len(y)), y.astype(int)]
    return weight @ each / weight.sum()


def squared_loss(z, y, weight):
    return weight @ np.sum((y - z) ** 2, axis=1) / (2.0 * weight.sum())


def cox(z, y, weight, efron=False):
    time, event = y
    return cox_loss(z[:, 0], time, event, weight, efron)


def refit(loss, X, y, support, n_outputs, *, weight=None, fit_intercept=True, l2=0.0):
    """The least mean loss of these features, with a ridge of l2_j / 2 each: by BFGS with numerical slopes."""
    weight = np.ones(len(X)) if weight is None else weight
    A, l2 = X[:, support], np.broadcast_to(l2, X.shape[1])[support]
    deviation = np.where(A.std(axis=0) > 0, A.std(axis=0), 1.0)
    A, l2, m = (A - A.mean(axis=0) * fit_intercept) / deviation, l2 / deviation**2, len(support)

    def objective(v):
        W, b = v[: m * n_outputs].reshape(m, n_outputs), v[m * n_outputs :] * fit_intercept
        return loss(A @ W + b, y, weight) + 0.5 * l2 @ np.sum(W**2, axis=1)

    start = np.zeros((m + 1) * n_outputs)
    for _ in range(3):  # a restart forgets a curvature that led astray
        start = minimize(objective, start, method="BFGS", options={"gtol": 1e-7}).x
    return objective(start)


def best_subset(loss, X, y, k, n_outputs, **options):
    """(the least objective of k features, and which)."""
    tried = ((refit(loss, X, y, list(S), n_outputs, **options), S) for S in combinations(range(X.shape[1]), k))
    return min(tried)
