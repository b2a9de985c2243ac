"""What certify proves is true: small problems of every kind end at the optimum, whose features are never screened."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import riata
from chunked import Chunked
from riata.cli import main
from riata.data.in_memory import InMemory
from riata.errors import CheckpointError, OptionError
from riata.objective import empty_intercept, gap_unit
from riata.outcome.proofs import NoBound, SearchedAll, SwapOptimal
from riata.outcome.reasons import StopReason
from riata.solvers.iterate import Options, Saved
from riata.solvers.subset import best_k as best_k_module
from riata.solvers.subset.best_k import best_k
from riata.solvers.subset.local.local_quadratic import LocalQuadratic
from riata.solvers.subset.local.refit import Refits
from riata.solvers.subset.proof import branch_and_bound, root_bounds, search_space
from riata.solvers.subset.proof import certified as module
from riata.solvers.subset.proof.certified import certified
from riata.solvers.subset.proof.deadline import Deadline
from riata.solvers.subset.proof.proof_so_far import ProofSoFar
from riata.solvers.subset.proof.relaxation import Node
from riata.solvers.subset.proof.saved_search import restored_search
from riata.solvers.subset.proof.true_subsets import TrueSubsets
from riata.training.driver import run
from riata.training.fitting import fit, make_problem, solver_options
from riata.training.spec import Spec
from subset_problems import SmallSubset, every_optimum, small_subset

FIRST = int(os.environ.get("RIATA_FIRST_CASE", "0"))
CASES = int(os.environ.get("RIATA_CASES", "40"))  # thousands of them take half an hour
ROUNDED = 1e-7  # of the optimum
OF_LOSS = 1e-11  # that without features: objectives, which may be nearly zero, are differences of numbers of this size


@pytest.mark.parametrize("part", range(4))
def test_a_search_of_all_models_ends_at_the_best(part):
    for seed in range(FIRST + part, FIRST + CASES, 4):
        _ends_at_the_best(seed)


@pytest.mark.parametrize("seed", [342, 1247, 1277, 1637, 3037])
def test_rows_beyond_a_hinge_and_a_tiny_ridge_end_at_the_best(seed):
    """The curvature that such rows are lent is more than that of the ridge, and made refits stop early."""
    case = small_subset(seed)
    assert case.spec.loss == "squared-hinge"
    assert case.spec.ridge < 1e-4
    _ends_at_the_best(seed)


def _ends_at_the_best(seed):
    case = small_subset(seed)
    result = fit(case.data(), replace(case.spec, certify=True)).result
    least, _ = every_optimum(case)
    if isinstance(result.proof, SearchedAll):
        assert result.bound.is_best
        rounding = OF_LOSS * _empty_loss(case)
        assert abs(result.objective - least) <= ROUNDED * least + rounding, seed
        assert result.bound.value <= least * (1 + 1e-9) + rounding, seed
        assert result.proof.n_out + result.proof.n_in <= result.proof.n_features
    else:  # without a ridge, where columns are collinear or more than rows
        assert case.spec.ridge == 0.0 or _all_but_rounding(result.bound, case), seed
        assert isinstance(result.bound, NoBound) or result.bound.value <= least * (1 + 1e-9), seed


def _all_but_rounding(bound, case):
    """Whether a bound is as near to an objective as rounding lets it be, which is nearly zero."""
    return bound.objective - bound.value <= OF_LOSS * _empty_loss(case)


def _empty_loss(case):
    return gap_unit(make_problem(case.data(), case.spec)[0])


def test_screening_keeps_every_feature_of_an_optimal_model(monkeypatch):
    """Also from a model that is far from the best, of which all that is better must be left to search."""
    kept = []
    whole = ProofSoFar.learn

    def learn(known, *args):
        whole(known, *args)
        kept.append(known)

    monkeypatch.setattr(ProofSoFar, "learn", learn)
    n_out = 0
    for seed in range(FIRST, FIRST + CASES):
        case = small_subset(1000 + seed, groups=False)
        if case.spec.ridge == 0.0:
            continue
        problem, _ = make_problem(case.data(), case.spec)
        least, optima = every_optimum(case)
        rng = np.random.default_rng(seed)
        always = set(problem.always_in.tolist())
        others = [j for j in rng.permutation(case.X.shape[1]) if j not in always]
        support = np.array(sorted(always.union(others[: case.spec.k] if rng.random() < 0.5 else optima[0])))
        start = Refits(problem, support).fit([support], [(np.zeros(len(support)), 0.0)])[0]
        *_, last = certified(problem, start, Options(1, certify=0.0), None)
        n_out += last.n_out
        for known in kept:
            for optimum in optima:
                if len(optima) == 1:
                    assert not known.out[list(optimum)].any(), seed
                    assert set(np.flatnonzero(known.inside)) <= optimum | always, seed
        kept.clear()
        assert last.finished or _all_but_rounding(last.bound, case)
        assert abs(last.fit.objective - least) <= ROUNDED * least
    assert n_out


def test_screening_by_products_keeps_every_feature_of_an_optimal_model(monkeypatch):
    """With more columns than rows, candidates in any order, and a start that is far from the best."""
    found, whole = [], ProofSoFar.learn

    def learn(known, *args):
        whole(known, *args)
        found.append((known.out.copy(), known.inside.copy()))

    monkeypatch.setattr(ProofSoFar, "learn", learn)
    n_out = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 16)) + rng.choice([0.0, 1.0]) * rng.normal(size=(12, 1))
        X[:, 5] = 2.0
        case = SmallSubset(
            X, X[:, :4].sum(axis=1) + rng.normal(size=12), np.ones(12), Spec(k=3, ridge=10.0 ** rng.uniform(-1, 0.5))
        )
        problem, _ = make_problem(case.data(), case.spec)
        least, [optimum] = every_optimum(case)
        model = LocalQuadratic.at(problem, np.zeros(16), empty_intercept(problem), rng.permutation(16))
        start = model.fitted(np.sort(rng.permutation(5)[:3]) if seed % 2 else np.array(sorted(optimum)))
        *_, last = certified(problem, start, Options(1, certify=0.0), model)
        for out, inside in found:
            assert not out[list(optimum)].any(), seed
            assert set(np.flatnonzero(inside)) <= optimum, seed
            n_out += np.count_nonzero(out)
        found.clear()
        assert last.finished
        assert abs(last.fit.objective - least) <= ROUNDED * least
    assert n_out


def test_more_columns_than_rows_are_searched_by_candidates(monkeypatch):
    """Of which there are few at the start, so that parts want others."""
    monkeypatch.setattr(root_bounds, "ROUNDS", 0)
    monkeypatch.setattr(search_space, "WIDE", 0)
    monkeypatch.setattr(best_k_module, "first_count", lambda k: 2 * k)
    n_parts = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 16)) + rng.choice([0.0, 1.0]) * rng.normal(size=(12, 1))
        y = X[:, :4].sum(axis=1) + rng.normal(size=12)
        spec = Spec(k=3, ridge=10.0 ** rng.uniform(-3, 0), coef_limit=rng.choice([None, 50.0]))
        result = fit(InMemory(X, y), replace(spec, certify=True)).result
        least, _ = every_optimum(SmallSubset(X, y, np.ones(12), spec))
        assert isinstance(result.proof, SearchedAll)
        assert abs(result.objective - least) <= ROUNDED * least
        assert result.bound.value <= least * (1 + 1e-9)
        n_parts += result.proof.n_parts
    assert n_parts > 100


def test_a_part_whose_start_is_beyond_all_numbers_has_a_bound(rng):
    """Large coefficients may make up for each other in the part it was cut from, and one of them be out in it."""
    X = rng.normal(size=(12, 4))
    y = rng.poisson(np.exp(X[:, 0])).astype(float)
    problem, _ = make_problem(InMemory(X, y), Spec(k=2, loss="poisson", ridge=0.01))
    subsets, state = TrueSubsets(problem, 2), np.array([0, 0, 0, -1], dtype=np.int8)
    far, near = (subsets.relaxed(Node(state, w), 2, np.inf) for w in (np.full(4, 1e4), np.zeros(4)))
    assert_allclose(far.bound, near.bound, rtol=1e-6)


def test_models_within_a_limit_that_are_all_worse_end_it(rng):
    """The model that was found is not limited, and so it may be better than any that is."""
    X, y = correlated(rng)
    result = fit(InMemory(X, y), Spec(k=3, coef_limit=1e-3, certify=True)).result
    assert isinstance(result.proof, SearchedAll)
    assert result.bound.gap == 0.0


def correlated(rng, n=150, d=60):
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    return X, X[:, :4] @ [1.0, -1.0, 0.7, 0.4] + 2.0 * rng.normal(size=n)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_rows_in_chunks_give_the_same_certificate(rng, loss):
    X, y = correlated(rng)
    y = np.sign(y) if loss == "logistic" else y
    spec = Spec(k=4, loss=loss, ridge=0.1, certify=True)
    here, there = (fit(data, spec).result for data in (InMemory(X, y), Chunked(X, y, 7)))
    assert isinstance(here.proof, SearchedAll)
    assert isinstance(there.proof, SearchedAll)
    assert_array_equal(np.flatnonzero(here.coef), np.flatnonzero(there.coef))
    assert_allclose(here.objective, there.objective, rtol=1e-9)


def test_a_gap_that_is_allowed_ends_the_search_earlier(rng):
    X, y = correlated(rng)
    closed, open_ = (fit(InMemory(X, y), Spec(k=8, ridge=0.001, certify=gap)).result for gap in (True, 0.02))
    assert closed.proof.n_parts > open_.proof.n_parts
    assert closed.bound.is_best
    assert 0.0 <= open_.bound.gap <= 0.02 + 1e-12
    assert "can be more than" in open_.reason


@pytest.mark.parametrize("seed", range(3))
def test_parts_that_were_dropped_within_the_gap_count(seed, monkeypatch):
    """Also in the states that are told on the way, which may come at any moment."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 30)) + rng.normal(size=(60, 1))
    data, spec = InMemory(X, X[:, :6].sum(axis=1) + 3.0 * rng.normal(size=60)), Spec(k=6, ridge=0.01)
    best = fit(data, replace(spec, certify=True)).result
    assert best.bound.is_best
    monkeypatch.setattr(branch_and_bound, "REPORT", 0.0)
    result = fit(data, replace(spec, certify=0.08)).result
    assert 0.0 < result.bound.gap <= 0.08
    assert not result.bound.is_best
    assert result.bound.value <= best.objective


def test_without_time_the_best_so_far_is_returned_with_its_gap(rng):
    X, y = correlated(rng)
    result = fit(InMemory(X, y), Spec(k=8, ridge=0.001, loss="huber", certify=True, certify_time=0.0)).result
    assert result.stop.reason is StopReason.SEARCH_LIMIT
    assert not result.converged
    assert 0.0 < result.bound.gap < 1.0
    assert result.objective == result.bound.objective


class OverAfter(Deadline):
    """A time that is over once it has been looked at so often."""

    def __init__(self, looks):
        super().__init__()
        self._looks = looks

    @property
    def over(self):
        self._looks -= 1
        return self.stopped or self._looks < 0


@pytest.mark.parametrize("groups", [None, 2])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_whenever_the_time_ends_nothing_is_lost(loss, groups, tmp_path, monkeypatch):
    """Between any two steps of a root, a relaxation or a cut: a bound that holds, and a checkpoint that goes on."""
    X, y = correlated(np.random.default_rng(5), n=40, d=24)
    data = InMemory(X, np.sign(y) if loss == "logistic" else y)
    spec = Spec(k=3, loss=loss, ridge=0.05, certify=True, groups=None if groups is None else np.arange(24) // groups)
    best = fit(data, spec).result
    saving, reasons = replace(spec, checkpoint=tmp_path), []
    for looks in (0, 1, 3, 8, 21, 55):
        with monkeypatch.context() as short:
            short.setattr(module, "Deadline", lambda _, looks=looks: OverAfter(looks))
            cut = fit(data, saving).result
        reasons.append(cut.stop.reason)
        assert cut.bound.value <= best.objective
        assert cut.objective >= best.objective * (1.0 - 1e-9)
        result = fit(data, replace(saving, resume=True)).result
        assert isinstance(result.proof, SearchedAll)
        assert_allclose(result.coef, best.coef, atol=1e-9)
    assert reasons.count(StopReason.SEARCH_LIMIT) > 2


def test_an_interrupt_leaves_the_best_so_far_with_its_gap(rng):
    X, y = correlated(rng)
    spec = Spec(k=4, ridge=0.01, certify=True)
    problem, _ = make_problem(InMemory(X, y), spec)

    def interrupted():
        for point in best_k(problem, solver_options(spec)):
            yield point
            if point.searched is not None:
                raise KeyboardInterrupt

    result = run(problem, interrupted(), max_passes=100, tol=1e-6)
    assert result.stop.reason is StopReason.INTERRUPTED
    assert result.bound.value > 0.0
    assert np.count_nonzero(result.coef) == 4
    assert result.history[-1].bound == result.bound.value


@pytest.mark.parametrize("moment", ["relax", "digest"])
def test_an_interrupt_within_a_cut_loses_no_part(moment, tmp_path, monkeypatch):
    """The checkpoint that is left has all parts that were to be searched: it ends at the same proof."""
    X, y = correlated(np.random.default_rng(5), n=60, d=30)
    spec = Spec(k=4, ridge=0.01, certify=True)
    whole = fit(InMemory(X, y), spec).result
    name = {"relax": "_children", "digest": "_digest"}[moment]
    calls, original = [], getattr(branch_and_bound._Search, name)

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return original(self, *args)

    monkeypatch.setattr(branch_and_bound, "REPORT", 0.0)
    monkeypatch.setattr(branch_and_bound._Search, name, interrupted)
    saving = replace(spec, checkpoint=tmp_path)
    cut = fit(InMemory(X, y), saving).result
    assert cut.stop.reason is StopReason.INTERRUPTED
    result = fit(InMemory(X, y), replace(saving, resume=True)).result
    assert isinstance(result.proof, SearchedAll)
    assert result.proof.n_parts >= whole.proof.n_parts
    assert result.objective == whole.objective


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_search_of_groups_goes_on_from_its_checkpoint(loss, tmp_path, monkeypatch):
    monkeypatch.setattr(branch_and_bound, "REPORT", 0.0)
    X, y = correlated(np.random.default_rng(5), n=60, d=30)
    data = InMemory(X, np.sign(y) if loss == "logistic" else y)
    spec = Spec(k=3, loss=loss, ridge=0.05, certify=True, groups=np.arange(30) // 3)
    whole = fit(data, spec).result
    saving = replace(spec, checkpoint=tmp_path)
    cut = fit(data, replace(saving, certify_time=0.0)).result
    assert cut.stop.reason is StopReason.SEARCH_LIMIT
    result = fit(data, replace(saving, resume=True)).result
    assert isinstance(result.proof, SearchedAll)
    assert_allclose(result.coef, whole.coef, atol=1e-9)
    with pytest.raises(OptionError, match="give certify"):
        riata.SparseRegressor(k=3, groups=np.arange(30) // 3, checkpoint=str(tmp_path)).fit(X, y)


@pytest.mark.parametrize(("loss", "n"), [("squared", 60), ("squared", 20), ("logistic", 60)])
def test_a_search_that_was_cut_off_goes_on_from_its_checkpoint(loss, n, tmp_path, monkeypatch):
    """With few rows it is one of candidates."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(search_space, "WIDE", 0)
    X, y = correlated(rng, n=n, d=30)
    y = np.sign(y) if loss == "logistic" else y
    spec = Spec(k=4, loss=loss, ridge=0.05, certify=True)
    whole = fit(InMemory(X, y), spec).result
    monkeypatch.setattr(branch_and_bound, "REPORT", 0.0)
    saving = replace(spec, checkpoint=tmp_path, every=0.0)
    with monkeypatch.context() as short:
        short.setattr(module, "Deadline", lambda _: OverAfter(12 if loss == "squared" else 40))
        cut = fit(InMemory(X, y), saving).result
    assert cut.stop.reason is StopReason.SEARCH_LIMIT
    assert cut.bound.gap > 0.0
    with np.load(tmp_path / "checkpoint.npz") as file:
        arrays = {name.removeprefix("array."): file[name] for name in file if name.startswith("array.")}
    facts = {"b": 0.0, "objective": 1.0, "bound": 0.5, "by_candidates": False, "n_parts": 1, "rounds": 1}
    restored_search(Saved(arrays, dict(facts)), 30)
    for name, wrong in {"places": np.full_like(arrays["search.places"], 99), "states": arrays["search.states"][:, 1:],
                        "counts": arrays["search.counts"] + 1}.items():  # fmt: skip
        with pytest.raises(CheckpointError, match="not of this fit"):
            restored_search(Saved(arrays | {f"search.{name}": wrong}, dict(facts)), 30)
    told = []
    result = fit(InMemory(X, y), replace(saving, resume=True), progress=told.append).result
    assert told[0].parts > cut.history[-1].parts
    assert told[0].bound >= cut.bound.value
    assert isinstance(result.proof, SearchedAll)
    assert_array_equal(np.flatnonzero(result.coef), np.flatnonzero(whole.coef))
    assert result.bound.is_best


@pytest.mark.parametrize("loss", ["squared", "logistic", "huber"])
def test_a_limit_on_coefficients_bounds_models_within_it(loss):
    closed = 0
    for seed in range(8):
        case = small_subset(5000 + seed, loss, groups=False, ridge=0.0)
        problem, _ = make_problem(case.data(), case.spec)
        least, optima = every_optimum(case)
        support = np.array(sorted(optima[0].union(problem.always_in.tolist())))
        best = Refits(problem, support).fit([support], [(np.zeros(len(support)), 0.0)])[0]
        limit = 1.1 * float(np.abs(best.coef * np.broadcast_to(problem.scale, case.X.shape[1])[support]).max())
        result = fit(case.data(), replace(case.spec, coef_limit=limit, certify=True)).result
        if result.objective < 1e-6:
            continue  # separated classes, which coefficients of any size tell apart
        assert result.bound.value <= least * (1 + 1e-9), seed
        assert fit(case.data(), replace(case.spec, coef_limit=limit)).result.bound.value <= least * (1 + 1e-9), seed
        if isinstance(result.proof, SearchedAll):
            closed += 1
            assert result.objective <= least * (1 + ROUNDED), seed
            assert result.bound.limit == limit
    assert closed >= 4


def test_without_a_ridge_more_features_than_rows_have_no_certificate(rng):
    X, y = correlated(rng, n=40)
    result = fit(InMemory(X, y), Spec(k=2, certify=True)).result
    assert isinstance(result.bound, NoBound)
    assert isinstance(result.proof, SwapOptimal)
    for asked in (True, 0.0):  # of which the command line has the second
        with pytest.warns(UserWarning, match="nothing was certified"):
            riata.train(InMemory(X, y), Spec(k=2, certify=asked))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": 2, "ridge": 0.1, "certify": True, "certify_time": "soon"}, "certify_time must be a span of time"),
        ({"k": 2, "certify": 1.5}, "certify must be True, or the gap"),
        ({"k": 2, "certify": "yes"}, "certify must be True, or the gap"),
        ({"alpha": 0.1, "certify": True}, "certify goes with k"),
        ({"k": 2, "certify": True, "solver": "omp"}, "certify goes with k and solver 'best-k'"),
        ({"k": "auto", "certify": True}, "is not certified"),
        ({"k": 2, "coef_limit": 0.0}, "coef_limit must be a positive number"),
        ({"alpha": 0.1, "coef_limit": 1.0}, "coef_limit goes with k"),
    ],
)
def test_what_cannot_be_certified_is_said(rng, options, sentence):
    X, y = correlated(rng)
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**options).fit(X, y)


def test_the_command_line_certifies(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = correlated(rng)
    np.savez("t.npz", X=X, y=y)
    done = CliRunner().invoke(main, ["fit", "t.npz", "--k", "3", "--ridge", "0.1", "--json", "--certify"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["stop"] == ["searched-all"]
    assert said["how_much_better"] == "this is the best model of 3 features there is"
    assert said["bound"][0]["gap"] <= 1e-8
    assert riata.load_model("t.riata.json").training.proof[0].k == 3
    wrong = CliRunner().invoke(main, ["fit", "t.npz", "--k", "3", "--certify", "2"])
    assert wrong.exit_code == 2
