"""What a chunk on a device adds to a pass: the same sums as the compiled kernels make of a chunk in memory."""

import numpy as np

from riata.arrays import namespace, to_host


def first_order(X, y, weight, loss, w, b):
    """Totals and slopes, as `riata.kernels.first_order` orders them."""
    z = X.margins(w) + b
    xp = namespace(z)
    f, u = loss.value(y, z), loss.derivative(y, z)
    nothing = xp.zeros_like(u)
    totals, sides = [xp.sum(weight), weight @ f], []
    for on_this_side in (u > 0.0, u <= 0.0):
        slope = xp.where(on_this_side, weight * u, nothing)
        conjugate = slope * z - xp.where(on_this_side, weight * f, nothing)
        totals += [xp.sum(slope), xp.sum(conjugate)]
        sides.append(slope)
    return to_host(xp.stack(totals)), X.slopes(xp.stack(sides))


def products(X, weight, left, right):
    """Weight, means and products about the means of columns `left` with columns `right`."""
    xp = namespace(weight)
    total = float(xp.sum(weight))
    own = left is right
    X.prepare(right)
    left_mean = _means(X, weight, left, total)
    right_mean = left_mean if own else _means(X, weight, right, total)
    about_means = np.zeros((len(left), len(right)))
    for rows in X.blocks(len(left) + len(right)):
        root = xp.sqrt(weight[rows])[:, None]
        A = root * (X.columns(left, rows) - xp.asarray(left_mean))
        B = A if own else root * (X.columns(right, rows) - xp.asarray(right_mean))
        about_means += to_host(A.T @ B)
    return total, left_mean, right_mean, about_means


def _means(X, weight, columns, total):
    sums = sum(to_host(weight[rows] @ X.columns(columns, rows)) for rows in X.blocks(len(columns)))
    return sums / max(total, 1e-300)


def moments(X, y_off, weight):
    """The weighted mean of every column, the weighted squares about it, and the products with a centred target."""
    xp = namespace(weight)
    total = float(xp.sum(weight))
    mean = X.slopes(weight[None, :])[0] / total
    cross, off, squares = X.sums(mean, weight * y_off, weight)
    return mean + off / total, np.maximum(squares - off**2 / total, 0.0), cross


def column_products(X, left, right, shift, curvature):
    """sum_i D_i (x_ic - shift_c) x_ij for columns c of `left` and j of `right` (None is all of them)."""
    xp = namespace(curvature)
    shift = xp.asarray(shift)
    if right is None and not X.dense:  # a sum over the entries of every column, with no block of rows to cut out
        return X.slopes((curvature[:, None] * (X.columns(left) - shift)).T)
    right = np.arange(X.shape[1]) if right is None else right
    total = np.zeros((len(left), len(right)))
    for rows in X.blocks(len(left) + len(right)):
        A = curvature[rows][:, None] * (X.columns(left, rows) - shift)
        total += to_host(A.T @ X.columns(right, rows))
    return total


def standardised(X, columns, mean, scale, constant):
    """Dense rows of (x - mean) / scale for some columns, and a constant."""
    A = X.columns(columns)
    xp = namespace(A)
    A = (A - xp.asarray(mean)) / xp.asarray(scale)
    return X.dense_rows(xp.concat([A, xp.full((X.shape[0], 1), constant, dtype=A.dtype)], axis=1))
