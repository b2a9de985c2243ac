"""The experiment as a Markdown page for a repository, beside the folder of its figures."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from riata.files import replacing
from riata.reproduce import words
from riata.reproduce.claims import claims
from riata.reproduce.figures import Figure, figures
from riata.reproduce.findings import Findings
from riata.reproduce.sheets import Sheet, sheet1, sheet2, sheet_of_times


def write_account(findings: Findings, path: Path) -> None:
    """Write the page."""
    judged = claims(findings)
    drawn = {figure.number: figure for figure in figures(findings)}
    command = f"riata reproduce --data {findings.facts['data']}{' --quick' * findings.quick} --seeds {findings.seeds}"
    parts = [
        f"# {words.TITLE}",
        f"Made by `{command}`. {words.lead(findings)}",
        words.in_short(findings, judged),
        _image(drawn[8]),
        "## What the paper says, and what is found",
        _table(("verdict", "the paper", "this run"), [(c.verdict, c.sentence, c.evidence) for c in judged]),
        _sheet(sheet2(findings)),
        "Which reading gives which row of the paper:",
        "\n".join(f"- {sentence}" for sentence in words.readings(findings)),
        _sheet(sheet1(findings)),
        _sheet(sheet_of_times(findings)),
        "## Figures",
        *(_image(figure) for number, figure in drawn.items() if number != 8),
        "## The data",
        words.on_the_data(findings),
        _table(("", findings.facts["data"], "Gisette"), words.comparison(findings)),
        "## How it was run",
        "\n".join(f"- {name}: {text}" for name, text in words.settings(findings)),
    ]
    with replacing(path) as file:
        file.write(("\n\n".join(parts) + "\n").encode())


def _sheet(sheet: Sheet) -> str:
    return f"## {sheet.title}\n\n{sheet.note}\n\n{_table(sheet.columns, sheet.rows)}"


def _image(figure: Figure) -> str:
    return f"![{figure.title}](figures/{figure.name}.svg)\n\nFigure {figure.number}. {figure.caption}"


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
