"""A refused budget names one that is enough: who gives it is not refused again."""

import re

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import OptionError

GROUPS = [j // 5 for j in range(220)]
FITS = {
    "exact": {"alpha_ratio": 1e-3},
    "path along alpha": {"alpha": "auto", "n_alphas": 3, "alpha_reach": 1e-3, "select": "bic"},
    "best k": {"k": 80},
    "path along k": {"k": "auto", "k_max": 80, "select": "bic"},
    "groups": {"k": 3, "groups": GROUPS},
    "group Lasso": {"alpha_ratio": 1e-3, "groups": GROUPS},
}


def asked_for(sentence):
    """The megabytes that a sentence asks for: those for all features, where it knows."""
    asked = re.findall(r"(\d+) MB is enough", sentence) or re.findall(r"(?:needs|about) (?:about )?(\d+) MB", sentence)
    assert asked, sentence
    return f"{asked[-1]}MB"


def refused(fit, memory):
    """The sentence that refuses this memory."""
    with pytest.raises(OptionError) as error:
        fit(memory)
    return str(error.value)


@pytest.mark.filterwarnings("ignore:.*stopped before")
@pytest.mark.parametrize("kind", FITS)
def test_fits_of_files(rng, tmp_path, kind):
    X = rng.normal(size=(400, 220))
    np.savez(tmp_path / "rows.npz", X=X, y=X[:, :200] @ rng.normal(size=200) + rng.normal(size=400))

    def fit(memory):
        riata.SparseRegressor(**FITS[kind]).fit(riata.open(tmp_path / "rows.npz", memory=memory, task="regression"))

    fit(asked_for(refused(fit, "1MB")))


def test_crosses(rng, tmp_path):
    a, b = (rng.integers(0, 25, 20_000) for _ in range(2))
    frame = pd.DataFrame({"a": [f"a{i}" for i in a], "b": [f"b{i}" for i in b]})
    frame["y"] = rng.normal(size=(25, 25))[a, b] + 0.1 * rng.normal(size=20_000)
    frame.to_csv(tmp_path / "t.csv", index=False)

    def fit(memory):
        rows = riata.open(tmp_path / "t.csv", target="y", crosses=[("a", "b")], memory=memory)
        riata.SparseRegressor(k=40).fit(rows)

    fit(asked_for(refused(fit, "1MB")))
