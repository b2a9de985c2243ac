"""How many candidates a search begins with, and how many there is room for."""

from typing import NamedTuple

import numpy as np

from riata.errors import OptionError
from riata.solvers.iterate import Options
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.memory_untold import budget_for
from riata.units import whole_megabytes

FEWEST_AT_ONCE = 256  # columns whose products with a support are made at a time: fewer would take too many passes
CANDIDATE_COPIES = 8  # of the products among candidates, with those of a search
HELD = 20  # numbers for every feature, beside products: moments, slopes, units, gains, the model and the one before
ROW_COPIES = 5  # of the rows of H: those of two chunks and their sum while they are computed, and as much for the rest


def make_room(model: LocalQuadratic, support: np.ndarray, gains: np.ndarray, n_more: int, limit: int) -> None:
    """Drop the candidates of least gain, if the rows of H would otherwise be too many for the memory."""
    if max(len(model.candidates), model.hessian.n_rows) + n_more <= limit:
        return
    gains = gains[model.candidates]
    gains[np.isin(model.candidates, support)] = np.inf
    n_kept = max(limit - n_more, len(support))
    model.keep(model.candidates[np.argsort(-gains, kind="stable")[:n_kept]])


class Room(NamedTuple):
    """What the memory has room for."""

    candidates: int
    at_once: int | None = None  # columns whose products with a support are made at a time; None: all, and they are kept


def room_for(k: int, d: int, options: Options) -> Room:
    """The rows of H of a support and its candidates or, where those are too many, blocks of them: a pass for each."""
    need, row = min(2 * k, d), ROW_COPIES * 8 * d
    memory = budget_for(row * need, options.memory)
    # with hardly any candidates beside a support, there are many rounds
    if memory // row >= min(need + next_count(k), d):
        return Room(max(memory // row // 2, need))
    left, fewest = max(memory - HELD * 8 * d, memory // 4), need + next_count(k)
    most, at_once = int(np.sqrt(memory / (8 * CANDIDATE_COPIES))), min(left, memory // 2) // (ROW_COPIES * 8 * k)
    if most >= fewest and at_once >= min(d, FEWEST_AT_ONCE):
        return Room(max(fewest, int(np.sqrt(left / (8 * CANDIDATE_COPIES)))), at_once)
    if memory // row >= need:
        return Room(max(memory // row // 2, need))
    raise _too_little(k, d, memory)


def _too_little(k: int, d: int, memory: int) -> OptionError:
    need = ROW_COPIES * 8 * d * min(2 * k, d)
    return OptionError(
        f"best k = {k} of {d} features needs about {whole_megabytes(need)}, more than memory="
        f"{memory / 1e6:.0f} MB; give it more, ask for a smaller k, or take solver 'l0-sgd'"
    )


def next_count(k: int) -> int:
    """How many candidates to add at a time: fewer would cost a pass as well."""
    return max(k, 64)


def first_count(k: int) -> int:
    """How many candidates to start with: enough that forward selection has a choice."""
    return max(2 * k, 128)
