"""Numbers in a column of a table: rounded for people, with their points and signs under each other."""

from collections.abc import Sequence

import numpy as np

DIGITS = 4  # of the largest number,
LEAST_DIGITS = 2  # and of the smallest
WIDEST = 7  # decimals: beyond, numbers are written with powers of ten


def aligned(values: Sequence[float | None], digits: int = DIGITS, sign: bool = False) -> list[str]:
    """The numbers with equally many decimals, to be shown flush right; a dash where there is none."""
    known = np.array([v for v in values if v is not None and np.isfinite(v) and v != 0], dtype=float)
    plus = "+" if sign else ""
    decimals = 0
    if len(known):
        large, small = (int(np.floor(np.log10(size))) for size in (np.abs(known).max(), np.abs(known).min()))
        decimals = max(0, digits - 1 - large, LEAST_DIGITS - 1 - small)
        if decimals > WIDEST or large >= 15:
            return [_missing(v) or (f"{v:{plus}.{digits - 1}e}" if v else "0") for v in values]
    return [_missing(v) or (f"{v:{plus},.{decimals}f}" if v else "0") for v in values]


def four_digits(value: float) -> str:
    """A number of four digits, or of all before the point where there are more: 0.006029, 13,573."""
    if value == 0 or not np.isfinite(value):
        return _missing(value) or "0"
    size = int(np.floor(np.log10(abs(value))))
    decimals = max(0, DIGITS - 1 - size)
    return f"{value:.{DIGITS - 1}e}" if decimals > WIDEST or size >= 15 else f"{value:,.{decimals}f}"


def by_points(values: Sequence[float]) -> list[str]:
    """Numbers of four digits each, with spaces before them that put their points under each other."""
    texts = [four_digits(value) for value in values]
    before = max((len(text.partition(".")[0]) for text in texts), default=0)
    return [" " * (before - len(text.partition(".")[0])) + text for text in texts]


def _missing(value: float | None) -> str:
    return "–" if value is None or not np.isfinite(value) else ""
