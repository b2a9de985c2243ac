"""What a dataset remembers of how it was opened, so that its rows can be read anew and encoded otherwise."""

import sys
from dataclasses import dataclass
from typing import Any

from riata.data.formats.source import Source

# All options but those that say which columns become which features.
KEPT = ("weight", "memory", "cache", "on_error", "need_target", "filesystem", "engine")


@dataclass(frozen=True)
class Opened:
    """The source, the target and the other options as `open_data` takes them."""

    source: Any
    target: Any
    options: dict[str, Any]


def opened_with(source, target, options: dict[str, Any]) -> Opened | None:
    """What to remember; None of a stream, which is gone once it has been read."""
    if is_stream(source) or options.get("follow"):
        return None
    return Opened(source, target, {name: options[name] for name in KEPT if name in options})


def is_arrow_dataset(source: Any) -> bool:
    """Whether it is a PyArrow dataset. Nobody has one whose module is not loaded, and loading it would take pandas."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(source, module.Dataset)


def is_stream(source) -> bool:
    """Whether rows come once: standard input, a generator of chunks, an Arrow reader."""
    if isinstance(source, Source):
        return source.single_pass
    return (isinstance(source, str) and source == "-") or hasattr(source, "__next__")
