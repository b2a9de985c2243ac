"""Parsing of memory sizes ("512MB") and time spans ("5m")."""

import re

from riata.errors import OptionError

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def parse_bytes(size: str | int | None) -> int | None:
    """The number of bytes in "512MB", "2GiB" or 1000000; None stays None."""
    if size is None:
        return None
    match = re.fullmatch(r"([0-9.]+)\s*([KMGT]?I?)B?", str(size).strip().upper())
    try:
        n_bytes = int(float(match[1]) * UNITS[match[2]]) if match else 0
    except (ValueError, KeyError):
        n_bytes = 0
    if n_bytes <= 0:
        raise OptionError(f"memory must be a size such as 512MB or 2GiB, not {size!r}")
    return n_bytes


def whole_megabytes(n_bytes: float) -> str:
    """So many bytes in whole megabytes, rounded up: who gives as many gives enough."""
    return f"{-(-int(n_bytes) // 10**6)} MB"


SECONDS = {"": 1, "S": 1, "M": 60, "MIN": 60, "H": 3600}


def parse_seconds(span: str | float, what: str) -> float:
    """The number of seconds in "60s", "5m", "1h" or 0.5."""
    match = re.fullmatch(r"([0-9.]+)\s*(S|M|MIN|H)?", str(span).strip().upper())
    try:
        if match:
            return float(match[1]) * SECONDS[match[2] or ""]
    except ValueError:  # of a number such as 1.2.3
        pass
    raise OptionError(f"{what} must be a span of time such as 60s, 5m or 1h, not {span!r}")
