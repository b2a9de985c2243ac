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
    origin, curvature, seen = 0.0, 1.0, []
    for rows, targets, weights in steps(a, y, weight, visits, batch):
        u = np.empty(len(targets))
        for r, row in enumerate(rows):
            if loss.logarithms:
                seen.append((targets[r], weights[r]))
                mean = np.average(*np.array(seen).T[:1], weights=np.array(seen)[:, 1])
                origin, curvature = np.log(mean), loss.second_derivative(mean, np.log(mean))
            u[r] = weights[r] * loss.derivative(targets[r], origin + row @ v[:d] + v[d]) / curvature
        g = np.append(rows.T @ u, u.sum()) / len(u)
        sigma = np.sqrt(n + g**2) - np.sqrt(n)
        n += g**2
        z += eta * g - sigma * v
        debt += eta * weights.mean() / curvature
        v = -soft_threshold(z, l1 * debt * penalised) / (1.0 + np.sqrt(n) + l2 * debt * penalised)
    return v[:d], origin + v[d]


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


def online(a, y, weight, loss, noises, rates, alpha, distinct):
    """Solver 'online' over dense rows: the weights of every lane in a row, and the intercepts.

    Noises and rates have one entry per lane; the last row of what is kept for the intercepts is the empty model's.
    """
    d, n_lanes, curvature = a.shape[1], len(noises), min(loss.curvature, 1.0)
    if loss.logarithms:
        curvature = loss.second_derivative(y[0], np.log(y[0]))
    origin = y[0] if loss.relative else 0.0
    z, hold, w = np.zeros((n_lanes, d)), np.zeros(d), np.zeros((n_lanes, d))
    b, b_z, b_hold, squares = (np.zeros(n_lanes + 1) for _ in range(4))
    spread, shift, review = 0.0, a[0].copy(), 1.0

    def weights(T, seen):
        variance = np.average(seen**2, axis=0, weights=weight[: len(seen)])
        variance -= np.average(seen, axis=0, weights=weight[: len(seen)]) ** 2
        varies = variance > 1e-12
        level = noises * np.sqrt(squares[:-1]) * max(T / distinct, 1.0) ** 0.4 + alpha * T
        divisor = curvature / rates[:, None] * np.where(varies, variance + hold, 1.0)
        v = -soft_threshold(z, np.sqrt(variance) * level[:, None]) / divisor
        return np.where(varies, v, 0.0), np.sqrt(np.where(varies, variance, 0.0))

    for i in range(len(a) + 1):
        T = weight[:i].sum()
        if i == np.ceil(review):  # columns are counted from their means so far
            review += max(0.2 * review, 1.0)
            moved = np.average(a[:i], axis=0, weights=weight[:i]) - shift
            b[:-1] += weights(T, a[:i])[0] @ moved
            b_z[:-1] = -b[:-1] * (1.0 + b_hold[:-1])
            shift += moved
        if i == len(a):
            break
        x = a[i] - shift
        if loss.logarithms:
            mean = np.average(y[: i + 1], weights=weight[: i + 1])
            origin, curvature = np.log(mean), loss.second_derivative(mean, np.log(mean))
        if loss.kinked:
            spread += weight[i] * abs(y[i] - origin - b[-1])
            if spread == 0.0:
                continue
            curvature = loss.curvature_by_spread * weight[: i + 1].sum() / spread
        w, deviation = weights(T, a[: i + 1])
        u = loss.derivative(y[i], origin + b + np.append(w @ x, 0.0))
        cap = np.inf if loss.kinked else abs(u[-1]) + (np.sqrt(squares[-1] / T) if T > 0 else 0.0)
        u = weight[i] * np.clip(u, -cap, cap)
        squares += u**2
        rest = np.sqrt(squares[-1] / (T + weight[i]))
        if rest <= (1e-12 * curvature if loss.logarithms else 0.0):
            continue
        stiffness = curvature / rates[:, None]
        grown = np.hypot(hold, deviation * x / rest * np.sqrt(np.mean(u[:-1] ** 2)))
        z += np.where(deviation > 0, np.outer(u[:-1], x) - stiffness * (grown - hold) * w, 0.0)
        hold = np.where(deviation > 0, grown, hold)
        grown_b = np.hypot(b_hold, u / (min(rest, curvature) if loss.logarithms else rest))
        b_z += u / curvature - (grown_b - b_hold) * b
        b_hold, b = grown_b, -b_z / (1.0 + grown_b)
        if loss.logarithms:
            b_z[-1] = b[-1] = 0.0
    w = weights(weight.sum(), a)[0]
    return w, origin + b[:-1] - w @ shift


def online_outputs(a, codes, weight, n_classes, noises, rates, alpha, distinct):
    """The same for softmax: the weights of every lane, classes x features, and the intercepts of lanes x classes."""
    d, n_lanes, curvature = a.shape[1], len(noises), (n_classes - 1) / n_classes**2
    z, w = (np.zeros((n_classes, n_lanes, d)) for _ in range(2))
    hold = np.zeros((n_classes, d))
    b, b_z, b_hold, squares = (np.zeros((n_classes, n_lanes + 1)) for _ in range(4))

    def weights(T, seen):
        shares = weight[: len(seen)]
        variance = np.average(seen**2, axis=0, weights=shares) - np.average(seen, axis=0, weights=shares) ** 2
        varies = variance > 1e-12
        level = noises * np.sqrt(squares[:, :-1]) * max(T / distinct, 1.0) ** 0.4 + alpha * T
        divisor = curvature / rates[:, None] * np.where(varies, variance + hold[:, None], 1.0)
        v = -soft_threshold(z, np.sqrt(np.abs(variance)) * level[..., None]) / divisor
        return np.where(varies, v, 0.0), np.sqrt(np.where(varies, variance, 0.0))

    for i, x in enumerate(a):
        T = weight[:i].sum()
        w, deviation = weights(T, a[: i + 1])
        margins = b + np.column_stack([w @ x, np.zeros(n_classes)])
        u = np.exp(margins - margins.max(axis=0))
        u = u / u.sum(axis=0) - (np.arange(n_classes) == codes[i])[:, None]
        cap = np.abs(u[:, -1:]) + (np.sqrt(squares[:, -1:] / T) if T > 0 else 0.0)
        u = weight[i] * np.clip(u, -cap, cap)
        squares += u**2
        rest = np.sqrt(squares[:, -1:] / (T + weight[i]))
        grown = np.hypot(hold, deviation * x / rest * np.sqrt(np.mean(u[:, :-1] ** 2, axis=1))[:, None])
        stiffness = curvature / rates[:, None]
        z += np.where(deviation > 0, u[:, :-1, None] * x - stiffness * (grown - hold)[:, None] * w, 0.0)
        hold = np.where(deviation > 0, grown, hold)
        grown_b = np.hypot(b_hold, u / rest)
        b_z += u / curvature - (grown_b - b_hold) * b
        b_hold, b = grown_b, -b_z / (1.0 + grown_b)
    return weights(weight.sum(), a)[0], b[:, :-1].T
