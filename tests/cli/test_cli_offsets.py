"""Offsets and exposures on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from riata.cli import main
from riata.model.saved_model import load_model

N = 300
FIT = ["fit", "claims.csv", "--target", "claims", "--exposure", "years", "--loss", "poisson", "--out", "m.json"]


@pytest.fixture
def here(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    frame["years"] = rng.uniform(0.1, 2.0, N)
    frame["claims"] = rng.poisson(2.0 * frame["years"] * np.exp(0.5 * frame["a"])).astype(float)
    frame.to_csv("claims.csv", index=False)
    return frame


def run(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


def test_fit_predict_evaluate_inspect(here):
    said = json.loads(run(*FIT, "--alpha", "auto", "--test", "claims.csv", "--json").stdout)
    assert said["n_features"] == 3
    assert "margins moved by the offset of each row" in load_model("m.json").objective
    run("predict", "m.json", "claims.csv", "--out", "p.csv")
    here.assign(years=1.0).to_csv("one.csv", index=False)
    run("predict", "m.json", "one.csv", "--out", "rates.csv")
    counts, rates = (pd.read_csv(name)["prediction"] for name in ("p.csv", "rates.csv"))
    np.testing.assert_allclose(counts, here["years"] * rates, rtol=1e-6)
    scores = json.loads(run("evaluate", "m.json", "claims.csv", "--json").stdout)
    assert scores["deviance_explained"] > 0.1
    assert scores["baseline"]["r2"] > 0.05  # the rate alone knows the years
    assert "the logarithm of the exposure 'years'" in run("inspect", "m.json").stdout
    run("evaluate", "m.json", "claims.csv", "--report", "page.html")


def test_a_report_and_a_path(here):
    run(*FIT, "--k", "1", "--report", "page.html", "--quiet")
    with open("page.html") as page:
        assert "The logarithm of the exposure" in page.read()
    run("path", "claims.csv", "--target", "claims", "--exposure", "years", "--loss", "poisson", "--k-max", "2")


def test_what_is_wrong_is_said(here):
    run(*FIT, "--k", "1")
    here.drop(columns="years").to_csv("new.csv", index=False)
    assert "no column 'years'" in run("predict", "m.json", "new.csv", code=2).stderr
    assert "no column 'nope'" in run("predict", "m.json", FIT[1], "--exposure", "nope", code=2).stderr
    here.assign(years=0.0).to_csv("zero.csv", index=False)
    wrong = run("fit", "zero.csv", "--target", "claims", "--exposure", "years", "--loss", "poisson", code=2).stderr
    assert "zero.csv" in wrong
    assert "an exposure is a positive number" in wrong
    assert "loss 'squared'" in run(*FIT[:6], "--alpha", "0.1", code=2).stderr
    assert "not both" in run(*FIT, "--offset", "a", code=2).stderr
