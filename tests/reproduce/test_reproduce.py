"""`riata reproduce`: its plan is the paper's, it goes on where it was killed, and what it says is what it measured."""

import csv
import math
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import naive
import reproduction
from browser import chromium, opened
from reproduction import EFFORT
from riata.cli import main
from riata.errors import DataError, OptionError
from riata.losses.squared import Squared
from riata.reproduce.algorithms import ALGORITHMS, PAPERS
from riata.reproduce.claims import claims
from riata.reproduce.experiment import reproduce
from riata.reproduce.figures import figures
from riata.reproduce.findings import Findings, slope
from riata.reproduce.fits import FitCell
from riata.reproduce.paper import ALPHAS, BESTS, COSTS, SIZES
from riata.reproduce.plan import Settings, plan
from riata.reproduce.rows import load_rows
from riata.reproduce.sheets import sheet1, sheet2
from riata.reproduce.store import Store
from riata.reproduce.verdicts import FAILS, HOLDS
from riata.reproduce.words import settings
from riata.reproduce.work import run_cells
from riata.solvers.stochastic.visits import uniform

FULL = Settings({"features": 5000, "probes": 2500}, quick=False, seeds=3)


@pytest.fixture(scope="module")
def small():
    """Everything made small, for the whole module."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in reproduction.SMALLER.items():
            patch.setattr(module, name, value)
        yield


@pytest.fixture(scope="module")
def uci(tmp_path_factory):
    return reproduction.write_uci(tmp_path_factory.mktemp("uci") / "gisette")


@pytest.fixture(scope="module")
def killed(small, uci, tmp_path_factory):
    """The folder of a run that was killed after a few cells, with the times of these cells."""
    out = tmp_path_factory.mktemp("killed") / "out"
    command = [sys.executable, reproduction.__file__, str(uci), str(out)]
    child = subprocess.Popen(command, start_new_session=True)
    while len(list(out.glob("cells/fit-*.json"))) < 5:
        assert child.poll() is None
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    return out, {path: path.stat().st_mtime_ns for path in out.glob("cells/*.json")}


@pytest.fixture(scope="module")
def finished(killed, uci):
    """The same run, finished, and which cells that took."""
    run = []
    findings = reproduce(str(uci), killed[0], quick=True, seeds=2, progress=lambda done, total, key: run.append(key))
    return killed[0], findings, run


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# The plan


def fits_of(settings=FULL):
    return [cell for cell in plan(settings) if isinstance(cell, FitCell)]


def test_the_plan_covers_the_papers_grid():
    strengths = defaultdict(set)
    for cell in fits_of():
        strengths[cell.algorithm, cell.reading].add(cell.strength)
    assert set(PAPERS) == set(COSTS)
    for name in set(PAPERS) - {"l0-sgd"}:
        assert strengths[name, "text"] >= set(ALPHAS)
    assert strengths["l0-sgd", "code"] == strengths["best-k", "riata"] == set(SIZES)
    for name, best in BESTS.items():
        assert all(best.strength in strengths[name, reading] for reading in ALGORITHMS[name].readings)


@pytest.mark.parametrize(
    ("name", "reading", "options"),
    [
        ("fobos", "text", {"step": "1/sqrt(t)", "max_passes": 20, "batch": None}),
        ("fobos", "code", {"step": "2/sqrt(t)", "max_steps": 200_000}),
        ("round-fobos", "code", {"rounds": True, "max_steps": 200_000}),
        ("mini-fobos", "code", {"batch": 20, "max_steps": 100_000}),
        ("stoc-subgd", "text", {"step": "1/t"}),
        ("mini-subgd", "code", {"step": "2/t", "batch": 20, "max_steps": 100_000}),
        ("l0-sgd", "code", {"step": 1.0, "max_steps": 200_000}),
        ("cd", "text", {"standardize": False, "fit_intercept": False}),
        ("cd", "code", {"standardize": True, "fit_intercept": True}),
        ("subgd", "text", {"batch": "full"}),
    ],
)
def test_readings_are_what_the_paper_and_its_code_say(name, reading, options):
    spec = next(cell.spec for cell in fits_of() if (cell.algorithm, cell.reading) == (name, reading))
    assert {option: getattr(spec, option) for option in options} == options


def test_what_is_random_has_several_seeds_at_the_papers_own_strength():
    for name, best in BESTS.items():
        for reading in ALGORITHMS[name].readings:
            cells = [c for c in fits_of() if (c.algorithm, c.reading, c.strength) == (name, reading, best.strength)]
            few = 1 if not ALGORITHMS[name].random else 2 if name.startswith("mini") and reading == "code" else 3
            assert {cell.seed for cell in cells} == set(range(few))


def test_cells_have_names_of_their_own():
    keys = [cell.key for cell in plan(FULL)]
    assert len(set(keys)) == len(keys)


def test_there_is_no_k_beyond_the_features():
    small = Settings({"features": 60, "probes": None}, quick=True, seeds=1)
    assert {cell.strength for cell in fits_of(small) if ALGORITHMS[cell.algorithm].takes == "k"} == {20, 50}


# Running, being killed, going on


def test_a_killed_run_goes_on_where_it_was(killed, finished):
    _, before = killed
    _, findings, run = finished
    assert len(before) > 5
    for path, written in before.items():
        assert path.stat().st_mtime_ns == written
        assert path.stem not in run
    assert len(run) + len(before) - 1 == len(findings.results)  # one file holds the settings


def test_a_finished_run_runs_nothing(finished, uci):
    out, findings, _ = finished
    cells = plan(Settings(findings.facts, quick=True, seeds=2))
    again = run_cells(cells, load_rows(str(uci)), Store(out), progress=lambda *_: pytest.fail("ran again"))
    assert again == findings.results


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[1]", b"[" * 100_000])
def test_a_damaged_cell_is_a_sentence(content, tmp_path):
    cell, store = fits_of()[0], Store(tmp_path)
    store.open(FULL)
    assert store.get(cell) is None
    (tmp_path / "cells" / f"{cell.key}.json").write_bytes(content)
    with pytest.raises(DataError, match=r"is damaged: remove it, and the same command goes on"):
        store.get(cell)


def test_other_settings_are_refused(finished, uci):
    with pytest.raises(OptionError, match=r"holds a run with seeds 2, not 3: .* another --out"):
        reproduce(str(uci), finished[0], quick=True, seeds=3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--data", "nowhere"], "there is no folder nowhere"),
        (["--data", "."], "there is no gisette_train.data in ."),
        (["--seeds", "0"], "seeds must be at least 1"),
        (["--data", "UCI", "--out", "UCI/gisette_train.data/there"], "cannot write to the folder"),
    ],
)
def test_bad_input_gets_one_sentence(options, sentence, uci, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = [option.replace("UCI", str(uci)) for option in options]
    result = CliRunner().invoke(main, ["reproduce", *options])
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


# What is written is what was measured


def test_table_2_is_what_the_cells_say(finished):
    out, _, _ = finished
    accuracies = defaultdict(list)
    for fit in table(out / "fits.csv"):
        accuracies[ALGORITHMS[fit["algorithm"]].name, fit["reading"], fit["strength"]].append(float(fit["accuracy"]))
    rows = [row for row in table(out / "table2.csv") if row["reading"] != "scored"]
    assert len(rows) == sum(len(algorithm.readings) for algorithm in ALGORITHMS.values())
    for row in rows:
        of_method = {
            key[2]: np.mean(a) for key, a in accuracies.items() if key[:2] == (row["algorithm"], row["reading"])
        }
        assert float(row["accuracy"]) == max(of_method.values()) == of_method[row["strength"]]


def test_table_1_is_what_was_timed_and_weighed(finished):
    out, _, _ = finished
    times, rows = table(out / "times.csv"), table(out / "table1.csv")
    for row in rows:
        name = next(name for name, algorithm in ALGORITHMS.items() if algorithm.name == row["algorithm"])
        along = sorted((int(t["d"]), float(t["seconds"])) for t in times if t["algorithm"] == name and t["n"] == "100")
        d, seconds = np.array(along).T
        assert_allclose(float(row["time_by_d"]), np.polyfit(np.log(d), np.log(seconds), 1)[0])
    held = next(row for row in rows if row["algorithm"] == "Coordinate descent")
    streamed = next(row for row in rows if row["algorithm"] == "Fobos")
    rows_mb = 4e-6 * math.prod(reproduction.HELD)
    assert float(held["most_mb"]) > rows_mb > float(streamed["most_mb"])


def test_every_fit_is_scored_by_its_own_model(finished, uci, small):
    """A cell run again, alone, says the same."""
    _, findings, _ = finished
    rows = load_rows(str(uci))
    stored = next(r for r in findings.results if r["kind"] == "fit" and r["algorithm"] == "round-fobos")
    again = FitCell(stored["algorithm"], stored["reading"], stored["strength"], stored["seed"], EFFORT).run(rows)
    assert {k: v for k, v in again.items() if k not in ("seconds", "trace")} == {
        k: v for k, v in stored.items() if k not in ("seconds", "trace")
    }
    steps = [note["steps"] for note in stored["trace"]]
    assert steps == sorted(set(steps))
    assert steps[0] == 10
    assert steps[-1] == stored["steps"]
    assert stored["trace"][-1]["objective"] == stored["objective"]


def test_the_beginning_of_a_way_is_that_of_the_long_run(uci, small):
    """Fobos by rounds, over the rows that the seed visits: all of the first pass takes half the penalty."""
    rows = load_rows(str(uci))
    A, y, alpha = rows.X.toarray(), rows.y, 1e-3
    rng = np.random.default_rng(0)
    rng.permutation(1)  # of the one chunk
    visits = uniform(len(y), 1, rng)
    trace = FitCell("round-fobos", "text", alpha, 0, EFFORT).run(rows)["trace"]
    for note in trace[:2]:
        batches = visits[: note["steps"], None]
        etas = 1.0 / np.sqrt(np.arange(1, note["steps"] + 1))
        x, _ = naive.fobos(A, y, np.ones(len(y)), Squared(), alpha / 2, 0.0, batches, etas, 0.0)
        assert_allclose(note["loss"], 0.5 * np.mean((A @ x - y) ** 2), rtol=1e-6)
        assert_allclose(note["objective"] - note["loss"], alpha * np.abs(x).sum(), rtol=1e-6)


def test_a_fit_that_diverges_is_said_and_left_out(uci, small):
    failed = FitCell("mini-subgd", "text", 100.0, 0, EFFORT).run(load_rows(str(uci)))
    assert "diverged" in failed["failed"]
    findings = made_up(("mini-subgd", "text", 1e-5, 0.9, 5000))
    findings.results.append(failed)
    assert len(findings.points) == 1
    assert dict(settings(findings))["diverged"] == "Sub-gradient (batches), text, at 100"


def test_the_page_has_every_figure_and_every_number_of_table_2(finished):
    out, findings, _ = finished
    page = (out / "index.html").read_text()
    account = (out / "paper.md").read_text()
    drawn = figures(findings)
    assert [figure.number for figure in drawn] == list(range(1, 11))
    for figure in drawn:
        assert page.count(f'data-kind="{figure.name}"') == len(figure.panels) > 0
        assert f"figures/{figure.name}.svg" in account
        for ending in ("png", "svg", "csv"):
            assert (out / "figures" / f"{figure.name}.{ending}").stat().st_size > 100
        points = sum(len(series.x) for panel in figure.panels for series in panel.series)
        assert len(table(out / "figures" / f"{figure.name}.csv")) == points
    for sheet in (sheet1(findings), sheet2(findings)):
        for row in sheet.rows:
            assert all(f">{cell}<" in page for cell in row)
            assert f"| {' | '.join(row)} |" in account
    for best in BESTS.values():
        assert f"{best.accuracy:.4f}, {best.sparsity:.4f} at" in page
    for claim in claims(findings):
        assert f">{claim.verdict}</strong>" in page
        assert f"| {claim.verdict} | {claim.sentence} |" in account
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


def test_the_page_opens_and_every_chart_is_drawn(finished):
    out, findings, _ = finished
    drawn = [panel for figure in figures(findings) for panel in figure.panels]
    with chromium() as browser, opened(browser, out / "index.html") as page:
        for width in (360, 1200):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.locator("figure.xy").count() == len(drawn)
        assert page.locator(".series").count() == sum(len(panel.series) for panel in drawn)


# Verdicts follow the numbers


def made_up(*fits) -> Findings:
    """Findings of fits given as (algorithm, reading, strength, accuracy, features)."""
    note = {"steps": 10, "seconds": 0.1, "accuracy": 0.5, "features": 1, "objective": 1.0, "loss": 1.0}
    results = [
        {
            "kind": "fit", "algorithm": name, "reading": reading, "strength": strength, "seed": 0, "accuracy": accuracy,
            "accuracy_without_intercept": accuracy, "features": features, "probes": 0, "objective": 1.0, "loss": 1.0,
            "rises": 0.0, "passes": 20.0, "trace": [note],
        }
        for name, reading, strength, accuracy, features in fits
    ]  # fmt: skip
    return Findings({"data": "x", "features": 5000, "probes": 2500, "rows": 100}, False, 1, results)


def verdict_on(words, findings):
    return next(claim.verdict for claim in claims(findings) if words in claim.sentence)


@pytest.mark.parametrize(
    ("words", "for_it", "against_it"),
    [
        ("None of the online L1", ("online", "riata", 1e-4, 0.80, 300), ("online", "riata", 1e-4, 0.97, 300)),
        ("accuracy of sparse Fobos", ("fobos", "text", 1e-2, 0.55, 300), ("fobos", "text", 1e-2, 0.9, 300)),
        ("at least half", ("exact", "riata", 1e-4, 0.97, 2500), ("exact", "riata", 1e-4, 0.97, 2501)),
        ("K from 20 to 500", ("l0-sgd", "code", 20, 0.95, 20), ("l0-sgd", "code", 20, 0.90, 20)),
    ],
)
def test_verdicts_follow_the_numbers(words, for_it, against_it):
    rest = [("stoc-subgd", "text", 1e-5, 0.88, 5000), ("mini-subgd", "text", 1e-5, 0.88, 5000)]
    assert verdict_on(words, made_up(for_it, *rest)) == HOLDS
    assert verdict_on(words, made_up(against_it, *rest)) == FAILS


def test_the_same_alpha_is_judged_by_what_it_chooses():
    standardised = [("cd", "code", alpha, 0.9, n) for alpha, n in ((1e-2, 300), (1e-1, 30), (6e-1, 1))]
    plain = [("cd", "text", 1e-2, 0.9, 1), ("stoc-subgd", "text", 1e-5, 0.88, 5000)]
    assert verdict_on("the same problem", made_up(*standardised, *plain)) == FAILS
    alike = [("cd", "text", alpha, 0.9, n) for alpha, n in ((1e-2, 300), (1e-1, 30), (6e-1, 1))]
    assert verdict_on("the same problem", made_up(*standardised, *alike, plain[1])) == HOLDS


def test_an_exponent_is_the_power():
    x = np.array([1.0, 2.0, 5.0])
    assert_allclose(slope(x, 3 * x**1.7), 1.7)
    assert_allclose(slope([0.0, *x], [1.0, *x]), 1.0)
    assert np.isnan(slope([2.0, 2.0], [1.0, 3.0]))
