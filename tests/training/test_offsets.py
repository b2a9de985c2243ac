"""Offsets and exposures: what they change in the optimum, and nothing else."""

import numpy as np
import pytest

import riata
from problems import LAYOUTS, SMOOTH, targets
from riata.data.in_memory import InMemory
from riata.errors import DataError, OptionError
from riata.losses import LOSSES, WithOffset, loss_of, paired
from riata.model.quality import quality
from riata.training.fitting import fit
from riata.training.offsets import with_offsets
from riata.training.spec import Spec
from riata.training.train import train

REGRESSIONS = [name for name in SMOOTH if not LOSSES[name].labels and "regression" in LOSSES[name].tasks]
EXPOSED = ["poisson", "gamma", "tweedie:1.3", "tweedie:1.8"]
PRECISE = {"tol": 1e-11, "alpha_ratio": 0.1, "standardize": False}


def problem(loss, seed=0, n=300, d=6):
    """X, y, weights and offsets, of which the target knows."""
    rng = np.random.default_rng(seed)
    X, offset = rng.normal(size=(n, d)), rng.normal(size=n)
    z = X[:, 0] - 0.5 * X[:, 1] + offset
    return X, targets(loss_of(loss), z, rng), rng.uniform(0.5, 2.0, n), offset


def fitted(loss, X, y, weight, offset, **asked):
    return train(InMemory(X, y, weight, offset=offset), Spec(loss=loss, **(PRECISE | asked)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", REGRESSIONS)
def test_the_optimum_is_that_of_margins_with_the_offset(name, layout):
    X, y, weight, offset = problem(name)
    X = LAYOUTS[layout](X)
    found = fitted(name, X, y, weight, offset)
    w, b, alpha = found.coef[0], found.intercept[0], found.course.alphas[0]
    u = weight * found.spec.loss_function.derivative(y, X @ w + b + offset) / weight.sum()
    slope = X.T @ u
    assert found.course.gap < 1e-9
    assert u.sum() == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(slope[w != 0], -alpha * np.sign(w[w != 0]), atol=1e-6)
    assert (np.abs(slope) <= alpha + 1e-6).all()
    assert 0 < np.count_nonzero(w) < len(w) + 1


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.labels])
def test_the_optimum_of_a_classifier(name):
    X, y, weight, offset = problem(name)
    model = riata.SparseClassifier(loss=name, tol=1e-11, alpha_ratio=0.1, standardize=False)
    model.fit(X, np.where(y > 0, "yes", "no"), weight, offset=offset)
    z = model.decision_function(X, offset=offset)
    np.testing.assert_allclose(z, X @ model.coef_.ravel() + model.intercept_ + offset)
    u = weight * loss_of(name).derivative(y, z) / weight.sum()
    assert u.sum() == pytest.approx(0.0, abs=1e-6)
    assert np.abs(X.T @ u).max() == pytest.approx(model.alpha_, abs=1e-6)


def test_three_classes_have_the_offset_in_every_margin():
    X, y, weight, offset = problem("squared")
    labels = np.digitize(y, [-1.0, 1.0])
    model = riata.SparseClassifier(alpha=0.01, tol=1e-10, standardize=False).fit(X, labels, weight, offset=offset)
    z = model.decision_function(X, offset=offset)
    for c in range(3):
        u = weight * loss_of("logistic").derivative(np.where(labels == c, 1.0, -1.0), z[:, c]) / weight.sum()
        assert u.sum() == pytest.approx(0.0, abs=1e-6)
        assert np.abs(X.T @ u).max() == pytest.approx(0.01, abs=1e-6)


@pytest.mark.parametrize("name", EXPOSED)
def test_an_exposure_is_a_weight_of_rates(name):
    """Half a deviance of power p scales with exposure^(2 - p): an exact identity, with the penalty in that unit."""
    X, y, weight, offset = problem(name)
    exposure, power = np.exp(offset), loss_of(name).power
    counts = weight * exposure ** (2.0 - power)
    found = fitted(name, X, y, weight, offset, alpha=0.02, alpha_ratio=None)
    rates = train(
        InMemory(X, y / exposure, counts),
        Spec(loss=name, tol=1e-12, alpha=0.02 * weight.sum() / counts.sum(), standardize=False),
    )
    np.testing.assert_allclose(found.coef, rates.coef, atol=2e-5)
    np.testing.assert_allclose(found.intercept, rates.intercept, atol=2e-5)


def test_the_squared_loss_takes_the_offset_from_the_target():
    X, y, weight, offset = problem("squared")
    asked = Spec(k=2)
    with_it = train(InMemory(X, y, weight, offset=offset), asked)
    without = train(InMemory(X, y - offset, weight), asked)
    np.testing.assert_array_equal(with_it.coef, without.coef)
    np.testing.assert_array_equal(with_it.intercept, without.intercept)


@pytest.mark.parametrize("name", REGRESSIONS)
def test_an_offset_of_all_rows_alike_moves_the_intercept_alone(name):
    X, y, weight, _ = problem(name)
    with_it = fitted(name, X, y, weight, np.full(len(y), 0.7))
    without = fitted(name, X, y, weight, np.zeros(len(y)))
    np.testing.assert_allclose(with_it.coef, without.coef, atol=1e-5)
    assert with_it.intercept[0] == pytest.approx(without.intercept[0] - 0.7, abs=1e-5)
    assert with_it.course.objective == pytest.approx(without.course.objective, rel=1e-7)


@pytest.mark.parametrize("name", REGRESSIONS)
def test_no_feature_enters_at_the_largest_alpha(name):
    X, y, weight, offset = problem(name)
    assert not fitted(name, X, y, weight, offset, alpha_ratio=1.0 + 1e-9).coef.any()
    assert fitted(name, X, y, weight, offset, alpha_ratio=0.98).coef.any()


@pytest.mark.parametrize("name", LOSSES)
def test_conjugates(name):
    """Against the largest u z - loss over a grid of margins."""
    loss, rng = loss_of(name), np.random.default_rng(0)
    z0 = rng.normal(size=20)
    y = paired(targets(loss, z0, rng), rng.normal(size=20))
    moved = WithOffset(loss)
    u = moved.derivative(y, z0)
    grid = np.linspace(-30.0, 30.0, 60_001)
    with np.errstate(over="ignore"):
        best = (u[:, None] * grid - moved.value(y[:, None], grid[None, :])).max(axis=1)
    np.testing.assert_allclose(moved.conjugate(y, u), best, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "solver"),
    [*(("logistic", solver) for solver in ("fobos", "saga", "svrg", "online", "ftrl", "cd")), ("poisson", "online")],
)
def test_solvers_that_look_at_single_rows_see_offsets(name, solver):
    """They come near to the optimum with the offset, and stay away from that without."""
    X, y, _, offset = problem(name, n=3000)
    if name == "poisson":
        y = np.random.default_rng(1).poisson(np.exp(0.5 * X[:, 0] - 0.3 * X[:, 1] + 1.5 * offset - 1.0)).astype(float)
    rows = InMemory(X, y, offset=1.5 * offset)
    asked = {"standardize": True} if solver == "online" else {"standardize": False, "alpha": 0.01}
    found = fit(*with_offsets(rows, Spec(loss=name, solver=solver, max_passes=20, seed=0, **asked))).result
    exact = Spec(loss=name, alpha=0.01, standardize=False)
    best, without = (fit(*with_offsets(data, exact)).result for data in (rows, InMemory(X, y)))
    assert np.linalg.norm(found.coef - best.coef) < 0.6 * np.linalg.norm(without.coef - best.coef)


def test_selection_by_folds_and_by_validation_rows():
    X, y, weight, offset = problem("poisson", n=600)
    data = InMemory(X, y, weight, offset=offset)
    found = train(data, Spec(loss="poisson", alpha="auto", n_alphas=20))
    assert {0, 1} <= set(found.support)
    chosen = found.course.searched[0].selection
    assert chosen.scores[chosen.index] < chosen.scores[0]
    by_rows = train(data, Spec(loss="poisson", k="auto", select="validation"), validation=data)
    assert {0, 1} <= set(by_rows.support)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_validation_rows_have_offsets_where_those_to_learn_from_do(loss):
    X, y, _, offset = problem(loss)
    spec = Spec(loss=loss, alpha="auto", select="validation")
    without, beside = InMemory(X, y), InMemory(X, y, offset=offset)
    with pytest.raises(DataError, match="the validation set has none"):
        train(beside, spec, validation=without)
    with pytest.raises(DataError, match="the validation set has an offset"):
        train(without, spec, validation=beside)
    model = riata.SparseRegressor(alpha="auto", select="validation", loss=loss)
    with pytest.raises(DataError, match=r"\(X, y, sample_weight, offset\)"):
        model.fit(X, y, offset=offset, validation=(X, y))
    model.fit(X, y, offset=offset, validation=(X, y, None, offset))


def test_best_k_is_certified_with_offsets():
    X, y, weight, offset = problem("logistic")
    model = riata.SparseClassifier(k=2, ridge=0.1, certify=True).fit(X, y, weight, offset=offset)
    assert set(model.get_support(indices=True)) == {0, 1}
    assert model.bound_.gap < 1e-6


def test_rows_as_they_come():
    X, y, weight, offset = problem("poisson", n=900)
    whole, parts = (riata.SparseRegressor(loss="poisson", solver="online") for _ in range(2))
    whole.partial_fit(X, y, weight, offset=offset)
    for rows in np.split(np.arange(900), 3):
        parts.partial_fit(X[rows], y[rows], weight[rows], exposure=np.exp(offset[rows]))
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-8)
    with pytest.raises(OptionError, match="some rows have an offset and others have none"):
        parts.partial_fit(X, y)


def test_a_third_class_in_a_stream_with_offsets():
    X, y, _, offset = problem("squared")
    labels = np.digitize(y, [-1.0, 1.0])
    two = labels > 0
    model = riata.SparseClassifier(solver="online").partial_fit(X[two], labels[two], offset=offset[two])
    with pytest.raises(OptionError, match="a third class has come"):
        model.partial_fit(X, labels, offset=offset)
    named = riata.SparseClassifier(solver="online").partial_fit(X, labels, classes=[0, 1, 2], offset=offset)
    assert named.decision_function(X, offset=offset).shape == (len(y), 3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"exposure": [1.0, 0.0, 2.0]}, "row 2: the exposure is 0; an exposure is a positive number"),
        ({"exposure": [1.0, 2.0, -3.0]}, "row 3: the exposure is -3; an exposure is a positive number"),
        ({"offset": [np.inf, 0.0, 0.0]}, "row 1: the offset is inf; an offset is a finite number"),
        ({"offset": [0.0, 1.0]}, "there are 3 rows of data, and the offset has the shape"),
        ({"offset": ["a", "b", "c"]}, "the offset must be a number for every row"),
        ({"offset": [0.0] * 3, "exposure": [1.0] * 3}, "give an offset or an exposure"),
    ],
)
def test_wrong_offsets(given, sentence):
    with pytest.raises((DataError, OptionError), match=sentence):
        riata.SparseRegressor(loss="poisson", alpha=0.1).fit(np.eye(3), [1.0, 2.0, 3.0], **given)


def test_an_offset_beside_columns_of_words_that_is_no_number():
    with pytest.raises(DataError, match="the offset must be a number for every row"):
        riata.SparseRegressor(alpha=0.1).fit([["u"], ["v"], ["u"]], [1.0, 2.0, 3.0], offset=["a", "b", "c"])


def test_an_exposure_needs_a_logarithmic_link():
    with pytest.raises(OptionError, match="an exposure multiplies the mean, and loss 'squared'"):
        riata.SparseRegressor(alpha=0.1).fit(np.eye(3), [1.0, 2.0, 3.0], exposure=[1.0, 2.0, 3.0])
    with pytest.raises(OptionError, match="an exposure multiplies the mean, and loss 'logistic'"):
        riata.train(riata.open(np.eye(3), ["a", "b", "a"], exposure=[1.0, 2.0, 3.0]), Spec(loss="logistic", alpha=0.1))


def test_the_exposure_of_whether_something_happened_at_all():
    """An exposure multiplies the rate behind the complementary log-log loss, as it does that of counts."""
    rng = np.random.default_rng(0)
    X, years = rng.normal(size=(400, 3)), rng.uniform(0.1, 3.0, 400)
    happened = rng.random(400) < 1.0 - np.exp(-years * np.exp(X[:, 0] - 1.0))
    by_exposure = riata.SparseClassifier(loss="cloglog", alpha=0.01).fit(X, happened, exposure=years)
    by_offset = riata.SparseClassifier(loss="cloglog", alpha=0.01).fit(X, happened, offset=np.log(years))
    np.testing.assert_allclose(by_exposure.coef_, by_offset.coef_, rtol=1e-9)
    p = by_exposure.predict_proba(X, exposure=years)[:, 1]
    q = by_exposure.predict_proba(X, exposure=2.0 * years)[:, 1]
    np.testing.assert_allclose(1.0 - q, (1.0 - p) ** 2, rtol=1e-9, atol=1e-12)  # none in one half, nor in the other
    opened = riata.train(riata.open(X, happened, exposure=years), Spec(loss="cloglog", alpha=0.01))
    np.testing.assert_allclose(opened.coef, by_exposure.coef_, rtol=1e-6)


def test_baselines_know_the_offset():
    """The model without features predicts the rate times the exposure, not the mean."""
    X, y, weight, offset = problem("poisson", n=500)
    exposure = np.exp(offset)
    data = riata.open(X, y, weight=weight, exposure=exposure)
    found = riata.train(data, Spec(loss="poisson", alpha=0.05))
    rate = (weight @ y) / (weight @ exposure)
    assert found.baseline == [pytest.approx(rate)]
    scores = quality(found.to_model(), data)
    assert scores.baseline["mse"] == pytest.approx(np.average((y - rate * exposure) ** 2, weights=weight))
    null = weight @ loss_of("poisson").value(y, np.log(rate * exposure))
    of_model = weight @ loss_of("poisson").value(y, X @ found.coef[0] + found.intercept[0] + offset)
    assert scores.scores["deviance_explained"] == pytest.approx(1.0 - of_model / null)


@pytest.mark.parametrize("name", ["gamma", "tweedie:1.5", "negative-binomial:2"])
def test_deviances_are_learnt_online(name):
    """With an offset, from rows as they come: the features and nearly the coefficients of the best three."""
    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(8000, 12)), 0.5 * rng.normal(size=8000)
    mean = np.exp(X[:, [1, 2, 7]] @ [0.3, 0.5, -0.5] + offset)
    y = mean * rng.gamma(2.0, 0.5, 8000)
    y = {"gamma": y, "tweedie:1.5": np.where(rng.random(8000) < 0.5, y, 0.0)}.get(name, rng.poisson(y).astype(float))
    model = riata.SparseRegressor(loss=name, solver="online", k=3).partial_fit(X, y, offset=offset)
    assert model.get_support(indices=True).tolist() == [1, 2, 7]
    np.testing.assert_allclose(model.coef_[[1, 2, 7]], [0.3, 0.5, -0.5], atol=0.1)
