"""Numbers as a page shows them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def short(value: float | None, digits: int = 4) -> str:
    """A number of a few digits for people to read: 12,345, 0.0123, 1e-7; a dash where there is none."""
    if value is None or not np.isfinite(value):
        return "–"
    value = float(value)
    if value == 0:
        return "0"
    if 1e4 <= abs(value) < 1e15 and (value.is_integer() or abs(value) >= 10 ** (digits - 1)):
        return f"{value:,.0f}".replace("-", "−")
    text = f"{value:.{digits}g}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−", 1) if value < 0 else text


def duration(seconds: float) -> str:
    """A span of time for people to read: 12 ms, 3.4 s, 2 min 5 s."""
    if seconds < 0.0995:
        return f"{1e3 * seconds:.0f} ms"
    if seconds < 99.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 100 else f"{minutes / 60:.1f} h"


def rounded(values: ArrayLike, digits: int = 6) -> list[float | None]:
    """Numbers with few digits for a script to read; None where there is none."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values, dtype=float).tolist()]


def count(n: int, one: str, several: str | None = None) -> str:
    """A number of things, in words: 1 row, 2,000 rows."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def label(value: Any) -> str:
    """A class by name: 1 for 1.0, as people write it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"−{-value}" if isinstance(value, int) and value < 0 else str(value)
