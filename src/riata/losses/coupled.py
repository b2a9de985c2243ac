"""Losses of rows that count only together with the rows before them, such as those of a risk set.

Rows come in order, and what a row costs may depend on sums over all rows before it: the carry. Rows of one group
(`group(y)`), which follow one another, are seen together, however the data is cut into chunks. `riata.coupled_passes`
visits the chunks in order and adds up value and slopes in a single pass:

    value = sum over chunks of f(z of the chunk, carry),        carry = sum over the rows before of a(z_i),

so that the slope in w of a chunk's value is X' df/dz + (the carry's own slope in w) df/dcarry.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from riata.losses.loss import Loss


class ChunkValue(NamedTuple):
    """What a chunk of rows costs, given the carry of those before it, and what it leaves behind."""

    value: float  # sum s loss
    by_z: Any  # its slope in the margins, one for each row
    by_carry: np.ndarray  # its slope in the carry
    added: np.ndarray  # what these rows add to the carry
    added_by_z: Any  # the slope of that in each row's margin: rows x carry


class CoupledLoss(Loss):
    """A loss by whole chunks."""

    couples_rows = True
    n_carried: int  # numbers in the carry

    @abstractmethod
    def chunk_value(self, y: Any, z: Any, weight: Any, carry: np.ndarray) -> ChunkValue:
        """The cost of some rows that come after those of the carry, together 0 or more."""

    def group(self, y: Any) -> Any:
        """What rows that must be seen together have in common."""
        return y

    def value(self, y: Any, z: Any) -> Any:
        raise NotImplementedError(f"loss {self.name!r} is no sum over rows")

    derivative = value
