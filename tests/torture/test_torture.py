"""A little of `make torture` with every run of the tests, and that it notices what it is there for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands are forked, and files limited in size")
HERE = Path(__file__).parents[1]


def test_commands_that_are_ended_leave_old_files_or_new_ones():
    words = [sys.executable, "-m", "torture", "--rounds", "3", "--seed", "20261115"]
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(words, cwd=HERE, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 rounds" in done.stdout


def test_files_that_are_torn_or_others_are_noticed(tmp_path):
    from torture.commands import OLD, trials
    from torture.rounds import Wrong, check

    (trial,) = (one for one in trials() if one.name == "fit")
    path = tmp_path / trial.out
    for content, right in (
        (OLD, True),
        (b'{"coef": [1.0]}', True),
        (b'{"coef": [1.', False),
        (b'{"coef": [2]}', False),
    ):
        path.write_bytes(content)
        if right:
            check(trial, tmp_path, {"coef": [1.0]}, "torn")
        else:
            with pytest.raises(Wrong, match=r"torn: m\.json"):
                check(trial, tmp_path, {"coef": [1.0]}, "torn")
