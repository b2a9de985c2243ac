"""Work that is done again and again holds nothing of it: a service opens files and fits models for days."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from peak_memory import FIXED
from repeated_work import ONCE, OTHERS, SOURCES, WRONG, of_files

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="not all of it is to be counted"
)
SCRIPT = Path(__file__).with_name("repeated_work.py")
ROWS = [name for name in SOURCES if name not in ONCE]
KINDS = {
    "rows": [f"rows {name}" for name in ROWS],
    "damaged files": [f"damaged {name}" for name in ROWS if of_files(name)],
    "other work": list(OTHERS),
}


def grown(kinds: list[str], folder: Path) -> dict[str, dict[str, int]]:
    """What grew with each kind of work, in a process of its own."""
    done = subprocess.run(
        [sys.executable, SCRIPT, folder, *kinds], env=os.environ | FIXED, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("group", KINDS)
def test_nothing_grows_when_work_is_done_again(group, tmp_path):
    found = grown(KINDS[group], tmp_path)
    assert list(found) == KINDS[group]
    assert {kind: more for kind, more in found.items() if more} == {}


def test_what_grows_is_noticed(tmp_path):
    found = grown(list(WRONG), tmp_path)
    noticed = ["handles", "threads", "objects", "bytes of malloc", "bytes of Arrow"]
    assert all(what in found[kind] for kind, what in zip(WRONG, noticed, strict=True)), found
