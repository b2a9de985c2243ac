"""Checkpoints: what was saved comes back, torn files fall back, other fits are refused, kills do not matter."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from kill_and_resume import SlowChunks
from riata import SparseClassifier
from riata.checkpoint import Checkpoints
from riata.data.memory import InMemory
from riata.errors import CheckpointError, OptionError
from riata.fitting import Spec, fit
from riata.solvers.iterate import Saved
from riata.units import parse_seconds


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(200, 8))
    return SlowChunks(X, np.sign(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=200)))


def saved(i):
    return Saved({"w": np.arange(3.0) + i, "n": np.array([i])}, {"b": 0.1 + i, "big": 2**100})


def test_what_was_saved_comes_back(tmp_path):
    checkpoints = Checkpoints(tmp_path / "folder", {"rows": 3})
    assert checkpoints.load() is None
    checkpoints.save(saved(1))
    found = checkpoints.load()
    assert_array_equal(found.arrays["w"], saved(1).arrays["w"])
    assert found.arrays["n"].dtype == saved(1).arrays["n"].dtype
    assert found.facts == saved(1).facts


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_torn_checkpoint_falls_back_to_the_one_before(tmp_path, share):
    checkpoints = Checkpoints(tmp_path, {})
    for i in (1, 2):
        checkpoints.save(saved(i))
    newest = tmp_path / "checkpoint.npz"
    newest.write_bytes(newest.read_bytes()[: int(share * newest.stat().st_size)])
    assert checkpoints.load().facts["b"] == saved(1).facts["b"]
    (tmp_path / "checkpoint.before.npz").write_bytes(b"nothing")
    with pytest.raises(CheckpointError, match="damaged"):
        checkpoints.load()


def test_a_flipped_bit_is_noticed(tmp_path):
    checkpoints = Checkpoints(tmp_path, {})
    for i in (1, 2):
        checkpoints.save(saved(i))
    newest = tmp_path / "checkpoint.npz"
    content = bytearray(newest.read_bytes())
    content[content.index(saved(2).arrays["w"].tobytes()) + 1] ^= 1
    newest.write_bytes(content)
    assert checkpoints.load().facts["b"] == saved(1).facts["b"]


def test_a_checkpoint_of_another_fit_is_refused(tmp_path, data, rng):
    spec = Spec(alpha=0.1, solver="ftrl", max_passes=2, checkpoint=tmp_path, every=0.0, seed=0)
    fit(data, spec)
    other = SlowChunks(rng.normal(size=(200, 8)), np.sign(rng.normal(size=200)))
    with pytest.raises(CheckpointError, match="first chunk"):
        fit(other, replace(spec, resume=True))
    with pytest.raises(CheckpointError, match=r"its alpha is 0\.1, here it is 0\.2"):
        fit(data, replace(spec, resume=True, alpha=0.2))


@pytest.mark.parametrize("how", [{"solver": "online"}, {"solver": "online", "k": 3}, {"solver": "fobos", "alpha": 0.01},
                                 {"solver": "truncated", "alpha": 0.01}], ids=str)  # fmt: skip
def test_a_resumed_fit_ends_where_it_would_have(tmp_path, data, how):
    spec = Spec(**how, loss="logistic", max_passes=3, seed=0, tol=0.0)
    expected = fit(data, spec).result
    fit(data, replace(spec, checkpoint=tmp_path, every=0.0))  # its last checkpoint lies inside the last pass
    resumed = fit(data, replace(spec, checkpoint=tmp_path, resume=True)).result
    assert_array_equal(resumed.coef, expected.coef)
    assert resumed.intercept == expected.intercept
    assert [r.n_selected for r in resumed.history] == [r.n_selected for r in expected.history]
    assert resumed.history[-1].passes == pytest.approx(expected.history[-1].passes)


def test_several_classes_have_a_folder_each(tmp_path, rng):
    X = rng.normal(size=(90, 5))
    y = X[:, :3].argmax(axis=1)
    plain = SparseClassifier(solver="online", max_passes=3, random_state=0).fit(X, y)
    saving = SparseClassifier(solver="online", max_passes=3, random_state=0, checkpoint=str(tmp_path), every=0.0)
    saving.fit(X, y)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]
    again = saving.set_params(resume=True).fit(X, y)
    assert_array_equal(again.coef_, plain.coef_)


def test_options_that_make_no_sense_are_refused(tmp_path, data):
    with pytest.raises(OptionError, match="which folder"):
        fit(data, Spec(solver="online", resume=True))
    with pytest.raises(OptionError, match="has no checkpoints"):
        fit(data, Spec(solver="exact", checkpoint=tmp_path))
    with pytest.raises(OptionError, match="span of time"):
        parse_seconds("soon")
    assert [parse_seconds(span) for span in ("60s", "5m", "1h", 0.5)] == [60, 300, 3600, 0.5]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="kills forked processes")
@pytest.mark.parametrize("solver", ["online", "fobos"])
def test_killed_at_random_moments(tmp_path, solver):
    script = Path(__file__).with_name("kill_and_resume.py")
    command = [sys.executable, str(script), solver, "12", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12 kills")


def test_ctrl_c_gives_the_model_so_far(data):
    class Interrupted(SlowChunks):
        def visit(self, order=None):
            for i, chunk in enumerate(super().visit(order)):
                if i == 25 and order is not None:
                    raise KeyboardInterrupt
                yield chunk

    chunk = data._chunk
    result = fit(Interrupted(*chunk), Spec(solver="online", loss="logistic")).result
    assert result.reason == "it was interrupted"
    assert result.steps == 25 * 5
    assert np.count_nonzero(result.coef)


def test_history_holds_progressive_validation(rng):
    X = rng.normal(size=(500, 6))
    y = np.sign(X[:, 0])
    history = fit(InMemory(X, y), Spec(solver="online", loss="logistic", max_passes=3, tol=0.0)).result.history
    losses = [record.met for record in history]
    assert losses == sorted(losses, reverse=True)
    assert 0 < losses[-1] < np.log(2)
