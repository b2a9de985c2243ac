"""How a dataset was opened, so that its rows can be read again and encoded in another way."""

import sys
from dataclasses import dataclass
from typing import Any

from riata.data.formats.source import Source

# the options that do not say which columns become which features
KEPT = (
    "event",
    "trials",
    "weight",
    "offset",
    "exposure",
    "memory",
    "cache",
    "on_error",
    "need_target",
    "filesystem",
    "csv",
    "engine",
    "sample_negatives",
)


@dataclass(frozen=True)
class Opened:
    """The source, the target and the other options as `open_data` takes them."""

    source: Any
    target: Any
    options: dict[str, Any]


def opened_with(source: Any, target: Any, options: dict[str, Any]) -> Opened | None:
    """What to remember; None for a stream, which cannot be read again. Files that are to be read once can be."""
    if is_stream(source) or options.get("follow") or options.get("growing"):
        return None
    return Opened(source, target, {name: options[name] for name in KEPT if name in options})


def is_arrow_dataset(source: Any) -> bool:
    """Whether it is a PyArrow dataset; its module, which imports pandas (slow), is loaded if it is."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(source, module.Dataset)


def is_stream(source: Any) -> bool:
    """Whether rows can be read only once: standard input, a generator of chunks, an Arrow reader."""
    if isinstance(source, Source):
        return source.single_pass
    return (isinstance(source, str) and source == "-") or hasattr(source, "__next__")
