"""Folds on the command line: by groups, in time, by a column of numbers; with what is said of them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.data.statistics import load_statistics
from riata.model.saved_model import load_model

N = 200


@pytest.fixture
def here(tmp_path, monkeypatch, rng):
    """A folder with rows of 25 customers on 200 days."""
    monkeypatch.chdir(tmp_path)
    customer = np.arange(N) % 25
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    frame["y"] = frame["a"] + rng.normal(size=25)[customer] + 0.3 * rng.normal(size=N)
    frame["customer"] = [f"c{i}" for i in customer]
    frame["day"] = pd.date_range("2020-01-01", periods=N)
    frame["fold"] = rng.integers(0, 3, N)
    frame.to_csv("rows.csv", index=False)
    return frame


def run(*words, fails=False):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert (result.exit_code == 2) == fails, result.output
    return result


ROLES = {
    "groups": (["--group-by", "customer", "--drop", "day,fold"], {"kind": "groups", "by": "customer", "count": 5}),
    "time": (["--time", "day", "--gap", "7d", "--drop", "customer,fold"],
             {"kind": "time", "by": "day", "count": 5, "gap": "7d"}),
    "folds": (["--folds", "fold", "--drop", "customer,day"], {"kind": "column", "by": "fold", "count": 3}),
}  # fmt: skip


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("auto", ["--k", "--alpha"])
def test_a_fit_says_on_which_folds_it_chose(role, auto):
    words, wanted = ROLES[role]
    fit = ["fit", "rows.csv", "--target", "y", auto, "auto", "--out", "m.json", *words]
    said = json.loads(run(*fit, "--json").stdout)
    assert wanted.items() <= said["folds"].items()
    assert said["n_features"] == 3
    assert wanted["by"] in said["selection"]
    assert load_model("m.json").training.folds.to_json() == said["folds"]
    shown = run(*fit).stdout
    assert wanted["by"] in shown
    run(*fit, "--report", "page.html", "--quiet")
    page = Path("page.html").read_text(encoding="utf-8")
    assert wanted["by"] in page
    assert ("groups=" in page) == (role == "groups")


def test_a_path_and_halves_by_groups(here):
    words = ["rows.csv", "--target", "y", "--group-by", "customer", "--drop", "day,fold"]
    path = json.loads(run("path", *words, "--n-alphas", 5, "--json").stdout)
    assert "5 folds by customer" in json.dumps(path)
    found = json.loads(run("stability", *words, "--k", 2, "--rounds", 6, "--json").stdout)
    data = riata.open(here, target="y", groups="customer", drop=["day", "fold"])
    ours = riata.stability_selection(riata.SparseRegressor(k=2), data, rounds=6)
    assert [found["frequencies"].get(name, 0.0) for name in "abc"] == ours.frequencies.tolist()


def test_statistics_of_two_days_go_together_by_group_and_not_in_time(here):
    here[:90].to_csv("one.csv", index=False)
    here[90:].to_csv("two.csv", index=False)
    words = ["--target", "y", "--group-by", "customer", "--drop", "day,fold", "--cv", 3]
    run("statistics", "rows.csv", "all.npz", *words)
    run("statistics", "one.csv", "one.npz", *words)
    said = run("statistics", "two.csv", "both.npz", "--add", "one.npz", *words).stderr
    assert "200 rows of 3 features in 3 folds by customer" in said
    for ours, theirs in zip(load_statistics("both.npz").folds, load_statistics("all.npz").folds, strict=True):
        np.testing.assert_allclose(ours.xx, theirs.xx)
    fit = json.loads(run("fit", "both.npz", "--k", "auto", "--cv", 3, "--json", "--out", "m.json").stdout)
    assert fit["folds"]["by"] == "customer"
    in_time = ["--target", "y", "--time", "day", "--drop", "customer,fold", "--cv", 3]
    run("statistics", "one.csv", "one.npz", *in_time)
    fit = json.loads(run("fit", "one.npz", "--k", "auto", "--cv", 3, "--json", "--out", "m.json").stdout)
    assert fit["folds"]["kind"] == "time"
    run("statistics", "two.csv", "both.npz", "--add", "one.npz", *in_time)
    assert len(load_statistics("both.npz").folds) == 1


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("folds", [[], ["--cv", 3, "--seed", 4], ["--cv", 1]], ids=str)
def test_what_statistics_name_as_the_next_command_works(folds):
    said = run("statistics", "rows.csv", "rows.npz", "--target", "y", "--drop", "customer,day,fold", *folds).stderr
    *_, line = said.splitlines()
    assert line.startswith("next: riata fit rows.npz")
    run(*line.removeprefix("next: riata ").split())


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--folds", 5], "--cv 5 asks for so many folds"),
        (["--group-by", "client"], "there is no column 'client'"),
        (["--group-by", "customer", "--time", "day"], "give one of groups and time"),
        (["--gap", 3], "a gap lies between blocks in time"),
        (["--group-by", "fold"], "5 folds need as many groups, and 'fold' has 3 different values"),
        (["--folds", "a"], "which is not a fold number"),
        (["--time", "day", "--gap", "200d"], "has no rows to learn from"),
    ],
)
def test_bad_folds_get_a_sentence(words, sentence):
    result = run("fit", "rows.csv", "--target", "y", "--k", "auto", *words, fails=True)
    assert sentence in result.stderr.replace("\n", " ")
    assert "Traceback" not in result.output
