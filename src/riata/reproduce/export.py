"""Every number as CSV: cells, their records, tables and the points of figures."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from riata.files import replacing
from riata.reproduce.figures import Figure
from riata.reproduce.findings import Findings


def write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Rows of equal names, numbers in full; nothing where a number is not known."""
    rows = list(rows)
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in rows)
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def write_cells(findings: Findings, folder: Path) -> None:
    """What was run: fits, the records of each, times of steps, peaks of memory."""
    fits = [result for result in findings.results if result["kind"] == "fit"]
    known = ("algorithm", "reading", "strength", "seed")
    write_csv(folder / "fits.csv", [{k: v for k, v in fit.items() if k not in ("kind", "trace")} for fit in fits])
    write_csv(
        folder / "traces.csv", [{k: fit[k] for k in known} | note for fit in fits for note in fit.get("trace", [])]
    )
    times = [result for result in findings.results if result["kind"] == "time"]
    write_csv(folder / "times.csv", [{k: v for k, v in cell.items() if k != "kind"} for cell in times])
    memory = [result for result in findings.results if result["kind"] == "memory"]
    write_csv(
        folder / "memory.csv",
        [
            {"algorithm": cell["algorithm"], "along": cell["along"]} | shape
            for cell in memory
            for shape in cell["measured"]
        ],
    )


def write_figure(figure: Figure, folder: Path) -> None:
    """The points of a figure, panel by panel."""
    write_csv(folder / f"{figure.name}.csv", [
        {"panel": panel.title, "series": series.name, panel.x.title: x, panel.y.title: y}
        for panel in figure.panels for series in panel.series for x, y in zip(series.x, series.y, strict=True)
    ])  # fmt: skip
