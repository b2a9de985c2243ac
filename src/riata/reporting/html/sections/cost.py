"""What it cost: passes, time, memory, and where the time went."""

from riata.machine import peak_rss_mb
from riata.reporting.html.charts import Bar, bar_chart
from riata.reporting.html.facts import Facts
from riata.reporting.html.numbers import duration, short
from riata.reporting.html.page import Section
from riata.reporting.html.rendering import rendered
from riata.reporting.html.tables import facts as facts_list


def cost_section(facts: Facts) -> Section:
    """Facts, and a bar for every stage whose time is known."""
    training, seconds = facts.training, facts.origin.seconds
    in_all, peak = sum(seconds.values()), peak_rss_mb()
    pairs = [
        ("passes over the data", None if training.passes is None else short(training.passes)),
        ("time of the fit", None if training.seconds is None else duration(training.seconds)),
        ("time of the command" if facts.origin.command else "time in all", duration(in_all) if seconds else None),
        ("peak memory", None if peak is None else f"{peak:,.0f} MB, of this process"),
        ("memory budget", facts.parameters.get("memory")),
    ]
    bars = [Bar(name, value, duration(value)) for name, value in seconds.items()]
    chart = bar_chart("Where the time went", bars, kind="time") if len(bars) > 1 else None
    return Section("cost", "What it cost", rendered("cost.html", facts=facts_list(pairs), chart=chart))
