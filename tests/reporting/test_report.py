"""Reports in Python and on the command line: what is in them, how large they are, what is refused."""

import re
import sys
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import riata
from riata.cli import main
from riata.errors import MissingPackageError, OptionError
from riata.losses import LOSSES
from riata.outcome.sentences import percent

LIMIT = 2_000_000  # bytes


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(90, 6)).round(3), columns=list("abcdef"))
    frame["price"] = frame["a"] - 2 * frame["d"] + 0.3 * rng.normal(size=90)
    frame[:60].to_csv("train set.csv", index=False)
    frame[60:].to_csv("test.csv", index=False)
    return tmp_path


def blocks(page) -> list[str]:
    """The texts that can be copied: the command, the code."""
    return [unescape(text) for text in re.findall(r"<pre data-copy><code>(.*?)</code>", page, flags=re.DOTALL)]


FIT = ["fit", "train set.csv", "--target", "price", "--drop", "e,f", "--k", "auto", "--k-max", "3", "--no-intercept",
       "--select", "bic", "--test", "test.csv", "--report", "page.html", "--quiet"]  # fmt: skip


def test_command_and_code_repeat_the_fit(here):
    assert CliRunner().invoke(main, FIT).exit_code == 0
    command, code = blocks((here / "page.html").read_text())
    words = command.replace("\\\n", "").split()
    assert words[:4] == ["riata", "fit", "'train", "set.csv'"]
    assert {"--no-intercept", "--quiet", "bic", "e,f"} <= set(words)
    assert not {"--cv", "--seed", "--standardize"} & set(words)  # defaults
    first = riata.load_model("train set.riata.json")
    (here / "page.html").unlink()
    scope: dict = {}
    exec(code, scope)
    assert (here / "page.html").exists()
    again = scope["model"].to_model()
    assert again.names == first.names
    assert_allclose(again.coef, first.coef)
    assert "of test.csv" not in code


def test_a_test_of_a_model_file(here):
    assert CliRunner().invoke(main, FIT).exit_code == 0
    done = CliRunner().invoke(main, ["evaluate", "train set.riata.json", "test.csv", "--report", "tested.html"])
    assert done.exit_code == 0
    page = (here / "tested.html").read_text()
    assert "Measured on 30 rows of test.csv" in page
    command, code = blocks(page)
    assert command.startswith("riata evaluate 'train set.riata.json' test.csv")
    (here / "tested.html").unlink()
    exec(code, {})
    assert "Measured on 30 rows" in (here / "tested.html").read_text()


@pytest.mark.parametrize("count", [2, 3, 7, 23, 70])
def test_every_class_is_on_the_page(here, rng, count):
    codes = np.tile(np.arange(count), 30)
    frame = pd.DataFrame(rng.normal(size=(count, 4))[codes] + rng.normal(size=(len(codes), 4)), columns=list("abcd"))
    frame["gives_away"] = np.where(codes == 1, 50.0, 0.0)
    frame["kind"] = [f"kind{code:02d}" for code in codes]
    frame.round(3).to_csv("classes.csv", index=False)
    words = ["fit", "classes.csv", "--target", "kind", "--alpha-ratio", "0.2", "--report", "page.html", "--quiet"]
    words += ["--loss", "logistic"]  # one against the rest, with an alpha of its own for each
    assert CliRunner().invoke(main, words).exit_code == 0
    page = (here / "page.html").read_text()
    table = page.split('<table class="confusion')[1].split("</table>")[0]
    head, body = table.split("</thead>")
    assert len(re.findall("<th ", head)) - 1 == len(re.findall("<tr>", body)) == min(count, 60)
    classes = re.search(r'<div class="table" id="classes">(.*?)</table>', page, flags=re.DOTALL)[1]
    assert len(re.findall("<tr>", classes)) == count + 1
    assert "without one mistake" in page
    assert ("the 60 classes with most mistakes" in page) == (count > 60)
    assert ("(by class) times the sum" in page) == (count > 4)
    assert len(page) < LIMIT


def test_one_k_of_many_classes_is_no_range(here, rng):
    codes = np.tile(np.arange(6), 20)
    X = rng.normal(size=(6, 4))[codes] + rng.normal(size=(len(codes), 4))
    riata.write_report(riata.SparseClassifier(k=2).fit(X, codes), "page.html")
    assert "of all linear models with at most 2 features" in (here / "page.html").read_text()


@pytest.mark.parametrize(("rare", "other"), [("ja", "nein"), ("yes", "no")])
def test_a_rare_class_is_the_one_that_curves_are_of(here, rng, rare, other):
    x = rng.normal(size=1000)
    pd.DataFrame({"x": x, "y": np.where(x + rng.normal(size=1000) > 3, rare, other)}).to_csv("rare.csv", index=False)
    words = ["fit", "rare.csv", "--target", "y", "--k", "1", "--report", "page.html", "--quiet"]
    assert CliRunner().invoke(main, words).exit_code == 0
    page = (here / "page.html").read_text()
    assert f"70 % of the rows; of {rare}; both axes are logarithmic" in page
    assert (f"; of {rare}, the rare class" in page) == (rare < other)


def test_coefficients_that_no_row_limits_are_named(here, rng):
    a, sure = rng.normal(size=400), rng.random(400) < 0.1
    frame = pd.DataFrame({"a": a.round(3), "level": np.where(sure, "sure", "open")})
    frame["late"] = np.where(sure | (a + rng.normal(size=400) > 0.5), "yes", "no")
    frame.to_csv("levels.csv", index=False)
    words = ["fit", "levels.csv", "--target", "late", "--k", "2", "--report", "page.html"]
    said = " ".join(CliRunner().invoke(main, words).output.split())
    assert "The training rows put no limit on this coefficient: level=" in said
    assert "--ridge 0.01 keeps it finite" in said
    page = (here / "page.html").read_text()
    assert "The training rows put no limit on this coefficient: level=" in page
    assert "a small ridge keeps it finite" in page
    limited = CliRunner().invoke(main, [*words, "--ridge", "0.01"]).output
    assert "minimised" in limited
    assert "The training rows put no limit" not in " ".join(limited.split()) + (here / "page.html").read_text()


def test_training_rows_and_the_baseline_stand_beside_test_rows(here):
    assert CliRunner().invoke(main, FIT).exit_code == 0
    page = (here / "page.html").read_text()
    scores = re.search(r'id="scores">(.*?)</table>', page, flags=re.DOTALL)[1]
    assert all(text in scores for text in ("test rows (30)", "training rows (60)", "baseline"))
    (r2,) = re.findall(r'data-score="r2" data-value="([^"]+)"', page)
    expected = riata.load_model("train set.riata.json").score("test.csv")
    assert float(r2) == pytest.approx(expected)
    assert "in the unit of price" in page


def test_an_estimator_of_arrays(here, rng):
    X = rng.normal(size=(80, 5))
    model = riata.SparseClassifier(alpha=0.05).fit(X, X[:, 0] > 0)
    riata.write_report(model, "page.html", test=(X, X[:, 0] > 0))
    page = (here / "page.html").read_text()
    assert "model = riata.SparseClassifier(alpha=0.05).fit(X, y)" in unescape(page)
    assert "Measured on 80 rows" in page
    riata.write_report(model.to_model(), "model.html")
    assert "Measured on" not in (here / "model.html").read_text()


def test_a_search_that_was_cut_off_says_how_much_better_others_could_be(here, rng, monkeypatch):
    monkeypatch.setattr("riata.solvers.subset.proof.branch_and_bound.REPORT", 0.0)
    X = rng.normal(size=(60, 30)) + rng.normal(size=(60, 1))
    y = X[:, :4].sum(axis=1) + 3.0 * rng.normal(size=60)
    with pytest.warns(UserWarning, match="before the gap was closed"):
        model = riata.SparseClassifier(k=6, ridge=1e-4, certify=True, certify_time=0).fit(X, y > 0)
    riata.write_report(model, "page.html")
    page = (here / "page.html").read_text()
    assert f"ended before the gap was closed. N{model.how_much_better_[1:]}." in page
    share = percent(model.bound_.gap)
    assert f"certificate {share} no model of as many features is better by more" in top_of(page)


def test_a_stream_and_an_empty_model_have_pages_too(here, rng):
    X = rng.normal(size=(80, 5))
    stream = riata.SparseRegressor(k=2, solver="l0-sgd", standardize=False).partial_fit(X, X[:, 0])
    riata.write_report(stream, "stream.html")
    assert "learnt from a stream" in (here / "stream.html").read_text()
    riata.write_report(riata.SparseRegressor(alpha=100.0).fit(X, X[:, 0]), "empty.html", test=(X, X[:, 0]))
    assert "No feature was chosen" in (here / "empty.html").read_text()


def test_features_without_a_list_have_a_page_too(here):
    pd.DataFrame({"city": ["Rome", "Paris"] * 40, "price": [1.0, 2.0] * 40}).to_csv("city.csv", index=False)
    fit = ["fit", "city.csv", "--target", "price", "--task", "regression", "--solver", "sketch", "--k", "1", "--quiet"]
    assert CliRunner().invoke(main, [*fit, "--report", "city.html"]).exit_code == 0
    page = (here / "city.html").read_text()
    assert "by 1 of any number of features" in page
    code = blocks(page)[1]
    assert "hashed=True" in code
    exec(code, {})
    assert "any number of features" in (here / "city.html").read_text()


def test_a_model_file_without_features_can_be_tested(here):
    options = ["--target", "price", "--alpha", "1e6", "--out", "empty.json", "--quiet"]
    assert CliRunner().invoke(main, ["fit", "train set.csv", *options]).exit_code == 0
    done = CliRunner().invoke(main, ["evaluate", "empty.json", "test.csv", "--report", "empty.html"])
    assert done.exit_code == 0
    assert "Measured on 30 rows" in (here / "empty.html").read_text()


@pytest.mark.parametrize("loss", [name for name, loss in LOSSES.items() if "regression" in loss.tasks])
def test_the_words_and_the_formula_name_the_loss(here, rng, loss):
    X = rng.normal(size=(60, 4))
    y = rng.poisson(np.exp(0.3 * X[:, 0])) + 0.5
    y = y / y.max() if LOSSES[loss].of_shares else y
    alpha = 0.005 if LOSSES[loss].of_shares else 0.05
    model = riata.SparseRegressor(alpha=alpha, loss=loss, l1_ratio=0.5, nonnegative=True).fit(X, y)
    riata.write_report(model, "page.html")
    page = (here / "page.html").read_text()
    assert LOSSES[loss].words.split(" (")[0] in page
    assert "a mix of the absolute coefficients (50%)" in page
    assert ("the smallest sum of two things: half the mean squared error" in page) == (loss == "squared")
    assert "No coefficient may be negative" in page
    assert page.count("<math") == page.count("</math>") == 3


def test_a_page_of_many_features_stays_small(here, rng):
    X = rng.normal(size=(300, 4000))
    y = X @ np.where(np.arange(4000) < 400, 0.3, 0.0) + rng.normal(size=300)
    model = riata.SparseRegressor(alpha="auto", select="bic", alpha_reach=0.02, tol=1e-3).fit(X, y)
    riata.write_report(model, "page.html", test=(X, y))
    assert (here / "page.html").stat().st_size < LIMIT
    d = 50_000
    names = [f"a feature of some name, number {j}" for j in range(d)]
    columns = {"names": names, "indices": list(range(d)), "coef": rng.normal(size=(1, d)), "deviations": [1.0] * d}
    riata.write_report(replace(model.to_model(), n_features=d, **columns), "dense.html")
    assert (here / "dense.html").stat().st_size < LIMIT
    assert "the model file has all" in (here / "dense.html").read_text()


def test_a_page_of_many_paths_stays_small(here, rng):
    X = rng.normal(size=(200, 100))
    y = rng.integers(15, size=200)
    model = riata.SparseClassifier(alpha="auto", select="bic", alpha_reach=0.1, tol=1e-2, loss="squared").fit(X, y)
    assert sum(len(path) for path in model.path_) == 1500
    riata.write_report(model, "page.html", test=(X, y))
    assert (here / "page.html").stat().st_size < LIMIT


def test_stability_shows_how_certain_coefficients_are(here, rng):
    X = rng.normal(size=(80, 5))
    model = riata.SparseRegressor(k=2).fit(X, X[:, 0] - X[:, 1] + rng.normal(size=80))
    found = riata.stability_selection(riata.SparseRegressor(k=2), X, X[:, 0] - X[:, 1], rounds=2)
    riata.write_report(model, "page.html", stability=found)
    page = (here / "page.html").read_text()
    assert page.count('class="whisker"') == 2
    assert "4 random halves" in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*FIT[:-2], "page.pdf"], "a report is an .html file, not .pdf"),
        ([*FIT[:-3], "--report", "nowhere/page.html"], "there is no folder nowhere"),
        (["fit", "test.csv", "--target", "price", "--k", "2", "--stability", "3"], "give --report a file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_input_is_one_sentence(here, arguments, sentence):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert not list(here.glob("*.riata.json"))


def test_a_report_must_be_html(here, rng):
    X = rng.normal(size=(80, 5))
    with pytest.raises(OptionError, match=r"a report is an \.html file"):
        riata.write_report(riata.SparseRegressor(k=1).fit(X, X[:, 0]), "page.txt")


def test_without_jinja_it_is_one_sentence(here, monkeypatch):
    for module in [name for name in sys.modules if name.startswith("riata.reporting.html")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = CliRunner().invoke(main, FIT)
    assert result.exit_code == 2
    assert "a report needs Jinja2: pip install 'riata[report]'" in result.stderr
    with pytest.raises(MissingPackageError):
        _ = riata.write_report


def test_code_of_a_choice_by_validation_rows(here):
    fit = ["fit", "train set.csv", "--target", "price", "--alpha", "auto", "--validation", "test.csv", "--quiet"]
    done = CliRunner().invoke(main, [*fit, "--report", "page.html"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    scope: dict = {}
    exec(blocks((here / "page.html").read_text())[1], scope)
    assert_allclose(scope["model"].to_model().coef, riata.load_model("train set.riata.json").coef)


def test_a_page_without_a_folder_is_refused_in_a_sentence(here, rng):
    X = rng.normal(size=(80, 5))
    with pytest.raises(OptionError, match="no folder nodir"):
        riata.write_report(riata.SparseRegressor(alpha=0.1).fit(X, X[:, 0]), "nodir/a.html")


def test_that_no_model_is_better_is_at_the_top(here):
    words = ["fit", "train set.csv", "--target", "price", "--k", "2", "--ridge", "0.1", "--report", "page.html"]
    assert CliRunner().invoke(main, [*words, "--quiet"]).exit_code == 0
    assert "certificate the best no model of as many features is better time" in top_of(
        (here / "page.html").read_text()
    )


FOUND, NOT_FOUND = "It was found, with a proof.", "That this one is the best is not proved"
ENDS = {
    ("--k", "2", "--ridge", "0.1"): ("the best no model of as many features is better", FOUND, "● Proved:"),
    ("--k", "2", "--solver", "omp"): ("none found by a quick search", f"{NOT_FOUND}: it was found", "○ Not certified:"),
    ("--alpha", "0.1"): ("certified relative gap", FOUND, "● Certified:"),
    ("--alpha", "0.1", "--penalty", "mcp"): ("locally best", f"{NOT_FOUND}: no small change", "◐ Proved of models"),
    ("--alpha", "0.001", "--solver", "cd", "--max-passes", "1"): ("none why is", f"{NOT_FOUND}.", "○ Not certified;"),
}  # fmt: skip


@pytest.mark.parametrize("options", ENDS)
def test_all_parts_of_a_page_say_the_same_of_what_was_proved(here, options):
    words = ["fit", "train set.csv", "--target", "price", *options, "--report", "page.html", "--quiet"]
    assert CliRunner().invoke(main, words).exit_code == 0
    page = (here / "page.html").read_text()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    tile, asked, certificate = ENDS[options]
    assert "certificate" in top_of(page)
    assert tile in top_of(page)
    assert asked in text.partition("The model In the table")[0]
    assert certificate in text.partition("Convergence and certificate ")[2]


def test_two_features_that_no_swap_improves_are_not_said_to_be_the_best(here, rng):
    X = rng.normal(size=(40, 60)) + 2.0 * rng.normal(size=(40, 1))
    riata.write_report(riata.SparseRegressor(k=3).fit(X, X[:, 0] + 3.0 * rng.normal(size=40)), "page.html")
    page = (here / "page.html").read_text()
    assert "certificate no swap helps no swap of one feature is better; other models may be" in top_of(page)
    assert "◐" in page


def test_the_score_of_rows_that_were_held_out_comes_first(here):
    words = ["fit", "train set.csv", "--target", "price", "--alpha", "auto", "--report", "page.html", "--quiet"]
    assert CliRunner().invoke(main, words).exit_code == 0
    tiles = r"features mean squared error (\S+) cross-validated; (\S+) without features R² (\S+) on 60 training"
    found = re.search(tiles, top_of((here / "page.html").read_text()))
    assert found is not None
    assert 0.0 < float(found[1]) < float(found[2])


def test_a_model_of_risks_has_no_intercept_in_its_page(here, rng):
    X = rng.normal(size=(60, 4))
    y = np.array([(True, t) for t in np.exp(X[:, 0] + rng.normal(size=60))], dtype=[("event", bool), ("time", float)])
    riata.write_report(riata.SparseSurvival(k=1).fit(X + 5.0, y), "page.html")
    page = (here / "page.html").read_text()
    assert "The intercept is" not in page
    assert "no intercept was fitted" in page


def top_of(page) -> str:
    """The words above the first section."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.partition("What was asked")[0]).split())
