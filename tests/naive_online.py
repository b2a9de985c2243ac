"""The online methods again, slow and obvious: dense rows, one weight vector, nothing lazy. `eta` is constant."""

import numpy as np

from riata.penalties import hard_threshold, soft_threshold


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


def svrg(a, y, weight, visits, loss, eta, l1, anchor, anchor_b, w, b):
    """The steps that follow one anchor."""
    mean, mean_b = slope(loss, a, y, weight, anchor, anchor_b)
    for i in visits:
        now = slope(loss, a[[i]], y[[i]], weight[[i]], w, b)
        then = slope(loss, a[[i]], y[[i]], weight[[i]], anchor, anchor_b)
        w = soft_threshold(w - eta * (now[0] - then[0] + mean), eta * l1)
        b = b - eta * (now[1] - then[1] + mean_b)
    return w, b


def saga(a, y, weight, visits, loss, eta, l1):
    """From zero weights and slopes of zero, which the mean is taken of anew at every step."""
    w, b, slopes = np.zeros(a.shape[1]), 0.0, np.zeros(len(y))
    for i in visits:
        u = weight[i] * loss.derivative(y[i], a[i] @ w + b)
        mean, mean_b = a.T @ slopes / len(y), slopes.mean()
        w = soft_threshold(w - eta * (a[i] * (u - slopes[i]) + mean), eta * l1)
        b = b - eta * (u - slopes[i] + mean_b)
        slopes[i] = u
    return w, b


def thresholded(a, y, weight, batches, loss, eta, k, anchor=None):
    """w <- H_k(w - eta slope) over batches, moving only what is in the model or among the k steepest.

    With an anchor (w, b, by_w, by_b) the slopes are corrected by the difference there, as SVRG does.
    """
    w, b = (np.zeros(a.shape[1]), 0.0) if anchor is None else anchor[:2]
    for rows in batches:
        batch = a[rows], y[rows], weight[rows]
        mean = weight[rows].mean()
        by_w, by_b = (g / mean for g in slope(loss, *batch, w, b))
        if anchor is not None:
            then_w, then_b = (g / mean for g in slope(loss, *batch, anchor[0], anchor[1]))
            by_w, by_b = by_w - then_w + anchor[2], by_b - then_b + anchor[3]
        in_play = (w != 0) | (hard_threshold(by_w, k) != 0)
        w, b = hard_threshold(w - eta * np.where(in_play, by_w, 0.0), k), b - eta * by_b
    return w, b


def online(a, y, weight, loss, noise, rate, alpha, distinct):
    """One lane of solver 'online' over rows of which the first is zero: its weights and intercept."""
    d, curvature = a.shape[1], min(loss.curvature, 1.0)
    stiffness = curvature / rate
    origin = y[0] if loss.relative else 0.0
    z, hold, w = np.zeros(d), np.zeros(d), np.zeros(d)
    lane, empty = {"b": 0.0, "z": 0.0, "hold": 0.0, "squares": 0.0}, {"b": 0.0, "z": 0.0, "hold": 0.0, "squares": 0.0}

    def weights(T, seen):
        variance = np.average(seen**2, axis=0, weights=weight[: len(seen)])
        variance -= np.average(seen, axis=0, weights=weight[: len(seen)]) ** 2
        level = noise * np.sqrt(lane["squares"]) * max(T / distinct, 1.0) ** 0.4 + alpha * T
        v = -soft_threshold(z, np.sqrt(variance) * level) / np.where(variance > 0, variance * stiffness + hold, 1.0)
        return np.where(variance > 1e-12, v, 0.0), np.sqrt(np.where(variance > 1e-12, variance, 0.0))

    for i, x in enumerate(a):
        T = weight[:i].sum()
        w, deviation = weights(T, a[: i + 1])
        u_lane = loss.derivative(y[i], origin + lane["b"] + x @ w)
        u_empty = loss.derivative(y[i], origin + empty["b"])
        cap = abs(u_empty) + (np.sqrt(empty["squares"] / T) if T > 0 else 0.0)
        slopes = {"lane": weight[i] * np.clip(u_lane, -cap, cap), "empty": weight[i] * u_empty}
        for part, u in ((lane, slopes["lane"]), (empty, slopes["empty"])):
            part["squares"] += u**2
        rest = np.sqrt(empty["squares"] / (T + weight[i]))
        if rest == 0.0:
            continue
        u = slopes["lane"]
        grown = np.hypot(hold, deviation * u * x * stiffness / rest)
        z, hold = z + np.where(deviation > 0, u * x - (grown - hold) * w, 0.0), np.where(deviation > 0, grown, hold)
        for part, u in ((lane, slopes["lane"]), (empty, slopes["empty"])):
            grown_b = np.hypot(part["hold"], u * curvature / rest)
            part["z"] += u - (grown_b - part["hold"]) * part["b"]
            part["hold"], part["b"] = grown_b, -part["z"] / (curvature + grown_b)
    return weights(weight.sum(), a)[0], origin + lane["b"]
