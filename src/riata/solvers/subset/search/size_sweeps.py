"""Searches for several sizes among the same candidates: one sweep upwards and, of sizes that are not huge, one down."""

from collections.abc import Callable, Sequence

import numpy as np

from riata.solvers.subset.search.subset import Subset

HUGE = 400  # members to begin with: a sweep down from twice as many takes longer than all sizes before, for little
Made = Callable[[int, int], None]  # is told of models made, of how many


def untold(done: int, total: int) -> None:
    """Nobody is told."""


def sweeps(
    search: Subset, sizes: Sequence[int], known: list[np.ndarray], base: np.ndarray, made: Made = untold
) -> list[np.ndarray]:
    """The best members found for every one of these rising sizes, the known ones included, up to the last that helps.

    The sweep upwards starts from the base. A model is made by both sweeps, and so half a one by the first; from a huge
    base there is one, and what is known is only improved.
    """
    best: dict[int, tuple[float, np.ndarray]] = {}

    def consider() -> None:
        """Swap, and return to the best known members of this size if those are better."""
        search.swap()
        reduction, members = best.get(search.size, (-np.inf, search.members))
        if search.reduction > reduction:
            best[search.size] = search.reduction, search.members
        else:
            search.move_to(members)

    for members in known:
        search.move_to(members)
        consider()
    if len(base) >= HUGE and known:
        return [best[k][1] for k in sorted(best)]
    search.restart(base)
    total = len(sizes)
    for number, k in enumerate(sizes, 1):
        search.forward(k)
        if search.size < k:
            break
        consider()
        made(number // 2, total)
    reached = [k for k in sizes if k < search.size] if len(base) < HUGE else []
    for number, k in enumerate(reversed(reached), 1):
        search.backward(k)
        consider()
        made((total + number) // 2, total)
    made(total, total)
    return [best[k][1] for k in sorted(best)]
