"""The examples of README and of docs do what they say, as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = "".join(
    (Path(__file__).parents[1] / page).read_text() for page in ("README.md", "docs/selection.md", "docs/dask.md")
)
BLOCKS = re.findall(r"```(python|bash)\n(.*?)```", PAGES, flags=re.DOTALL)
EXAMPLES = [(kind, code) for kind, code in BLOCKS if "make " not in code and "pip " not in code]


def test_there_are_examples_of_both_faces():
    assert {kind for kind, _ in EXAMPLES} == {"python", "bash"}


@pytest.mark.parametrize(("kind", "code"), EXAMPLES, ids=[f"{kind}-{i}" for i, (kind, _) in enumerate(EXAMPLES)])
def test_example(kind, code, tmp_path):
    command = [sys.executable, "-c", code] if kind == "python" else ["bash", "-euc", code]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PATH": path, "COLUMNS": "100"}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    for printed in re.findall(r"#> (.*)", code):
        assert printed in run.stdout
