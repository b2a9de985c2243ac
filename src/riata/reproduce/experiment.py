"""From the name of a data set to a folder of tables, figures and a page."""

from collections.abc import Callable
from pathlib import Path

from riata.errors import OptionError
from riata.reproduce.account import write_account
from riata.reproduce.claims import claims
from riata.reproduce.drawing import check_matplotlib, draw
from riata.reproduce.export import write_cells, write_csv, write_figure
from riata.reproduce.figures import figures
from riata.reproduce.findings import Findings
from riata.reproduce.page import write_reproduction
from riata.reproduce.plan import SEEDS, Settings, plan
from riata.reproduce.rows import load_rows
from riata.reproduce.store import Store
from riata.reproduce.tables import table1, table2, times_to_accuracy
from riata.reproduce.work import run_cells


def reproduce(
    data: str,
    out: Path,
    *,
    quick: bool = False,
    seeds: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Findings:
    """Run what of the experiment is not yet in `out`, then write its tables, figures and page there."""
    seeds = (1 if quick else SEEDS) if seeds is None else seeds
    if seeds < 1:
        raise OptionError(f"seeds must be at least 1, not {seeds}")
    check_matplotlib()
    rows = load_rows(data)
    settings = Settings(rows.facts(), quick, seeds)
    store = Store(out)
    store.open(settings)
    results = run_cells(plan(settings), rows, store, progress)
    findings = Findings(settings.facts, quick, seeds, results)
    write_all(findings, out)
    return findings


def write_all(findings: Findings, out: Path) -> None:
    """Tables and points as CSV, figures as PNG and SVG, the page, and an account of it in Markdown."""
    write_cells(findings, out)
    write_csv(out / "table1.csv", table1(findings))
    write_csv(out / "table2.csv", table2(findings))
    write_csv(out / "time_to_accuracy.csv", times_to_accuracy(findings))
    write_csv(out / "claims.csv", [claim._asdict() for claim in claims(findings)])
    (out / "figures").mkdir(exist_ok=True)
    for figure in figures(findings):
        write_figure(figure, out / "figures")
        draw(figure, out / "figures")
    write_reproduction(findings, out / "index.html")
    write_account(findings, out / "paper.md")
