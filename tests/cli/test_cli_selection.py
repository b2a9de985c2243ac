"""Paths, automatic choices and stability, as a user types them."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from test_cli import riata_command

import riata
from riata.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(90, 6)).round(3), columns=list("abcdef"))
    frame["price"] = frame["a"] - 2 * frame["d"] + 0.3 * rng.normal(size=90)
    frame[:60].to_csv("t.csv", index=False)
    frame[60:].to_csv("v.csv", index=False)
    frame["price"] = np.where(frame["price"] > 0, "dear", "cheap")
    frame.to_csv("c.csv", index=False)
    return tmp_path


TABLE = ["t.csv", "--target", "price"]


def test_a_path_along_alpha_is_shown_written_and_drawn(here):
    reach = ("--n-alphas", "12", "--alpha-reach", "0.01")
    text = riata_command("path", *TABLE, *reach, "--cv", "3", "--out", "p.csv", "--plot", "p.png")
    for part in ("alpha", "features", "objective", "mse", "standard error", "chosen", "over 3 folds", "2 passes"):
        assert part in text
    table = pd.read_csv("p.csv")
    assert len(table) == 12
    assert (here / "p.png").read_bytes().startswith(b"\x89PNG")
    frame = pd.read_csv("t.csv")
    model = riata.SparseRegressor(alpha="auto", n_alphas=12, alpha_reach=0.01, cv=3).fit(
        frame[list("abcdef")], frame["price"]
    )
    chosen = table[table["chosen"]].iloc[0]
    assert np.isclose(chosen["alpha"], model.alpha_)
    assert np.isclose(chosen["coef d"], model.coef_[3])


def test_a_path_along_k_as_json(here):
    found = json.loads(riata_command("path", *TABLE, "--k-max", "4", "--select", "bic", "--json"))
    (path,) = found["paths"]
    assert path["by"] == "k"
    assert [model["k"] for model in path["models"]] == [0, 1, 2, 3, 4]
    assert {"a", "d"} <= set(path["selected"])
    assert path["models"][path["chosen"]]["chosen"]
    assert found["passes"] > 0


def test_rows_to_choose_by(here):
    found = json.loads(riata_command("path", *TABLE, "--n-alphas", "5", "--validation", "v.csv", "--json"))
    (path,) = found["paths"]
    assert path["rule"] == "validation"
    assert "30 rows held out" in path["reason"]
    fit = json.loads(riata_command("fit", *TABLE, "--k", "auto", "--k-max", "3", "--validation", "v.csv", "--json"))
    assert "30 rows held out" in fit["selection"]
    assert fit["n_selected"] == fit["k"]


def test_fit_says_why(here):
    text = riata_command("fit", *TABLE, "--alpha", "auto", "--n-alphas", "8", "--cv", "3", "--debias")
    assert "over 3 folds" in " ".join(text.split())
    moved = json.loads(riata_command("path", *TABLE, "--n-alphas", "8", "--cv", "3", "--debias", "auto", "--json"))
    assert "debias = " in moved["paths"][0]["reason"]
    fit = json.loads(riata_command("fit", *TABLE, "--alpha", "auto", "--k", "2", "--n-alphas", "20", "--json"))
    assert fit["n_selected"] <= 2
    assert "selection" in riata_command("inspect", fit["model"])


def test_scores_on_folds_stand_beside_the_loss_of_training_rows(here):
    words = ["path", *TABLE, "--loss", "huber", "--n-alphas", "4", "--cv", "3"]
    assert "held out loss" in riata_command(*words)
    models = json.loads(riata_command(*words, "--json"))["paths"][0]["models"]
    assert models[0]["loss"] == pytest.approx(models[0]["objective"])  # of the empty model there is no penalty
    assert models[0]["held_out_loss"] != models[0]["loss"]


def test_a_path_for_every_quantile(here):
    words = ["path", *TABLE, "--loss", "quantile:0.2,0.8", "--n-alphas", "3", "--cv", "2", "--alpha-reach", "0.1"]
    text = riata_command(*words, "--out", "q.csv")
    assert "level 0.2" in text
    assert "against the rest" not in text
    assert set(pd.read_csv("q.csv")["level"]) == {0.2, 0.8}


def test_a_path_for_classes(here):
    found = json.loads(riata_command("path", "c.csv", "--target", "price", "--n-alphas", "4", "--cv", "2", "--json"))
    assert "log_loss" in found["paths"][0]["models"][0]


def test_a_path_for_every_one_of_several_classes(here):
    frame = pd.read_csv("t.csv")
    frame["price"] = np.array(["low", "mid", "top"])[np.digitize(frame["price"], [-1, 1])]
    frame.to_csv("m.csv", index=False)
    command = ["path", "m.csv", "--target", "price", "--k-max", "2", "--select", "bic", "--tol", "1e-4"]
    text = riata_command(*command, "--out", "m_path.csv", "--plot", "m.svg")
    for label in ("low", "mid", "top"):
        assert f"{label} against the rest" in text
    assert len(pd.read_csv("m_path.csv")) == 9


def test_stability(here):
    text = " ".join(riata_command("stability", *TABLE, "--k", "2", "--rounds", "4").split())
    assert "2 of 6 features are stable" in text
    found = json.loads(riata_command("stability", *TABLE, "--k", "2", "--rounds", "4", "--json"))
    assert set(found["stable"]) == {"a", "d"}
    assert found["bound"] == pytest.approx(2**2 / (0.5 * 6))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["path", *TABLE, "--k-max", "2", "--n-alphas", "5"], "give --k-max or --n-alphas, not both"),
        (["path", *TABLE, "--select", "best"], "select must be one of"),
        (["path", *TABLE, "--n-alphas", "3", "--out", "p.txt"], "a path is written as .csv"),
        (
            ["path", *TABLE, "--n-alphas", "3", "--cv", "2", "--plot", "p.bmpx"],
            "a picture is a .png, .svg, .pdf file, not .bmpx",
        ),
        (["path", *TABLE, "--plot", "nowhere/p.png"], "there is no folder nowhere"),
        (["fit", *TABLE, "--k", "many"], "neither a whole number nor 'auto'"),
        (["fit", *TABLE, "--k", "auto", "--alpha", "0.1"], "give it no other strength"),
        (["stability", *TABLE, "--k", "2", "--threshold", "0.4"], "threshold must lie above 0.5"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_one_sentence(here, arguments, sentence):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_a_picture_without_matplotlib_is_one_sentence(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = CliRunner().invoke(main, ["path", *TABLE, "--n-alphas", "3", "--select", "bic", "--plot", "p.png"])
    assert result.exit_code == 2
    assert "pictures need matplotlib: pip install 'riata[report]'" in result.stderr


@pytest.mark.parametrize("words", [["--debias", "t.csv"], ["t.csv", "--debias"], ["--debias", "1", "t.csv"]], ids=str)
def test_an_option_that_may_stand_alone_takes_no_file_for_its_value(words, here):
    text = riata_command("fit", *words, "--target", "price", "--alpha-ratio", "0.1")
    assert "then the mean loss alone" in " ".join(text.split())
