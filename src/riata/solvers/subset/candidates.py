"""How many candidates a search begins with, and how many there is room for."""

import numpy as np

from riata.errors import OptionError
from riata.solvers.iterate import Options
from riata.solvers.subset.local_quadratic import LocalQuadratic
from riata.solvers.subset.memory_untold import budget_for
from riata.units import whole_megabytes

ROW_COPIES = 5  # of the rows of H: those of two chunks and their sum while they are computed, and as much for the rest


def make_room(model: LocalQuadratic, support: np.ndarray, gains: np.ndarray, n_more: int, limit: int) -> None:
    """Drop the candidates of least gain, if the rows of H would otherwise be too many for the memory."""
    if max(len(model.candidates), model.n_rows) + n_more <= limit:
        return
    gains = gains[model.candidates]
    gains[np.isin(model.candidates, support)] = np.inf
    n_kept = max(limit - n_more, len(support))
    model.keep(model.candidates[np.argsort(-gains, kind="stable")[:n_kept]])


def row_limit(k: int, d: int, options: Options) -> int:
    """How many rows of H fit into half of the memory, which chunks of data share; an error if all is too little."""
    need, row = min(2 * k, d), ROW_COPIES * 8 * d
    memory = budget_for(row * need, options.memory)
    limit = memory // row
    if limit < need:
        raise OptionError(
            f"best k = {k} of {d} features needs about {whole_megabytes(row * need)}, more than memory="
            f"{memory / 1e6:.0f} MB; give it more, ask for a smaller k, or take solver 'l0-sgd'"
        )
    return max(limit // 2, need)


def first_count(k: int) -> int:
    """How many candidates to start with: enough that forward selection has a choice."""
    return max(2 * k, 128)
