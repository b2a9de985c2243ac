"""Names and labels that would command a terminal, run in a page or be computed by a spreadsheet are shown as text."""

import contextlib
import hashlib
import os
import re
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from riata.cli import main
from riata.reporting.terminal.wording import as_typed
from riata.visible_text import visible

COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
NAMES = ["\x1b]0;owned\x07", "a\x9b31m", "\u202egnp.exe", "\x1b[2J[bold]", "\rriata: all is well"]
LABELS = ['=HYPERLINK("http://example.org/?"&A1,"more")', "@SUM(1)", "\x1b[31mred"]


@pytest.fixture
def hostile(tmp_path, monkeypatch, rng):
    """A table whose names and labels are hostile, and its file's name, too."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(90, len(NAMES))), columns=NAMES)
    frame["kind\x1b[1m"] = np.array(LABELS)[np.arange(90) % 3]
    frame[NAMES[0]] += 3.0 * (np.arange(90) % 3 == 0)
    path = "data\x1b[5m.parquet"
    frame.to_parquet(path)
    return path


def output(*words):
    result = CliRunner().invoke(main, [*words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output


def test_terminals_get_no_commands(hostile):
    target = ["--target", "kind\x1b[1m"]
    said = {
        "profile": output("profile", hostile, *target),
        "fit": output("fit", hostile, *target, "--alpha-ratio", "0.1", "--out", "m.json", "--report", "page.html"),
        "path": output("path", hostile, *target, "--n-alphas", "4"),
        "stability": output("stability", hostile, *target, "--alpha", "0.1", "--rounds", "2"),
        "inspect": output("inspect", "m.json"),
        "evaluate": output("evaluate", "m.json", hostile),
        "error": output("fit", hostile, "--target", "\x1b[1mabsent", "--k", "1"),
        "no file": output("fit", "absent\x1b[1m\nriata: fine.csv", "--target", "y", "--k", "1"),
    }
    assert {name: COMMANDS.findall(text) for name, text in said.items() if COMMANDS.search(text)} == {}
    assert "\\x1b]0;owned\\x07" in said["fit"]
    assert "\nriata: fine" not in said["no file"]


def test_what_is_harmless_stays_as_it_is():
    text = "größe 温度 😀 a\tb\nc"
    assert visible(text) == text


def test_a_page_runs_its_own_script_and_no_other(hostile):
    output("fit", hostile, "--target", "kind\x1b[1m", "--alpha-ratio", "0.1", "--out", "m.json", "--report", "p.html")
    with open("p.html", encoding="utf-8", newline="") as file:
        page = file.read()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.S)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_predictions_for_spreadsheets_hold_no_formula(hostile):
    output("fit", hostile, "--target", "kind\x1b[1m", "--alpha-ratio", "0.1", "--out", "m.json")
    for name in ("plain.csv", "safe.csv", "safe.parquet"):
        safe = ["--for-spreadsheets"] if name.startswith("safe") else []
        output("predict", "m.json", hostile, "--out", name, *safe)
    plain, safe = (pd.read_csv(name)["prediction"].tolist() for name in ("plain.csv", "safe.csv"))
    assert set(plain) == set(LABELS)
    assert [text.removeprefix("'") for text in safe] == plain
    assert not any(text.startswith(("=", "@")) for text in safe)
    assert pq.read_table("safe.parquet").column("prediction").to_pylist() == safe


def test_kept_columns_and_their_names_are_no_formulas_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = ["=1+1", "+2", "-3", "@x", "\t=1", "\n=1", "\uff1d1", "fine"]
    table = pa.table({"x": pa.array(range(8), pa.float64()), "y": pa.array(range(8), pa.float64()), "=name": texts})
    table = table.append_column("codes", pa.array(texts).dictionary_encode())
    pq.write_table(table, "rows.parquet")
    output("fit", "rows.parquet", "--target", "y", "--features", "x", "--k", "1", "--out", "m.json")
    output("predict", "m.json", "rows.parquet", "--keep", "=name,codes", "--out", "p.parquet", "--for-spreadsheets")
    found = pq.read_table("p.parquet")
    assert "'=name" in found.schema.names
    for name in ("'=name", "codes"):
        assert found.column(name).to_pylist() == [*(f"'{text}" for text in texts[:-1]), "fine"]


def on_a_terminal(*words):
    """What a command prints where its standard output is one."""
    master, slave = os.openpty()
    child = subprocess.Popen([sys.executable, "-m", "riata", *words], stdout=slave, stderr=subprocess.DEVNULL)
    os.close(slave)
    said = b""
    with open(master, "rb", buffering=0) as terminal, contextlib.suppress(OSError):  # the end of a terminal
        while some := terminal.read(4096):
            said += some
    assert child.wait() == 0
    return said.decode()


def test_a_terminal_does_not_obey_what_is_printed_for_programs(hostile):
    """Predictions, SQL and JSON on standard output are for other programs, unless a person looks at them."""
    output("fit", hostile, "--target", "kind\x1b[1m", "--alpha-ratio", "0.1", "--out", "m.json")
    text = Path("m.json").read_text(encoding="utf-8")
    Path("c1.json").write_text(text.replace("\\u001b", "\x9b"), encoding="utf-8")  # JSON may hold it as it is
    for words in (["predict", "m.json", hostile], ["inspect", "c1.json", "--json"]):
        assert COMMANDS.search(output(*words))
        shown = on_a_terminal(*words).replace("\r\n", "\n")
        assert len(shown) > 100
        assert not COMMANDS.search(shown)


def test_a_name_of_nested_brackets_does_not_keep_a_sentence_waiting():
    """Python's parser takes twice as long for each further one."""
    sentence = f"column {'csv={' * 200 + '}' * 200!r} is odd; leave it out: drop=['a']"
    assert as_typed(sentence).endswith("leave it out: --drop a")
