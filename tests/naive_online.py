"""The online methods again, slow and obvious: dense rows, one weight vector, nothing lazy. `eta` is constant."""

import numpy as np

from riata.penalties import soft_threshold


def steps(a, y, weight, visits, batch):
    """The rows, targets and weights of one step after the other."""
    for t in range(0, len(visits), batch):
        members = visits[t : t + batch]
        yield a[members], y[members], weight[members]


def slope(loss, a, y, weight, w, b):
    """Mean gradient of some rows in w and in b."""
    u = weight * loss.derivative(y, a @ w + b)
    return a.T @ u / len(y), u.sum() / len(y)


def ftrl(a, y, weight, visits, batch, loss, eta, l1, l2):
    d = a.shape[1]
    z, n, v, debt = np.zeros(d + 1), np.zeros(d + 1), np.zeros(d + 1), 0.0
    penalised = np.append(np.ones(d), 0.0)
    for rows, targets, weights in steps(a, y, weight, visits, batch):
        g = np.append(*slope(loss, rows, targets, weights, v[:d], v[d]))
        sigma = np.sqrt(n + g**2) - np.sqrt(n)
        n += g**2
        z += eta * g - sigma * v
        debt += eta * weights.mean()
        v = -soft_threshold(z, l1 * debt * penalised) / (1.0 + np.sqrt(n) + l2 * debt * penalised)
    return v[:d], v[d]


def rda(a, y, weight, visits, batch, loss, eta, l1, l2):
    d = a.shape[1]
    z, total, v = np.zeros(d + 1), 0.0, np.zeros(d + 1)
    penalised = np.append(np.ones(d), 0.0)
    for rows, targets, weights in steps(a, y, weight, visits, batch):
        z += np.append(*slope(loss, rows, targets, weights, v[:d], v[d]))
        total += weights.mean()
        beta = np.sqrt(max(total, 1.0)) / eta
        v = -soft_threshold(z, l1 * total * penalised) / (beta + l2 * total * penalised)
    return v[:d], v[d]


def truncated(a, y, weight, visits, batch, loss, eta, l1, ceiling, every):
    w, b, gravity = np.zeros(a.shape[1]), 0.0, 0.0
    for t, (rows, targets, weights) in enumerate(steps(a, y, weight, visits, batch), start=1):
        by_w, by_b = slope(loss, rows, targets, weights, w, b)
        w, b = w - eta * by_w, b - eta * by_b
        gravity += eta * l1 * weights.mean()
        if t % every == 0:
            w = np.where(np.abs(w) <= ceiling, soft_threshold(w, gravity), w)
            gravity = 0.0
    return w, b
