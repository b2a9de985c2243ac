"""The slow, obvious version of each algorithm, written from the paper's formulas.

A is the matrix of rows a_i (already scaled), s the weights of the rows (mean one), each step's rows and eta given.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from riata.penalties import hard_threshold, soft_threshold


def batch_slope(A, y, s, loss, x, b, rows):
    """m^-1 A_L'(loss' at A_L x + b) and its sum, over the rows of a batch."""
    u = s[rows] * loss.derivative(y[rows], A[rows] @ x + b)
    return A[rows].T @ u / len(rows), u.sum() / len(rows)


def safe_etas(A, s, loss, batches, etas, learn_b):
    """Each eta over the curvature along the largest row seen so far."""
    norms = s * ((A**2).sum(axis=1) + learn_b)
    largest = np.maximum.accumulate([norms[rows].max() for rows in batches])
    return etas / (loss.curvature * np.where(largest > 0, largest, 1.0 / loss.curvature))


def subgradient(A, y, s, loss, l1, batches, etas, learn_b):
    """x <- x - eta (gradient + l1 sgn(x))."""
    x, b = np.zeros(A.shape[1]), 0.0
    for rows, eta in zip(batches, etas, strict=True):
        slope, slope_b = batch_slope(A, y, s, loss, x, b, rows)
        x, b = x - eta * (slope + l1 * np.sign(x)), b - eta * slope_b * learn_b
    return x, b


def fobos(A, y, s, loss, l1, l2, batches, etas, learn_b):
    """x <- prox(x - eta gradient); l1 may differ from step to step."""
    x, b = np.zeros(A.shape[1]), 0.0
    for rows, eta, strength in zip(batches, etas, np.broadcast_to(l1, len(etas)), strict=True):
        slope, slope_b = batch_slope(A, y, s, loss, x, b, rows)
        x = soft_threshold(x - eta * slope, eta * strength) / (1 + eta * l2)
        b -= eta * slope_b * learn_b
    return x, b


def l0_sgd(A, y, s, loss, k, batches, etas, learn_b):
    """x <- H_k(x - eta gradient)."""
    x, b = np.zeros(A.shape[1]), 0.0
    for rows, eta in zip(batches, etas, strict=True):
        slope, slope_b = batch_slope(A, y, s, loss, x, b, rows)
        x, b = hard_threshold(x - eta * slope, k), b - eta * slope_b * learn_b
    return x, b


def coordinate_descent(A, y, l1, passes):
    """x_i = S_{n l1}(A_i' M_i) / |A_i|^2, M_i = y - sum_{j != i} A_j x_j: the paper's Algorithm 1."""
    n, d = A.shape
    x = np.zeros(d)
    for _ in range(passes):
        before = x.copy()
        for i in range(d):
            M = y - A @ x + A[:, i] * x[i]
            x[i] = soft_threshold(A[:, i] @ M, n * l1) / (A[:, i] @ A[:, i])
        if np.abs(x - before).max() <= 1e-15 * np.abs(x).max():
            break
    return x


def full_subgradient(A, y, l1, eta, steps):
    """The paper's Algorithm 2: B = A'A, C = A'y, constant eta, the best iterate."""
    n, d = A.shape
    B, C = A.T @ A, A.T @ y
    F = lambda x: np.sum((y - A @ x) ** 2) / (2 * n) + l1 * np.abs(x).sum()  # noqa: E731
    x, best = np.zeros(d), None
    for _ in range(steps):
        x = x - eta * ((B @ x - C) / n + l1 * np.sign(x))
        if best is None or F(x) < F(best):
            best = x
    return best


def cox_loss(z, time, event, weight, efron, entry=None, stratum=None):
    """Half the mean deviance of the partial likelihood: risk set by risk set, from its definition."""
    n = len(z)
    entry = np.zeros(n) if entry is None else entry
    stratum = np.zeros(n) if stratum is None else stratum
    total = 0.0
    for at, of in {(t, g) for t, g, happened in zip(time, stratum, event, strict=True) if happened}:
        dying = (time == at) & (stratum == of) & event
        risk = (time >= at) & (entry < at) & (stratum == of)
        d, m = weight[dying].sum(), dying.sum()
        S, T = (weight[rows] @ np.exp(z[rows]) for rows in (risk, dying))
        saturated = d * np.log(d)
        for share in np.arange(m) / m if efron else np.zeros(m):
            total += d / m * np.log(S - share * T)
            saturated += d / m * np.log(1.0 - share)
        total -= weight[dying] @ z[dying] + saturated
    return total / weight.sum()


def ordinal_loss(z, k, cutpoints, weight):
    """Minus the mean logarithm of the probability of class k between its cutpoints, from its definition."""
    ends = np.concatenate([[-np.inf], cutpoints, [np.inf]])
    p = expit(ends[k + 1] - z) - expit(ends[k] - z)
    return -weight @ np.log(p) / weight.sum() if np.all(p > 0.0) and np.all(np.diff(cutpoints) > 0.0) else np.inf


def ordinal_minimum(A, k, weight, l1, l2, n_classes):
    """The least ordinal loss with an elastic net over coefficients and cutpoints: coefficients in two parts, of which
    neither is negative, and L-BFGS."""
    d, share = A.shape[1], np.cumsum(np.bincount(k, weight, n_classes))[:-1] / weight.sum()
    s = weight / weight.sum()

    def bell(u):
        return expit(u) * expit(-u)

    def objective(v):
        w, t = v[:d] - v[d : 2 * d], v[2 * d :]
        z, ends = A @ w, np.concatenate([[-np.inf], t, [np.inf]])
        p = expit(ends[k + 1] - z) - expit(ends[k] - z)
        if np.any(p <= 0.0) or np.any(np.diff(t) <= 0.0):
            return 1e10, np.zeros_like(v)
        upper, lower = s * bell(ends[k + 1] - z) / p, s * bell(ends[k] - z) / p
        by_w = A.T @ (upper - lower) + l2 * w
        by_t = np.bincount(k, -upper, n_classes)[:-1] + np.bincount(k, lower, n_classes)[1:]
        value = -s @ np.log(p) + l1 @ (v[:d] + v[d : 2 * d]) + 0.5 * l2 @ w**2
        return value, np.concatenate([by_w + l1, -by_w + l1, by_t])

    start = np.concatenate([np.zeros(2 * d), np.log(share) - np.log1p(-share)])
    bounds = [(0.0, None)] * (2 * d) + [(None, None)] * (n_classes - 1)
    options = {"maxiter": 20_000, "maxfun": 100_000, "ftol": 1e-16, "gtol": 1e-11}
    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun


def softmax_proximal_gradient(A, y, s, penalty, n_classes, learn_b, steps):
    """The minimum of softmax and a penalty."""
    one_of = np.eye(n_classes)[y]

    def slope(z):
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True) - one_of

    return outputs_proximal_gradient(A, slope, s, penalty, n_classes, learn_b, steps, curvature=0.5)


def outputs_proximal_gradient(A, slope, s, penalty, n_outputs, learn_b, steps, curvature=1.0):
    """W <- prox(W - eta gradient), with momentum; W is features x outputs, in a row."""
    d = A.shape[1]
    s = s / s.sum()
    eta = 1.0 / (curvature * np.linalg.eigvalsh((A.T * s) @ A + np.eye(d))[-1])
    w, b = np.zeros(d * n_outputs), np.zeros(n_outputs)
    ahead_w, ahead_b, t = w, b, 1.0
    for _ in range(steps):
        u = s[:, None] * slope(A @ ahead_w.reshape(d, n_outputs) + ahead_b)
        w_new = penalty.prox(ahead_w - eta * (A.T @ u).ravel(), eta)
        b_new = ahead_b - eta * u.sum(axis=0) * learn_b
        t_new = 0.5 + np.sqrt(0.25 + t * t)
        if (ahead_w - w_new) @ (w_new - w) > 0.0:  # momentum in the wrong direction starts anew
            t_new = 1.0
        move = (t - 1.0) / t_new if t_new > 1.0 else 0.0
        ahead_w, ahead_b = w_new + move * (w_new - w), b_new + move * (b_new - b)
        still = max(np.abs(w_new - w).max() / max(np.abs(w_new).max(), 1e-300), np.abs(b_new - b).max())
        w, b, t = w_new, b_new, t_new
        if still <= 1e-15:
            break
    return w, b
