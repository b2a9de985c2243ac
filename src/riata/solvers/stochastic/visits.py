"""Orders of visits: which rows of a chunk a stochastic method visits, one after the other.

Each function returns the rows of one pass over a chunk of n rows as a flat array, of which every step takes `batch`.
The last batch of a chunk may be shorter.
"""

from collections.abc import Callable

import numpy as np

Order = Callable[[int, int, np.random.Generator], np.ndarray]  # (n, batch, generator) -> rows


def uniform(n: int, batch: int, rng: np.random.Generator) -> np.ndarray:
    """Every batch drawn from all rows, without repeating a row inside a batch: the paper's choice."""
    batch = min(batch, n)
    n_steps = -(-n // batch)
    if batch == 1:
        return rng.integers(n, size=n_steps)
    if batch**2 > n:  # redrawing batches with repeats would take long
        return np.concatenate([rng.choice(n, batch, replace=False) for _ in range(n_steps)])
    visits = rng.integers(n, size=(n_steps, batch))
    while True:
        ordered = np.sort(visits, axis=1)
        repeats = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(repeats) == 0:
            return visits.ravel()
        visits[repeats] = rng.integers(n, size=(len(repeats), batch))


def shuffled(n: int, batch: int, rng: np.random.Generator) -> np.ndarray:
    """Every row once, in random order."""
    return rng.permutation(n)


def sequential(n: int, batch: int, rng: np.random.Generator) -> np.ndarray:
    """Every row once, in the order of the data."""
    return np.arange(n)


def within(visits: np.ndarray, batch: int, steps: int, max_steps: int | None) -> np.ndarray:
    """The visits of as many steps as are left after `steps` of `max_steps`."""
    return visits if max_steps is None else visits[: (max_steps - steps) * batch]


ORDERS: dict[str, Order] = {"uniform": uniform, "shuffled": shuffled, "sequential": sequential}
