"""A refused budget names one that is enough: who gives it is not refused again."""

import re

import numpy as np
import pandas as pd
import pytest

import riata
from riata.errors import OptionError
from riata.solvers.registry import SOLVERS
from riata.training.checks import check_width

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


@pytest.mark.parametrize("solver", [name for name, one in SOLVERS.items() if not one.width_free])
def test_more_features_than_there_is_room_for(tmp_path, solver):
    """Before anything is read: with what the sentence asks for the same number of features is let."""
    (tmp_path / "rows.svm").write_text("1 1:1\n2 2:3\n3 1:1 2:1\n", encoding="utf-8")
    strength = {"k": 1} if "k" in SOLVERS[solver].takes.split(" or ") else {"alpha": 0.1}
    spec = riata.Spec(solver=solver, **strength)
    room = int(0.75 * 64e6 / 8 / SOLVERS[solver].vectors)

    def check(memory, n_features):
        rows = riata.open(tmp_path / "rows.svm", memory=memory, task="regression", n_features=n_features)
        check_width(rows, spec)
        assert not rows.wide  # or else moments would be found in another pass than those of the target
        return rows

    assert check("64MB", room).passes == 0
    sentence = refused(lambda memory: check(memory, room + 100_000), "64MB")
    check(re.findall(r"need at least (\S+ MB)", sentence)[0], room + 100_000)


def test_features_of_a_stream_take_less(tmp_path):
    """No moments are found of them."""
    lines = [b"1 1:1 900000:1\n", b"2 2:3\n"] * 20
    (tmp_path / "rows.svm").write_bytes(b"".join(lines))
    spec = riata.Spec(solver="online", alpha=0.1)
    refused(
        lambda memory: check_width(riata.open(tmp_path / "rows.svm", memory=memory, task="regression"), spec), "160MB"
    )
    streamed = riata.open(tmp_path / "rows.svm", memory="160MB", task="regression", one_pass=True)
    check_width(streamed, spec)
    assert riata.train(streamed, spec).n_features == 900_000


def test_sketch_finds_no_moments_of_more_features_than_there_is_room_for(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1\n2 2:3\n3 1:1 900000:1\n" * 20, encoding="utf-8")
    rows = riata.open(tmp_path / "rows.svm", memory="64MB", task="regression")
    assert rows.wide
    trained = riata.train(rows, riata.Spec(solver="sketch", k=1))
    assert rows._moments is None
    assert trained.support.tolist() == [899_999]
