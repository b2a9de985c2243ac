"""Features that are always in come beside those that k counts, in fits, bounds, certificates and paths."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import riata
from chunked import Chunked
from riata.cli import main
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.outcome.proofs import GlobalBound, SearchedAll
from riata.outcome.reasons import StopReason
from riata.solvers.subset.proof import branch_and_bound, search_space
from riata.training.fitting import fit
from riata.training.paths.k_paths import k_path_of_margin
from riata.training.spec import Spec
from subset_problems import CURVED, SmallSubset, every_optimum, small_subset


def factors(d, *always):
    return np.where(np.isin(np.arange(d), always), 0.0, 1.0)


@pytest.mark.parametrize("loss", CURVED)
@pytest.mark.parametrize("groups", [False, True])
def test_certificates_and_paths_hold_beside_them(loss, groups):
    """Against every support; features of all kinds are always in, also constant and collinear ones."""
    for seed in range(7000, 7004):
        case = small_subset(seed, loss, groups, always_in=True)
        least, _ = every_optimum(case)
        result = fit(case.data(), Spec(**{**vars(case.spec), "certify": True})).result
        assert case.spec.ridge == 0.0 or isinstance(result.proof, SearchedAll)
        assert result.objective >= least * (1 - 1e-9)
        if isinstance(result.proof, SearchedAll):
            assert result.objective <= least * (1 + 1e-7), seed
        found = k_path_of_margin(case.data(), case.spec, case.spec.k)
        for k, bound in enumerate(found.bounds[1:], 1):
            of_size = SmallSubset(case.X, case.y, case.weight, Spec(**{**vars(case.spec), "k": k}))
            least = every_optimum(of_size)[0]
            assert found.objectives[k] >= least * (1 - 1e-9)
            if isinstance(bound, GlobalBound):
                assert bound.value <= least * (1 + 1e-9), seed


def rows(rng, n=120, d=40, loss="squared"):
    X = rng.normal(size=(n, d)) + rng.normal(size=(n, 1))
    y = X[:, :4] @ [1.0, -1.0, 0.7, 0.4] + 2.0 * rng.normal(size=n)
    return X, np.sign(y) if loss == "logistic" else y


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_they_are_what_fits_of_the_rest_leave(rng, loss):
    """k = 2 beside two others is the best of all models of four features that have them."""
    X, y = rows(rng, loss=loss)
    spec = Spec(k=2, loss=loss, ridge=0.1, penalty_factors=factors(40, 5, 11), certify=True)
    here, there = (fit(data, spec).result for data in (InMemory(X, y), Chunked(X, y, 7)))
    assert isinstance(here.proof, SearchedAll)
    assert np.count_nonzero(here.coef) == 4
    assert_array_equal(np.flatnonzero(here.coef), np.flatnonzero(there.coef))
    assert_allclose(here.objective, there.objective, rtol=1e-9)
    path = k_path_of_margin(InMemory(X, y), Spec(loss=loss, ridge=0.1, penalty_factors=spec.penalty_factors), 3)
    assert_array_equal(np.flatnonzero(path.coefs[0]), [5, 11])
    assert_array_equal(path.n_selected, [2, 3, 4, 5])
    assert path.objectives[2] >= here.objective - 1e-12


def test_products_that_do_not_fit_are_made_in_parts(rng):
    X = rng.normal(size=(300, 2000)) + 0.5 * rng.normal(size=(300, 1))
    y = X[:, 20:40].sum(axis=1) + X[:, 5] + 0.5 * rng.normal(size=300)
    spec = Spec(k=20, penalty_factors=factors(2000, 5, 11))
    small, large = (fit(Chunked(X, y, 3), Spec(**{**vars(spec), "memory": memory})).result for memory in ("3MB", "1GB"))
    assert np.count_nonzero(small.coef) == np.count_nonzero(large.coef) == 22
    assert_allclose(small.objective, large.objective, rtol=1e-9)


@pytest.mark.parametrize(("loss", "n"), [("squared", 60), ("squared", 20), ("logistic", 60)])
def test_a_search_beside_them_goes_on_from_its_checkpoint(rng, loss, n, tmp_path, monkeypatch):
    """With few rows it is one of candidates."""
    monkeypatch.setattr(search_space, "WIDE", 0)
    X, y = rows(rng, n=n, loss=loss)
    spec = Spec(k=4, loss=loss, ridge=0.02, penalty_factors=factors(40, 5, 11), certify=True)
    whole = fit(InMemory(X, y), spec).result
    monkeypatch.setattr(branch_and_bound, "REPORT", 0.0)
    saving = {**vars(spec), "checkpoint": tmp_path, "every": 0.0}
    cut = fit(InMemory(X, y), Spec(**{**saving, "certify_time": 0.0})).result
    assert cut.stop.reason is StopReason.SEARCH_LIMIT
    result = fit(InMemory(X, y), Spec(**{**saving, "resume": True})).result
    assert isinstance(result.proof, SearchedAll)
    assert_array_equal(np.flatnonzero(result.coef), np.flatnonzero(whole.coef))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"penalty_factors": factors(40, 3) * 2.0}, "0, which is always in and not counted, or 1"),
        ({"penalty_factors": factors(40, 3), "k": 0}, "between 1 and the number of further features, 39"),
        ({"penalty_factors": factors(40, 3), "solver": "omp"}, "go with solvers 'best-k' and 'exact'"),
        ({"penalty_factors": factors(40, 3), "groups": np.arange(40) // 2}, "must be alike within each group"),
    ],
)
def test_what_is_not_possible_is_said(rng, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**{"k": 2} | options).fit(*rows(rng))


def test_the_command_line_and_its_words_count_the_others(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = rows(rng)
    np.savez("t.npz", X=X, y=y)
    options = ["--k", "2", "--ridge", "0.1", "--certify", "--json", "--penalty-factor", "x5=0", "--report", "t.html"]
    done = CliRunner().invoke(main, ["fit", "t.npz", *options])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["how_much_better"] == "this is the best model of 2 further features there is"
    assert "at most 2 further features" in (tmp_path / "t.html").read_text(encoding="utf-8")
    model = riata.load_model("t.riata.json")
    assert "x5" in model.names
    assert len(model.names) == 3
