"""The whole experiment on one self-contained page."""

from pathlib import Path

from markupsafe import Markup

from riata.reporting.html.charts import xy_chart
from riata.reporting.html.page import Section, Tile, page, write_page
from riata.reporting.html.tables import Column, data_table, facts
from riata.reproduce import words
from riata.reproduce.claims import Claim, claims
from riata.reproduce.figures import Figure, figures
from riata.reproduce.findings import Findings
from riata.reproduce.sheets import Sheet, sheet1, sheet2, sheet_of_times
from riata.reproduce.verdicts import FAILS, HOLDS

NOTHING = Markup("")
COLOURS = {HOLDS: "good", FAILS: "bad"}


def write_reproduction(findings: Findings, path: Path) -> None:
    """Write the page."""
    judged = claims(findings)
    drawn = {figure.number: figure for figure in figures(findings)}
    times = sheet_of_times(findings)
    sections = [
        Section("claims", "What the paper says, and what is found", _claims(findings, judged)),
        _table(sheet2(findings), _readings(findings)),
        Section("features", "Accuracy and features", _figure(drawn.pop(8))),
        _table(sheet1(findings)),
        Section("figures", "Figures 1 to 7", NOTHING.join(_figure(drawn[n]) for n in sorted(drawn) if n < 8)),
        Section("memory", "Memory", _figure(drawn[9])),
        Section("time", "Time", _figure(drawn[10]) + _heading(times.title) + _sheet(times)),
        Section("data", "The data", _data(findings)),
        Section("settings", "How it was run", facts(words.settings(findings))),
    ]
    write_page(path, page(words.TITLE, words.lead(findings), sections, tiles=_tiles(findings, judged)))


def _tiles(findings: Findings, judged: list[Claim]) -> list[Tile]:
    tiles = []
    for name, reading, label in (
        ("fobos", "code", "Fobos, the code's steps"),
        ("l0-sgd", "code", "L0-SGD"),
        ("online", "riata", "riata online, one pass"),
        ("best-k", "riata", "riata best-k"),
    ):
        best = findings.best(name, reading)
        if best is not None:
            tiles.append(Tile(label, f"{best.accuracy:.3f}", f"best accuracy, {best.features:.0f} features"))
    kept = sum(claim.verdict == HOLDS for claim in judged)
    return [*tiles, Tile("claims that hold", f"{kept} of {len(judged)}", "each with its evidence below")]


def _claims(findings: Findings, judged: list[Claim]) -> Markup:
    parts = [Markup('<p class="prose">{}</p>').format(words.in_short(findings, judged))]
    for topic, title in words.TOPICS.items():
        parts += [_heading(title), facts(_judged(claim) for claim in judged if claim.topic == topic)]
    return NOTHING.join(parts)


def _judged(claim: Claim) -> tuple[Markup, Markup]:
    """The verdict, and what it is on and why."""
    colour = COLOURS.get(claim.verdict, "soft")
    return (
        Markup('<strong class="{}">{}</strong>').format(colour, claim.verdict),
        Markup('<strong>{}</strong><br><span class="soft">{}</span>').format(claim.sentence, claim.evidence),
    )


def _table(sheet: Sheet, more: Markup = NOTHING) -> Section:
    return Section(sheet.name, sheet.title, _sheet(sheet) + more)


def _sheet(sheet: Sheet) -> Markup:
    columns = [Column(title, number=i >= sheet.texts) for i, title in enumerate(sheet.columns)]
    note = Markup('<p class="prose soft">{}</p>').format(sheet.note)
    return note + _whole(data_table(f"{sheet.name}-rows", columns, sheet.rows))


def _heading(title: str) -> Markup:
    return Markup("<h3>{}</h3>").format(title)


def _whole(table: Markup) -> Markup:
    """A table that is not cut to the height of a screen."""
    return Markup('<div class="whole">{}</div>').format(table)


def _readings(findings: Findings) -> Markup:
    items = NOTHING.join(Markup("<li>{}</li>").format(sentence) for sentence in words.readings(findings))
    return _heading("Which reading gives which row of the paper") + Markup("<ul>{}</ul>").format(items)


def _figure(figure: Figure) -> Markup:
    charts = NOTHING.join(
        xy_chart(panel.title, panel.series, panel.x, panel.y, kind=figure.name) for panel in figure.panels
    )
    files = Markup(", ").join(
        Markup('<a href="figures/{0}.{1}">{2}</a>').format(figure.name, ending, ending.upper())
        for ending in ("png", "svg", "csv")
    )
    return Markup(
        '<div id="{}"><h3>Figure {}. {}</h3><p class="prose soft">{} {}</p>'
        '<div class="side-by-side tall">{}</div></div>'
    ).format(figure.name, figure.number, figure.title, figure.caption, files, charts)


def _data(findings: Findings) -> Markup:
    columns = [Column(""), Column(findings.facts["data"]), Column("Gisette")]
    return Markup('<p class="prose">{}</p>').format(words.on_the_data(findings)) + data_table(
        "data-rows", columns, words.comparison(findings), sortable=False
    )
