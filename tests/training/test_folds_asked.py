"""Folds that are asked for: of arrays, frames and files, for every rule and loss, with what is said of them."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, StratifiedKFold, TimeSeriesSplit

import riata
from riata.data.folds import some_rows
from riata.data.in_memory import InMemory
from riata.data.row_marks import MarksGiven
from riata.errors import DataError, OptionError
from riata.model.saved_model import load_model
from riata.outcome.folds_used import FoldKind, FoldsUsed, folds_in_words
from riata.training.selection.folds_asked import folds_asked, halves_of
from riata.training.spec import Spec

N = 240
SMALL = {"n_alphas": 8, "k_max": 3}


@pytest.fixture
def table(rng):
    """Rows of 30 customers on 240 days, whose noise is shared by customers."""
    customer = rng.permutation(np.arange(N) % 30)
    X = rng.normal(size=(N, 5))
    y = X[:, 0] - X[:, 1] + rng.normal(size=30)[customer] + 0.5 * rng.normal(size=N)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["y"], frame["customer"] = y, [f"c{i}" for i in customer]
    frame["day"] = rng.permutation(pd.date_range("2020-01-01", periods=N).to_numpy())
    frame["fold"] = rng.integers(0, 4, N)
    return frame


FEATURES = list("abcde")
COLUMNS = {"groups": "customer", "time": "day", "folds": "fold"}


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize(
    "cv",
    [KFold(3), GroupKFold(3), TimeSeriesSplit(3), StratifiedKFold(3)],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_a_splitter_is_the_same_as_its_pairs(table, cv, loss):
    X, y, groups = table[FEATURES].to_numpy(), table["y"].to_numpy(), table["customer"].to_numpy()
    model = riata.SparseRegressor(alpha="auto", loss=loss, **SMALL)
    if isinstance(cv, StratifiedKFold):
        model, y = riata.SparseClassifier(alpha="auto", **SMALL), y > 0
    by_splitter = clone(model).set_params(cv=cv).fit(X, y, groups=groups)
    assert by_splitter.selection_.choice.scores.folds == FoldsUsed(FoldKind.SPLITTER, 3, type(cv).__name__)
    if isinstance(cv, GroupKFold):  # it orders groups by their labels, and is given numbers for them
        return
    pairs = list(cv.split(X, y))
    by_pairs = clone(model).set_params(cv=pairs).fit(X, y)
    assert_allclose(by_splitter.selection_.fold_scores, by_pairs.selection_.fold_scores)
    once = clone(model)
    once.cv = iter(pairs)
    assert_allclose(once.fit(X, y).selection_.fold_scores, by_pairs.selection_.fold_scores)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4, gap=3), KFold(5)], ids=["time", "rows"])
def test_scores_are_those_of_scikit_learn(table, cv):
    X, y = table[FEATURES].to_numpy(), table["y"].to_numpy()
    ours = riata.SparseRegressor(alpha="auto", select="cv", cv=cv, standardize=False, tol=1e-12, n_alphas=6).fit(X, y)
    theirs = LassoCV(alphas=ours.path_.values, cv=cv, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(ours.selection_.fold_scores.T, theirs.mse_path_, rtol=1e-6)


def opened_in_all_ways(frame, folder, **roles):
    """The same rows from memory and from files, in memory and a few at a time."""
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", row_group_size=50)
    yield riata.open(frame, target="y", features=FEATURES, **roles)
    yield riata.open(str(folder / "rows.csv"), target="y", features=FEATURES, **roles)
    yield riata.open(str(folder / "rows.csv"), target="y", features=FEATURES, memory="1MB", **roles)
    yield riata.open(str(folder / "rows.parquet"), target="y", features=FEATURES, memory="1MB", **roles)
    yield riata.open((frame[i : i + 70] for i in range(0, len(frame), 70)), target="y", features=FEATURES, **roles)


@pytest.mark.parametrize("role", COLUMNS)
@pytest.mark.parametrize("classes", [False, True])
def test_folds_do_not_depend_on_where_rows_lie(table, tmp_path, role, classes):
    if classes:
        table["y"] = np.where(table["y"] > 0, "high", "low")
    column, spec = COLUMNS[role], Spec(cv=4, seed=1)
    found = [
        folds_asked(data, spec).code_of(np.arange(N)) for data in opened_in_all_ways(table, tmp_path, **{role: column})
    ]
    arrays = InMemory(table[FEATURES], pd.factorize(table["y"], sort=True)[0] if classes else table["y"],
                      classes=np.array(["high", "low"]) if classes else None)  # fmt: skip
    arrays.facts = arrays.facts.but(marks=MarksGiven({role: table[column]}, N))
    for codes in found:
        assert_array_equal(codes, folds_asked(arrays, spec).code_of(np.arange(N)))


@pytest.mark.parametrize("role", COLUMNS)
@pytest.mark.parametrize("options", [{"alpha": "auto"}, {"k": "auto"}, {"alpha": "auto", "loss": "huber"}], ids=str)
def test_files_choose_as_arrays_do_and_say_by_what(table, tmp_path, role, options):
    models = [
        riata.SparseRegressor(**options, cv=4, **SMALL).fit(data)
        for data in opened_in_all_ways(table, tmp_path, **{role: COLUMNS[role]})
    ]
    for model in models:
        assert_allclose(model.selection_.fold_scores, models[0].selection_.fold_scores, rtol=1e-5)
        assert COLUMNS[role] in model.selection_.reason
    file = tmp_path / "model.json"
    models[0].to_model().save(file)
    used = load_model(file).training.folds
    assert used == models[0].selection_.choice.scores.folds
    assert (used.kind, used.count, used.by) == (FoldKind(role if role != "folds" else "column"), 4, COLUMNS[role])
    assert json.loads(file.read_text())["training"]["folds"]["kind"] == used.kind.value


def test_a_column_of_groups_is_no_feature_unless_it_is_asked_for(table):
    data = riata.open(table, target="y", groups="customer", drop=["day", "fold"])
    assert list(data.feature_names) == FEATURES
    data = riata.open(table, target="y", groups="fold", features=["a", "fold"])
    assert list(data.feature_names) == ["a", "fold"]


def test_rows_without_a_target_or_a_weight_have_no_fold(table, tmp_path):
    table["w"] = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
    table.loc[table.index % 7 == 3, "y"] = np.nan
    used = table[(table["w"] > 0) & table["y"].notna()]
    table.to_csv(tmp_path / "rows.csv", index=False)
    data = riata.open(str(tmp_path / "rows.csv"), target="y", weight="w", features=FEATURES, groups="customer")
    alone = riata.open(used, target="y", features=FEATURES, groups="customer")
    positions = np.arange(len(used))
    assert_array_equal(folds_asked(data, Spec()).code_of(positions), folds_asked(alone, Spec()).code_of(positions))
    whole = table[table["y"].notna()]
    X, y, weight = whole[FEATURES], whole["y"], whole["w"]
    model = riata.SparseRegressor(alpha="auto", cv=whole["fold"].to_numpy(), **SMALL)
    some = clone(model).set_params(cv=whole["fold"][weight > 0].to_numpy())
    heavy, light = model.fit(X, y, weight), some.fit(X[weight > 0], y[weight > 0])
    assert_allclose(heavy.selection_.fold_scores, light.selection_.fold_scores)


def test_grouped_folds_find_out_what_rows_apart_do_not(rng):
    """Columns that only number customers predict their other rows, and nothing about new customers."""
    customer = np.repeat(np.arange(40), 10)
    X = np.hstack([np.eye(40)[customer], rng.normal(size=(400, 1))])
    y = 2 * rng.normal(size=40)[customer] + 2 * X[:, -1] + 0.3 * rng.normal(size=400)
    apart = riata.SparseRegressor(alpha="auto").fit(X, y)
    together = riata.SparseRegressor(alpha="auto").fit(X, y, groups=customer)
    assert apart.get_support()[:40].sum() > 30
    assert together.get_support()[:40].sum() < 10


def test_the_standard_error_weighs_folds_by_their_rows(table):
    X, y = table[FEATURES].to_numpy(), table["y"].to_numpy()
    numbers = np.repeat([0, 1, 2], [150, 60, 30])
    chosen = riata.SparseRegressor(alpha="auto", cv=numbers, **SMALL).fit(X, y).selection_
    weights = np.array([150, 60, 30]) / N
    mean = weights @ chosen.fold_scores
    assert_allclose(chosen.scores, mean)
    assert_allclose(chosen.errors, np.sqrt(weights @ (chosen.fold_scores - mean) ** 2 / 2))


def test_halves_keep_groups_whole_and_shares_of_classes_alike(table):
    customer, y = table["customer"].to_numpy(), (table["y"] > 1).to_numpy().astype(float)
    data = InMemory(table[FEATURES], y, classes=np.array([False, True]))
    halves = [halves_of(data)(seed).code_of(np.arange(N)) for seed in range(3)]
    assert all(abs(int(y[codes == 0].sum()) - int(y[codes == 1].sum())) <= 1 for codes in halves)
    data.facts = data.facts.but(marks=MarksGiven({"groups": customer}, N))
    for seed in range(3):
        codes = halves_of(data)(seed).code_of(np.arange(N))
        assert all(len(set(codes[customer == one])) == 1 for one in set(customer))
        inner = some_rows(data, halves_of(data)(seed).scored(0))
        assert len(folds_asked(inner, Spec(cv=3)).code_of(np.arange(inner.n_rows))) == inner.n_rows
    found = riata.stability_selection(
        riata.SparseRegressor(k=2), table[FEATURES], table["y"], groups=customer, rounds=4
    )
    assert set(found.stable) == {0, 1}


def test_a_column_of_fold_numbers_in_an_array(table):
    X, y = table[FEATURES].to_numpy(), table["y"].to_numpy()
    numbers = table["fold"].to_numpy()
    options = {"alpha": "auto", **SMALL}
    pairs = list(PredefinedSplit(numbers).split())
    by_pairs = riata.SparseRegressor(**options, cv=pairs).fit(X, y).selection_.fold_scores
    for cv in (numbers, numbers.tolist(), table["fold"]):
        assert_allclose(riata.SparseRegressor(**options, cv=cv).fit(X, y).selection_.fold_scores, by_pairs)
    data = riata.open(X, y, folds=numbers)
    assert_allclose(riata.SparseRegressor(**options).fit(data).selection_.fold_scores, by_pairs)


def test_criteria_of_whole_weights_are_those_of_repeated_rows(table, rng):
    X, y = table[FEATURES].to_numpy(), table["y"].to_numpy()
    times = rng.integers(0, 4, N)
    for rule in ("aic", "bic", "ebic"):
        for model, target in ((riata.SparseRegressor, y), (riata.SparseClassifier, y > 0)):
            search = model(alpha="auto", select=rule, n_alphas=6, tol=1e-9)
            weighted = clone(search).fit(X, target, sample_weight=times).selection_
            repeated = clone(search).fit(np.repeat(X, times, axis=0), np.repeat(target, times)).selection_
            assert_allclose(weighted.scores, repeated.scores, rtol=1e-6)
    relative = riata.SparseRegressor(alpha="auto", select="bic", n_alphas=6).fit(X, y, sample_weight=np.full(N, 0.3))
    plain = riata.SparseRegressor(alpha="auto", select="bic", n_alphas=6).fit(X, y)
    assert_allclose(relative.selection_.scores, plain.selection_.scores)


@pytest.mark.parametrize(
    ("options", "beside", "sentence"),
    [
        ({"cv": "fold"}, {}, r"riata.open\(..., folds='fold'\)"),
        ({"cv": 2.5}, {}, "cv must be a whole number of at least 2 folds, a splitter"),
        ({"cv": 1}, {}, "not 1"),
        ({"cv": [3, 4]}, {}, "240 rows of data but 2 values of folds"),
        ({"gap": 3}, {}, "a gap lies between blocks in time"),
        ({"gap": "3 weeks"}, {"time": np.arange(N)}, "gap must be a number, in the unit of 'time'"),
        ({"gap": "1M"}, {"time": pd.date_range("2020", periods=N)}, "a span such as 7d, 12h or 30min, not '1M'"),
        ({"gap": "soon"}, {"time": pd.date_range("2020", periods=N)}, "gap must be days, or a span such as 7d"),
        ({}, {"time": np.arange(N), "groups": np.arange(N)}, "give one of groups and time"),
        ({"cv": KFold(3)}, {"time": np.arange(N)}, "time makes the folds itself"),
        ({"cv": GroupKFold(3)}, {}, "GroupKFold cannot divide these rows: .*give groups beside it"),
        ({}, {"groups": np.arange(N) % 3}, "5 folds need as many groups, and 'groups' has 3 different values"),
        ({}, {"groups": [None] * N}, "row 1: 'groups' has no value there"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence(table, options, beside, sentence):
    with pytest.raises((OptionError, DataError), match=sentence):
        riata.SparseRegressor(alpha="auto", **options).fit(table[FEATURES], table["y"], **beside)


def test_what_columns_cannot_say_gets_a_sentence(table, tmp_path):
    with pytest.raises(DataError, match="there is no column 'client'"):
        riata.open(table, target="y", groups="client")
    with pytest.raises(DataError, match="'y' is the target"):
        riata.open(table, target="y", groups="y")
    with pytest.raises(OptionError, match="is named when data is opened"):
        riata.SparseRegressor(alpha="auto").fit(riata.open(table, target="y"), groups=table["customer"])
    table.loc[17, "customer"] = None
    data = riata.open(table, target="y", features=FEATURES, groups="customer")
    with pytest.raises(DataError, match="row 18: 'customer' has no value there, and folds need one"):
        riata.SparseRegressor(alpha="auto").fit(data)
    riata.SparseRegressor(alpha=0.1).fit(data)  # no folds are made
    gone = riata.open(iter([table]), target="y", features=FEATURES, groups="customer", cache=False)
    with pytest.raises(DataError, match="need a second reading, and this stream can be read only once"):
        riata.SparseRegressor(alpha="auto").fit(gone)
    early = table.sort_values("day").assign(late=np.arange(N) > 230)
    with pytest.raises(DataError, match="fold 1 of 5 has only rows of one of the two classes to learn from"):
        riata.SparseClassifier(alpha="auto").fit(early[FEATURES], early["late"], time=early["day"])


@pytest.mark.parametrize(
    ("used", "words"),
    [
        (FoldsUsed(FoldKind.POSITION, 5, seed=0), "5 folds"),
        (FoldsUsed(FoldKind.CLASSES, 5, stratified=True), "5 folds stratified by class"),
        (FoldsUsed(FoldKind.GROUPS, 5, "customer"), "5 folds by customer"),
        (FoldsUsed(FoldKind.GROUPS, 5, "customer", True), "5 folds by customer, stratified by class"),
        (FoldsUsed(FoldKind.TIME, 4, "day", gap="7d"), "4 folds forward in time by day with a gap of 7d"),
        (FoldsUsed(FoldKind.TIME, 4, "time"), "4 folds forward in time"),
        (FoldsUsed(FoldKind.COLUMN, 3, "fold"), "3 folds numbered in fold"),
        (FoldsUsed(FoldKind.SPLITTER, 3, "GroupKFold"), "3 folds of GroupKFold"),
        (FoldsUsed(FoldKind.SPLITTER, 3), "3 folds as given"),
    ],
)
def test_folds_in_words_and_in_files(used, words):
    assert folds_in_words(used) == words
    assert FoldsUsed.from_json(json.loads(json.dumps(used.to_json()))) == used
    assert FoldsUsed.from_json({"kind": "of a later version", "count": 3}) is None


def test_rare_classes_keep_their_features(rng):
    """The standard error of a score is not that of the share of positives in the folds."""
    X, weights = rng.normal(size=(8000, 12)), np.r_[1.0, 0.9, 0.8, 0.7, np.zeros(8)]
    y = rng.random(8000) < 1 / (1 + np.exp(5.5 - X @ weights))
    options = {"alpha": "auto", "n_alphas": 12, "tol": 1e-3}
    alike = riata.SparseClassifier(**options).fit(X, y)
    uneven = riata.SparseClassifier(**options, cv=np.repeat(np.arange(5), 1600)).fit(X, y)
    best = int(np.argmin(alike.selection_.scores))
    assert alike.selection_.errors[best] < uneven.selection_.errors[best]
    assert alike.get_support()[:4].all()
