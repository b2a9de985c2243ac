"""Margins of rows by their classes, kept for sums over rows of a smooth function that is not known yet.

Few rows are kept one by one. Many are divided among the nodes of a grid: a row goes to the 12 nearest ones by the
weights of polynomial interpolation. A sum over rows of log(1 + exp(z - t)), for any t, is then that over nodes to 13
digits: the poles of that function are pi away from the real line, 25 times the distance of two nodes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

FEW_ROWS = 1024
HALF_WIDTH = 512.0  # the grid is about 0; rows beyond it count as if they were at its end
STEP = 1.0 / 8.0  # from one node to the next
NEAREST = 12  # nodes that a row is divided among
N_NODES = round(2.0 * HALF_WIDTH / STEP) + 1
NODES = np.linspace(-HALF_WIDTH, HALF_WIDTH, N_NODES)


class Rows(NamedTuple):
    """Rows, or nodes in their place, one by one."""

    z: np.ndarray
    weight: np.ndarray
    place: np.ndarray  # of their class


@dataclass(frozen=True)
class MarginsOfClasses:
    """The margins and weights of rows by their classes; those of more rows are added."""

    n_classes: int
    rows: Rows | None  # while they are few
    grid: np.ndarray | None = None  # classes x nodes, once rows are many
    beyond: float = 0.0  # what margins beyond the grid cost, more than at its end

    @classmethod
    def of(cls, rows: Rows, n_classes: int) -> "MarginsOfClasses":
        """The margins of some rows."""
        few = cls(n_classes, rows)
        return few if len(rows.z) <= FEW_ROWS else few.on_nodes()

    def __add__(self, other: "MarginsOfClasses") -> "MarginsOfClasses":
        if self.rows is not None and other.rows is not None:
            both = (np.concatenate(parts) for parts in zip(self.rows, other.rows, strict=True))
            return MarginsOfClasses.of(Rows(*both), self.n_classes)
        one, two = self.on_nodes(), other.on_nodes()
        grid = np.add(one.grid, two.grid)  # type: ignore[arg-type]
        return MarginsOfClasses(self.n_classes, None, grid, one.beyond + two.beyond)

    def on_nodes(self) -> "MarginsOfClasses":
        """These margins on the grid, which takes no more memory for more rows."""
        if self.rows is None:
            return self
        z, weight, place = self.rows
        at_end = (z > 0.0) & (place == self.n_classes - 1) | (z < 0.0) & (place == 0)
        beyond = float(weight @ np.where(at_end, 0.0, np.maximum(np.abs(z) - HALF_WIDTH, 0.0)))
        return MarginsOfClasses(self.n_classes, None, on_grid(z, weight, place, self.n_classes), beyond)

    @property
    def entries(self) -> Rows:
        """The rows, or the nodes that have any weight."""
        if self.grid is None:
            assert self.rows is not None
            return self.rows
        place, node = np.nonzero(self.grid)
        return Rows(NODES[node], self.grid[place, node], place)


def on_grid(z: np.ndarray, weight: np.ndarray, place: np.ndarray, n_places: int) -> np.ndarray:
    """The weights of rows with these margins, divided among the nodes, by the place of each row: places x nodes."""
    at = (np.clip(np.nan_to_num(z), -HALF_WIDTH, HALF_WIDTH) + HALF_WIDTH) / STEP
    first = np.clip(np.floor(at).astype(np.int64) - (NEAREST // 2 - 1), 0, N_NODES - NEAREST)
    shares = _shares(at - first) * weight
    nodes = (place * N_NODES + first)[None, :] + np.arange(NEAREST)[:, None]
    found = np.bincount(nodes.ravel(), shares.ravel(), n_places * N_NODES)
    return found.reshape(n_places, N_NODES)


def _shares(at: np.ndarray) -> np.ndarray:
    """What interpolation at these places takes of each of the nodes 0, 1, ...: nodes x places."""
    apart = at[None, :] - np.arange(NEAREST)[:, None]
    shares = np.empty_like(apart)
    lower = np.ones_like(at)
    for i in range(NEAREST):  # products over the nodes before each,
        shares[i] = lower
        lower = lower * apart[i]
    upper = np.ones_like(at)
    for i in reversed(range(NEAREST)):  # and after it
        shares[i] *= upper / np.prod([float(i - j) for j in range(NEAREST) if j != i])
        upper = upper * apart[i]
    return shares
