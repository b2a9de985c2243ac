"""Losses that are no sum over single rows, because a row's loss depends on the rows before it, as in a risk set.

Rows come in order, and the loss of a row may depend on sums over all rows before it: the carry. Rows of one group
(`group(y)`), which follow one another, are passed together, however the data is cut into chunks. `riata.coupled_passes`
visits the chunks in order and adds up value and slopes in a single pass:

    value = sum over chunks of f(z of the chunk, carry),        carry = sum over the rows before of a(z_i),

so that the slope in w of a chunk's value is X' df/dz + (the carry's own slope in w) df/dcarry.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from riata.arrays import Array
from riata.losses.loss import Loss


class ChunkValue(NamedTuple):
    """The loss of a chunk, given the carry of the rows before it, and what the chunk adds to the carry."""

    value: float  # sum s loss
    by_z: Any  # its slope in the margins, one for each row
    by_carry: np.ndarray  # its slope in the carry
    added: np.ndarray  # what these rows add to the carry
    added_by_z: Any  # the slope of that in each row's margin: rows x carry


class CoupledLoss(Loss):
    """A loss that is computed chunk by chunk."""

    couples_rows = True
    n_carried: int  # numbers in the carry

    @abstractmethod
    def chunk_value(self, y: Array, z: Array, weight: Array, carry: np.ndarray) -> ChunkValue:
        """The loss of some rows, 0 or more, with the carry of all rows before them."""

    def group(self, y: Array) -> Array:
        """A key for every row; rows of equal keys are never split between two calls of `chunk_value`."""
        return y

    def value(self, y: Array, z: Array) -> Array:
        raise NotImplementedError(f"loss {self.name!r} is no sum over rows")

    derivative = value
