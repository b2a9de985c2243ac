"""Checkpoints: what was saved comes back, torn files fall back, other fits are refused, kills do not matter."""

import contextlib
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import kill_and_resume
from kill_and_resume import SlowChunks
from riata import SparseClassifier, SparseRegressor
from riata.data.in_memory import InMemory
from riata.errors import CheckpointError, OptionError
from riata.outcome.reasons import StopReason
from riata.solvers.convex import inner_method
from riata.solvers.convex.columns import gathered_columns
from riata.solvers.iterate import Saved
from riata.training import driver
from riata.training.checkpoint import Checkpoints
from riata.training.fitting import checkpoints_of, fit
from riata.training.spec import Spec
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


def cut(arrays):
    arrays["array.w"] = arrays["array.w"][:-1]


def retyped(arrays):
    arrays["array.w"] = arrays["array.w"].astype(np.float32)


def lost(arrays):
    del arrays["array.n"]


def changed(arrays):
    arrays["array.n"] = arrays["array.n"] + 1


def other_facts(arrays):
    arrays["facts"] = np.frombuffer(arrays["facts"].tobytes().replace(b"1.1", b"1.2"), dtype=np.uint8)


@pytest.mark.parametrize("spoil", [cut, retyped, lost, changed, other_facts])
def test_a_checkpoint_that_is_not_as_it_was_written_is_not_used(tmp_path, spoil):
    checkpoints = Checkpoints(tmp_path, {})
    checkpoints.save(saved(1))
    with np.load(tmp_path / "checkpoint.npz") as content:
        arrays = dict(content)
    spoil(arrays)
    np.savez(tmp_path / "checkpoint.npz", **arrays)
    with pytest.raises(CheckpointError, match="damaged"):
        checkpoints.load()
    checkpoints.save(saved(2))  # over the damaged one, which becomes the one before
    assert checkpoints.load().facts["b"] == saved(2).facts["b"]


@pytest.mark.parametrize("name", ["facts", "digest", "array.w"])
def test_a_member_that_is_no_array_is_damage(tmp_path, name):
    """NumPy gives it as bytes."""
    checkpoints = Checkpoints(tmp_path, {})
    checkpoints.save(saved(1))
    path = tmp_path / "checkpoint.npz"
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content[1:] if member == f"{name}.npy" else content)
    with pytest.raises(CheckpointError, match="damaged"):
        checkpoints.load()
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():  # a header without an end, which NumPy then takes for an older one
            archive.writestr(member, content.replace(b"}", b" ") if member == f"{name}.npy" else content)
    with pytest.raises(CheckpointError, match="damaged"):
        checkpoints.load()


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


def test_a_checkpoint_that_expands_is_refused_before_it_does(tmp_path):
    """Ours are not compressed."""
    checkpoints = Checkpoints(tmp_path, {"k": 1})
    checkpoints.save(saved(1))
    with np.load(tmp_path / "checkpoint.npz") as content:
        arrays = dict(content)
    np.savez_compressed(tmp_path / "checkpoint.npz", **arrays)
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
    assert data.moments.weight == data.n_rows  # read once, and known to both fits
    expected = fit(data, spec).result
    fit(data, replace(spec, checkpoint=tmp_path, every=0.0))  # its last checkpoint lies inside the last pass
    resumed = fit(data, replace(spec, checkpoint=tmp_path, resume=True)).result
    assert_array_equal(resumed.coef, expected.coef)
    assert resumed.intercept == expected.intercept
    assert [r.n_selected for r in resumed.history] == [r.n_selected for r in expected.history]
    assert resumed.history[-1].passes == pytest.approx(expected.history[-1].passes)


def broken_off(data, spec, last):
    """Fit until so many points were recorded, and then as after Ctrl-C."""
    points = []

    def break_off(record):
        points.append(record)
        if len(points) == last:
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        fit(data, spec, break_off)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("how", [
    {"solver": "exact", "alpha": 0.01}, {"solver": "exact", "alpha": 0.01, "loss": "squared"},
    {"solver": "exact", "alpha": 0.01, "loss": "quantile:0.3", "max_passes": 8},
    {"solver": "best-k", "k": 4}, {"solver": "best-k", "k": 4, "loss": "squared"},
    {"solver": "svrg", "alpha": 0.01}, {"solver": "saga", "alpha": 0.01}, {"solver": "hsg-ht", "k": 4},
    {"solver": "svrg-ht", "k": 4}, {"solver": "sketch", "k": 4},
], ids=lambda how: "-".join(map(str, how.values())))  # fmt: skip
def test_a_fit_broken_off_after_any_pass_ends_where_it_would_have(tmp_path, rng, how, sparse):
    X = rng.normal(size=(200, 300)) * (rng.random((200, 300)) < 0.5)  # more than best-k looks at in its first round
    y = np.sign(X[:, :6].sum(axis=1) + rng.normal(size=200))
    data = Chunks(sp.csr_array(X) if sparse else X, y)
    spec = Spec(**{"loss": "logistic", "max_passes": 12, "seed": 0, "tol": 0.0, **how})
    expected = fit(data, spec).result
    n_points = len(expected.history)
    for broken_at in sorted({2, n_points // 2 + 1, n_points} - {1}):
        folder = tmp_path / str(broken_at)
        broken_off(data, replace(spec, checkpoint=folder, every=0.0), broken_at)
        assert (folder / "checkpoint.npz").exists() or (how["solver"] == "exact" and broken_at == 2)
        resumed = fit(data, replace(spec, checkpoint=folder, resume=True)).result
        assert_array_equal(resumed.coef, expected.coef)
        assert resumed.intercept == expected.intercept
        assert resumed.stop == expected.stop
        assert [r.n_selected for r in resumed.history] == [r.n_selected for r in expected.history]


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_fit_broken_off_along_gathered_columns_ends_where_it_would_have(tmp_path, loss, monkeypatch):
    """Steps depend on the work that has gone into those columns, and on which of them were at hand."""
    monkeypatch.setattr(gathered_columns, "first_steps_serve", lambda problem: False)  # which leave little to do here
    monkeypatch.setattr("riata.solvers.convex.exact.first_model", lambda *_: None)
    rng = np.random.default_rng(0)
    n, d = 300, 3000
    share = 0.4 / np.arange(1, d + 1) ** 0.6
    X = sp.csr_array(rng.uniform(size=(n, d)) < share, dtype=float)
    y = np.sign(X[:, :40] @ rng.normal(size=40) + 0.3 * rng.normal(size=n))
    data, spec = InMemory(X, y), Spec(alpha_ratio=0.001, loss=loss, tol=1e-9)
    expected = fit(data, spec).result
    along_columns = 0
    for broken_at in range(3, len(expected.history)):
        folder = tmp_path / str(broken_at)
        broken_off(data, replace(spec, checkpoint=folder, every=0.0), broken_at)
        kept = checkpoints_of(data, replace(spec, checkpoint=folder)).load()
        along_columns += kept.facts["columns.worked"] + kept.facts["columns.for_conjugate"] > 0.0
        resumed = fit(data, replace(spec, checkpoint=folder, resume=True)).result
        assert_array_equal(resumed.coef, expected.coef)
        assert resumed.intercept == expected.intercept
    assert along_columns >= 2


def test_a_fit_broken_off_with_a_curvature_that_is_kept_ends_where_it_would_have(tmp_path, rng, monkeypatch):
    """Steps depend on the point at which the curvature was made, and on which columns joined since then."""
    monkeypatch.setattr(inner_method, "ANCHORED_STEPS", 0)  # it is kept whatever that costs
    monkeypatch.setattr("riata.solvers.convex.exact.first_model", lambda *_: None)  # or steps are few
    X = np.cumsum(rng.normal(size=(800, 300)), axis=1) + rng.normal(size=(800, 300))
    y = np.sign(X[:, ::30].sum(axis=1) + 20.0 * rng.normal(size=800))
    data = InMemory(X, y)
    spec = Spec(alpha_ratio=0.001, loss="logistic", tol=1e-10)
    expected = fit(data, spec).result
    anchored = 0
    for broken_at in range(3, len(expected.history)):
        folder = tmp_path / str(broken_at)
        broken_off(data, replace(spec, checkpoint=folder, every=0.0), broken_at)
        anchored += len(checkpoints_of(data, replace(spec, checkpoint=folder)).load().arrays["anchored.rows"]) > 0
        resumed = fit(data, replace(spec, checkpoint=folder, resume=True)).result
        assert_array_equal(resumed.coef, expected.coef)
        assert resumed.intercept == expected.intercept
    assert anchored >= 2


def test_a_made_up_anchor_is_refused(tmp_path, rng, monkeypatch):
    monkeypatch.setattr(inner_method, "ANCHORED_STEPS", 0)
    monkeypatch.setattr("riata.solvers.convex.exact.first_model", lambda *_: None)  # which leaves little to do here
    X = np.cumsum(rng.normal(size=(800, 300)), axis=1) + rng.normal(size=(800, 300))
    data = InMemory(X, np.sign(X[:, ::30].sum(axis=1) + 20.0 * rng.normal(size=800)))
    spec = Spec(alpha_ratio=0.001, loss="logistic", max_passes=8, tol=1e-14, checkpoint=tmp_path, every=0.0)
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    rows, products = good.arrays["anchored.rows"], good.arrays["anchored.products"]
    assert len(rows) == 800
    for wrong in ({"anchored.rows": rows[1:]}, {"anchored.rows": -rows}, {"anchored.products": products[1:]},
                  {"anchored.features": good.arrays["anchored.features"] * 0}):  # fmt: skip
        checkpoints.save(Saved(good.arrays | wrong, good.facts))
        with pytest.raises(CheckpointError, match="damaged"):
            fit(data, replace(spec, resume=True))


class Chunks(SlowChunks):
    """The same without the wait."""

    n_chunks = 4

    def visit(self, order=None):
        for i in range(self.n_chunks) if order is None else order:
            chunk = self._chunk.rows(slice(i, None, self.n_chunks))
            self.ledger.count(chunk.n_rows)
            yield chunk


def test_several_classes_have_a_folder_each(tmp_path, rng):
    X = rng.normal(size=(90, 5))
    y = X[:, :3].argmax(axis=1)
    plain = SparseClassifier(solver="online", max_passes=3, random_state=0).fit(X, y)
    saving = SparseClassifier(solver="online", max_passes=3, random_state=0, checkpoint=str(tmp_path), every=0.0)
    saving.fit(X, y)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]
    again = saving.set_params(resume=True).fit(X, y)
    assert_array_equal(again.coef_, plain.coef_)


def test_labels_are_no_part_of_a_path(tmp_path, rng):
    X = rng.normal(size=(90, 5))
    y = np.array(["a/b", "../c", "d"])[X[:, :3].argmax(axis=1)]
    SparseClassifier(solver="online", max_passes=3, checkpoint=str(tmp_path / "here"), every=0.0).fit(X, y)
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["0", "1", "2"]
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_folder_that_cannot_be_is_refused_before_any_pass(tmp_path, data):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CheckpointError, match="cannot save checkpoints"):
        SparseRegressor(solver="online", checkpoint=str(tmp_path / "file" / "folder")).fit(data)
    assert data.ledger.rows_read == 0


def test_a_refused_fit_leaves_no_folder(tmp_path, data):
    with pytest.raises(OptionError, match="has no checkpoints"):
        SparseRegressor(solver="cd", alpha=0.1, checkpoint=str(tmp_path / "new")).fit(data)
    assert not list(tmp_path.iterdir())


def test_options_that_make_no_sense_are_refused(tmp_path, data):
    with pytest.raises(OptionError, match="which folder"):
        fit(data, Spec(solver="online", resume=True))
    with pytest.raises(OptionError, match="has no checkpoints"):
        fit(data, Spec(solver="cd", checkpoint=tmp_path))
    with pytest.raises(OptionError, match="span of time"):
        parse_seconds("soon", "every")
    assert [parse_seconds(span, "every") for span in ("60s", "5m", "1h", 0.5)] == [60, 300, 3600, 0.5]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="kills forked processes")
@pytest.mark.parametrize(
    ("solvers", "kills"), [("online,fobos", 5), ("sketch,exact,best-k,svrg,saga,hsg-ht,svrg-ht", 2)]
)
def test_killed_at_random_moments(tmp_path, solvers, kills):
    script = Path(kill_and_resume.__file__)
    command = [sys.executable, str(script), solvers, str(kills), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"{kills} kills") == len(solvers.split(","))


def test_ctrl_c_gives_the_model_so_far(data):
    class Interrupted(SlowChunks):
        def visit(self, order=None):
            for i, chunk in enumerate(super().visit(order)):
                if i == 25 and order is not None:
                    raise KeyboardInterrupt
                yield chunk

    chunk = data._chunk
    result = fit(Interrupted(*chunk), Spec(solver="online", loss="logistic")).result
    assert result.stop.reason is StopReason.INTERRUPTED
    assert result.reason == "it was interrupted"
    assert result.steps == 25 * 5
    assert np.count_nonzero(result.coef)


@pytest.mark.parametrize("solver", ["svrg", "saga", "cd", "fobos"])
def test_ctrl_c_while_the_objective_is_computed_gives_the_model_before(solver, rng, monkeypatch):
    X = rng.normal(size=(200, 6))
    data, spec = InMemory(X, np.sign(X[:, 0] + rng.normal(size=200))), Spec(solver=solver, loss="logistic", alpha=0.01)
    seen, record = [], driver._Course.record

    def interrupted(course, point):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(record(course, point))
        return seen[-1]

    monkeypatch.setattr(driver._Course, "record", interrupted)
    result = fit(data, spec).result
    assert result.stop.reason is StopReason.INTERRUPTED
    assert (result.steps, result.objective) == (seen[1].steps, seen[1].objective)


def test_history_holds_progressive_validation(rng):
    X = rng.normal(size=(500, 6))
    y = np.sign(X[:, 0])
    history = fit(InMemory(X, y), Spec(solver="online", loss="logistic", max_passes=3, tol=0.0)).result.history
    losses = [record.progressive_loss for record in history]
    assert losses == sorted(losses, reverse=True)
    assert 0 < losses[-1] < np.log(2)


def best_k_checkpoint(folder, rng):
    """A fit of best k of the squared loss that was broken off, and its spec."""
    X = rng.normal(size=(60, 300))
    data = InMemory(X, X[:, :6].sum(axis=1) + rng.normal(size=60))
    spec = Spec(k=4, solver="best-k", loss="squared", checkpoint=folder, every=0.0, tol=0.0, max_passes=30)
    fit(data, spec)
    return data, spec


def wrong_arrays(arrays):
    """Each array of a checkpoint, as a solver would not have saved it."""
    for name, values in arrays.items():
        yield name, values.reshape(-1)[:-1] if values.size else np.zeros((3, 3))
        yield name, values.astype(np.float32)
        yield name, values[..., None]
        if values.dtype == np.int64 and values.size:
            for index in (10**9, -2) if "partners" not in name else ():
                yield name, np.where(np.arange(values.size) == values.size // 2, index, values)
            if values.size > 1 and name in ("support", "model.candidates"):
                yield name, np.full_like(values, values[0])


def test_made_up_checkpoints_of_best_k_are_refused_before_compiled_code_sees_them(tmp_path, rng):
    data, spec = best_k_checkpoint(tmp_path, rng)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    for name, wrong in wrong_arrays(good.arrays):
        checkpoints.save(Saved(good.arrays | {name: wrong}, good.facts))
        with pytest.raises(CheckpointError, match="damaged"):
            fit(data, replace(spec, resume=True))
    checkpoints.save(
        Saved(good.arrays | {"model.hessian.unit": np.zeros_like(good.arrays["model.hessian.unit"])}, good.facts)
    )
    with pytest.raises(CheckpointError, match=r"'unit' is not positive"):
        fit(data, replace(spec, resume=True))
    for name, wrong in (("rounds", "many"), ("reduction", "many"), ("reduction", np.nan)):
        checkpoints.save(Saved(good.arrays, good.facts | {name: wrong}))
        with pytest.raises(CheckpointError, match=name):
            fit(data, replace(spec, resume=True))


def test_made_up_checkpoints_of_the_sketch_neither_hang_nor_pass(tmp_path, data):
    """A search in its table ends at a place that is free: there must be one."""
    spec = Spec(k=3, solver="sketch", loss="logistic", max_passes=3, seed=0, tol=0.0, checkpoint=tmp_path, every=0.0)
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    full = np.zeros_like(good.arrays["memory.table"])
    more = np.append(good.arrays["memory.free"][:-1], len(good.arrays["memory.ids"])).astype(np.int32)
    elsewhere = np.where(good.arrays["memory.ids"] >= 0, 2**31 - 1, -1)
    lost, twice = good.arrays["memory.ids"].copy(), good.arrays["memory.ids"].copy()
    taken = np.flatnonzero(lost >= 0)
    lost[taken[0]], twice[taken[0]] = -1, twice[taken[1]]
    for name, wrong in (
        ("table", full),
        ("free", more),
        ("review", np.array([-0.5])),
        ("ids", elsewhere),
        ("ids", lost),
        ("ids", twice),
    ):
        checkpoints.save(Saved(good.arrays | {f"memory.{name}": wrong}, good.facts))
        with pytest.raises(CheckpointError, match=f"damaged: '{name}'"):
            fit(data, replace(spec, resume=True))
    for name, past in (("piece", np.ones(1, np.int64)), ("review", np.ones(1))):  # long over: they are due at once
        checkpoints.save(Saved(good.arrays | {f"memory.{name}": past}, good.facts))
        assert np.isfinite(fit(data, replace(spec, resume=True)).result.coef).all()
    checkpoints.save(Saved(good.arrays, good.facts | {"steps": 2**40}))  # so many pieces later, in one step
    assert np.isfinite(fit(data, replace(spec, resume=True)).result.coef).all()
    for name, wrong in (("seconds", -np.inf), ("passes", np.inf), ("done", 2**31), ("done", -1)):
        checkpoints.save(Saved(good.arrays, good.facts | {name: wrong}))
        with pytest.raises(CheckpointError, match=name):
            fit(data, replace(spec, resume=True))


def test_a_made_up_curvature_of_other_features_is_refused(tmp_path, rng, monkeypatch):
    monkeypatch.setattr("riata.solvers.convex.exact.first_model", lambda *_: None)  # which leaves little to do here
    X = rng.normal(size=(40, 300))
    data = InMemory(X, X[:, :6].sum(axis=1) + rng.normal(size=40))
    spec = Spec(alpha_ratio=0.01, loss="squared", max_passes=3, tol=1e-14, checkpoint=tmp_path, every=0.0)
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    features = good.arrays["features"]
    assert len(good.arrays["H.features"]) > 1
    for wrong in (features[:1], features[::-1].copy()):
        checkpoints.save(Saved(good.arrays | {"features": wrong}, good.facts))
        with pytest.raises(CheckpointError, match="damaged: the features whose curvature is known"):
            fit(data, replace(spec, resume=True))


@pytest.mark.parametrize("sparse", [False, True])
def test_made_up_rows_of_a_batch_are_refused(tmp_path, rng, sparse):
    """A pass may end in the middle of a batch, some rows of which are saved."""
    X = rng.normal(size=(200, 8)) * (rng.random((200, 8)) < 0.5)
    data = InMemory(sp.csr_array(X) if sparse else X, X[:, 0] + rng.normal(size=200))
    spec = Spec(k=2, solver="hsg-ht", loss="squared", max_passes=3, seed=0, tol=0.0, checkpoint=tmp_path, every=0.0)
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    name = "chunk.data" if sparse else "chunk.X"
    numbers = good.arrays[name]
    for wrong in (numbers.astype("S3"), numbers.astype(bool), np.full_like(numbers, np.nan), numbers[:-1]):
        checkpoints.save(Saved(good.arrays | {name: wrong}, good.facts))
        with pytest.raises(CheckpointError, match="damaged"):
            fit(data, replace(spec, resume=True))
    checkpoints.save(Saved(good.arrays, good.facts | {"size": np.inf}))
    with pytest.raises(CheckpointError, match="damaged: its 'size' is not positive"):
        fit(data, replace(spec, resume=True))
    if sparse:
        for part, wrong in (("indices", np.zeros_like), ("indptr", np.ones_like)):
            checkpoints.save(Saved(good.arrays | {f"chunk.{part}": wrong(good.arrays[f"chunk.{part}"])}, good.facts))
            with pytest.raises(CheckpointError, match="damaged"):
                fit(data, replace(spec, resume=True))


def test_a_made_up_checkpoint_that_leads_to_a_division_by_zero_is_refused(tmp_path, data):
    spec = Spec(alpha=0.01, solver="ftrl", loss="squared", max_passes=3, seed=0, checkpoint=tmp_path, every=0.0)
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    checkpoints.save(Saved(good.arrays | {"memory.curvature": np.zeros(1)}, good.facts))
    with pytest.raises(CheckpointError, match="damaged: division by zero"):
        fit(data, replace(spec, resume=True))


@pytest.mark.parametrize("unit", [0.0, -1.0, np.inf])
def test_a_made_up_unit_of_slopes_is_refused(tmp_path, rng, unit):
    X = rng.normal(size=(40, 300))
    data = InMemory(X, X[:, :6].sum(axis=1) + rng.normal(size=40))
    spec = Spec(alpha_ratio=0.01, loss="huber", max_passes=4, tol=1e-14, checkpoint=tmp_path, every=0.0)
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    checkpoints.save(Saved(good.arrays, good.facts | {"slope_unit": unit}))
    with pytest.raises(CheckpointError, match="damaged: its 'slope_unit' is not positive"):
        fit(data, replace(spec, resume=True))


@pytest.mark.parametrize(("penalty", "unit"), [("mcp", None), (None, 1.0)])
def test_a_made_up_way_to_measure_points_is_refused(tmp_path, rng, penalty, unit):
    """A concave penalty has no dual bound, by which a gap could be measured."""
    X = rng.normal(size=(40, 300))
    data = InMemory(X, X[:, :6].sum(axis=1) + rng.normal(size=40))
    spec = Spec(
        alpha_ratio=0.01, loss="huber", penalty=penalty, max_passes=4, tol=1e-14, checkpoint=tmp_path, every=0.0
    )
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    checkpoints.save(Saved(good.arrays, good.facts | {"slope_unit": unit}))
    with pytest.raises(CheckpointError, match="damaged: its points were not measured as those of this problem are"):
        fit(data, replace(spec, resume=True))


def test_a_made_up_checkpoint_whose_review_is_long_past_ends(tmp_path, data):
    """It would wait for rows that never come."""
    spec = Spec(solver="online", loss="squared", max_passes=3, seed=0, tol=0.0, checkpoint=tmp_path, every=0.0)
    fit(data, spec)
    checkpoints = checkpoints_of(data, spec)
    good = checkpoints.load()
    checkpoints.save(Saved(good.arrays | {"memory.review": np.ones(1)}, good.facts))
    assert np.isfinite(fit(data, replace(spec, resume=True)).result.coef).all()


def test_errors_that_are_not_the_checkpoints_are_not_called_so(tmp_path, rng):
    """A fault of a callback, or of the data, in a resumed fit stays what it is."""
    data, spec = best_k_checkpoint(tmp_path, rng)

    def fault(record):
        raise TypeError("of the caller")

    with pytest.raises(TypeError, match="of the caller"):
        fit(data, replace(spec, resume=True), fault)
