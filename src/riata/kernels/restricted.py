"""The minimum of F over a few gathered columns: Newton steps without a pass over the rest of the data."""

import math

import numpy as np

from riata.kernels.compiled import compiled
from riata.kernels.losses import second_derivative, value_and_derivative
from riata.kernels.quadratic import minimise
from riata.kernels.rows import FAST

STEPS = 30
HALVINGS = 40  # of a step: where a loss is straight its curvature says nothing about how far to go
ROUNDING = 1e-14  # of F: a rise by less is none
LAST = 1e-11  # of F: steps converge quadratically, so after one that gains less there is nothing to gain
FINE = 1e-12  # precision of the minimum of a quadratic


@compiled(nogil=True, fastmath=FAST)
def minimise_loss(A, y, weight, loss, least_curvature, strengths, fit_intercept, v, b):
    """(v, b) at the minimum over the columns of A, from a start; `strengths` are l1, l2 and the least value of each v_j.

    F = sum_i s_i loss(y_i, a_i . v + b) / sum(s) + sum_j l1_j |v_j| + l2_j / 2 v_j^2
    """
    l1, l2, lower = strengths
    n, m = A.shape
    total = 0.0
    for i in range(n):
        total += weight[i]
    v, v_step = v.copy(), np.zeros(m)
    z, z_step, u, D = np.empty(n), np.zeros(n), np.empty(n), np.empty(n)
    _margins(A, v, b, z)
    F = _losses(z, z_step, 0.0, y, weight, loss, least_curvature, u, D) / total + _penalties(v, v_step, 0.0, l1, l2)
    for _ in range(STEPS):
        slope, mean, by_b, curvature = np.zeros(m), np.zeros(m), 0.0, 0.0
        for i in range(n):
            row, ui, Di = A[i], u[i] / total, D[i] / total
            by_b += ui
            curvature += Di
            for j in range(m):
                slope[j] += ui * row[j]
                mean[j] += Di * row[j]
        moves = fit_intercept and curvature > 0.0  # the intercept
        for j in range(m):
            mean[j] = mean[j] / curvature if moves else 0.0
            slope[j] += l2[j] * v[j] - by_b * mean[j]
        H = _curvature(A, D, total, mean)
        for j in range(m):
            H[j, j] += l2[j]
        v_far = minimise(H, slope, l1, lower, v, FINE)
        b_step = -by_b / curvature if moves else 0.0
        for j in range(m):
            v_step[j] = v_far[j] - v[j]
            b_step -= mean[j] * v_step[j]
        _margins(A, v_step, b_step, z_step)
        share, F_far = 1.0, np.inf
        for _ in range(HALVINGS):
            F_far = _losses(z, z_step, share, y, weight, loss, least_curvature, u, D) / total
            F_far += _penalties(v, v_step, share, l1, l2)
            if F_far <= F + ROUNDING * abs(F):
                break
            share *= 0.5
        if not F_far <= F + ROUNDING * abs(F):
            break
        b += share * b_step
        for j in range(m):
            v[j] += share * v_step[j]
        for i in range(n):
            z[i] += share * z_step[i]
        F, gain = F_far, F - F_far
        if gain <= LAST * F:
            break
    return v, b


@compiled(nogil=True, fastmath=FAST)
def _margins(A, v, b, z):
    """z = A v + b"""
    for i in range(z.shape[0]):
        row, total = A[i], b
        for j in range(v.shape[0]):
            total += row[j] * v[j]
        z[i] = total


@compiled(nogil=True, fastmath=FAST)
def _losses(z, z_step, share, y, weight, loss, least_curvature, u, D):
    """sum_i s_i loss at the margins z + share z_step; of every row s loss' into u and s loss'' into D."""
    total = 0.0
    for i in range(z.shape[0]):
        margin = z[i] + share * z_step[i]
        value, slope = value_and_derivative(loss, y[i], margin)
        total += weight[i] * value
        u[i] = weight[i] * slope
        D[i] = weight[i] * max(second_derivative(loss, y[i], margin), least_curvature)
    return total


@compiled(nogil=True, fastmath=FAST)
def _penalties(v, v_step, share, l1, l2):
    """At v + share v_step."""
    total = 0.0
    for j in range(v.shape[0]):
        value = v[j] + share * v_step[j]
        total += l1[j] * abs(value) + 0.5 * l2[j] * value * value
    return total


@compiled(nogil=True, fastmath=FAST)
def _curvature(A, D, total, mean):
    """sum_i D_i (a_i - mean)(a_i - mean)' / total"""
    C = np.empty(A.shape)
    for i in range(A.shape[0]):
        root = math.sqrt(D[i] / total)
        for j in range(A.shape[1]):
            C[i, j] = root * (A[i, j] - mean[j])
    return C.T @ C
