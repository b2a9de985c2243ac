"""Every cell of the tables of losses in docs/losses.md and README.md, by trying it."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import riata
from riata.errors import DataError, OptionError

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "losses.md"
N = 60


def rows_of_table():
    table = PAGE.read_text().split("## What works where")[1]
    for line in re.findall(r"^\| (`.*) \|$", table, re.MULTILINE):
        loss, *cells = line.split(" | ")
        yield pytest.param(loss, cells, id=re.sub(r"\(.*?\)|[`\[\]]", "", loss).strip())


def problem(name):
    """X, the target and options to open it with."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    z = X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=N)
    if name == "several targets":
        return X, np.column_stack([z, X[:, 1] - z]), {}
    if name in ("logistic", "probit", "cloglog", "squared-hinge"):
        return X, (z > 0).astype(int), {"task": "classification"}
    if name in ("softmax", "ordinal"):
        return X, np.digitize(z, [-0.7, 0.7]), {"task": "classification"}
    if name == "binomial":
        trials = np.full(N, 5)
        return X, rng.binomial(trials, 1.0 / (1.0 + np.exp(-z))), {"trials": trials}
    if name.startswith("cox"):
        time = np.ceil(10 * rng.exponential(np.exp(-z)))
        return X, np.where(rng.random(N) < 0.7, time, -time), {"task": "survival"}
    counted = name.split(":")[0] in ("poisson", "negative-binomial")
    positive = counted or name.split(":")[0] in ("gamma", "tweedie")
    y = rng.poisson(np.exp(z)).astype(float) if counted else np.exp(z) if positive else z
    return X, y, {"task": "regression"}


def works(name, beside=(), **asked):
    """Whether a fit is made; if not, it must have been refused in a sentence."""
    X, y, options = problem(name)
    options |= {role: np.full(N, 0.5) for role in beside}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = riata.open(X, y, **options)
            if asked.pop("statistics", False):
                data = riata.statistics_of(data).as_data()
            loss = "squared" if name == "several targets" else name
            found = riata.train(data, riata.Spec(loss=loss, **asked))
    except (OptionError, DataError):
        return False
    return bool(np.isfinite(found.intercept).all())


@pytest.mark.parametrize(("loss", "cells"), list(rows_of_table()))
def test_what_the_table_says_is_so(loss, cells):
    names = ["several targets"] if "several targets" in loss else re.findall(r"`(.*?)`", loss)
    given = {"quantile:Q": "quantile:0.7", "quantile:Q1,Q2,...": "quantile:0.2,0.7", "tweedie:P": "tweedie:1.5",
             "huber:BEND": "huber:2"}  # fmt: skip
    by_k, by_rows, fixed, statistics, offset, exposure = cells
    for name in (given.get(one, one).replace("THETA", "2") for one in names):
        assert works(name, alpha_ratio=0.2)
        assert works(name, k=2) == by_k.startswith("yes")
        assert works(name, k=2, ridge=0.1, certify=0.5) == (by_k == "yes")
        assert works(name, solver="online") == (by_rows != "no")
        assert works(name, solver="online", k=2) == (by_rows == "yes" or "with `k`" in by_rows)
        assert works(name, solver="sketch", k=2) == (by_rows == "yes")
        assert works(name, solver="ftrl", alpha_ratio=0.2) == (by_rows == "yes")
        assert works(name, solver="saga", alpha_ratio=0.2) == (fixed == "yes")
        assert works(name, solver="cd", alpha_ratio=0.2) == (fixed == "yes")
        assert works(name, alpha_ratio=0.2, statistics=True) == (statistics == "yes")
        assert works(name, ("offset",), alpha_ratio=0.2) == (offset == "yes")
        assert works(name, ("exposure",), alpha_ratio=0.2) == (exposure == "yes")


def families():
    table = (ROOT / "README.md").read_text().split("| for | loss |")[1].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        what, losses, *cells = line.strip("| ").split(" | ")
        yield pytest.param(losses, cells, id=re.sub(r"\(.*?\)|[`\[\]]", "", what))


@pytest.mark.parametrize(("losses", "cells"), list(families()))
def test_what_readme_says_of_families_is_so(losses, cells):
    several = "several targets" in losses
    names = ["several targets"] if several else re.findall(r"`(.*?)`", losses)
    given = {"quantile:Q": "quantile:0.7", "tweedie:P": "tweedie:1.5", "negative-binomial:THETA": "negative-binomial:2"}
    by_k, groups, bounds, concave, adaptive, online, offset = cells
    alone = {"alpha_ratio": 0.2} | ({"shared_support": False} if several else {})
    for name in (given.get(one, one) for one in names):
        assert works(name, k=2) == (by_k == "yes")
        assert works(name, solver="online", k=2) or by_k != "`online`"
        assert works(name, alpha_ratio=0.2, groups=np.arange(4) // 2) == (groups == "yes")
        assert works(name, bounds=[(0.0, 1.0)] * 4, **alone) == (bounds != "no")
        assert works(name, penalty="mcp", alpha_ratio=0.2) == (concave == "yes")
        assert works(name, penalty="adaptive", **alone) == (adaptive == "yes")
        assert works(name, penalty="adaptive:marginal", **alone)
        assert works(name, solver="online") == (online == "yes")
        assert works(name, ("offset",), alpha_ratio=0.2) == (offset == "yes")
