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
def minimise_loss(A, y, weight, loss, least_curvature, l1, l2, lower, fit_intercept, v, b):
    """(v, b) at the minimum over the columns of A, from a start.

    F = sum_i s_i loss(y_i, a_i . v + b) / sum(s) + sum_j l1_j |v_j| + l2_j / 2 v_j^2
    """
    m, total = A.shape[1], weight.sum()
    z = A @ v + b
    F = _objective(z, y, weight, loss, total, l1, l2, v)
    for _ in range(STEPS):
        u, D = _derivatives(z, y, weight, loss, least_curvature)
        slope, by_b, curvature = u @ A / total + l2 * v, u.sum() / total, D.sum() / total
        mean = np.zeros(m)
        if fit_intercept and curvature > 0.0:
            mean = D @ A / (total * curvature)
            slope -= by_b * mean
        H = _curvature(A, D / total, mean)
        for j in range(m):
            H[j, j] += l2[j]
        v_far = minimise(H, slope, l1, lower, v, FINE)
        b_far = b
        if fit_intercept and curvature > 0.0:
            b_far = b - by_b / curvature - mean @ (v_far - v)
        z_step, share, F_far = A @ (v_far - v) + (b_far - b), 1.0, np.inf
        for _ in range(HALVINGS):
            v_new = v + share * (v_far - v)
            F_far = _objective(z + share * z_step, y, weight, loss, total, l1, l2, v_new)
            if F_far <= F + ROUNDING * abs(F):
                break
            share *= 0.5
        if not F_far <= F + ROUNDING * abs(F):
            break
        v, b, z = v_new, b + share * (b_far - b), z + share * z_step
        F, gain = F_far, F - F_far
        if gain <= LAST * F:
            break
    return v, b


@compiled(nogil=True, fastmath=FAST)
def _objective(z, y, weight, loss, total, l1, l2, v):
    F = 0.0
    for i in range(z.shape[0]):
        F += weight[i] * value_and_derivative(loss, y[i], z[i])[0]
    F /= total
    for j in range(v.shape[0]):
        F += l1[j] * abs(v[j]) + 0.5 * l2[j] * v[j] * v[j]
    return F


@compiled(nogil=True, fastmath=FAST)
def _derivatives(z, y, weight, loss, least_curvature):
    """Of every row s loss' and s loss''."""
    u, D = np.empty(z.shape[0]), np.empty(z.shape[0])
    for i in range(z.shape[0]):
        u[i] = weight[i] * value_and_derivative(loss, y[i], z[i])[1]
        D[i] = weight[i] * max(second_derivative(loss, y[i], z[i]), least_curvature)
    return u, D


@compiled(nogil=True, fastmath=FAST)
def _curvature(A, D, mean):
    """sum_i D_i (a_i - mean)(a_i - mean)'"""
    C = np.empty_like(A)
    for i in range(A.shape[0]):
        root = math.sqrt(D[i])
        for j in range(A.shape[1]):
            C[i, j] = root * (A[i, j] - mean[j])
    return C.T @ C
