"""A command never writes over what it reads."""

import os

import pytest
from click.testing import CliRunner

from riata.cli import main

ROWS = "a,b,y\n1,2,3\n2,1,5\n3,3,4\n4,0,1\n"
FIT = ["--target", "y", "--alpha", "0.1"]
COMMANDS = {
    "rows": ["fit", "rows.csv", *FIT, "--out", "rows.csv"],
    "rows, otherwise written": ["fit", "rows.csv", *FIT, "--out", "./rows.csv"],
    "rows by a link": ["fit", "rows.csv", *FIT, "--out", "link.csv"],
    "rows by a pattern": ["fit", "ro*.csv", *FIT, "--out", "rows.csv"],
    "rows, by a page": ["fit", "rows.csv", *FIT, "--report", "rows.csv"],
    "test rows": ["fit", "rows.csv", *FIT, "--test", "test.csv", "--out", "test.csv"],
    "validation rows": ["fit", "rows.csv", *FIT, "--validation", "test.csv", "--out", "test.csv"],
    "rows of a path": ["path", "rows.csv", "--target", "y", "--out", "rows.csv"],
    "converted rows": ["convert", "rows.csv", "rows.csv", "--target", "y"],
    "rows of statistics": ["statistics", "rows.csv", "rows.csv", "--target", "y"],
    "rows to predict": ["predict", "model.json", "rows.csv", "--out", "rows.csv"],
    "the model": ["predict", "model.json", "rows.csv", "--out", "model.json"],
}


@pytest.mark.parametrize("case", COMMANDS)
def test_what_a_command_reads_is_not_written_over(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "test.csv"):
        (tmp_path / name).write_text(ROWS)
    os.symlink("rows.csv", "link.csv")
    assert CliRunner().invoke(main, ["fit", "rows.csv", *FIT, "--out", "model.json"]).exit_code == 0
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    result = CliRunner().invoke(main, COMMANDS[case])
    assert result.exit_code == 2
    assert "this command reads it; name another file" in result.output
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
