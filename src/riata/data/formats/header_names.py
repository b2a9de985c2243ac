"""The columns of a table by its first rows: names for those that have none, or that of another; and which are none."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from riata.data.cells.meaning import some


def named_columns(
    header: list[str], rows: Sequence[Sequence[str]]
) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Names for all columns of the rows, those that are no columns, and what to say."""
    names = list(header)
    left_out: list[str] = []
    notes: list[str] = []
    width = usual_width(rows) or len(header)
    rows = [row for row in rows if len(row) == width]
    nothing_last = width > 1 and bool(rows) and all(not row[-1].strip() for row in rows)
    if width == len(names) + 1:  # the separator at the end of a row has no twin in the header, or R wrote names of rows
        names.insert(len(names) if nothing_last else 0, "")
    if not names[-1] and nothing_last and len(names) == width:
        names[-1] = f"column {width}"
        left_out.append(names[-1])
        notes.append("rows end with a separator: what would come after it is no column")
    if names[0] in ("", "Unnamed: 0"):  # the second is what pandas makes of the first
        names[0] = names[0] or "column 1"
        if _counts_rows(rows):
            left_out.append(names[0])
            notes.append("the first column has no name and numbers the rows: left out")
    unnamed = [j for j, name in enumerate(names) if not name]
    for j in unnamed:
        names[j] = f"column {j + 1}"
    if unnamed or "column 1" in set(names) - set(left_out) - set(header):
        called = [names[j] for j in unnamed] or ["column 1"]
        notes.append(f"columns without a name are called {some(called)}")
    if again := _made_unique(names):
        notes.append(f"names that come more than once have a number behind them: {some(again)}")
    return tuple(names), tuple(left_out), notes


def _counts_rows(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first cells of rows are whole numbers, each greater by one than that before."""
    cells = [row[0].strip() for row in rows]
    if len(cells) < 2 or not all(cell.isdigit() for cell in cells):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(cells))


def _made_unique(names: list[str]) -> list[str]:
    """Change names that were there before, as pandas does: a, a.1, a.2. Returns the new ones."""
    taken, seen, new = set(names), set(), []
    for j, name in enumerate(names):
        number = 1
        while name in seen and (f"{name}.{number}" in taken):
            number += 1
        if name in seen:
            names[j] = f"{name}.{number}"
            taken.add(names[j])
            new.append(names[j])
        seen.add(names[j])
    return new


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """How many cells most rows have; 0 where there are no rows."""
    return Counter(len(row) for row in rows).most_common(1)[0][0] if rows else 0
