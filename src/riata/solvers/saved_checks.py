"""Checks of what is restored from a checkpoint: compiled loops trust the types, lengths and indices of their arrays."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from riata.errors import CheckpointError, RiataError
from riata.schema import SchemaError, checked

Shape = tuple[int | None, ...]  # None: any length
LARGEST = np.float64(1e300)  # numbers beyond it come of no data that a fit takes, and products with them are none


@contextmanager
def restoring() -> Iterator[None]:
    """Whatever the reading of a checkpoint trips over is the checkpoint's fault; also a decorator of what reads one."""
    try:
        yield
    except RiataError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _damaged(" ".join(str(error).split()) or type(error).__name__) from error


def check_alike(arrays: dict[str, np.ndarray], alike: dict[str, np.ndarray]) -> None:
    """Refuse arrays that are not of the types and shapes of these, or not finite."""
    for name, one in alike.items():
        check_array(arrays, name, one.dtype, one.shape)


def check_array(arrays: dict[str, np.ndarray], name: str, dtype: Any, shape: Shape, finite: bool = True) -> np.ndarray:
    """The array of this name, if it is of this type and shape, and of numbers that a fit may have, or without NaN."""
    if name not in arrays:
        raise _damaged(f"it lacks {name!r}")
    found = arrays[name]
    same = len(found.shape) == len(shape) and all(n in (None, m) for m, n in zip(found.shape, shape, strict=True))
    if found.dtype != dtype or not same:
        raise _damaged(f"{name!r} is of {found.dtype} and of shape {found.shape}, which no fit saves")
    if found.dtype.kind == "f" and not (np.abs(found) <= LARGEST if finite else ~np.isnan(found)).all():
        raise _damaged(f"{name!r} holds what is no number")
    return found


def check_indices(values: np.ndarray, name: str, least: int, below: int) -> None:
    """Refuse indices outside of [least, below)."""
    if values.size and not least <= values.min() <= values.max() < below:
        raise _damaged(f"{name!r} holds an index of no feature")


def check_set(values: np.ndarray, name: str, among: np.ndarray) -> None:
    """Refuse indices that are there twice, or not among these."""
    if len(np.unique(values)) < len(values) or not np.isin(values, among).all():
        raise _damaged(f"{name!r} holds an index twice, or one that should not be there")


def check_facts(facts: dict[str, Any], kinds: dict[str, Any], finite: bool = False) -> None:
    """Refuse facts that are missing, NaN, or of other types; what should be a float is one afterwards."""
    try:
        for name, kind in kinds.items():
            checked(kind, facts.get(name), f"its {name!r}", finite)
            if kind is float:  # JSON does not tell 1 from 1.0, and compiled loops have no room for a huge whole number
                facts[name] = float(facts[name])
                if np.isnan(facts[name]):
                    raise SchemaError(f"its {name!r} is no number")
    except SchemaError as error:
        raise _damaged(str(error)) from error


def check_positive(facts: dict[str, Any], name: str) -> None:
    """Refuse a number by which others are divided, where there is one, that is not positive and finite."""
    if facts[name] is not None and not 0.0 < facts[name] < np.inf:
        raise _damaged(f"its {name!r} is not positive")


def check_all_positive(values: np.ndarray, name: str) -> None:
    """Refuse an array by which others are divided that is not positive."""
    if not (values > 0.0).all():
        raise _damaged(f"{name!r} is not positive")


def _damaged(reason: str) -> CheckpointError:
    return CheckpointError(
        f"the checkpoint is not of this fit, or it is damaged: {reason}; start again without resuming"
    )
