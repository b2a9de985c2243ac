"""Orders of visits: which rows of a chunk a stochastic method sees, one after the other.

Each function gives the rows of one pass over a chunk of n rows as a flat array, to be taken `batch` at a time. A batch
ends with its chunk.
"""

import numpy as np


def uniform(n, batch, rng):
    """Every batch drawn from all rows, without repeating a row inside a batch: the paper's choice."""
    batch = min(batch, n)
    n_steps = -(-n // batch)
    if batch == 1:
        return rng.integers(n, size=n_steps)
    if batch**2 > n:  # redrawing would take long
        return np.concatenate([rng.choice(n, batch, replace=False) for _ in range(n_steps)])
    visits = rng.integers(n, size=(n_steps, batch))
    while True:
        ordered = np.sort(visits, axis=1)
        repeats = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(repeats) == 0:
            return visits.ravel()
        visits[repeats] = rng.integers(n, size=(len(repeats), batch))


def shuffled(n, batch, rng):
    """Every row once, in random order."""
    return rng.permutation(n)


def sequential(n, batch, rng):
    """Every row once, as they lie."""
    return np.arange(n)


def within(visits, batch, steps, max_steps):
    """As many of the visits as there are steps left."""
    return visits if max_steps is None else visits[: (max_steps - steps) * batch]


ORDERS = {"uniform": uniform, "shuffled": shuffled, "sequential": sequential}
