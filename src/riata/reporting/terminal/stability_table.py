"""What the command line shows of stability selection."""

from collections.abc import Sequence

from rich.table import Table

from riata.reporting.terminal.console import terminal
from riata.reporting.terminal.user_text import escape
from riata.training.selection.stability import Stability

TOP = 10  # features that are shown, or all that are stable


def show_stability(found: Stability, names: Sequence[str], as_json: bool) -> None:
    """The features chosen most often, and how many of the stable ones may be noise."""
    console = terminal()
    if as_json:
        chosen = (-found.frequencies).argsort(kind="stable")[: int((found.frequencies > 0).sum())]
        facts = {"n_halves": found.n_halves, "threshold": found.threshold, "q": found.q, "bound": found.error_bound}
        frequencies = {str(names[j]): float(found.frequencies[j]) for j in chosen}
        console.print_json(data={**facts, "stable": [str(names[j]) for j in found.stable], "frequencies": frequencies})
        return
    table = Table(box=None, header_style="bold")
    table.add_column("feature")
    table.add_column("chosen in halves", justify="right")
    table.add_column()
    ranked = (-found.frequencies).argsort(kind="stable")[: max(TOP, len(found.stable))]
    for j in ranked[found.frequencies[ranked] > 0]:
        share = found.frequencies[j]
        colour = "green" if share >= found.threshold else "dim"
        table.add_row(escape(str(names[j])), f"{100 * share:.0f} %", f"[{colour}]{'█' * max(1, round(20 * share))}[/]")
    console.print(table)
    console.print(
        f"\n{len(found.stable)} of {len(names):,} features are stable: at least {100 * found.threshold:.0f} % of "
        f"{found.n_halves} halves chose them, which chose {found.q:.1f} on average. {found.about_noise()}"
    )
