"""At most k features of losses with several margins a row, or whose rows go together."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

import riata
import survival_problems
from chunked import Chunked
from naive_coupled import best_subset, cox, softmax_loss, squared_loss
from riata.cli import main
from riata.data.in_memory import InMemory
from riata.losses.softmax import Softmax
from riata.outcome.proofs import SwapOptimal
from riata.solvers.subset import best_coupled
from riata.solvers.subset.search.targets_subset import TargetsSubset
from riata.training.fitting import fit
from riata.training.paths.k_paths import coupled_k_path, k_path_of_margin
from riata.training.spec import Spec


def columns(rng, n, d, correlation):
    X = rng.normal(size=(n, d)) + correlation * rng.normal(size=(n, 1))
    return X * 10.0 ** rng.uniform(-1, 1, d) + rng.choice([0.0, 2.0])


def scale_of(X, weight):
    return np.sqrt(np.average((X - np.average(X, axis=0, weights=weight)) ** 2, axis=0, weights=weight))


def classes_of(rng, X, n_classes=3, n_used=3):
    w = np.zeros((X.shape[1], n_classes))
    w[:n_used] = 1.5 * rng.normal(size=(n_used, n_classes))
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ w
    y = np.argmax(z + rng.gumbel(size=z.shape), axis=1)
    y[:n_classes] = np.arange(n_classes)
    return y


def support_of(trained):
    return tuple(np.flatnonzero(np.atleast_2d(trained.coef).any(axis=0)).tolist())


@pytest.mark.parametrize(
    ("seed", "correlation", "options"),
    [(0, 0.0, {}), (1, 3.0, {"ridge": 0.05}), (2, 1.0, {"ridge": 0.001, "fit_intercept": False})],
)
@pytest.mark.parametrize("of", ["classes", "targets"])
def test_small_problems_end_at_the_best_subset(seed, correlation, options, of):
    rng = np.random.default_rng(seed)
    X, weight = columns(rng, 80, 5, correlation), rng.uniform(0.5, 2.0, 80)
    k, ridge = 2, options.get("ridge", 0.0)
    if of == "classes":
        y, loss, spec = classes_of(rng, X), softmax_loss, Spec(k=k, loss="softmax", **options)
        data = riata.open(X, y, weight=weight, task="classification")
    else:
        y = X / X.std(axis=0) @ rng.normal(size=(5, 3)) + rng.normal(size=(80, 3))
        loss, spec, data = squared_loss, Spec(k=k, **options), riata.open(X, y, weight=weight)
    trained = riata.train(data, spec)
    fit_intercept = options.get("fit_intercept", True)
    F, best = best_subset(
        loss, X, y, k, 3, weight=weight, fit_intercept=fit_intercept, l2=ridge * scale_of(X, weight) ** 2
    )
    assert support_of(trained) == best
    assert_allclose(trained.course.objective, F, rtol=1e-6)


@pytest.mark.parametrize(("seed", "loss"), [(0, "cox"), (1, "cox-efron")])
def test_times_to_events_end_at_the_best_subset(seed, loss):
    rows = survival_problems.make(90, 5, seed)
    model = riata.SparseSurvival(k=2, ridge=0.01, loss=loss).fit(rows.X, rows.y, sample_weight=rows.weight)
    F, best = best_subset(
        lambda z, y, weight: cox(z, y, weight, loss == "cox-efron"), rows.X - rows.X.mean(axis=0),
        (rows.time, rows.event), 2, 1, weight=rows.weight, fit_intercept=False,
        l2=0.01 * scale_of(rows.X, rows.weight) ** 2,
    )  # fmt: skip
    assert tuple(model.get_support(indices=True)) == best
    assert_allclose(model.objective_, F, rtol=1e-6)
    assert model.predict_survival_function(rows.X[:2], return_array=True).shape[0] == 2


def test_what_is_proved_of_several_targets_holds():
    rng = np.random.default_rng(3)
    X = columns(rng, 100, 12, 1.0)
    Y = X[:, :4] / X[:, :4].std(axis=0) @ rng.normal(size=(4, 2)) + rng.normal(size=(100, 2))
    trained = riata.train(riata.open(X, Y), Spec(k=3))
    assert trained.course.stops[0].proof == SwapOptimal(3, 9, 3)
    assert trained.course.formula.endswith("over models of at most 3 features, intercept not penalised")

    def squares(support):
        A = np.column_stack([np.ones(100), X[:, support]])
        return np.sum((Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]) ** 2) / 200

    mine = list(support_of(trained))
    assert_allclose(trained.course.objective, squares(mine))
    outside = np.setdiff1d(np.arange(12), mine)
    swaps = [squares([*np.delete(mine, i), j]) for i in range(3) for j in outside]
    assert min(swaps) >= squares(mine)


def test_steps_of_a_search_over_targets_are_those_of_least_squares():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(50, 6)) + rng.normal(size=(50, 1))
    A /= np.sqrt(np.sum(A**2, axis=0))
    Y = rng.normal(size=(50, 3))
    search = TargetsSubset(A.T @ A, A.T @ Y, 1e-12)

    def explained(members):
        return np.sum((A[:, members] @ np.linalg.lstsq(A[:, members], Y, rcond=None)[0]) ** 2)

    search.go_to([1, 4])
    assert_allclose(search.outlook.reduction, explained([1, 4]))
    assert_allclose(
        search.outlook.gains[[0, 2, 3, 5]], [explained([1, 4, j]) - explained([1, 4]) for j in (0, 2, 3, 5)]
    )
    assert_allclose(search._costs(), [explained([1, 4]) - explained([j]) for j in (4, 1)])
    assert search.outlook.gains[1] == -np.inf
    swaps = search._swap_gains()
    for i, stays in enumerate((4, 1)):
        assert_allclose(swaps[i, [0, 2, 3, 5]], [explained([stays, j]) - explained([1, 4]) for j in (0, 2, 3, 5)])
    one_by_one = search._swap_gains_one_by_one()
    assert_allclose(swaps[np.isfinite(one_by_one)], one_by_one[np.isfinite(one_by_one)], atol=1e-12)


def test_rows_in_chunks_give_the_same_model(monkeypatch):
    rng = np.random.default_rng(5)
    X = columns(rng, 400, 60, 0.5)
    y = classes_of(rng, X).astype(float)
    spec = Spec(k=3, loss=Softmax(3), ridge=0.01)
    whole = fit(InMemory(X, y), spec).result
    pieces = fit(Chunked(X, y, 90), spec).result
    assert_allclose(pieces.coef, whole.coef, rtol=1e-5, atol=1e-8)
    assert_allclose(pieces.objective, whole.objective, rtol=1e-9)
    monkeypatch.setattr(best_coupled, "WORK", 1.0)  # few candidates at a time
    few = fit(InMemory(X, y), spec).result
    assert_array_equal(few.coef != 0.0, whole.coef != 0.0)
    assert few.proof.n_refitted >= best_coupled.REFITS  # what some candidates promise is tried, gain or not


def test_paths_and_choices_along_k():
    rng = np.random.default_rng(6)
    X = columns(rng, 240, 8, 0.3)
    y = classes_of(rng, X, n_used=2)
    data = riata.open(X, y, task="classification")
    path = riata.k_path(data, Spec(loss="softmax"), 5)
    assert path.values.tolist() == path.n_selected.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.all(np.diff(path.objectives) < 0)
    assert path.bounds is None
    for k in (1, 3):
        assert_allclose(path.objectives[k], riata.train(data, Spec(loss="softmax", k=k)).course.objective, rtol=1e-8)
    model = riata.SparseClassifier(k="auto", loss="softmax", select="cv", k_max=4, cv=3).fit(X, y)
    assert {0, 1} <= set(model.get_support(indices=True))
    of_targets = riata.k_path(riata.open(X, np.column_stack([X[:, 0], X[:, 1] - X[:, 0]])), Spec(), 3)
    assert of_targets.n_selected.tolist() == [0, 1, 2, 2]  # a third feature is of no use
    assert of_targets.objectives[2] <= 1e-12 * of_targets.objectives[0]


def test_classes_that_can_be_separated_end_with_a_sentence():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 6))
    y = np.digitize(X[:, 2], [-0.5, 0.5])
    model = riata.SparseClassifier(k=2, loss="softmax").fit(X, y)
    assert 2 in model.get_support(indices=True)
    assert model.score(X, y) == 1.0
    assert "add a ridge" in model.stopped_because_


def test_the_command_line_writes_and_reads_such_models(tmp_path):
    rng = np.random.default_rng(8)
    X = columns(rng, 200, 5, 0.3)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(5)])
    frame["kind"] = np.array(["ash", "elm", "oak"])[classes_of(rng, X, n_used=2)]
    frame.to_csv(tmp_path / "trees.csv", index=False)
    asked = ["--target", "kind", "--loss", "softmax", "--k", "2"]
    files = ["--out", str(tmp_path / "m.json"), "--report", str(tmp_path / "r.html"), "--json"]
    ended = CliRunner().invoke(main, ["fit", str(tmp_path / "trees.csv"), *asked, *files])
    assert ended.exit_code == 0, ended.output
    said = json.loads(ended.stdout)
    assert said["n_selected"] == 2
    model = riata.load_model(tmp_path / "m.json")
    again = riata.SparseClassifier(k=2, loss="softmax").fit(frame.drop(columns="kind"), frame["kind"])
    assert_allclose(model.predict_proba(frame), again.predict_proba(frame.drop(columns="kind")), atol=1e-6)
    page = (tmp_path / "r.html").read_text()
    assert "at most 2 features" in page


@pytest.mark.parametrize("kind", ["softmax", "targets", "cox"])
def test_a_search_goes_on_from_its_checkpoint_to_the_same_bits(kind, tmp_path, monkeypatch):
    rng = np.random.default_rng(9)
    X = columns(rng, 120, 8, 1.0)
    if kind == "cox":
        rows = survival_problems.make(120, 8, 9)
        data, spec = riata.open(rows.X, rows.y), Spec(k=2, loss="cox")
    elif kind == "softmax":
        data, spec = riata.open(X, classes_of(rng, X, n_used=2), task="classification"), Spec(k=2, loss="softmax")
    else:
        Y = X[:, :2] / X[:, :2].std(axis=0) @ rng.normal(size=(2, 3)) + rng.normal(size=(120, 3))
        data, spec = riata.open(X, Y), Spec(k=2)
    searched, kept = best_coupled.CoupledSearch.refitted, []

    def from_the_last_features(search, model):  # so that there is a way to go
        model.go_to(np.array([6, 7]))
        return searched(search, model)

    def watched(fit, steps, saved=best_coupled._saved):
        kept.append(saved(fit, steps))
        return kept[-1]

    monkeypatch.setattr(best_coupled.CoupledSearch, "refitted", from_the_last_features)
    monkeypatch.setattr(best_coupled, "_saved", watched)
    asked = {"checkpoint": str(tmp_path), "every": 0}
    whole = riata.train(data, replace(spec, **asked))
    assert len(kept) >= 1
    monkeypatch.setattr(best_coupled.CoupledSearch, "refitted", None)  # it is not searched for again
    resumed = riata.train(data, replace(spec, resume=True, **asked))
    assert_array_equal(resumed.coef, whole.coef)
    assert_array_equal(resumed.intercept, whole.intercept)
    assert resumed.course.objective == whole.course.objective


@pytest.mark.parametrize("ridge", [0.0, 0.03])
def test_a_path_to_be_scored_is_close_to_the_thorough_one(ridge):
    """Of some sizes only, by one sweep under a ridge, and to less precision."""
    rng = np.random.default_rng(8)
    X = columns(rng, 300, 30, 0.5)
    y = classes_of(rng, X, n_classes=4, n_used=6)
    data, spec = InMemory(X, y.astype(float)), Spec(loss=Softmax(4), ridge=ridge)
    sizes = [1, 2, 3, 5, 8, 12]
    rough, thorough = coupled_k_path(data, spec, sizes), k_path_of_margin(data, spec, 12, bounded=False)
    assert rough.values.tolist() == [0, *sizes]
    assert_array_equal(rough.n_selected, rough.values)
    best = thorough.of_sizes(sizes).objectives
    assert np.all(rough.objectives >= best - 1e-7)
    assert_allclose(rough.objectives, best, rtol=0.02)
    assert_allclose(rough.coefs.reshape(len(rough.coefs), -1, 4).sum(axis=2), 0.0, atol=1e-9)  # none is only said alike


def test_sizes_beyond_the_last_feature_that_helps_repeat_the_last_model():
    rng = np.random.default_rng(9)
    X = columns(rng, 120, 3, 0.0)
    data = InMemory(np.column_stack([X, X[:, 0]]), classes_of(rng, X).astype(float))  # a column twice
    path = coupled_k_path(data, Spec(loss=Softmax(3), ridge=0.0), [1, 2, 3, 4])
    assert path.n_selected.tolist() == [0, 1, 2, 3, 3]
    assert_array_equal(path.coefs[-1], path.coefs[-2])
