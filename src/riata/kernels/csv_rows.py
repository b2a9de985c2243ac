"""Where rows of CSV end: a line end inside quotes is part of a cell."""

import numpy as np

from riata.kernels.compiled import compiled

# where a reader is: at the first byte of a cell, later in one without quotes, in quotes, after a quote in quotes
CELL_START, IN_CELL, IN_QUOTES, AFTER_QUOTE = 0, 1, 2, 3
LINE_END, RETURN = 10, 13


@compiled(nogil=True)
def follow_quotes(text: np.ndarray, state: int, separator: int, quote: int, stop_at_row_end: bool) -> tuple[int, int]:
    """Where a reader is after these bytes, and how many it has read: up to the first end of a row, if asked to stop.

    A quote opens quotes only as the first byte of a cell; two in quotes are one that is part of the cell.
    """
    for i in range(len(text)):
        c = text[i]
        if state == IN_QUOTES:
            if c == quote:
                state = AFTER_QUOTE
        elif state == AFTER_QUOTE and c == quote:
            state = IN_QUOTES
        elif c == LINE_END:
            state = CELL_START
            if stop_at_row_end:
                return state, i + 1
        elif c in (separator, RETURN):
            state = CELL_START
        elif state == CELL_START and c == quote:
            state = IN_QUOTES
        else:
            state = IN_CELL
    return state, len(text)
