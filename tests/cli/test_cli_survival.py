"""Times to events on the command line: a fit, its scores and its page, and what is refused."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from riata.cli import main
from survival_problems import make


@pytest.fixture
def data(tmp_path):
    rows = make(200, 5)
    columns = {f"c{j}": x for j, x in enumerate(rows.X.T)} | {"days": rows.time, "died": rows.event.astype(int)}
    columns |= {"in_r": rows.event + 1, "state": ["dead" if event else "alive" for event in rows.event]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    return str(tmp_path / "rows.parquet")


def run(*words, rc=0):
    found = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert found.exit_code == rc, found.output
    return found


def test_fit_evaluate_and_report(data, tmp_path):
    model, page = tmp_path / "model.json", tmp_path / "page.html"
    roles = ("--target", "days", "--event", "died")
    told = run("fit", data, *roles, "--alpha-ratio", "0.1", "--test", data, "--report", page, "--out", model, "--json")
    facts = json.loads(told.stdout)
    assert facts["loss"] == "cox"
    assert 0.5 < facts["test"]["concordance"] < 1.0
    assert 0.0 < facts["test"]["deviance_explained"] < 1.0
    again = json.loads(run("evaluate", model, data, "--json").stdout)
    assert again["concordance"] == pytest.approx(facts["test"]["concordance"])
    text = page.read_text()
    for words in ("Survival by predicted risk", "Kaplan and Meier", "a third of high risk", "SparseSurvival", "event="):
        assert words in text
    assert "had its event first" in " ".join(run("evaluate", model, data).stdout.split())


@pytest.mark.parametrize("event", ["in_r=2", "state=dead", "died=1"])
def test_an_event_may_be_any_value(data, event, tmp_path):
    """The other columns say the same, and would give it away."""
    facts = []
    for asked, model in (("died", tmp_path / "usual.json"), (event, tmp_path / "other.json")):
        how = ("--target", "days", "--event", asked, "--features", "c0,c1,c2,c3,c4", "--alpha-ratio", "0.1")
        fitted = json.loads(run("fit", data, *how, "--out", model, "--json").stdout)
        scores = json.loads(run("evaluate", model, data, "--json").stdout)
        facts.append((fitted["objective"], scores["concordance"]))
    assert facts[0] == pytest.approx(facts[1])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--target", "days", "--event", "c0"], "and must be 1 (it happened) or 0"),
        (["--target", "c0", "--event", "died"], "times to an event are positive"),
        (["--target", "days", "--event", "dead"], "'dead'"),
        (["--target", "days", "--event", "in_r"], "as R codes censored and dead: say --event in_r=2 if 2 is dead"),
        (["--target", "days", "--event", "state"], "or say which value means that it happened, as in --event state="),
        (["--target", "days", "--event", "in_r=3"], "no row has '3' in 'in_r'"),
        (["--target", "days", "--event", "in_r=dead"], "none of which is 'dead'"),
        (["--target", "days", "--event", "died", "--solver", "online"], "takes losses of single rows"),
        (["--target", "days", "--loss", "cox"], "name the column that says which happened"),
        (["--target", "days", "--event", "died", "--loss", "squared"], "loss must be one of cox, cox-efron here"),
        (["--target", "days", "--event", "died", "--task", "regression"], "events go with times to them"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(data, options, sentence, tmp_path):
    found = run("fit", data, *options, "--out", tmp_path / "model.json", rc=2)
    assert sentence in " ".join(found.output.split())
