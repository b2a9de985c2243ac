"""What several targets are called: by the columns of a frame, or y0, y1, ... where they have no names."""

import csv
from collections.abc import Collection, Sequence
from typing import Any

from riata.data.column_names import no_column
from riata.errors import DataError


def names_of_targets(y: Any) -> tuple[str, ...] | None:
    """The names of the columns of a target that has several; None where it has one."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and y and isinstance(y[0], list | tuple):
        shape = (len(y), len(y[0]))  # rows as lists
    if shape is None or len(shape) != 2 or not shape[1] > 1:
        return None
    names = y.column_names if hasattr(y, "column_names") else getattr(y, "columns", None)
    return numbered_targets(shape[1]) if names is None else tuple(map(str, names))


def split_names(value: str) -> list[str]:
    """Names with commas between them; one that has a comma itself stands in quotes, as in CSV: "price, net",tax."""
    return next(csv.reader([value], skipinitialspace=True), [])


def joined_names(names: Sequence[str]) -> str:
    """The text that `split_names` takes apart; a single name as it is."""
    return names[0] if len(names) == 1 else ",".join(f'"{name}"' if "," in name else name for name in names)


def named_targets(given: Any, columns: Collection[str]) -> tuple[str, ...] | None:
    """The columns that are several targets: a list of names, or one text with commas; None where it is neither."""
    if isinstance(given, str):
        names = split_names(given) if "," in given and given not in columns else []
    else:
        names = list(given) if isinstance(given, list | tuple) else []
    if not all(isinstance(name, str) for name in names) or not any(name in columns for name in names):
        return None  # labels of rows, or one name
    for place, name in enumerate(names):
        if name not in columns:
            raise DataError(no_column(name, list(columns)))
        if name in names[:place]:
            raise DataError(f"the target {name!r} is named twice: name each once")
    return tuple(names)


def numbered_targets(count: int) -> tuple[str, ...]:
    """Names of targets that have none."""
    return tuple(f"y{k}" for k in range(count))
