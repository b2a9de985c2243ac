"""The passes of a GPU, with NumPy or a strict array API in its place: the same sums, and so the same answers."""

import json
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

from chunked import Chunked
from host_place import Host
from problems import SMOOTH, targets
from riata import SparseClassifier, SparseRegressor
from riata.arrays import to_host
from riata.cli import main
from riata.data.chunk import joined
from riata.data.in_memory import InMemory
from riata.data.sample import sample_rows
from riata.engines.cuda.on_device import OnDevice, Streamed, on_device
from riata.engines.cuda.transfers import place_named
from riata.errors import CheckpointError, DataError, OptionError
from riata.losses import LOSSES, Ordinal
from riata.matrices.cuda import cupy, floats_of
from riata.model.quality import quality
from riata.objective import first_order_part
from riata.training.fitting import fit
from riata.training.offsets import with_offsets
from riata.training.paths.path import path_of_margin
from riata.training.recoding import numbered_or_recoded
from riata.training.selection.asked import Search
from riata.training.selection.fits import debiased, fit_selected
from riata.training.spec import Spec
from riata.training.train import train

try:
    import array_api_strict
except ImportError:  # NumPy does, but lets host and device mix
    array_api_strict = np

STRICT, NUMPY = Host(array_api_strict), Host()
PLACES = {
    "dense, strict": (STRICT, "dense"),
    "dense, float32": (STRICT, "float32"),
    "sparse": (NUMPY, "sparse"),
}


GROUPED = {"alpha_ratio": 0.1, "groups": np.arange(25) // 3}
BOUNDED = {"alpha_ratio": 0.05, "bounds": np.array([[-np.inf, 0.0], [0.0, 0.3], *[[-np.inf, np.inf]] * 23])}
STRENGTHS = [{"alpha_ratio": 0.1}, {"alpha_ratio": 0.05, "l1_ratio": 0.7}, {"k": 3}, BOUNDED, GROUPED]


def rows(kind, loss="squared", n=300, d=25, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    if kind == "sparse":
        X = sp.random_array((n, d), density=0.3, rng=rng, format="csr", data_sampler=rng.normal)
    if kind == "float32":
        X = X.astype(np.float32)
    z = X[:, [1, 4, 7]] @ np.array([1.0, -2.0, 0.5])
    y = targets(LOSSES[loss], z - z.mean(), rng)
    return InMemory(X, y, rng.uniform(0.5, 2.0, size=n))


@pytest.fixture(params=PLACES, name="both")
def both_kinds(request):
    place, kind = PLACES[request.param]
    return place, kind


@pytest.mark.parametrize("loss", LOSSES)
def test_sums_are_those_of_the_kernels(both, loss):
    place, kind = both
    data = rows(kind, loss)
    w = np.where(np.arange(25) % 4 == 1, 0.1, 0.0)
    part = first_order_part(LOSSES[loss], w, 0.3)
    for ours, known in zip(on_device(data, place).sum(part), part(data.chunk), strict=True):
        np.testing.assert_allclose(ours, known, rtol=1e-9, atol=1e-9)


def test_moments_and_products(both):
    place, kind = both
    data = rows(kind)
    there = on_device(data, place)
    known, ours = data.moments, there.moments
    np.testing.assert_allclose(ours.mean, known.mean, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.squares, known.squares, rtol=1e-6)
    left, right = np.array([3, 1]), np.array([1, 3, 8])
    for columns in ((left, right), (left, left)):
        expected = data.chunk.X.products(data.chunk.weight, *columns)
        found = there.sum(lambda chunk, columns=columns: chunk.X.products(chunk.weight, *columns))
        np.testing.assert_allclose(found.about_means, expected.about_means, rtol=1e-5, atol=1e-4)
        np.testing.assert_allclose(found.right_mean, expected.right_mean, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(
    "strength", [{"alpha_ratio": 0.1}, {"alpha_ratio": 0.05, "l1_ratio": 0.7}, {"k": 3}, BOUNDED, GROUPED]
)
def test_fit_is_that_of_the_cpu(both, loss, strength):
    place, kind = both
    data = rows(kind, loss)
    spec = Spec(loss=loss, tol=1e-8, **strength)
    here, there = fit(data, spec), fit(on_device(data, place), spec)
    assert there.result.converged
    np.testing.assert_allclose(there.result.objective, here.result.objective, rtol=1e-6)
    np.testing.assert_array_equal(np.flatnonzero(there.result.coef), np.flatnonzero(here.result.coef))


@pytest.mark.parametrize("strength", [{"alpha_ratio": 0.1}, {"k": 3}, GROUPED])
def test_classes_in_an_order_are_those_of_the_cpu(both, strength):
    place, kind = both
    data = rows(kind)
    y, weight = data.targets()
    data = InMemory(data.X, np.digitize(y, [-1.0, 1.5]).astype(float), weight)
    spec = Spec(loss=Ordinal(3), tol=1e-8, **strength)
    here, there = fit(data, spec), fit(on_device(data, place), spec)
    assert there.result.converged
    np.testing.assert_allclose(there.result.objective, here.result.objective, rtol=1e-6)
    np.testing.assert_array_equal(np.flatnonzero(there.result.coef), np.flatnonzero(here.result.coef))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("penalty", ["adaptive", "unilasso"])
def test_first_fits_and_refits_are_those_of_the_cpu(both, loss, penalty):
    place, kind = both
    data = rows(kind, loss)
    spec = Spec(loss=loss, tol=1e-8, alpha_ratio=0.1, penalty=penalty, debias=0.5)
    here, there = (debiased(fit(one, spec), one).result.coef for one in (data, on_device(data, place)))
    np.testing.assert_allclose(there, here, atol=1e-6 * np.abs(here).max())


def test_large_data_begins_with_a_sample_there(both, monkeypatch):
    place, kind = both
    monkeypatch.setattr("riata.data.sample.LEAST_ROWS", 30)
    data, spec = rows(kind, n=900), Spec(alpha_ratio=0.05, tol=1e-8)
    sample = sample_rows(on_device(data, place), None, 0)
    assert isinstance(sample, OnDevice)
    assert sample.n_rows == 900 // 16
    here, there = (fit(one, spec).result for one in (data, on_device(data, place)))
    assert there.converged
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-6)


def test_rows_that_are_asked_for_come_back_as_they_are(both, monkeypatch):
    place, kind = both
    monkeypatch.setattr("riata.engines.cuda.on_device.SENT_AT_ONCE", 9000)
    data = rows(kind)
    there = on_device(data, place)
    chunks = list(there.visit())
    assert len(chunks) == there.n_chunks > 2
    back, known = joined(chunks), data.chunk
    np.testing.assert_array_equal(back.X.toarray(), known.X.toarray())
    np.testing.assert_array_equal(back.y, known.y)
    np.testing.assert_array_equal(back.weight, known.weight)
    assert next(there.visit([1])).n_rows == chunks[1].n_rows


def test_classes_there_are_divided_into_folds_and_scored(both):
    place, kind = both
    here = rows(kind, "logistic")
    data = InMemory(here.X, (here.chunk.y > 0).astype(float), classes=np.array(["a", "b"]))
    spec = Spec(alpha="auto", loss="logistic", cv=3)
    known, ours = train(data, spec), train(on_device(data, place), spec)
    np.testing.assert_allclose(ours.coef, known.coef, atol=1e-4)
    model = ours.to_model()
    assert quality(model, on_device(data, place)).scores == pytest.approx(quality(model, data).scores)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_search_of_all_models_is_that_of_the_cpu(both, loss):
    place, kind = both
    data, spec = rows(kind, loss, d=8), Spec(loss=loss, k=2, ridge=0.05, certify=True)
    here, there = (fit(one, spec).result for one in (data, on_device(data, place)))
    assert there.converged
    np.testing.assert_allclose(there.coef, here.coef, atol=1e-5)


def test_groups_that_overlap_are_copied_there(both):
    place, kind = both
    data = rows(kind)
    spec, recoding = numbered_or_recoded(Spec(alpha_ratio=0.1, groups=[["x1", "x4"], ["x4", "x7"]], tol=1e-8), data)
    here, there = (recoding.back(fit(recoding.of(one), spec)).result.coef for one in (data, on_device(data, place)))
    np.testing.assert_allclose(there, here, atol=1e-6 * np.abs(here).max())


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_streamed_is_resident(both, loss):
    place, kind = both
    data = rows(kind, loss)
    small = Host(place._xp, room=data.X.nbytes // 2 if kind != "sparse" else 8 * 500)
    there = on_device(data, small)
    assert isinstance(there, Streamed)
    assert there.n_chunks > 3
    for strength in ({"alpha_ratio": 0.1}, {"k": 3}):
        spec = Spec(loss=loss, tol=1e-9, **strength)
        here = fit(data, spec)
        np.testing.assert_allclose(fit(there, spec).result.coef, here.result.coef, rtol=1e-5, atol=1e-7)


def test_chunks_from_elsewhere_are_streamed(both):
    place, kind = both
    data = rows(kind)
    there = on_device(Chunked(data.X, data.targets()[0], 64), place)
    assert isinstance(there, Streamed)
    _equal_fits(InMemory(data.X, data.targets()[0]), there)


def _equal_fits(here, there):
    for strength in ({"alpha_ratio": 0.1}, {"k": 3}):
        spec = Spec(tol=1e-9, **strength)
        np.testing.assert_allclose(fit(there, spec).result.coef, fit(here, spec).result.coef, rtol=1e-5, atol=1e-7)


def test_sample_and_folds_stay_on_the_device(monkeypatch):
    monkeypatch.setattr("riata.data.sample.LEAST_ROWS", 8)
    data = rows("dense", n=400)
    there = on_device(data, STRICT)
    assert isinstance(there.take(np.arange(5)), OnDevice)
    here = fit_selected(data, Spec(), Search("alpha", "cv", n_alphas=12))
    found = fit_selected(there, Spec(), Search("alpha", "cv", n_alphas=12))
    np.testing.assert_allclose(found.selection.scores, here.selection.scores, rtol=1e-4)
    assert found.selection.index == here.selection.index


def test_path_is_that_of_the_cpu(both):
    place, kind = both
    for loss in ("squared", "logistic"):
        data = rows(kind, loss)
        here, there = (
            path_of_margin(of, Spec(loss=loss), length=15, reach=0.05) for of in (data, on_device(data, place))
        )
        assert there.converged
        np.testing.assert_allclose(there.losses, here.losses, rtol=1e-4)


def test_gather_and_targets():
    data, some = rows("dense"), np.array([2, 5])
    there = on_device(data, STRICT)
    np.testing.assert_array_equal(there.gather(some).toarray(), data.gather(some).toarray())
    for ours, known in zip(there.targets(), data.targets(), strict=True):
        np.testing.assert_array_equal(ours, known)


def test_map_relabels_there():
    data = rows("dense")
    flipped = on_device(data, STRICT).map(lambda chunk: chunk._replace(y=-chunk.y))
    np.testing.assert_array_equal(flipped.targets()[0], -data.targets()[0])
    assert isinstance(flipped, OnDevice)


@pytest.fixture(name="gpu")
def a_gpu():
    try:
        return place_named("cuda")
    except OptionError as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
class TestOnGpu:
    """What only a GPU can show: that its kernels make the sums that the reference makes."""

    def test_rows(self, gpu, kind):
        data = rows(kind, n=5000, d=37)
        here, there = Host().rows(data.X), gpu.rows(data.X)
        rng = np.random.default_rng(1)
        w, U, shift = rng.normal(size=37) * (np.arange(37) % 3 == 0), rng.normal(size=(4, 5000)), rng.normal(size=37)
        some, few = np.array([30, 2, 9]), slice(100, 4000)
        for n in (1, 2, 4):
            np.testing.assert_allclose(there.slopes(gpu.vector(U[:n].T)), here.slopes(U[:n].T), rtol=1e-9, atol=1e-7)
        np.testing.assert_allclose(to_host(there.margins(w)), here.margins(w), rtol=1e-9, atol=1e-9)
        sums = there.sums(shift, gpu.vector(U[0]), gpu.vector(U[1])), here.sums(shift, U[0], U[1])
        np.testing.assert_allclose(*sums, rtol=1e-9, atol=1e-7)
        np.testing.assert_array_equal(to_host(there.columns(some, few)), here.columns(some, few))
        taken = rng.permutation(5000)[:50]
        np.testing.assert_array_equal(to_host(there[taken].columns(some)), here[taken].columns(some))

    @pytest.mark.parametrize("loss", SMOOTH)
    @pytest.mark.parametrize("strength", [{"alpha_ratio": 0.05}, {"k": 3}])
    @pytest.mark.parametrize("resident", [True, False])
    def test_fit(self, gpu, kind, loss, strength, resident):
        data = rows(kind, loss, n=3000, d=40)
        spec = Spec(loss=loss, **strength)
        here = fit(data, spec).result
        there = on_device(data, gpu) if resident else Streamed(data, gpu)
        found = [fit(there, spec).result for _ in range(2)]
        np.testing.assert_allclose(found[0].objective, here.objective, rtol=1e-6)
        np.testing.assert_array_equal(found[0].coef, found[1].coef)  # a repeated fit gives the same bits

    def test_a_search_of_all_models(self, gpu, kind):
        """Of targets that the features hardly explain, so that it has many parts."""
        X = rows(kind, n=60, d=30).X
        data = InMemory(X, np.random.default_rng(2).normal(size=60))
        spec = Spec(k=4, ridge=0.01, certify=True)
        here, there = (fit(one, spec).result for one in (data, on_device(data, gpu)))
        assert here.bound.is_best
        assert there.bound.is_best
        assert there.proof.n_parts > 20
        np.testing.assert_allclose(there.coef, here.coef, atol=1e-6)

    def test_chunks_from_elsewhere(self, gpu, kind):
        data = rows(kind, n=3000)
        y = data.targets()[0]
        _equal_fits(InMemory(data.X, y), on_device(Chunked(data.X, y, 700), gpu))

    def test_arrays_stay_where_they_are(self, gpu, kind):
        import cupy
        import cupyx.scipy.sparse

        data = rows(kind, n=500)
        X = cupyx.scipy.sparse.csr_matrix(sp.csr_matrix(data.X)) if kind == "sparse" else cupy.asarray(data.X)
        y = data.targets()[0]
        model = SparseRegressor(alpha=0.1).fit(X, cupy.asarray(y))
        np.testing.assert_allclose(model.coef_, SparseRegressor(alpha=0.1).fit(data.X, y).coef_, atol=1e-5)
        np.testing.assert_allclose(model.predict(X), model.predict(data.X), rtol=1e-5, atol=1e-5)
        labels = np.where(y > y.mean(), "yes", "no")
        classifier = SparseClassifier(alpha=0.01).fit(X, labels)
        known = SparseClassifier(alpha=0.01).fit(data.X, labels)
        np.testing.assert_allclose(classifier.coef_, known.coef_, atol=1e-4)
        np.testing.assert_array_equal(classifier.predict(X), classifier.predict(data.X))
        if kind != "sparse":
            X[3, 2] = np.nan
            with pytest.raises(DataError, match="column 2"):
                SparseRegressor(alpha=0.1).fit(X, y)
            torch = pytest.importorskip("torch")
            tensor = torch.as_tensor(data.X, device="cuda")
            again = SparseRegressor(alpha=0.1).fit(tensor, torch.as_tensor(y, device="cuda"))
            np.testing.assert_array_equal(again.coef_, model.coef_)


def test_command_line(gpu, tmp_path):
    models = [tmp_path / "there.json", tmp_path / "here.json"]
    for model, device in zip(models, (["--device", "cuda"], []), strict=True):
        command = ["fit", "digits49", "--alpha-ratio", "0.1", "--out", str(model), "--quiet", *device]
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
    there, here = (json.loads(model.read_text()) for model in models)
    assert there["training"]["objective_value"] == pytest.approx(here["training"]["objective_value"], rel=1e-6)


def test_device_is_for_solvers_that_sum():
    X, y = np.ones((4, 2)), np.arange(4.0)
    with pytest.raises(OptionError, match="exact and best-k"):
        SparseRegressor(alpha=0.1, solver="fobos", device="cuda").fit(X, y)


def test_the_processor_here_may_be_named():
    X, y = np.arange(20.0).reshape(-1, 1), np.arange(20.0)
    assert SparseRegressor(alpha=0.1, device="cpu").fit(X, y).coef_ == SparseRegressor(alpha=0.1).fit(X, y).coef_
    with pytest.raises(OptionError, match="device must be 'cuda' or 'cpu', not 'gpu'"):
        SparseRegressor(alpha=0.1, device="gpu").fit(X, y)


def test_without_cupy_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    cupy.cache_clear()
    with pytest.raises(OptionError, match=r"riata\[gpu\]"):
        place_named("cuda")
    with pytest.raises(OptionError, match="device must be 'cuda'"):
        place_named("tpu")


class There(np.ndarray):
    """A host array that says it lies on a GPU."""

    __cuda_array_interface__ = None


@pytest.fixture
def stand_in(monkeypatch):
    """NumPy in place of the GPU; rows that claim to be there."""
    monkeypatch.setattr("riata.engines.cuda.transfers.Gpu", Host)
    monkeypatch.setattr("riata.estimators.rows.rows_on_gpu", Host().rows)
    return lambda X: np.asarray(X).view(There)


def test_targets_of_rows_on_a_gpu_are_checked_like_others(stand_in):
    data = rows("dense")
    X, y = stand_in(data.X), data.targets()[0]
    for wrong in (
        {"y": y[1:]},
        {"y": np.where(y > 0, y, np.nan)},
        {"y": y, "sample_weight": -np.ones(300)},
        {"y": None},
    ):
        with pytest.raises(ValueError, match=r"y|NaN|[Nn]egative"):
            SparseRegressor(alpha=0.1).fit(X, **wrong)
    with pytest.raises(ValueError, match="continuous"):
        SparseClassifier(alpha=0.1).fit(X, y)
    with pytest.raises(OptionError, match="device must be 'cuda'"):
        SparseRegressor(alpha=0.1, device="gpu").fit(X, y)


def test_rows_of_weight_zero_stay_out_on_a_gpu(stand_in):
    data = rows("dense")
    X, y, weight = data.X, data.targets()[0], np.where(np.arange(300) % 3, 1.0, 0.0)
    there, here = (SparseRegressor(alpha=0.1).fit(rows, y, weight) for rows in (stand_in(X), X))
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-8)
    assert there.to_model().training.n_rows == here.to_model().training.n_rows == 200


def test_checkpoints_of_rows_on_a_gpu(stand_in, tmp_path):
    data = rows("dense")
    y = data.targets()[0]
    plain = SparseRegressor(alpha=0.1, device="cuda").fit(data.X, y)
    saving = SparseRegressor(alpha=0.1, device="cuda", checkpoint=str(tmp_path), every=0.0)
    np.testing.assert_array_equal(saving.fit(data.X, y).coef_, plain.coef_)
    np.testing.assert_array_equal(saving.set_params(resume=True).fit(data.X, y).coef_, plain.coef_)
    with pytest.raises(CheckpointError, match="another fit"):
        saving.fit(data.X, -y)


def test_numbers_of_other_kinds_become_floats_or_are_refused():
    single = np.ones(3, dtype=np.float32)
    assert floats_of(single) is single
    assert floats_of(np.arange(3)).dtype == np.float64
    with pytest.raises(DataError, match="no real numbers"):
        floats_of(np.ones(3, dtype=complex))


@pytest.mark.parametrize(("loss", "room"), [("squared", np.inf), ("tweedie", np.inf), ("logistic", 0.0)])
def test_offsets_go_to_the_device(both, loss, room):
    _, kind = both
    here = rows(kind, loss)
    data = InMemory(here.X, *here.targets(), offset=np.random.default_rng(1).normal(size=here.n_rows))
    place = Host(array_api_strict if kind != "sparse" else np, room)
    there = on_device(data, place)
    assert isinstance(there, OnDevice if room else Streamed)
    spec = Spec(loss=loss, alpha=0.05, tol=1e-8)
    a, b = (fit(*with_offsets(one, spec)).result for one in (data, there))
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-5)
    if loss == "tweedie" and kind == "dense":
        found = fit_selected(*with_offsets(there, Spec(loss=loss)), Search("alpha", "cv", n_alphas=5), None, None)
        assert np.isfinite(found.selection.scores).all()
