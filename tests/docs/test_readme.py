"""The examples of README, of docs and of docstrings do what they say, as they stand there.

The python and bash blocks of a page run one after the other, in one folder and one Python session, as a reader runs
them; what stands behind #> is printed. A block that cannot run here says why in a comment before it:
<!-- not run: needs a GPU -->
"""

import contextlib
import doctest
import importlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```(?P<kind>python|bash)\n(?P<code>.*?)^```", re.S | re.M)

WITH_DOCTESTS = [path for path in sorted((ROOT / "src").rglob("*.py")) if ">>> " in path.read_text()]


class Example(NamedTuple):
    line: int
    kind: str
    code: str
    not_run: str | None


def examples_of(page: Path) -> list[Example]:
    """The blocks of a page in their order."""
    text = page.read_text()
    lines = [text.count("\n", 0, block.start("code")) for block in BLOCK.finditer(text)]
    return [Example(n, b["kind"], b["code"], b["reason"]) for n, b in zip(lines, BLOCK.finditer(text), strict=True)]


PAGES = {
    str(page.relative_to(ROOT)): examples
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if (examples := examples_of(page))
}


def run(example: Example, page: str, session: dict) -> str:
    """What an example prints; one that fails says so with the line of its page."""
    if example.kind == "python":
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile("\n" * example.line + example.code, page, "exec"), session)
        return printed.getvalue()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euc", example.code],
        env=os.environ | {"PATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{page}, line {example.line}: {done.stderr}"
    return done.stdout


def test_there_are_examples_of_both_faces():
    kinds = {example.kind for examples in PAGES.values() for example in examples if example.not_run is None}
    assert kinds == {"python", "bash"}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore:Port .* is already in use:UserWarning")  # of another cluster's dashboard
def test_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    session = {"__name__": "__main__"}
    for example in PAGES[page]:
        if example.not_run is None:
            printed = run(example, page, session)
            for expected in re.findall(r"# ?> (.*)", example.code):
                assert expected in printed, f"{page}, line {example.line}: {printed}"


@pytest.mark.parametrize("path", WITH_DOCTESTS, ids=lambda path: path.stem)
def test_examples_of_docstrings(path):
    module = importlib.import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
