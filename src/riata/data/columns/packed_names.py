"""The names of many hash buckets in JSON: three strings in place of an object of Python for each name."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from riata.data.columns.arrow_values import arrow_of, string_array
from riata.data.columns.strings import MOST_BITS, NamedBuckets, buffers
from riata.schema import SchemaError

MANY = 20_000  # names: more than a model has of its own
PARTS = {"buckets", "ends", "text"}


def plain_names(named: Mapping[str, str]) -> Mapping[str, str]:
    """The names of buckets as a part of plain values; many stay where they are until they are written."""
    return named if isinstance(named, NamedBuckets) and len(named) >= MANY else dict(named.items())


def for_json(value: Any) -> dict[str, str]:
    """What `json` writes for what is no plain value (its `default`): names of many buckets, packed."""
    if not isinstance(value, NamedBuckets):
        raise TypeError(f"a {type(value).__name__} is no plain value")
    content, offsets = buffers(value.names)
    text = str(content[offsets[0] : offsets[-1]].data, "utf-8")
    return {"buckets": _packed(value.buckets), "ends": _packed(offsets[1:] - offsets[0]), "text": text}


def compact_names(plain: Mapping[str, str]) -> Mapping[str, str]:
    """The names of buckets as they came from a file, without objects of Python where they are many."""
    if not isinstance(plain, dict):
        return plain
    if plain.keys() == PARTS:
        return _unpacked(**plain)
    if len(plain) < MANY or not all(b.isdecimal() and len(b) <= len(str(1 << MOST_BITS)) for b in plain):
        return plain  # few, or not from riata
    buckets = np.fromiter(map(int, plain), np.int64, len(plain))
    order = np.argsort(buckets)
    return NamedBuckets(buckets[order], string_array(list(plain.values()), pa.large_string()).take(arrow_of(order)))


def _packed(numbers: np.ndarray) -> str:
    return base64.b64encode(numbers.astype("<i8").tobytes()).decode()


def _unpacked(buckets: str, ends: str, text: str) -> NamedBuckets:
    try:
        numbers, stops = (np.frombuffer(base64.b64decode(part, validate=True), "<i8") for part in (buckets, ends))
        content = text.encode()
        offsets = np.append(0, stops)
        rising = (np.diff(numbers) > 0).all() and (np.diff(offsets) >= 0).all()
        if not rising or len(numbers) != len(stops) or offsets[-1] != len(content):
            raise ValueError("they do not go together")
        names = pa.Array.from_buffers(pa.large_string(), len(stops), [None, *map(pa.py_buffer, (offsets, content))])
        names.validate(full=True)  # whether each name by itself is text
    except ValueError as error:
        raise SchemaError("the names of its buckets do not go together: they are damaged") from error
    return NamedBuckets(numbers.astype(np.int64), names)
