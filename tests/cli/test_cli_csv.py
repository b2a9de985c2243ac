"""Odd text files on the command line: `--csv`, notes, names with commas, and the same reading when predicting."""

import json

import pytest
from click.testing import CliRunner
from tests.data.odd_csv import EARLY, FILES, N_ROWS, A, B, Y, text

from riata.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        found = CliRunner().invoke(main, list(words))
        assert found.exit_code == code, found.output
        assert "Traceback" not in found.output
        return found.output

    return run


def test_notes_say_how_a_file_is_written(run, tmp_path):
    (tmp_path / "x.csv").write_bytes(FILES["decimal commas"].content)
    assert "note: read with ';' between cells; decimal commas ('a', 'b', 'y')" in run(
        "fit", "x.csv", "--target", "y", "--k", "2"
    )


def test_what_is_said_once_holds_for_predictions(run, tmp_path):
    """The dates of both files may be read in two ways: the model remembers which."""
    (tmp_path / "x.csv").write_text(text(more={"d": [f"{d:%d/%m/%Y}" for d in EARLY]}))
    assert "say which" in run("fit", "x.csv", "--target", "y", "--k", "3", code=2)
    run("fit", "x.csv", "--target", "y", "--k", "3", "--csv", "dates=day-first", "--out", "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["encoding"]["cells"]["d"]["pattern"] == "%d/%m/%Y"
    assert len(run("predict", "m.json", "x.csv").split()) >= N_ROWS
    assert json.loads(run("evaluate", "m.json", "x.csv", "--json").splitlines()[-1])["r2"] > 0.999


@pytest.mark.parametrize("command", ["fit", "profile", "convert", "statistics", "path"])
def test_every_command_that_reads_rows_takes_csv(command, run, tmp_path):
    rows = "".join(f"{a:.2f}|{b:.2f}|{y:.2f}\n".replace(".", ",") for a, b, y in zip(A, B, Y, strict=True))
    (tmp_path / "x.csv").write_text("a;note\n" + "a|b|y\n" + rows)
    out = {"convert": ["out.arrow"], "statistics": ["out.npz"]}.get(command, [])
    said = ["--csv", "skip=1", "--csv", "separator=|", "--csv", "decimal=,"]
    run(command, "x.csv", *out, "--target", "y", *said, *(["--k", "2"] if command == "fit" else []))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--csv", "decimal"], "--csv is KEY=VALUE"),
        (["--csv", "sep=;"], "no option 'sep' for CSV; there are separator, quote"),
        (["--csv", "decimal=x"], "csv decimal is '.' or ','"),
        (["--target", "nosuch"], "there is no column 'nosuch'"),
    ],
)
def test_what_there_is_not_is_one_sentence(words, sentence, run, tmp_path):
    (tmp_path / "x.csv").write_text(text())
    assert sentence in run("profile", "x.csv", *words, code=2)


def test_a_name_with_a_comma_can_be_dropped(run, tmp_path):
    (tmp_path / "x.csv").write_text(text(header=("price, net", "b", "y")))
    found = json.loads(run("profile", "x.csv", "--target", "y", "--drop", '"price, net"', "--json"))
    assert [one["column"] for one in found["encoding"]["encoders"]] == ["b"]


def test_a_profile_shows_the_beginning_of_long_levels(run, tmp_path):
    review = "a very long review that goes on and on\nfor two lines and more"
    (tmp_path / "x.csv").write_text(text(more={"t": [review, "short"] * (N_ROWS // 2)}))
    shown = run("profile", "x.csv")
    assert "for two lines" not in shown
    assert "a very long review" in shown
