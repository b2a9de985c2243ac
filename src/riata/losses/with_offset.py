"""A loss of rows that have an offset: a number known in advance, which is added to each row's margin.

The offset is part of what is given for a row, as its target is: y has the two side by side, in its last axis, and
solvers go on asking for functions of y and z = x . w + b. So objective, certificates and passes are those of any loss.
Of losses that see y - z only, the offset is taken from the target instead (`riata.training.offsets`).
"""

from typing import Any

import numpy as np

from riata.arrays import Array, namespace
from riata.losses.loss import Loss

SAME = (
    "name", "code", "parameter", "link", "tasks", "labels", "symmetric", "logarithms", "of_shares",
    "refusal", "curvature", "least_curvature", "score", "score_factor",
    "half_deviance", "power", "formula",
)  # fmt: skip


def paired(y: Array, offset: Array) -> Array:
    """Targets with the offsets of their rows, as `WithOffset` takes them."""
    return namespace(y).stack([y, offset], axis=-1)


class WithOffset(Loss):
    """`base` at the margin z + offset, for y = (target, offset)."""

    def __init__(self, base: Loss) -> None:
        self.base = base
        for attribute in SAME:
            setattr(self, attribute, getattr(base, attribute))

    def value(self, y: Array, z: Array) -> Array:
        return self.base.value(y[..., 0], z + y[..., 1])

    def derivative(self, y: Array, z: Array) -> Array:
        return self.base.derivative(y[..., 0], z + y[..., 1])

    def second_derivative(self, y: Array, z: Array) -> Array:
        return self.base.second_derivative(y[..., 0], z + y[..., 1])

    def conjugate(self, y: Array, u: Array) -> Array:
        return self.base.conjugate(y[..., 0], u) - u * y[..., 1]

    def balance(self, y: Array) -> tuple[Array, Array]:
        assert self.power is not None
        xp, offset = namespace(y), y[..., 1]
        return y[..., 0] * xp.exp((1.0 - self.power) * offset), xp.exp((2.0 - self.power) * offset)

    def targets(self, y: Array) -> Array:
        return y[..., 0]

    def whole_margins(self, y: Array, z: Array) -> Array:
        return z + y[..., 1]

    def takes(self, y: Array) -> Array:
        return self.base.takes(y[..., 0])

    def check_values(self, y: Array, z: Array, values: Array) -> None:
        self.base.check_values(y[..., 0], z + y[..., 1], values)

    def deviance(self, mean_losses: np.ndarray, n_rows: int) -> np.ndarray | None:
        return self.base.deviance(mean_losses, n_rows)

    def reading(self, of: str | None = None) -> str:
        return self.base.reading(of)

    @property
    def words(self) -> str:
        return self.base.words

    @property
    def kinked(self) -> bool:
        return self.base.kinked

    @property
    def has(self) -> frozenset[str]:
        return self.base.has

    @property
    def takes_all(self) -> bool:
        return self.base.takes_all

    @property
    def moments_tell_slopes(self) -> bool:
        return False  # rows of equal targets have slopes of their own

    def __repr__(self) -> str:
        return f"WithOffset({self.base!r})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, WithOffset) and self.base == other.base

    def __hash__(self) -> int:
        return hash(repr(self))
