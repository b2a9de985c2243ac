"""Sentences of the command line that newcomers stumbled over: what is wrong, where, and what to type."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from riata.cli import main


@pytest.fixture
def here(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(300, 3)).round(3), columns=["age", "size", "rooms"])
    frame["plan"] = rng.choice(["basic", "pro"], size=300)
    frame["paid"] = pd.date_range("2024-01-01", periods=300).strftime("%Y-%m-%d")
    frame["price"] = (frame["size"] - 2 * frame["rooms"] + rng.normal(size=300)).round(3)
    frame["left"] = np.where(np.arange(300) % 30 == 0, "yes", "no")
    frame.to_csv("houses.csv", index=False)
    frame.drop(columns=["price", "left"]).to_csv("new.csv", index=False)
    frame.drop(columns=["size"]).to_csv("short.csv", index=False)
    for name in ("space.csv", "space.txt"):
        (tmp_path / name).write_text("a b\n" + "".join(f"{i} {2 * i}\n" for i in range(30)))
    (tmp_path / "nameless.csv").write_text("basic,yes\npro,no\npro,yes\n")
    monkeypatch.setitem(sys.modules, "fsspec", None)  # as if it were not there
    (tmp_path / "nested.jsonl").write_text("".join(json.dumps({"a": {"age": i}, "y": 2 * i}) + "\n" for i in range(20)))
    return tmp_path


def riata(*words):
    return CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": "200"})


PRICE = ["houses.csv", "--target", "price", "--drop", "left,paid"]
REFUSED = {
    "a column of --test": (["fit", *PRICE, "--k", "2", "--test", "short.csv"], "short.csv"),
    "no answers": (["fit", *PRICE, "--k", "2", "--test", "new.csv"], "new.csv has no column 'price', the target"),
    "a weight without a class": (["fit", "houses.csv", "--target", "left", "--k", "1", "--class-weight", "20"],
                                 "'20' is not NAME=NUMBER: write balanced, or"),
    "times that are words": (["fit", *PRICE, "--k", "auto", "--time", "plan"], "which is no date such as 2024-12-31"),
    "one fold": (["fit", *PRICE, "--k", "auto", "--cv", "1"], "at least 2 folds, and not 1"),
    "a file beside": (["fit", "house.csv", "--target", "price", "--k", "1"], "did you mean 'houses.csv'?"),
    "no file beside": (["fit", "zzqq.csv", "--target", "price"], "of that name (see riata datasets)"),
    "spaces in a table": (["fit", "space.csv", "--target", "b"], "between cells, say so (--csv separator=space)"),
    "spaces in a text": (["fit", "space.txt", "--target", "b"], "say what is between cells (--csv separator=space)"),
    "no names": (["fit", "nameless.csv", "--target", "price"], "has no names, say so (--csv header=no)"),
    "a web address": (["fit", "https://example.com/x.csv", "--target", "y"], "pip install 'fsspec[http]'"),
    "a nested column": (["fit", "nested.jsonl", "--target", "age", "--k", "1"], "did you mean 'a.age'?"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_where_and_what_to_do(here, case):
    words, sentence = REFUSED[case]
    done = riata(*words)
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_a_text_with_spaces_between_cells_is_read_where_that_is_said(here):
    done = riata("fit", "space.txt", "--target", "b", "--k", "1", "--csv", "separator=space")
    assert done.exit_code == 0
    assert "30 rows, 1 feature" in done.stdout


def test_evaluate_without_answers_points_to_predict(here):
    assert riata("fit", *PRICE, "--k", "2", "--out", "m.json").exit_code == 0
    assert "to predict without answers use predict" in riata("evaluate", "m.json", "new.csv").stderr


def test_one_thing_is_not_several(here):
    said = riata("fit", "houses.csv", "--target", "price", "--features", "rooms", "--k", "1").stdout
    assert "300 rows, 1 feature\n" in said
    assert "at most 1 feature," in said
    assert "1 of 1 feature " in said
    assert "the model has the only feature" in said
    assert "-0.0000" not in said


def test_options_of_a_choice_are_pointed_out_where_nothing_is_chosen(here):
    said = riata("fit", *PRICE, "--k", "2", "--cv", "3", "--n-alphas", "9").stderr
    assert "note: --cv and --n-alphas have no effect without --k auto or --alpha auto" in said
    assert "no effect" not in riata("fit", *PRICE, "--k", "auto", "--cv", "3").stderr


def test_a_profile_says_how_many_rows_are_used(here):
    assert "houses.csv: 300 rows, 4 features" in riata("profile", *PRICE).stdout
    (here / "gaps.csv").write_text("a,y\n" + "".join(f"{i},{i if i % 3 else ''}\n" for i in range(30)))
    assert "gaps.csv: 30 rows read, 20 used, 1 feature" in riata("profile", "gaps.csv", "--target", "y").stdout


def test_the_side_of_the_threshold_is_that_of_the_class_that_is_missed(here):
    frame = pd.read_csv("houses.csv").assign(left=lambda one: one["left"].map({"yes": "away", "no": "here"}))
    frame.to_csv("away.csv", index=False)
    said = riata("fit", "away.csv", "--target", "left", "--drop", "paid", "--k", "1").stderr
    assert "no row of away is found: --class-weight balanced or a higher --threshold" in said


def test_targets_are_said_to_be_numbers_or_classes(here):
    said = riata("profile", *PRICE).stdout
    assert "the target 'price' is a number: regression (--task classification changes that)" in said
    assert (
        "the target 'left' has 2 classes: classification\n" in riata("profile", "houses.csv", "--target", "left").stdout
    )


def test_a_class_that_is_never_predicted_is_pointed_out_with_what_helps(here):
    words = ["fit", "houses.csv", "--target", "left", "--drop", "paid", "--k", "1"]
    assert "no row of yes is found: --class-weight balanced or a lower --threshold" in riata(*words).stderr
    assert "is found:" not in riata(*words, "--class-weight", "balanced").stderr
    of_margins = riata(*words, "--loss", "squared-hinge")  # without probabilities, a threshold would be refused
    assert "no row of yes is found: --class-weight balanced finds more" in of_margins.stderr
    assert "probabilities" not in of_margins.stdout


def test_a_stream_says_what_it_minimises(here):
    words = ["fit", "houses.csv", "--target", "left", "--drop", "paid", "--one-pass", "--solver", "online"]
    assert "mean logistic loss + 0.01 * |w|_1 of columns" in riata(*words, "--alpha", "0.01").stdout
    assert "over models of at most 2 features, in one pass" in riata(*words, "--k", "2").stdout


def test_weights_and_the_threshold_are_shown(here):
    words = ["fit", "houses.csv", "--target", "left", "--drop", "paid", "--k", "1", "--out", "m.json"]
    more = ["--class-weight", "yes=20", "--threshold", "0.3", "--report", "p.html"]
    assert "weight of a row by class: no 1, yes 20; probabilities are shifted" in riata(*words, *more).stdout
    shown = riata("inspect", "m.json").stdout
    assert "yes is predicted from a probability of 0.3 on" in shown
    assert "weight of a row by class: no 1, yes 20; probabilities are shifted" in shown
    page = (here / "p.html").read_text()
    assert "Weight of a row by class: no 1, yes 20; probabilities are shifted" in page
    assert "yes is predicted from a probability of 0.3 on" in page


def test_a_profile_is_in_words_of_the_command_line_and_shows_what_there_is(here):
    said = riata("profile", "houses.csv", "--target", "left").stdout
    assert "different" in said
    assert "..." not in said, "every level is shown"
    assert "T00:00:00" not in said
    assert "task=" not in said


def test_a_perfect_fit_is_the_best(here):
    said = riata("fit", "nested.jsonl", "--target", "y", "--k", "1", "--ridge", "1e-20").stdout
    assert "which says nothing" not in said


def test_k_is_said_to_be_for_each_class(here, rng):
    frame = pd.read_csv("houses.csv").assign(kind=rng.choice(["a", "b", "c"], size=300))
    frame[["age", "size", "rooms", "kind"]].to_csv("three.csv", index=False)
    assert "k is for each class: 2 in each of 3" in riata("fit", "three.csv", "--target", "kind", "--k", "2").stdout
