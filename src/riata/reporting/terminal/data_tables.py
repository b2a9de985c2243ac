"""What the command line shows of data: the columns of a source, and the data sets by name."""

from typing import Any

from rich.table import Table

from riata.data.columns.column_profile import ColumnProfile
from riata.data.dataset import Dataset
from riata.reporting.terminal.console import counted, terminal
from riata.reporting.terminal.user_text import escape
from riata.reporting.terminal.wording import as_typed

LONGEST_LEVEL = 40  # letters of a level that are shown
WRITTEN_OUT = 1e15  # numbers below have all their digits


def show_profile(name: str, data: Dataset) -> None:
    """The columns of a source, and the features they become."""
    profile, console = data.profile, terminal()
    assert profile is not None
    rows, features = counted(profile.n_read, "row"), counted(data.n_features, "feature")
    used = "" if profile.n_rows == profile.n_read else f" read, {profile.n_rows:,} used"
    kind = "sparse" if profile.encoding.sparse else "dense"
    console.print(f"\n[bold]{escape(name)}[/]: {rows}{used}, {features}, {kind}\n")
    widths = {encoder.column: encoder.width for encoder in profile.encoding.encoders}
    table = Table(box=None, header_style="bold")
    for title in ("column", "type", "features", "missing", "what it holds"):
        table.add_column(title, justify="right" if title in ("features", "missing") else "left")
    for column, found in profile.columns.items():
        table.add_row(
            escape(column), found.type, str(widths.get(column, "")), f"{found.missing:,}", escape(holds(found))
        )
    console.print(table)
    for note in profile.notes:
        console.print(f"[bold]note[/] {escape(as_typed(note))}")


def holds(found: ColumnProfile) -> str:
    """A few words on the values of a column."""
    if found.mean is not None:
        return f"{_six_digits(found.least)} to {_six_digits(found.largest)}, mean {_six_digits(found.mean)}"
    if found.type == "date":
        return f"{found.least} to {found.largest}"
    if found.hashed:
        return "many levels, hashed"
    if found.levels is None:
        return "nothing"
    more = ", ..." if found.levels > len(found.most_frequent or ()) else ""
    words = f": {', '.join(map(shortened, found.most_frequent))}{more}" if found.most_frequent else ""
    return f"{found.levels:,} different{words}"


def _six_digits(value: Any) -> str:
    """A number of six digits, or of all before the point where there are more: 20200131, and not 2.02001e+07."""
    text = f"{value:.6g}"
    return f"{value:.0f}" if "e+" in text and abs(value) < WRITTEN_OUT else text


def shortened(level: object) -> str:
    """A level on one line, of which only the beginning is shown where it is long, such as a whole review."""
    line = " ".join(str(level).split())
    return line if len(line) <= LONGEST_LEVEL else line[: LONGEST_LEVEL - 3] + "..."


def show_datasets() -> None:
    """The data sets by name."""
    table = Table(box=None, header_style="bold")
    for column in ("name", "rows", "features", "what it is"):
        table.add_column(column)
    table.add_row("digits49", "6,000", "5,000", "digits 4 and 9, half the columns noise; made here, a twin of Gisette")
    table.add_row("digits49:test", "1,000", "5,000", "its test rows")
    table.add_row("gisette", "6,000", "5,000", "the NIPS 2003 data itself; downloaded from UCI at first use")
    table.add_row("gisette:test", "1,000", "5,000", "its validation rows, which papers test on")
    terminal().print(table)
