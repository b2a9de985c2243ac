"""Offsets: numbers known in advance that are added to the margins of rows, such as the logarithm of an exposure."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from riata.errors import DataError, OptionError


@dataclass(frozen=True)
class Offset:
    """Where the offsets of rows come from."""

    column: str | None = None  # None: they were given as an array
    exposure: bool = False  # whether what is given is an exposure, whose logarithm is the offset

    @property
    def role(self) -> str:
        """The name of the option that gives it."""
        return "exposure" if self.exposure else "offset"

    @property
    def words(self) -> str:
        """What is added to the margin of a row, for people to read."""
        column = "" if self.column is None else f" {self.column!r}"
        return f"the logarithm of the exposure{column}" if self.exposure else f"the offset{column}"

    def of(self, values: np.ndarray) -> np.ndarray:
        """The offsets, from what is given for every row."""
        right = (values > 0) & np.isfinite(values) if self.exposure else np.isfinite(values)
        if not right.all():
            from riata.data.columns.column import BadRow  # which needs Arrow: arrays in memory do without

            row = int(np.argmin(right))
            where = "" if self.column is None else f" in {self.column!r}"
            needed = "an exposure is a positive number" if self.exposure else "an offset is a finite number"
            raise BadRow(row, f"the {self.role}{where} is {values[row]:g}; {needed}")
        return np.log(values) if self.exposure else values


def one_of(offset: Any, exposure: Any) -> tuple[Any, bool]:
    """What is given, of an offset and an exposure, and whether it is the exposure; both are too many."""
    if offset is not None and exposure is not None:
        raise OptionError("give an offset or an exposure, which is one by its logarithm, and not both")
    return (exposure, True) if exposure is not None else (offset, False)


def given_offsets(offset: Any, exposure: Any, n_rows: int, expected: bool = True) -> np.ndarray | None:
    """The offsets of an array's rows, from one number for each; None where none are given."""
    given, is_exposure = one_of(offset, exposure)
    if given is None:
        return None
    role = Offset(exposure=is_exposure)
    if not expected:
        raise OptionError(f"the model was fitted without an offset: it has no use for an {role.role}")
    values = as_numbers(role.role, given)
    if values.shape != (n_rows,):
        raise DataError(f"there are {n_rows} rows of data, and the {role.role} has the shape {values.shape}")
    return in_array(role, values)


def as_numbers(role: str, given: Any) -> np.ndarray:
    """What is given for every row in a role such as "exposure", as an array of numbers."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the {role} must be a number for every row, and something in it is none") from None


def in_array(role: Offset, values: np.ndarray) -> np.ndarray:
    """The offsets of rows that are numbered from 1, as those of arrays are."""
    from riata.data.columns.column import BadRow

    try:
        return role.of(values)
    except BadRow as bad:
        raise DataError(f"row {bad.row + 1}: {bad.sentence}") from None


def moved(z: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
    """Margins, one or several for each row, with the offset of the row added."""
    return z if offset is None else z + (offset if z.ndim == 1 else offset[:, None])
