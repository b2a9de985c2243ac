"""Descent over groups of columns held in memory, on the quadratic of `kernels.coordinate` with a group Lasso."""

import math
from typing import NamedTuple

import numpy as np

from riata.kernels.best_block import best_block
from riata.kernels.compiled import compiled
from riata.kernels.coordinate import along_column, move_along_column
from riata.kernels.rows import Rows, parts

STILL = 1e-3  # of the group: a change that is less ends them


class GroupQuadratic(NamedTuple):
    """The quadratic Q = sum_i u_i m_i + D_i m_i^2 / 2 of margins m = A (v - v0) + c, and its penalty.

    Groups are columns starts[g]:starts[g + 1]. From places[g] on, `blocks` has the products of each group's columns
    about their means, row by row, of which `steepness` is at least the largest eigenvalue, in units of scaled
    coefficients; or, where no coefficient has a penalty of its own, their eigenvectors in these units, with `values`.
    """

    D: np.ndarray
    sums: np.ndarray  # sum_i D_i a_ij of every column
    means: np.ndarray  # the same over sum_i D_i, or 0 without an intercept
    starts: np.ndarray
    places: np.ndarray
    blocks: np.ndarray
    values: np.ndarray  # the eigenvalues of each group, in ascending order; or nothing
    steepness: np.ndarray
    steps: np.ndarray  # on each group before the next, at most
    by_group: np.ndarray
    by_feature: np.ndarray
    scale: np.ndarray


@compiled(nogil=True)
def sweeps_over_groups(
    columns: Rows,
    quadratic: GroupQuadratic,
    active: np.ndarray,
    v: np.ndarray,
    t: np.ndarray,
    room: np.ndarray,
    sweeps: int,
) -> float:
    """Cyclic sweeps over the active groups: each goes to its best values (`kernels.best_block`), or, where there
    are no eigenvalues, by proximal steps, by the products of its columns.

    Updates v, and the slopes t of the rows but for the change of the constant c, which is returned. `room` has four
    rows of as many numbers as there are columns.
    """
    D, sums, means, starts, places, blocks, eigenvalues, steepness, steps, by_group, by_feature, scale = quadratic
    begins, features, entries = parts(columns)
    before, slope, changes, by_vectors = room[0], room[1], room[2], room[2:]
    best = len(eigenvalues) > 0
    constant = 0.0
    for _ in range(sweeps):
        for g in active:
            first, last, steep = starts[g], starts[g + 1], steepness[g]
            if steep <= 0.0:
                continue
            size, place = last - first, places[g]
            for j in range(first, last):
                slope[j] = along_column(begins, features, entries, j, t) + constant * sums[j]
                before[j] = v[j]
            if best:
                own = blocks[place : place + size * size]
                best_block(first, last, own, eigenvalues, by_group[g], scale, slope, v, by_vectors)
            for _step in range(0 if best else steps[g]):
                squares = 0.0
                for j in range(first, last):
                    x = scale[j] * v[j] - slope[j] / (scale[j] * steep)
                    shrunk = max(abs(x) - by_feature[j] / steep, 0.0)
                    squares += shrunk * shrunk
                length = math.sqrt(squares)
                kept = max(1.0 - by_group[g] / (steep * length), 0.0) if length > 0.0 else 0.0
                moved = 0.0
                for j in range(first, last):  # all of them from the same slopes, which change below
                    x = scale[j] * v[j] - slope[j] / (scale[j] * steep)
                    new = kept * math.copysign(max(abs(x) - by_feature[j] / steep, 0.0), x) / scale[j]
                    moved = max(moved, abs(new - v[j]) * scale[j])
                    changes[j] = new - v[j]
                for j in range(first, last):
                    change = changes[j]
                    if change != 0.0:
                        v[j] += change
                        row = place + (j - first) * size - first
                        for k in range(first, last):
                            slope[k] += change * blocks[row + k]
                if moved <= STILL * kept * length:
                    break
            for j in range(first, last):
                change = v[j] - before[j]
                if change != 0.0:
                    move_along_column(begins, features, entries, j, change, D, t)
                    constant -= change * means[j]
    return constant
