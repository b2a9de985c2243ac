"""The command line as a guide: help, near misses, configuration, completion, what to do next."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from riata.cli import main
from riata.cli.command import Option
from riata.cli.config import take_config
from riata.model.saved_model import load_model
from riata.reporting.terminal.wording import as_typed
from riata.training.parameters import PARAMETERS, Heading

FIRST = ["--target", "--drop", "--k", "--alpha", "--test", "--report"]


@pytest.fixture
def here(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(60, 4)).round(3), columns=["age", "size", "rooms", "noise"])
    frame["price"] = frame["size"] - 2 * frame["rooms"] + 0.1 * rng.normal(size=60)
    frame["cost"] = frame["age"] + 0.1 * rng.normal(size=60)
    frame.to_csv("t.csv", index=False)
    return tmp_path


def riata(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def listed(command):
    """The options that the help of a command lists, by heading."""
    text = riata(command, "--help").stdout
    found, heading = {}, None
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            heading = line[:-1]
        elif line.startswith("  -") and heading:
            found.setdefault(heading, []).append(line.split()[0].rstrip(","))
    return found


@pytest.mark.parametrize("command", sorted(main.commands))
def test_help_lists_every_option_once_and_under_a_heading(command):
    found = [name for names in listed(command).values() for name in names]
    options = [max(one.opts, key=len) for one in main.commands[command].params if one.param_type_name == "option"]
    assert sorted(found) == sorted([*options, "-h"])
    assert listed(command)["Help"] in (["-h"], ["--config", "-h"])


def test_the_help_of_fit_begins_with_the_six_that_matter():
    headings = list(listed("fit"))
    assert headings == [*(heading.value for heading in Heading), "Help"]
    assert sorted(listed("fit")[Heading.FIRST.value]) == sorted(FIRST)


def test_every_option_of_a_command_that_reads_data_has_a_heading():
    for name, command in main.commands.items():
        for one in command.params:
            if one.param_type_name == "option" and one.callback is not take_config:
                assert isinstance(one, Option), (name, one.name)


def test_the_help_of_riata_names_every_command():
    text = riata("--help").stdout
    assert all(f"\n  {name} " in text for name in main.commands)
    assert "..." not in text.replace("[ARGS]...", "")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["fit", "t.csv", "--alpha-rato", "1"], "did you mean --alpha-ratio?"),
        (["fit", "t.csv", "--targt", "price"], "did you mean --target?"),
        (["fti", "t.csv"], "did you mean fit?"),
        (
            ["convert", "t.csv", "--out", "x"],
            "--out is no option here, but stands without its name: riata convert DATA OUT",
        ),
        (["evalute", "m", "t.csv"], "did you mean evaluate?"),
        (["fit", "t.csv", "--target", "prise"], "did you mean 'price'?"),
        (["fit", "t.csv", "--target", "PRICE"], "did you mean 'price'?"),
        (["fit", "t.csv", "--target", "price", "--drop", "rom"], "did you mean 'rooms'?"),
        (["fit", "t.csv", "--target", "price", "--k", "1", "--solver", "bestk"], "did you mean 'best-k'?"),
        (["fit", "t.csv", "--zzz"], "see riata fit --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_near_misses_are_met_with_what_was_meant(here, words, hint):
    done = CliRunner().invoke(main, words, prog_name="riata")
    assert done.exit_code == 2
    assert hint in done.output
    assert "Traceback" not in done.output


def test_riata_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "riata", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("riata, version ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_printed_and_answers(shell):
    script = riata("completion", shell)
    assert script.exit_code == 0
    assert f"_RIATA_COMPLETE={shell}_complete" in script.stdout
    asked = {"_RIATA_COMPLETE": f"{shell}_complete", "COMP_WORDS": "riata fit --alpha-", "COMP_CWORD": "2"}
    if shell == "fish":
        asked["COMP_CWORD"] = "--alpha-"
    environment = os.environ | asked
    code = "from riata.cli import main; main(prog_name='riata')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert {"--alpha-ratio", "--alpha-reach"} <= {word for line in done.stdout.split() for word in line.split(",")}


def test_doctor_says_what_there_is(monkeypatch, tmp_path):
    facts = json.loads(riata("doctor", "--json").stdout)
    assert facts["versions"]["numpy"] == np.__version__
    assert facts["cores"] >= 1
    assert facts["compiled code"].keys() == {"folder", "kernels", "writable"}
    assert facts["extras"]["pandas"] is True
    text = riata("doctor").output
    assert all(word in text for word in ("cores", "compiled code", "GPU", "Dask", "pandas", "next:"))


TOML = """
target = "price"
alpha-ratio = 0.2
drop = ["noise", "cost"]
penalty-factor = {age = 2.0}
bound = {rooms = "..0"}
standardize = false
json = true
"""
YAML = """
target: price
alpha_ratio: 0.2
drop: noise,cost
penalty-factor: [age=2.0]
bound: [rooms=..0]
standardize: false
json: true
"""
TYPED = [
    "--target", "price", "--alpha-ratio", "0.2", "--drop", "noise,cost", "--penalty-factor", "age=2",
    "--bound", "rooms=..0",
    "--no-standardize", "--json",
]  # fmt: skip


@pytest.mark.parametrize(("file", "text"), [("c.toml", TOML), ("c.yaml", YAML)])
def test_a_file_of_options_is_as_if_they_were_typed(here, file, text):
    (here / file).write_text(text)
    typed, configured = riata("fit", "t.csv", *TYPED), riata("fit", "t.csv", "--config", file)
    changing = ("seconds", "peak_rss_mb")
    typed, configured = ({k: v for k, v in json.loads(one.stdout).items() if k not in changing}
                         for one in (typed, configured))  # fmt: skip
    assert typed == configured
    more = json.loads(riata("fit", "t.csv", "--alpha-ratio", "0.9", "--config", file).stdout)
    assert more["n_selected"] < typed["n_selected"]


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("c.toml", "alpha-rato = 1", "c.toml sets 'alpha-rato', and riata fit has no such option; did you mean"),
        ("c.toml", "standardize = 3", "c.toml sets 'standardize' to 3; it is true or false"),
        ("c.toml", "alpha = [1, 2]", "it takes one value"),
        ("c.toml", "alpha = ", "c.toml cannot be read as TOML"),
        ("c.yaml", "a: [", "c.yaml cannot be read as YAML"),
        ("c.yaml", "- a", "must hold names and values"),
        ("c.json", "{}", "takes a .toml or .yaml file"),
        ("c.toml", None, "there is no file c.toml"),
    ],
)
def test_what_is_wrong_with_a_file_of_options_is_one_sentence(here, file, text, sentence):
    if text is not None:
        (here / file).write_text(text)
    done = CliRunner().invoke(main, ["fit", "t.csv", "--config", file], prog_name="riata")
    assert done.exit_code == 2
    assert sentence in done.output
    assert len(done.output.splitlines()) == 1


def test_every_command_ends_with_what_one_would_do_next(here):
    fit = ("t.csv", "--target", "price", "--drop", "cost")
    commands = [
        ("profile", "t.csv"),
        ("datasets",),
        ("fit", *fit, "--k", "2"),
        ("path", *fit, "--k-max", "3"),
        ("stability", *fit, "--k", "2", "--rounds", "2"),
        ("predict", "t.riata.json", "t.csv", "--out", "p.csv"),
        ("evaluate", "t.riata.json", "t.csv"),
        ("inspect", "t.riata.json"),
        ("convert", *fit[:1], "t.arrow", *fit[1:]),
        ("statistics", *fit[:1], "t.stats", *fit[1:]),
        ("completion", "bash"),
        ("doctor",),
    ]
    assert {words[0] for words in commands} | {"reproduce", "warmup"} == main.commands.keys()
    for words in commands:
        done = riata(*words)
        assert done.exit_code == 0, done.output
        assert "\nnext: " in f"\n{done.stderr}", words
        assert "next: " not in done.stdout


def test_a_model_that_nobody_named_replaces_only_its_like(here):
    assert riata("fit", "t.csv", "--target", "price", "--k", "2", "--quiet").exit_code == 0
    assert riata("fit", "t.csv", "--target", "price", "--k", "1", "--quiet").exit_code == 0
    assert riata("fit", "t.csv", "--target", "cost", "--k", "1", "--quiet").exit_code == 0
    assert riata("fit", "t.csv", "--target", "cost", "--k", "2", "--quiet").exit_code == 0
    assert load_model("t.riata.json").training.target == "price"
    assert load_model("t.cost.riata.json").training.target == "cost"
    (here / "other").mkdir()
    (here / "other" / "t.csv").write_text((here / "t.csv").read_text())
    done = riata("fit", "other/t.csv", "--target", "cost", "--k", "1")
    assert done.exit_code == 2
    assert "t.riata.json holds a model of 'price' from t.csv: say where to save this one with --out" in done.output
    assert riata("fit", "t.csv", "--target", "cost", "--k", "1", "--out", "t.riata.json").exit_code == 0
    done = riata("fit", "t.csv", "--target", "price", "--k", "-3")
    assert "k must lie between 1 and" in done.output
    (here / "t.riata.json").write_text("my notes")
    done = riata("fit", "t.csv", "--target", "cost", "--k", "1")
    assert done.exit_code == 2
    assert (here / "t.riata.json").read_text() == "my notes"


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("it reached max_passes=30", "it reached --max-passes 30"),
        ("a smaller alpha_reach may help", "a smaller --alpha-reach may help"),
        ("keep it (cache=True), or task='regression'", "keep it (--cache), or --task regression"),
        ("take other folds (cv, random_state)", "take other folds (cv, --seed)"),
        ("there is no column 'max_passes'; it has 'a=b'", "there is no column 'max_passes'; it has 'a=b'"),
        ("the level my_column=UA is rare", "the level my_column=UA is rare"),
    ],
)
def test_sentences_are_in_the_words_of_the_command_line(python, typed):
    assert as_typed(python) == typed


@pytest.mark.parametrize("letter", ["\x0b", "\x1c", "\x1b[31m", "\x85", "\u2028", "\u202e", "\0"])
def test_what_a_file_holds_breaks_no_sentence_over_lines(letter, tmp_path):
    rows = "".join(f"{i % 9},{i * i % 7}\n" for i in range(60))
    (tmp_path / "rows.csv").write_text(f"a,y\n1{letter}2,3\n{rows}", encoding="utf-8")
    for target, word in (("y", "note: "), ("a", "riata: ")):
        done = CliRunner().invoke(
            main, ["fit", str(tmp_path / "rows.csv"), "--target", target, "--k", "1", "--out", str(tmp_path / "m.json")]
        )
        said = done.stderr.splitlines()
        assert any(line.startswith(word) and "let such words count as missing" in line for line in said), said
        assert all(line.startswith(("note: ", "next: ", "riata: ", "      ")) for line in said if line), said


def test_every_option_is_known_to_the_words():
    for one in PARAMETERS:
        if one.flag is not None and "_" in one.name:
            assert as_typed(f"see {one.name}.") == f"see {one.flag.partition('/')[0]}."


def test_names_in_a_list_are_typed_with_commas():
    assert as_typed("say text=['notes', 'my words'] for it") == "say --text 'notes,my words' for it"


@pytest.mark.parametrize(("typed", "meant"), [("-o", "--out"), ("--save", "--out"), ("--lambda", "--alpha")])
def test_what_other_programs_call_an_option_is_answered_by_its_name_here(typed, meant):
    result = CliRunner().invoke(main, ["fit", "rows.csv", typed, "1"])
    assert result.exit_code == 2
    assert f"there is no option {typed}; did you mean {meant}?" in result.output
