"""What is printed behind `next:` can be typed as it is, and is about the same model."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from riata.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(120, 3)).round(3), columns=["age", "floor size", "rooms"])
    frame["day"] = pd.date_range("2024-01-01", periods=120).strftime("%Y-%m-%d")
    frame["street"] = np.arange(120) % 12
    frame["notes"] = rng.choice(["old and grey", "new and white"], size=120)
    frame["price"] = frame["floor size"] - 2 * frame["rooms"] + 0.1 * rng.normal(size=120)
    frame.to_csv("t.csv", index=False)
    return tmp_path


def riata(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


def next_of(done):
    """The words of the next command."""
    line = next(line for line in done.stderr.splitlines() if line.startswith("next: "))
    words = shlex.split(line.removeprefix("next: "), comments=True)
    assert words[0] == "riata"
    return words[1:]


GIVEN = {
    "path": ["--target", "price", "--text", "notes", "--group-by", "street", "--drop", "floor size", "--drop", "day",
             "--loss", "huber", "--l1-ratio", "0.5", "--no-intercept"],
    "stability": ["--target", "price", "--k", "2", "--drop", "floor size,day", "--text", "notes", "--rounds", "5",
                  "--threshold", "0.9", "--seed", "3"],
    "profile": ["--target", "price", "--text", "notes", "--drop", "floor size", "--csv", "decimal=.", "--csv",
                "separator=,", "--tfidf"],
}  # fmt: skip
LOST = {"stability": {"--k", "2", "--rounds", "5", "--threshold", "0.9"}}  # what the next command has no use for


@pytest.mark.parametrize("command", GIVEN)
def test_the_next_command_has_the_options_that_were_given(here, command):
    done = riata(command, "t.csv", *GIVEN[command])
    words = next_of(done)
    assert words[:2] == ["fit", "t.csv"]
    assert set(GIVEN[command]) - LOST.get(command, set()) <= set(words)
    assert not {"--threshold", "--rounds"} & set(words)
    riata(*words, "--out", "m.json", "--report", "p.html")


def test_the_next_command_of_a_path_fits_the_model_that_was_chosen(here):
    given = [*GIVEN["path"], "--cv", "3", "--select", "cv"]
    path = json.loads(riata("path", "t.csv", *given, "--json").stdout)["paths"][0]
    words = next_of(riata("path", "t.csv", *given))
    assert "--cv" not in words, "one model is not chosen"
    fitted = json.loads(riata(*words, "--json").stdout)
    assert sorted(fitted["selected"]) == sorted(path["selected"])


def test_no_page_is_written_over(here):
    words = next_of(riata("path", "t.csv", "--target", "price", "--k-max", "2", "--report", "path.html"))
    assert "path.html" not in words


def test_options_of_a_file_are_carried_and_its_name_is_not(here):
    (here / "o.toml").write_text('target = "price"\nk-max = 2\ndrop = ["day", "floor size"]\nplot = "p.png"\n')
    words = next_of(riata("path", "t.csv", "--config", "o.toml"))
    assert words[:3] == ["fit", "t.csv", "--k"]
    assert words[4:] == ["--target", "price", "--drop", "day", "--drop", "floor size"]


def test_no_more_features_are_asked_for_than_there_are(here):
    assert next_of(riata("profile", "t.csv", "--target", "price", "--features", "age"))[2:4] == ["--k", "1"]
    done = riata("path", "t.csv", "--target", "price", "--features", "age,rooms", "--k-max", "20")
    assert "note: there are 2 features: the path ends there, and not at --k-max 20" in done.stderr


def test_a_column_of_times_is_said_to_be_no_feature(here):
    given = ["fit", "t.csv", "--target", "price", "--k", "1", "--time", "day", "--drop", "notes,street"]
    assert "'day' orders the folds and is no feature" in riata(*given).stderr
    assert "orders the folds" not in riata(*given, "--features", "day,age").stderr


def test_features_chosen_under_a_ridge_are_chosen_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 60))
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(60)])
    frame["y"] = np.where(rng.random(60) < 1 / (1 + np.exp(-X[:, :15].sum(axis=1))), "a", "b")
    frame.to_csv("t.csv", index=False)
    done = riata("path", "t.csv", "--target", "y", "--k-max", "3", "--select", "cv", "--seed", "3")
    assert "its features chosen under" in done.stdout
    riata(*next_of(done), "--out", "m.json")
    written = json.loads((tmp_path / "m.json").read_text())["training"]
    assert written["k"] == 2
    assert written["ridge"] > 0
