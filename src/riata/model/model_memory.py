"""What a model of very many features takes of the memory in which rows are read."""

from collections.abc import Sequence

import numpy as np

from riata.data.budget import in_words, parse_memory
from riata.data.columns.kept_names import KeptNames
from riata.errors import OptionError

COPIES = 5  # of the names: the model's own, those of columns as saved and as read, and others for a while
LEAST_SHARE = 4  # of the memory is for rows, in any case


def left_beside_model(names: Sequence[str], coef: np.ndarray, memory: int | str | None) -> int:
    """The memory that is left beside a model of these features; refused where a budget was given that has no room."""
    budget = parse_memory(memory)
    if not isinstance(names, KeptNames):  # few, which take next to nothing
        return budget
    taken = COPIES * names.n_bytes + coef.nbytes + 16 * len(names)
    least = taken * LEAST_SHARE / (LEAST_SHARE - 1)
    if memory is not None and budget < least:
        raise OptionError(
            f"the model has {len(names):,} features, which take {in_words(taken)}, and rows are read beside it: give "
            f"it {in_words(least)} of memory or more, not {in_words(budget)}"
        )
    return max(budget - taken, budget // LEAST_SHARE)
