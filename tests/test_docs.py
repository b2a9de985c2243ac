"""The site leaves nothing out: every solver, command, loss and public name. That links resolve, `make docs` checks."""

import re
from pathlib import Path

import pytest

import riata
from riata.cli import main
from riata.losses import LOSSES

DOCS = Path(__file__).parents[1] / "docs"
SOLVERS_PAGE = (DOCS / "solvers.md").read_text()
API = "".join(page.read_text() for page in (DOCS / "api").glob("*.md"))


def yes(fact: bool) -> str:
    return "yes" if fact else "no"


@pytest.mark.parametrize("name", riata.SOLVERS)
def test_the_table_of_solvers_says_what_the_registry_says(name):
    (row,) = re.findall(rf"^\| \[`{name}`\]\(#{name}\) \| (.*) \|$", SOLVERS_PAGE, flags=re.M)
    solver = riata.SOLVERS[name]
    passes = "no limit" if solver.max_passes == 10**9 else str(solver.max_passes)
    can = [yes(solver.ridge), yes(solver.any_curvature), yes(solver.method is not None)]
    assert row.split(" | ") == [solver.takes, *can, passes]
    assert f"\n### `{name}`\n" in SOLVERS_PAGE


def test_every_public_name_has_its_place_in_the_reference():
    names = [f"riata.{name}" for name in riata.__all__ if name not in ("SOLVERS", "datasets", "errors", "plot")]
    names += [f"riata.datasets.{name}" for name in riata.datasets.__all__]
    names += [f"riata.plot.{name}" for name in riata.plot.__all__ if f"`{name}`" not in API]
    missing = [name for name in names if f":: {name}\n" not in API]
    assert not missing


def test_every_command_is_listed():
    (listed,) = re.findall(r":commands: (.*)", (DOCS / "cli.md").read_text())
    assert sorted(listed.split(", ")) == sorted(main.commands)


def test_every_loss_is_explained():
    concepts = (DOCS / "concepts.md").read_text()
    assert all(f"\n| `{loss}` |" in concepts for loss in LOSSES)
