"""Rules that choose a model of a path: against scikit-learn, against naive formulas, and for their direction."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import comb
from sklearn.linear_model import LassoCV
from sklearn.model_selection import PredefinedSplit

import riata
from chunked import Chunked
from riata.data.folds import fold_of
from riata.data.in_memory import InMemory
from riata.errors import DataError, OptionError
from riata.losses import LOSSES, SquaredTargets
from riata.outcome.choices import ScoredOn, Scores, WithinOneStandardError
from riata.outcome.folds_used import FoldKind, FoldsUsed
from riata.outcome.reasons import StopReason
from riata.outcome.stop import Stop
from riata.training.paths.model_path import ModelPath
from riata.training.selection import choosing
from riata.training.selection.asked import Search
from riata.training.selection.products import products_serve
from riata.training.selection.scoring import HeldOut, criterion, held_out, mean_losses
from riata.training.selection.search import search_path
from riata.training.spec import Spec

MSE = Scores("mse", ScoredOn.FOLDS, 5)


def least(path, rule, of, scores):
    return choosing.least([path], rule, of, scores[None])[1]


def one_standard_error(path, scores, errors):
    return choosing.one_standard_error([path], MSE, scores[None], errors[None], np.tile(scores, (5, 1, 1)), [1.0] * 5)[
        1
    ]


def make(loss="squared", n=60, d=8, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    margin = 2 * X[:, 0] - X[:, 1] + noise * rng.normal(size=n)
    return X, np.where(margin > 0, 1.0, -1.0) if LOSSES[loss].labels else margin


@pytest.fixture(params=["from products", "from rows"])
def way(request, monkeypatch):
    """Both ways to cross-validate the squared loss."""
    if request.param == "from rows":
        monkeypatch.setattr("riata.training.selection.products.products_serve", lambda *_: False)


@pytest.mark.usefixtures("way")
def test_cross_validation_is_that_of_scikit_learn():
    X, y = make()
    spec = Spec(standardize=False, tol=1e-12)
    path, chosen = search_path(InMemory(X, y), spec, Search("alpha", "cv", cv=5, n_alphas=12))
    folds = PredefinedSplit(fold_of(np.arange(len(y)), 5))
    theirs = LassoCV(alphas=path.values, cv=folds, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(path.values, theirs.alphas_)
    assert_allclose(chosen.fold_scores.T, theirs.mse_path_, rtol=1e-6)
    assert path.values[chosen.index] == theirs.alpha_
    assert_allclose(path.coefs[chosen.index], theirs.coef_, atol=1e-6)
    assert chosen.score == "mse"
    assert "over 5 folds" in chosen.reason


@pytest.mark.parametrize("by", ["alpha", "k"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_chunks_do_not_change_the_choice(by, loss):
    X, y = make(loss, n=40, d=5)
    search = Search(by, "cv-1se", cv=3, n_alphas=4, k_max=3)
    spec = Spec(loss=loss, tol=1e-10, seed=4)
    path, chosen = search_path(InMemory(X, y), spec, search)
    for data in (Chunked(X, y, 7), Chunked(sp.csr_array(X), y, 16)):
        its_path, its = search_path(data, spec, search)
        assert_allclose(its_path.coefs, path.coefs, atol=1e-5)
        assert_allclose(its.fold_scores, chosen.fold_scores, rtol=1e-5)
        assert its.index == chosen.index
        assert its.reason == chosen.reason


VARIANTS = {
    "plain": {},
    "no intercept": {"fit_intercept": False},
    "not standardised": {"standardize": False},
    "neither": {"fit_intercept": False, "standardize": False},
    "elastic net": {"l1_ratio": 0.4},
    "one feature always in": {"penalty_factors": np.array([1, 1, 0, 1, 1, 1, 2, 1.0])},
    "not negative": {"nonnegative": True},
    "bounds": {"bounds": np.array([[-0.1, 0.1], [0.0, np.inf], [-np.inf, 0.0], *[[-np.inf, np.inf]] * 5])},
}


def both_ways(monkeypatch, data, spec, search):
    """What a search gives from products, and what it gives from rows."""
    assert products_serve(data, spec, search.cv)
    from_products = search_path(data, spec, search)
    monkeypatch.setattr("riata.training.selection.products.products_serve", lambda *_: False)
    return from_products, search_path(data, spec, search)


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)
def test_products_say_all_about_the_rows(options, monkeypatch, rng):
    X, y = make()
    X = X * np.linspace(0.1, 10, 8) + np.linspace(-50, 50, 8)
    X[:, 4] = 3.0  # a column that never varies
    X[:, 5] = X[:, 1] - X[:, 2]  # and one that the others explain
    data = InMemory(X, y + 20, rng.integers(1, 4, size=60))
    spec = Spec(**options, tol=1e-10)
    (path, chosen), (their_path, theirs) = both_ways(monkeypatch, data, spec, Search("alpha", "cv", cv=3, n_alphas=5))
    assert_allclose(path.values, their_path.values)
    assert_allclose(path.losses, their_path.losses, rtol=1e-6)
    assert_allclose(path.objectives, their_path.objectives, rtol=1e-7)
    assert_allclose(chosen.fold_scores, theirs.fold_scores, rtol=1e-4)
    assert chosen.index == theirs.index


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"ridge": 0.1}], ids=str)
def test_products_say_all_along_k(options, monkeypatch, rng):
    X, y = make()
    data = Chunked(X + 5, y, 9, rng.random(60) + 0.5)
    found, theirs = both_ways(monkeypatch, data, Spec(**options), Search("k", "cv", cv=3, k_max=4))
    assert_allclose(found[0].coefs, theirs[0].coefs, atol=1e-6)
    assert_allclose(found[1].fold_scores, theirs[1].fold_scores, rtol=1e-6)


def test_products_need_one_pass_for_everything():
    X, y = make()
    data = Chunked(X, y, 10)
    path, _ = search_path(data, Spec(), Search("alpha", "cv"))
    assert data.passes == path.passes == 1
    assert path.converged


def test_products_are_not_made_where_rows_are_cheaper():
    X, y = make()
    wide = np.tile(X, (1, 8))
    assert products_serve(InMemory(X, y), Spec(), 5)
    assert not products_serve(InMemory(X, y), Spec(loss="huber"), 5)
    assert not products_serve(InMemory(wide, y), Spec(), 5)
    assert not products_serve(InMemory(sp.csr_array(X), y), Spec(), 5)
    long = Chunked(np.tile(np.tile(X, (1, 60)), (20, 1)), np.tile(y, 20), 100)
    assert products_serve(long, Spec(), 5)
    assert not products_serve(long, Spec(memory=10_000_000), 5)


def path_of(sizes, losses=None, by="alpha", d=10):
    """A path whose models have so many features, with the losses given."""
    coefs = np.array([np.arange(d) < size for size in sizes], dtype=float)
    losses = np.ones(len(sizes)) if losses is None else np.asarray(losses)
    values = np.geomspace(1.0, 0.01, len(sizes)) if by == "alpha" else np.array(sizes)
    return ModelPath(
        by, values, coefs, np.zeros(len(sizes)), losses, losses, None, Stop(StopReason.LAST_STEP), 0.0, n_choices=d
    )


@pytest.mark.parametrize("by", ["alpha", "k"])
def test_one_standard_error_goes_to_the_sparser_side(by):
    path = path_of([1, 2, 3, 4, 5], by=by)
    scores = np.array([3.0, 1.1, 1.0, 1.05, 1.5])
    errors = np.full(5, 0.2)
    chosen = one_standard_error(path, scores, errors)
    assert chosen.index == 1
    assert path.n_selected[chosen.index] < path.n_selected[np.argmin(scores)]
    assert chosen.choice == WithinOneStandardError(path.model(1), MSE, 1.1, 0.2, path.model(2), 1.0)
    assert "is the sparsest" in chosen.reason


@pytest.mark.parametrize(
    ("level", "noise", "chosen", "half_of_gain"),
    [(0.01, 1e-3, 3, False), (0.03, 1e-3, 2, False), (0.5, 1e-3, 2, True), (0.5, 0.02, 2, True), (0.5, 0.06, 0, False)],
)
def test_what_a_fold_does_to_all_models_is_no_doubt_about_them(level, noise, chosen, half_of_gain):
    """Models differ by .04 at most, by so much `noise` from fold to fold, and folds by so much in their `level`."""
    path, scores = path_of([0, 1, 2, 3]), np.array([1.0, 0.99, 0.97, 0.96])
    folds = level * np.array([-1.0, 1.0, 0.0, 0.0])[:, None] + noise * np.outer([1.0, 1.0, -1.0, -1.0], [3, 2, 1, 0])
    parts = [HeldOut(scores + of_fold, 1.0) for of_fold in folds]
    _, found = choosing.cross_validated([path], "cv-1se", LOSSES["squared"], parts, FoldsUsed(FoldKind.POSITION, 4))
    assert found.index == chosen
    assert found.choice.half_of_gain is half_of_gain
    assert found.choice.gives_up_most is (chosen == 0)
    assert ("select='cv' takes that one" in found.reason) is (chosen == 0)


def test_models_without_features_are_scored():
    X, y = make(n=20)
    assert_allclose(
        held_out(InMemory(X, y), path_of([0, 0], d=8), LOSSES["squared"], InMemory(X, y)).scores, np.mean(y**2)
    )


def test_of_equal_scores_the_sparsest_is_taken():
    assert least(path_of([1, 2, 3]), "cv", MSE, np.array([2.0, 1.0, 1.0])).index == 1


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_criteria_are_their_formulas(loss):
    n, d, losses = 40, 10, np.array([1.0, 0.6, 0.55])
    path = path_of([0, 2, 5], losses, d=d)
    m = np.array([0, 2, 5])
    deviance = n * np.log(2 * losses) if loss == "squared" else 2 * n * losses
    assert_allclose(criterion("aic", path, LOSSES[loss], n), deviance + 2 * m)
    assert_allclose(criterion("bic", path, LOSSES[loss], n), deviance + np.log(n) * m)
    assert_allclose(criterion("ebic", path, LOSSES[loss], n), deviance + np.log(n) * m + 2 * np.log(comb(d, m)))


def test_criteria_leave_out_models_that_could_fit_anything():
    path = path_of([0, 3, 8], [1.0, 0.5, 1e-12])
    assert_array_equal(np.isfinite(criterion("bic", path, LOSSES["squared"], 10)), [True, True, False])


def test_criteria_need_a_likelihood():
    with pytest.raises(OptionError, match="'huber' is no likelihood"):
        criterion("bic", path_of([0, 1]), LOSSES["huber"], 10)


@pytest.mark.parametrize("rule", ["bic", "ebic", "cv-1se"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_true_features_are_found_with_at_most_one_more(rule, loss):
    X, y = make(loss, n=120, noise=0.7)
    path, chosen = search_path(InMemory(X, y), Spec(loss=loss), Search("k", rule, k_max=4))
    assert set(np.flatnonzero(path.coefs[chosen.index])) >= {0, 1}
    assert path.values[chosen.index] <= 3  # a criterion errs now and then


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_validation_set_is_scored_by_its_mean_loss(loss):
    X, y = make(loss)
    X_other, y_other = make(loss, n=30, seed=1)
    search = Search("alpha", "validation", n_alphas=5)
    path, chosen = search_path(InMemory(X, y), Spec(loss=loss), search, InMemory(X_other, y_other))
    z = X_other @ path.coefs.T + path.intercepts
    expected = (y_other[:, None] - z) ** 2 if loss == "squared" else np.log1p(np.exp(-y_other[:, None] * z))
    assert_allclose(chosen.scores, expected.mean(axis=0))
    assert chosen.index == np.argmin(expected.mean(axis=0))
    assert chosen.choice.scores == Scores(chosen.score, ScoredOn.HELD_OUT_ROWS, 30)
    assert "30 rows held out" in chosen.reason
    chunked = held_out(Chunked(sp.csr_array(X_other), y_other, 4), path, LOSSES[loss], InMemory(X, y))
    assert_allclose(chosen.scores, chunked.scores)


def test_a_target_k_is_never_exceeded():
    X, y = make(d=20, noise=3.0)
    for k in (1, 3, 6):
        path, chosen = search_path(InMemory(X, y), Spec(), Search("alpha", n_alphas=15, target_k=k))
        assert 0 < path.n_selected[chosen.index] <= k
        assert path.n_selected[chosen.index + 1] > k


def test_a_target_k_below_the_features_that_are_always_in_is_refused():
    X, y = make()
    spec = Spec(penalty_factors=[0, 0, 1, 1, 1, 1, 1, 1])
    with pytest.raises(OptionError, match="2 features are always in"):
        search_path(InMemory(X, y), spec, Search("alpha", n_alphas=5, target_k=1))


def test_all_groups_are_the_end_of_a_path():
    X, y = make()
    spec = Spec(groups=np.arange(8) // 4)
    path, _ = search_path(InMemory(X, y), spec, Search("k", "bic"))
    assert path.values[-1] == path.n_choices == 2
    assert "k_max" not in least(path, "bic", MSE, np.array([2.0, 1.5, 1.0])).reason


@pytest.mark.parametrize(("loss", "certified"), [("squared", True), ("logistic", False)])
def test_refitted_supports_are_no_certificate(loss, certified):
    path, _ = search_path(InMemory(*make(loss)), Spec(loss=loss), Search("k", "bic", k_max=3))
    assert path.certified == certified


def test_the_end_of_a_path_is_pointed_out():
    assert "smaller alpha_reach" in least(path_of([1, 2]), "cv", MSE, np.array([2.0, 1.0])).reason
    assert "larger k_max" in least(path_of([1, 2], by="k"), "cv", MSE, np.array([2.0, 1.0])).reason
    assert "k_max" not in least(path_of([1, 2], by="k", d=2), "cv", MSE, np.array([2.0, 1.0])).reason


@pytest.mark.usefixtures("way")
def test_a_fold_that_holds_all_that_differs_is_refused():
    X, _ = make(n=30)
    y = np.where(np.arange(30) == 4, 3.0, 1.0)
    with pytest.raises(DataError, match=r"fold \d of 5 has only rows with one and the same target"):
        search_path(InMemory(X, y), Spec(), Search("alpha", "cv", n_alphas=2))


def test_a_fold_that_holds_a_whole_class_is_refused():
    X, y = make("logistic", n=30)
    y[:], y[4] = -1.0, 1.0
    with pytest.raises(DataError, match=r"fold \d of 5 has only rows of one of the two classes"):
        search_path(InMemory(X, y), Spec(loss="logistic"), Search("alpha", "cv", n_alphas=2))


@pytest.mark.parametrize("by", ["alpha", "k"])
def test_separable_classes_still_have_a_choice(by):
    X, y = make("logistic", n=40, noise=0.0)
    path, chosen = search_path(
        InMemory(X, y), Spec(loss="logistic", tol=1e-4), Search(by, "cv", cv=3, n_alphas=4, k_max=3)
    )
    assert np.isfinite(chosen.scores).all()
    assert np.isfinite(path.coefs).all()


@pytest.mark.parametrize(
    ("search", "sentence"),
    [
        (Search("alpha", "gcv"), "select must be one of cv, cv-1se, validation, aic, bic, ebic, not 'gcv'"),
        (Search("alpha", "validation"), "select='validation' needs rows"),
        (Search("alpha", cv=1), "cv must be a whole number of at least 2 folds, .*not 1"),
        (Search("alpha", cv=100, n_alphas=2), "cv=100 folds need as many rows, and there are 60: take cv=60"),
        (Search("alpha", n_alphas=1), "at least 2 and at most 10000 alphas"),
        (Search("alpha", alpha_reach=1.0), "alpha_reach must lie between 0 and 1"),
        (Search("k", k_max=9), "k_max must lie between 1 and the number of features, 8"),
    ],
    ids=str,
)
def test_bad_searches(search, sentence):
    with pytest.raises(OptionError, match=sentence):
        search_path(InMemory(*make()), Spec(), search)


def test_a_search_has_no_checkpoints():
    with pytest.raises(OptionError, match="alpha='auto' has no checkpoints"):
        search_path(InMemory(*make()), Spec(checkpoint="folder"), Search("alpha"))


def test_only_solvers_with_a_path_are_taken():
    with pytest.raises(OptionError, match="made by solver 'exact', not by 'fobos'"):
        search_path(InMemory(*make()), Spec(solver="fobos"), Search("alpha"))


def test_progress_is_told_of_every_fold():
    calls = []
    search = Search("k", "cv", cv=3, k_max=2)
    search_path(InMemory(*make()), Spec(ridge=0.0), search, progress=lambda *done: calls.append(done))
    names = ["of all rows", "fold 1 of 3", "fold 2 of 3", "fold 3 of 3"]
    assert calls == [(number, 4, name) for number, name in enumerate(names)]


def test_rows_that_a_loss_cannot_learn_from_are_refused():
    with pytest.raises(DataError, match="Poisson loss is for counts"):
        search_path(InMemory(*make()), Spec(loss="poisson"), Search("alpha"))


def test_validation_rows_are_encoded_as_the_rows_that_are_learnt(rng):
    frame = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    frame["y"] = frame["a"] + 0.3 * frame["b"] + 0.5 * rng.normal(size=400)
    train, other = frame[:200].copy(), frame[200:].copy()
    train.loc[train.index[::3], "a"] = np.nan
    other.loc[other.index[::2], "a"] = np.nan
    other["a"] += 6
    data, spec = riata.open(train, "y"), Spec(alpha="auto", select="validation")
    alone = riata.train(data, spec, validation=riata.open(other, "y"))
    known = riata.train(data, spec, validation=riata.open(other, "y", encoding=data.encoding))
    assert alone.course.alphas == known.course.alphas


def test_models_of_many_outputs_are_scored_for_few_rows_at_a_time(rng):
    n, K, n_models = 4096, 30, 50
    data = InMemory(rng.normal(size=(n, 3)), rng.normal(size=(n, K)))
    coefs, intercepts = rng.normal(size=(n_models, 3 * K)), rng.normal(size=(n_models, K))
    tracemalloc.start()
    losses, _ = mean_losses(data, SquaredTargets(K), coefs, intercepts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24e6  # the margins of all rows take 49 MB
    error = data.targets()[0] - data.chunk.X.array @ coefs[7].reshape(3, K) - intercepts[7]
    assert_allclose(losses[7], 0.5 * np.mean(np.sum(error**2, axis=1)))
