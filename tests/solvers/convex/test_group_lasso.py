"""The group Lasso and the sparse-group Lasso: their minimum, its certificate, and the same answer from everywhere."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import riata
from convex_problems import Chunks, make
from pairs import every_pair
from problems import LAYOUTS, SMOOTH
from riata.cli import main
from riata.data.in_memory import InMemory
from riata.errors import OptionError
from riata.objective import alpha_max, duality_gap, first_order, objective
from riata.penalties import GroupLasso
from riata.solvers.convex.quadratics import group_quadratic
from riata.solvers.convex.quadratics.group_quadratic import NEGATIVE, minimise_groups
from riata.training.fitting import bare_problem, fit, make_problem
from riata.training.paths.path import path_of_margin
from riata.training.spec import Spec

GROUPS = np.random.default_rng(3).integers(12, size=40)  # of uneven sizes, and not side by side
OPTIONS = {
    "defaults": {},
    "neither": {"standardize": False, "fit_intercept": False},
    "factors": {"penalty_factors": np.where(GROUPS == 3, 0.0, 0.5 + GROUPS / 6)},
}
SHAPES = ["correlated", "twins", "levels", "few rows", "sparse"]


def columns(shape, loss, rng):
    """(X, y) of a shape that makes trouble."""
    X, y = make(loss, n=25 if shape == "few rows" else 120)
    if shape == "twins":
        X[:, 1::2] = X[:, ::2]
    if shape == "levels":
        X[:, :5] = rng.integers(5, size=len(X))[:, None] == np.arange(5)
    return (LAYOUTS["csr"](np.where(np.abs(X) < 0.7, 0.0, X)) if shape == "sparse" else X), y


def accelerated_prox_gradient(X, y, penalty, weight, steps):
    """The slow and obvious way, of the squared loss without intercept or scales."""
    weight = weight / weight.sum()
    L = np.linalg.norm(X * np.sqrt(weight)[:, None], 2) ** 2
    w = v = np.zeros(X.shape[1])
    t = 1.0
    for _ in range(steps):
        new = penalty.prox(v - X.T @ (weight * (X @ v - y)) / L, 1.0 / L)
        if np.abs(new - w).max() <= 1e-15 * np.abs(w).max():
            break
        if (v - new) @ (new - w) > 0:
            t, v = 1.0, new
        t_next = 0.5 + np.sqrt(0.25 + t * t)
        v, w, t = new + (t - 1.0) / t_next * (new - w), new, t_next
    return w


@pytest.mark.parametrize("ratio", [1.0, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_is_what_proximal_gradients_come_to(shape, ratio, rng):
    X, y = columns(shape, "squared", rng)
    weight = rng.uniform(0.5, 2.0, size=len(y))
    spec = Spec(alpha_ratio=0.1, groups=GROUPS, group_ratio=ratio, standardize=False, fit_intercept=False, tol=1e-13)
    data = InMemory(X, y, weight)
    fitted = fit(data, spec)
    problem, _ = make_problem(data, spec)
    dense = X.toarray() if shape == "sparse" else X
    w = accelerated_prox_gradient(dense, y, GroupLasso(GROUPS, ratio, fitted.alpha), weight, 8_000)
    assert_allclose(fitted.result.objective, objective(problem, w, 0.0), rtol=1e-9)


@pytest.mark.parametrize(("loss", "shape", "options"), every_pair(SMOOTH, SHAPES, OPTIONS))
def test_the_minimum_is_certified_and_groups_are_whole(loss, shape, options, rng):
    X, y = columns(shape, loss, rng)
    data = InMemory(X, y, rng.uniform(0.5, 2.0, size=len(y)))
    result = fit(data, Spec(alpha_ratio=0.1, loss=loss, groups=GROUPS, tol=1e-8, **OPTIONS[options])).result
    assert result.converged, result.reason
    used = np.bincount(GROUPS, result.coef != 0.0)
    assert np.all((used == 0) | (used == np.bincount(GROUPS)))
    assert np.any(used)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_a_certificate_is_below_every_model(loss, ratio):
    X, y = make(loss)
    spec = Spec(alpha_ratio=0.1, loss=loss, groups=GROUPS, group_ratio=ratio, tol=1e-10)
    data = InMemory(X, y)
    problem, best = make_problem(data, spec)[0], fit(data, spec).result
    assert best.converged, best.reason
    for share in (0.0, 0.5, 0.9, 0.999, 1.2):
        w, b = share * best.coef, best.intercept + 0.2 * (1.0 - share)
        gap = duality_gap(problem, w, first_order(problem, w, b))
        assert objective(problem, w, b) - best.objective <= gap + 1e-12


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_groups_of_one_are_the_lasso(loss):
    X, y = make(loss)
    lasso, single = (fit(InMemory(X, y), Spec(alpha_ratio=0.1, loss=loss, tol=1e-11, groups=groups))
                     for groups in (None, np.arange(40)))  # fmt: skip
    assert_allclose(single.alpha, lasso.alpha, rtol=1e-12)
    assert_allclose(single.result.coef, lasso.result.coef, atol=1e-5 * np.abs(lasso.result.coef).max())
    mixed = fit(InMemory(X, y), Spec(alpha_ratio=0.1, loss=loss, tol=1e-11, groups=np.arange(40), group_ratio=0.3))
    assert_allclose(mixed.result.coef, lasso.result.coef, atol=1e-5 * np.abs(lasso.result.coef).max())


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_the_largest_alpha_is_where_the_first_group_enters(ratio):
    X, y = make("squared")
    spec = Spec(groups=GROUPS, group_ratio=ratio, tol=1e-12)
    largest = alpha_max(bare_problem(InMemory(X, y), spec))
    for share, some in ((1.0 + 1e-9, False), (0.999, True)):
        alone = Spec(alpha=share * largest, groups=GROUPS, group_ratio=ratio, tol=1e-14)
        assert np.any(fit(InMemory(X, y), alone).result.coef) == some


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_paths_are_certified_and_the_same_from_disk(loss, ratio):
    X, y = make(loss, n=80)
    spec = Spec(loss=loss, groups=GROUPS, group_ratio=ratio, tol=1e-9)
    here, there = (path_of_margin(where(X, y), spec, length=12, reach=0.05) for where in (InMemory, Chunks))
    assert max(here.gaps.max(), there.gaps.max()) <= 1e-9
    assert_allclose(there.objectives, here.objectives, rtol=1e-8)


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_the_quadratic_is_at_its_minimum(ratio, rng):
    for _ in range(20):
        m = int(rng.integers(1, 12))
        A = rng.normal(size=(int(rng.integers(1, 15)), m))
        H, slope = A.T @ A, A.T @ rng.normal(size=len(A))
        penalty = GroupLasso(rng.integers(4, size=m), ratio, 0.3, rng.uniform(0.3, 3.0, size=m))
        penalty = penalty.of(np.arange(m))
        v = minimise_groups(H, slope, penalty, np.zeros(m), 1e-12)

        def Q(u, H=H, slope=slope, penalty=penalty):
            return slope @ u + 0.5 * u @ H @ u + penalty.value(u)

        others = (v + 10.0 ** rng.uniform(-6, 0) * rng.normal(size=m) * (rng.random(m) < 0.5) for _ in range(300))
        assert all(Q(v) <= Q(u) + 1e-12 for u in others)


@pytest.mark.parametrize(("ratio", "factor"), [(1.0, 0.0), (0.3, 1.0)])
def test_many_coordinates_are_solved_to_what_is_enough(ratio, factor, rng, monkeypatch):
    m, n = 120, 50
    monkeypatch.setattr(group_quadratic, "MANY_COORDINATES", m - 1)
    A = rng.normal(size=(n, m)) / np.sqrt(n)
    H, y, groups = A.T @ A, rng.normal(size=n), np.arange(m) // 5
    factors = np.where(groups == 0, factor, 1.0)
    penalty = GroupLasso(groups, ratio, 0.05, rng.uniform(0.5, 2.0, size=m), factors)

    def Q(v):
        return 0.5 * np.sum((y - A @ v) ** 2) + penalty.value(v)

    best = minimise_groups(H, -A.T @ y, penalty, np.zeros(m), 1e-12)
    for enough in (1e-4, 1e-1):
        v = minimise_groups(H, -A.T @ y, penalty, np.zeros(m), 1e-12, enough, y @ y)
        assert Q(best) <= Q(v) + 1e-12
        assert Q(v) - Q(best) <= enough
    assert Q(v) > Q(best) + 1e-12  # no more than was asked for, the last time


def test_categories_enter_whole_from_files_in_a_budget_and_the_report_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    carrier, noise = rng.choice(list("abcde"), 3000), rng.choice(list("uvwxyz"), 3000)
    frame = pd.DataFrame({"carrier": carrier, "noise": noise, "miles": rng.normal(size=3000)})
    late = frame["carrier"].map(dict(zip("abcde", [3.0, 1.0, 0.0, -1.0, -3.0], strict=True)))
    frame.assign(delay=late + frame["miles"] + rng.normal(size=3000)).to_csv("t.csv", index=False)
    words = ["fit", "t.csv", "--target", "delay", "--groups", "columns", "--memory", "64MB"]
    done = CliRunner().invoke(main, [*words, "--alpha-ratio", "0.2", "--out", "m.json", "--report", "r.html", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["gap"] <= 1e-6
    model = riata.load_model("m.json")
    assert sorted(model.names) == ["carrier=a", "carrier=b", "carrier=c", "carrier=d", "carrier=e", "miles"]
    assert "sum over groups sqrt(size) |w_g|_2" in model.objective
    assert "the length of the coefficients of every group of features" in (tmp_path / "r.html").read_text()
    chosen = CliRunner().invoke(main, [*words, "--alpha", "auto", "--group-ratio", "0.5", "--json"])
    assert chosen.exit_code == 0, chosen.output
    assert json.loads(chosen.stdout)["n_selected"] >= 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"l1_ratio": 0.5}, "l1_ratio has no place beside groups and alpha"),
        ({"group_ratio": 0.0}, r"group_ratio must lie in \(0, 1\]"),
        ({"group_ratio": 0.5, "groups": None}, "group_ratio goes with groups and alpha"),
        ({"nonnegative": True}, "groups and alpha have no bounds and no nonnegative"),
        ({"bounds": {"x1": (0, None)}}, "groups and alpha have no bounds and no nonnegative"),
        ({"penalty_factors": np.arange(40.0)}, "penalty_factors must be alike within each group"),
        ({"penalty": "mcp"}, "penalty 'mcp' does not go with groups"),
        ({"solver": "fobos"}, "solver 'fobos' takes the elastic net, not GroupLasso; take solver 'exact'"),
        ({"solver": "online"}, "groups go with solvers 'best-k' and 'exact', not with solver 'online'"),
    ],
    ids=str,
)
def test_what_does_not_go_together(options, sentence):
    X, y = make("squared")
    with pytest.raises(OptionError, match=sentence):
        riata.SparseRegressor(**{"alpha": 0.1, "groups": GROUPS, **options}).fit(X, y)


def conditions(H, slope, penalty, v):
    """The largest violation of an optimality condition of a group."""
    now, lengths = slope + H @ v, penalty.lengths(v)
    of_zero = np.maximum(penalty.lengths(now) - penalty.by_group, 0.0)
    outward = (penalty.by_group / np.where(lengths > 0.0, lengths, 1.0))[penalty.groups] * v
    return np.max(np.where(lengths > 0.0, penalty.lengths(now + outward), of_zero))


@pytest.mark.parametrize("seed", range(4))
def test_singular_curvatures_with_a_negative_rounding_have_a_minimum(seed):
    """Along a direction of negative curvature the quadratic would fall without end, however small it is."""
    rng = np.random.default_rng(seed)
    n, m = 20, 120
    A = rng.normal(size=(n, m))
    H = A.T @ A / n
    flat = np.linalg.svd(A)[2][-1]
    H -= 0.5 * NEGATIVE * np.trace(H) * np.outer(flat, flat)
    slope = -A.T @ rng.normal(size=n) / n
    penalty = GroupLasso(np.arange(m) // 4, alpha=1e-4)
    v = minimise_groups(H, slope, penalty, np.zeros(m), 1e-10)
    assert np.abs(v).max() < 10.0
    assert conditions(H, slope, penalty, v) < 1e-8


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-8])
def test_groups_that_are_nearly_alike_come_to_their_minimum(apart):
    rng = np.random.default_rng(0)
    n, m = 25, 60
    A = rng.normal(size=(n, m))
    A[:, m // 2 :] = A[:, : m // 2] + apart * rng.normal(size=(n, m // 2))
    H, slope = A.T @ A / n, -A.T @ rng.normal(size=n) / n
    penalty = GroupLasso(np.arange(m) // 5, alpha=2e-3)
    v = minimise_groups(H, slope, penalty, np.zeros(m), 1e-10)
    assert conditions(H, slope, penalty, v) < 1e-8
