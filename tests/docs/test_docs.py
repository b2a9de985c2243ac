"""The site leaves nothing out: every solver, command, loss and public name. That links resolve, `make docs` checks."""

import re
import tomllib
from pathlib import Path

import pytest

import riata
from browser import chromium, opened
from riata.cli import main
from riata.losses import EVERY

DOCS = Path(__file__).parents[2] / "docs"
SITE = Path(__file__).parents[2] / "build" / "docs"
SOLVERS_PAGE = (DOCS / "solvers.md").read_text()
API = "".join(page.read_text() for page in (DOCS / "api").glob("*.md"))


def yes(fact: bool) -> str:
    return "yes" if fact else "no"


@pytest.mark.parametrize("name", riata.SOLVERS)
def test_the_table_of_solvers_says_what_the_registry_says(name):
    (row,) = re.findall(rf"^\| \[`{name}`\]\(#{name}\) \| (.*) \|$", SOLVERS_PAGE, flags=re.M)
    solver = riata.SOLVERS[name]
    passes = "no limit" if solver.max_passes == 10**9 else str(solver.max_passes)
    can = [yes(need not in solver.needs) for need in ("no l2 part", "bounded curvature")]
    can += [yes(solver.method is not None)]
    assert row.split(" | ") == [solver.takes, *can, passes]
    assert f"\n### `{name}`\n" in SOLVERS_PAGE


def test_every_public_name_has_its_place_in_the_reference():
    names = [f"riata.{name}" for name in riata.__all__ if name not in ("SOLVERS", "datasets", "errors", "plot")]
    names += [f"riata.datasets.{name}" for name in riata.datasets.__all__]
    names += [f"riata.plot.{name}" for name in riata.plot.__all__ if f"`{name}`" not in API]
    missing = [name for name in names if f":: {name}\n" not in API]
    assert not missing


def layers_of_imports():
    """Every module of the first import contract, from the top down, with the number of its layer."""
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = [row.split(" | ") for row in contracts[0]["layers"]]
    return {module.removeprefix("riata."): number for number, row in enumerate(rows) for module in row}


def test_the_tour_of_the_code_has_the_order_of_the_import_contract():
    table = re.findall(r"^\| (`.*?`) \| ", (DOCS.parent / "CONTRIBUTING.md").read_text(), flags=re.M)
    toured = [re.sub(r"/$|\.py$", "", path).replace("/", ".") for row in table for path in re.findall("`(.*?)`", row)]
    layers = layers_of_imports()
    assert sorted(toured) == sorted(layers)
    assert [layers[module] for module in toured] == sorted(layers.values())


def test_the_tour_names_files_that_there_are():
    root = Path(riata.__file__).parent
    named = re.findall(r"`([\w/]+\.py)`", (DOCS.parent / "CONTRIBUTING.md").read_text())
    assert len(named) > 40
    for place in named:
        assert (DOCS.parent / place).exists() or list(root.rglob(place)) or list((DOCS.parent / "tests").rglob(place))


@pytest.mark.parametrize(
    "package",
    ["data", "data/columns", "data/opening", "engines/dask", "model", "outcome", "solvers", "solvers/convex",
     "solvers/subset", "training"],
)  # fmt: skip
def test_the_map_of_a_package_names_modules_that_there_are(package):
    place = Path(riata.__file__).parent / package
    named = re.findall("`([a-z0-9_]+)`", (place / "__init__.py").read_text().split('"""')[1])
    assert len(named) > 5
    for name in named:
        assert list(place.rglob(f"{name}.py")) or (place / name).is_dir()


def test_every_module_has_a_layer():
    there = {path.stem for path in Path(riata.__file__).parent.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert there - {"__init__", "__main__", "__pycache__"} == {
        module.partition(".")[0] for module in layers_of_imports()
    }


def test_every_command_is_listed():
    (listed,) = re.findall(r":commands: (.*)", (DOCS / "cli.md").read_text())
    assert sorted(listed.split(", ")) == sorted(main.commands)


def test_every_loss_is_explained():
    concepts = (DOCS / "concepts.md").read_text()
    assert all(f"\n| `{loss}" in concepts for loss in EVERY)  # one with a parameter is followed by its letter


def test_the_site_fits_a_phone_and_asks_nothing_of_a_network():
    if not SITE.is_dir():
        pytest.skip("the site is not built: make docs")
    pages = [page for page in SITE.rglob("*.html") if not {"_downloads", "_static"} & set(page.parts)]
    assert len(pages) > len(list(DOCS.glob("*.md")))
    with chromium() as browser, opened(browser, pages[0], width=380) as page:
        for path in pages:
            page.goto(path.as_uri())
            assert page.evaluate("document.scrollingElement.scrollWidth") <= 380, path
