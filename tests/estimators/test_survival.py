"""SparseSurvival: the minimum against a slow reference, its curves and its concordance, and what is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize

import riata
from chunked import Chunked
from naive import cox_loss
from riata.data.row_marks import MarksGiven
from riata.errors import DataError, OptionError
from riata.model.concordance import concordance
from survival_problems import make


def reference(rows, efron, alpha, l1_ratio, scale, offset=0.0):
    """The least objective, by L-BFGS over the positive and negative parts of coefficients of scaled columns."""
    d = rows.X.shape[1]
    X = (rows.X - rows.X.mean(axis=0)) / scale

    def F(parts):
        w = parts[:d] - parts[d:]
        loss = cox_loss(X @ w + offset, rows.time, rows.event, rows.weight, efron)
        return loss + alpha * (l1_ratio * parts.sum() + 0.5 * (1 - l1_ratio) * w @ w)

    found = minimize(F, np.zeros(2 * d), bounds=[(0, None)] * (2 * d), options={"ftol": 1e-14, "gtol": 1e-9})
    return found.fun


@pytest.mark.parametrize(
    ("loss", "l1_ratio", "standardize", "ties"),
    [
        ("cox", 1.0, True, True),
        ("cox", 0.5, False, False),
        ("cox-efron", 1.0, False, True),
        ("cox-efron", 0.5, True, True),
    ],
)
def test_reaches_the_minimum_and_certifies_it(loss, l1_ratio, standardize, ties):
    rows = make(60, 5, ties=ties)
    options = {"loss": loss, "l1_ratio": l1_ratio, "standardize": standardize, "tol": 1e-9}
    model = riata.SparseSurvival(alpha_ratio=0.1, **options).fit(rows.X, rows.y, rows.weight)
    assert model.converged_
    assert 0.0 <= model.gap_ <= 1e-9
    least = reference(rows, loss == "cox-efron", model.alpha_, l1_ratio, model.scale_ if standardize else 1.0)
    assert_allclose(model.objective_, least, rtol=1e-6)
    assert model.objective_ <= least + 1e-9
    empty = riata.SparseSurvival(alpha=1.0001 * model.alpha_ / 0.1, **options).fit(rows.X, rows.y, rows.weight)
    assert not empty.coef_.any()
    assert np.all(empty.predict(rows.X) == 0.0)


@pytest.mark.parametrize("loss", ["cox", "cox-efron"])
def test_an_offset_is_added_to_margins(loss, tmp_path):
    rows, offset = make(60, 5), np.random.default_rng(1).normal(size=60)
    asked = {"loss": loss, "alpha": 0.02, "standardize": False, "tol": 1e-9}
    model = riata.SparseSurvival(**asked).fit(rows.X, rows.y, rows.weight, offset=offset)
    assert_allclose(model.objective_, reference(rows, loss == "cox-efron", 0.02, 1.0, 1.0, offset), rtol=1e-6)
    assert model.gap_ <= 1e-9
    assert_allclose(model.predict(rows.X, offset=offset), model.predict(rows.X) + offset)
    assert_allclose(
        model.score(rows.X, rows.y, offset=offset), concordance(rows.signed, model.predict(rows.X, offset=offset))
    )
    moved = riata.SparseSurvival(**asked).fit(rows.X, rows.y, rows.weight, offset=offset + 3.0)
    assert_allclose(moved.coef_, model.coef_, atol=1e-6)  # only differences count
    entered = riata.SparseSurvival(**asked).fit(rows.X, rows.y, rows.weight, offset=offset, entry=np.zeros(60))
    assert_allclose(entered.coef_, model.coef_, atol=1e-6)
    table = pa.table({f"x{j}": rows.X[:, j] for j in range(5)} | {"t": rows.time, "e": rows.event, "o": offset})
    pq.write_table(table.append_column("w", pa.array(rows.weight)), tmp_path / "rows.parquet")
    data = riata.open(tmp_path / "rows.parquet", "t", event="e", offset="o", weight="w")
    assert_allclose(riata.SparseSurvival(**asked).fit(data).coef_, model.coef_, atol=1e-6)


@pytest.mark.parametrize("loss", ["cox", "cox-efron"])
@pytest.mark.parametrize("given", [("strata",), ("entry",), ("strata", "entry")], ids="+".join)
def test_strata_and_late_entries_reach_the_minimum(loss, given, tmp_path):
    rows = make(90, 4)
    beside = {"strata": rows.stratum, "entry": rows.entry}
    beside = {name: beside[name] for name in given}
    names = {"strata": "stratum", "entry": "entry"}

    def F(w):
        own = {names[name]: values for name, values in beside.items()}
        return cox_loss(rows.X @ w, rows.time, rows.event, rows.weight, loss == "cox-efron", **own)

    model = riata.SparseSurvival(alpha=0.0, loss=loss, tol=1e-10).fit(rows.X, rows.y, rows.weight, **beside)
    assert model.converged_
    assert_allclose(model.objective_, F(model.coef_), rtol=1e-10)
    slope = approx_fprime(model.coef_, F, 1e-7)
    assert np.abs(slope * rows.X.std(axis=0)).max() < 1e-4
    table = pa.table({f"c{j}": x for j, x in enumerate(rows.X.T)} | {"days": rows.time, "died": rows.event, **beside})
    table = table.append_column("w", pa.array(rows.weight))
    data = riata.open(table, "days", event="died", weight="w", **{name: name for name in given})
    assert data.n_features == 4
    lasso = riata.SparseSurvival(alpha_ratio=0.1, loss=loss, tol=1e-9)
    array = lasso.fit(rows.X, rows.y, rows.weight, **beside).coef_
    assert_allclose(lasso.fit(data).coef_, array, atol=1e-8)
    chunks = Chunked(rows.X, rows.signed, 7, rows.weight)  # as files are read
    chunks.facts = chunks.facts.but(survival=True, marks=MarksGiven(beside, 90))
    assert_allclose(lasso.fit(chunks).coef_, array, atol=1e-6)
    chosen = riata.SparseSurvival(alpha="auto", cv=3, n_alphas=4, loss=loss).fit(rows.X, rows.y, **beside)
    assert np.isfinite(chosen.selection_.scores).all()


@pytest.mark.parametrize("loss", ["cox", "cox-efron"])
def test_times_that_risks_tell_almost_wholly_are_certified(loss):
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(120, 5)), rng.normal(size=120)
    y = np.rec.fromarrays(
        [np.ones(120, bool), np.exp(2.0 * X[:, 1] - 3.0 * X[:, 0] + 0.02 * noise)], names="event, time"
    )
    model = riata.SparseSurvival(alpha=1e-3, loss=loss).fit(X, y)
    assert model.gap_ <= 1e-6
    assert len(model.history_) < 30


def test_weights_are_copies_of_rows_and_order_does_not_count():
    rows = make(80, 6)
    times = np.random.default_rng(0).integers(0, 4, 80)
    weighted = riata.SparseSurvival(alpha=0.02, tol=1e-11).fit(rows.X, rows.y, times)
    copies = np.random.default_rng(1).permutation(np.repeat(np.arange(80), times))
    copied = riata.SparseSurvival(alpha=0.02, tol=1e-11).fit(rows.X[copies], rows.y[copies])
    assert_allclose(copied.coef_, weighted.coef_, atol=1e-6)
    assert_allclose(copied.cum_baseline_hazard_, weighted.cum_baseline_hazard_, rtol=1e-5)


def test_columns_far_from_zero_and_features_always_in():
    rows = make(100, 6)
    options = {"alpha_ratio": 0.2, "penalty_factors": [0, 1, 1, 1, 1, 2], "tol": 1e-6}
    here = riata.SparseSurvival(**options).fit(rows.X, rows.y)
    far = riata.SparseSurvival(**options).fit(rows.X + 1e4, rows.y)
    assert here.coef_[0] != 0.0
    assert far.converged_
    assert_allclose(far.predict(rows.X + 1e4), here.predict(rows.X), atol=1e-4)


def test_a_penalty_that_is_not_convex_ends_where_its_conditions_hold():
    rows, alpha, ones = make(seed=3), 0.05, np.ones(120)
    found = riata.SparseSurvival(alpha=alpha, penalty="mcp", standardize=False, tol=1e-8).fit(rows.X, rows.y)
    X, w = rows.X - rows.X.mean(axis=0), found.coef_
    slope = approx_fprime(w, lambda w: cox_loss(X @ w, rows.time, rows.event, ones, False))
    on = w != 0
    assert 0 < on.sum() < len(w)
    assert_allclose(slope[on], -np.sign(w[on]) * np.maximum(alpha - np.abs(w[on]) / 3.0, 0.0), atol=1e-5)
    assert np.abs(slope[~on]).max() <= alpha


def test_curves_of_the_empty_model_are_those_of_nelson_and_aalen():
    rows = make(50, 3)
    model = riata.SparseSurvival(alpha=1e3).fit(rows.X, rows.y)
    times = np.unique(rows.time[rows.event])
    hazard = [np.sum(rows.event & (rows.time == t)) / np.sum(rows.time >= t) for t in times]
    assert_allclose(model.unique_times_, times)
    assert_allclose(model.cum_baseline_hazard_, np.cumsum(hazard))
    curves = model.predict_survival_function(rows.X[:2])
    assert_allclose(curves[0](times), np.exp(-np.cumsum(hazard)))
    assert curves[1](times[0] / 2) == 1.0
    assert_allclose(model.predict_cumulative_hazard_function(rows.X[:2], return_array=True)[1], np.cumsum(hazard))


def test_concordance_counts_every_pair():
    rows = make(70, 3)
    risk = np.round(np.random.default_rng(0).normal(size=70), 1)  # with ties
    good = pairs = 0.0
    for i in np.flatnonzero(rows.event):
        for j in range(70):
            if rows.time[j] > rows.time[i] or (rows.time[j] == rows.time[i] and not rows.event[j]):
                pairs += rows.weight[i] * rows.weight[j]
                good += rows.weight[i] * rows.weight[j] * (0.5 * (risk[j] <= risk[i]) + 0.5 * (risk[j] < risk[i]))
    assert_allclose(concordance(rows.signed, risk, rows.weight), good / pairs)
    assert np.isnan(concordance(np.array([-1.0, -2.0]), risk[:2]))
    for n in (1, 2, 3, 4, 5, 8, 9):
        assert_allclose(concordance(np.arange(1.0, n + 1), -np.arange(n)), 1.0 if n > 1 else np.nan)


def test_a_model_of_a_file_predicts_the_same(tmp_path):
    rows = make(80, 6)
    model = riata.SparseSurvival(alpha_ratio=0.1).fit(rows.X, rows.y)
    model.to_model().save(tmp_path / "model.json")
    loaded = riata.load_model(tmp_path / "model.json")
    assert_allclose(loaded.predict(rows.X), model.predict(rows.X))
    assert_allclose(
        loaded.hazard.survival(loaded.predict(rows.X[:3])),
        model.predict_survival_function(rows.X[:3], return_array=True),
    )


def test_wrong_targets_get_a_sentence():
    X = np.eye(4)
    event, time = np.array([True, False, True, True]), np.array([1.0, 2.0, 3.0, 4.0])

    def fit(y):
        riata.SparseSurvival().fit(X, y)

    def structured(event, time):
        return np.rec.fromarrays([event, time], names="event, time")

    for wrong, sentence in (
        (structured(event, time - 1), "row 1: the time is 0, and times to an event are positive"),
        (structured(event, time - 2), "row 1: the time is -1"),
        (structured(event, np.where(time == 3, np.nan, time)), "y has no value in row 3"),
        (structured(2 * event, time), "row 1: the event is .*2.*, and must be 1"),
        (structured(event & False, time), "no row has an event"),
        (time, "y must be times with their events"),
    ):
        with pytest.raises(DataError, match=sentence):
            fit(wrong)


def test_what_cannot_be_combined_gets_a_sentence():
    rows = make(30, 3)
    data = riata.open(rows.X, rows.signed, task="survival")
    for options, sentence in (
        ({"k": 2, "groups": np.arange(rows.X.shape[1]) // 2}, "groups beside k go with losses of single rows"),
        ({"k": 2, "certify": True}, "certify is for losses of one margin for each row by itself, and 'cox' is none"),
        ({"alpha": 0.1, "solver": "online"}, "solver 'online' takes losses of single rows"),
        ({"alpha": 0.1, "device": "cuda"}, "loss 'cox' is not there on a GPU"),
    ):
        with pytest.raises(OptionError, match=sentence):
            riata.train(data, riata.Spec(loss="cox", **options))
    with pytest.raises(OptionError, match="strata goes with times to events"):
        riata.train(riata.open(rows.X, rows.time, strata=rows.stratum), riata.Spec(alpha=0.1))
    with pytest.raises(DataError, match="an entry is before the time of the row"):
        riata.SparseSurvival().fit(rows.X, rows.y, entry=rows.time)
    with pytest.raises(OptionError, match="loss must be one of cox, cox-efron here, not 'squared'"):
        riata.train(data, riata.Spec(alpha=0.1))


def test_alpha_is_chosen_by_the_partial_likelihood_of_held_out_rows():
    rows = make(150, 8)
    folds = np.arange(150) % 3
    model = riata.SparseSurvival(alpha="auto", select="cv", cv=folds, n_alphas=6).fit(rows.X, rows.y, rows.weight)
    scores = np.zeros(len(model.path_))
    for fold in range(3):
        learnt, rest = folds != fold, folds == fold
        for i, alpha in enumerate(model.path_.alphas):
            of_fold = riata.SparseSurvival(alpha=alpha, tol=1e-4).fit(
                rows.X[learnt], rows.y[learnt], rows.weight[learnt]
            )
            z, w = of_fold.predict(rows.X[rest]), rows.weight[rest]
            scores[i] += w.sum() * cox_loss(z, rows.time[rest], rows.event[rest], w, False)
    assert_allclose(model.selection_.scores, scores / rows.weight.sum(), rtol=1e-2)
    by_others = riata.SparseSurvival(alpha="auto", select="validation", n_alphas=6)
    by_others.fit(rows.X[:100], rows.y[:100], validation=(rows.X[100:], rows.y[100:]))
    losses = [
        cox_loss(rows.X[100:] @ w, rows.time[100:], rows.event[100:], np.ones(50), False) for w in by_others.path_.coefs
    ]
    assert_allclose(by_others.selection_.scores, losses, rtol=1e-9)


def test_paths_are_those_of_single_fits():
    rows = make(80, 8)
    path = riata.path(riata.open(rows.X, rows.y), riata.Spec(loss="cox-efron", tol=1e-8), length=5, reach=0.1)
    single = riata.SparseSurvival(alpha=path.alphas[-1], loss="cox-efron", tol=1e-8).fit(rows.X, rows.y)
    assert_allclose(path.objectives[-1], single.objective_, rtol=1e-7)
    assert path.gaps.max() <= 1e-8


def test_files_give_the_same_model_in_a_small_budget(tmp_path):
    rows = make(4000, 8, ties=False)
    kind = np.where(rows.stratum == 1, "a", "b")
    table = pa.table(
        {f"c{j}": x for j, x in enumerate(rows.X.T)} | {"kind": kind, "days": rows.time, "died": rows.event}
    )
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=200)
    roles = {"target": "days", "event": "died"}
    fitted = [
        riata.train(riata.open(tmp_path / "rows.parquet", memory=memory, **roles), riata.Spec(alpha=0.02, loss="cox"))
        for memory in ("100MB", "1MB")
    ]
    assert_allclose(fitted[1].coef, fitted[0].coef, atol=1e-5)
    frame = riata.SparseSurvival(alpha=0.02).fit(table.select([*table.column_names[:9]]), rows.y)
    assert_allclose(frame.coef_, fitted[0].coef[0], atol=1e-9)
    model = fitted[1].to_model()
    assert model.target == "days"
    assert_allclose(model.score(tmp_path / "rows.parquet"), frame.score(table.select(table.column_names[:9]), rows.y))


@pytest.mark.parametrize(("n_times", "n_weights"), [(10, 20), (30, 20), (20, 10), (20, 30)])
def test_a_score_asks_for_as_many_times_and_weights_as_rows(rng, n_times, n_weights):
    X, y = rng.normal(size=(30, 2)), np.rec.fromarrays([np.full(30, True), 1.0 + np.arange(30)], names="event, time")
    model = riata.SparseSurvival(alpha=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"number|shape"):
        model.score(X[:20], y[:n_times], np.ones(n_weights))


@pytest.mark.parametrize("late", [False, True])
def test_each_stratum_has_a_baseline_of_its_own(late, tmp_path):
    rows = make(150, 4)
    clinic = np.array(["north", "south", "east"])[rows.stratum]
    beside = {"strata": clinic} | ({"entry": rows.entry} if late else {})
    model = riata.SparseSurvival(alpha_ratio=0.1).fit(rows.X, rows.y, sample_weight=rows.weight, **beside)
    entry, times = rows.entry if late else np.zeros(150), model.unique_times_
    hazard = rows.weight * np.exp(model.predict(rows.X))

    def cumulative(stratum, end):
        total = 0.0
        for at in np.unique(rows.time[rows.event & (clinic == stratum) & (rows.time <= end)]):
            dying = rows.event & (clinic == stratum) & (rows.time == at)
            at_risk = (clinic == stratum) & (rows.time >= at) & (entry < at)
            total += rows.weight[dying].sum() / hazard[at_risk].sum()
        return total

    found = model.predict_cumulative_hazard_function(rows.X[:5], return_array=True, strata=clinic[:5])
    own = [[cumulative(stratum, end) for end in times] for stratum in clinic[:5]]
    assert_allclose(found, np.exp(model.predict(rows.X[:5]))[:, None] * own, rtol=1e-9)
    together = model.predict_survival_function(rows.X[:5], return_array=True)
    assert np.abs(together - np.exp(-found)).max() > 0.01
    model.to_model().save(tmp_path / "m.json")
    loaded = riata.load_model(tmp_path / "m.json")
    curves = loaded.survival(rows.X[:5], times, strata=clinic[:5])
    assert_allclose(curves, model.predict_survival_function(rows.X[:5], return_array=True, strata=clinic[:5]))
    with pytest.raises(DataError, match="row 2 is of a stratum that no event"):
        loaded.survival(rows.X[:2], times, strata=["north", "west"])
    with pytest.raises(DataError, match="there are 2 rows of data but 1 values of strata"):
        loaded.survival(rows.X[:2], times, strata=["north"])
    alone = riata.SparseSurvival(alpha_ratio=0.1).fit(rows.X, rows.y)
    with pytest.raises(OptionError, match="fitted without strata"):
        alone.predict_survival_function(rows.X[:1], strata=["north"])
