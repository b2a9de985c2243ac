"""What decides the fold of a row, against scikit-learn's splitters and against what each rule promises."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    TimeSeriesSplit,
)

from riata.data import fold_rules, row_numbers
from riata.data.fold_rules import as_given, forward, grouped, numbered, order_statistics, stratified
from riata.data.row_marks import Mark, MarksGiven, hashes_of
from riata.data.row_numbers import RowNumbers
from riata.errors import DataError, OptionError

N = 300


def mark(role, values):
    return MarksGiven({role: values}, len(values))[role]


def rows_of(folds, n=N):
    """(rows learnt from, rows scored) of every fold."""
    positions = np.arange(n)
    return [
        (np.flatnonzero(folds.learnt(i)(positions)), np.flatnonzero(folds.scored(i)(positions)))
        for i in range(folds.n_folds)
    ]


def assert_same_pairs(ours, theirs):
    theirs = list(theirs)
    assert len(ours) == len(theirs)
    for (learnt, scored), (train, test) in zip(ours, theirs, strict=True):
        assert_array_equal(learnt, np.sort(train))
        assert_array_equal(scored, np.sort(test))


@pytest.fixture(params=["in memory", "on disk"])
def place(request, monkeypatch):
    """Numbers of rows in memory, and in a file that is read a few rows at a time."""
    if request.param == "on disk":
        monkeypatch.setattr(row_numbers, "MOST_IN_MEMORY", 64)
        monkeypatch.setattr(row_numbers, "AT_ONCE", 7)
        monkeypatch.setattr(fold_rules, "SORTED_AT_ONCE", 10)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("n_folds", [2, 3, 5, 10])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.97, 0.03), (0.6, 0.3, 0.1)])
def test_every_fold_has_the_same_share_of_every_class(rng, n_folds, shares):
    for y in (classes := rng.choice(len(shares), N, p=shares), np.sort(classes)):
        folds = stratified(RowNumbers(np.uint16, [y]), n_folds, seed=3)
        codes = folds.code_of(np.arange(N))
        for one in range(len(shares)):
            counts = np.bincount(codes[y == one], minlength=n_folds)
            assert counts.max() - counts.min() <= 1
        assert folds.used.stratified


@pytest.mark.parametrize("classes", [[0, 1, 0, 1, 0, 1], [0, 1, 2, 0, 1, 2], [0, 1, 0, 1, 1]])
@pytest.mark.parametrize("seed", range(4))
def test_no_fold_is_empty_where_each_class_has_fewer_rows_than_there_are_folds(classes, seed):
    y = np.array(classes)
    folds = rows_of(stratified(RowNumbers(np.uint16, [y]), 5, seed), len(y))
    assert all(len(scored) for _, scored in folds)
    assert all(np.bincount(y[scored]).max() == 1 for _, scored in folds)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("n_folds", [2, 5])
@pytest.mark.parametrize("n_groups", [5, 40, 200])
@pytest.mark.parametrize("sizes", ["even", "uneven"])
def test_groups_stay_whole_in_folds_as_even_as_those_of_scikit_learn(rng, n_folds, n_groups, sizes):
    draw = rng.random(N) ** (3 if sizes == "uneven" else 1)
    groups = np.concatenate([np.arange(n_groups), (draw * n_groups).astype(int)])[:N]
    for seed in (0, 1):
        codes = grouped(mark("groups", groups), n_folds, seed).code_of(np.arange(N))
        for group in np.unique(groups):
            assert len(np.unique(codes[groups == group])) == 1
        theirs = [len(test) for _, test in GroupKFold(n_folds).split(groups, groups=groups)]
        assert_array_equal(np.sort(np.bincount(codes)), np.sort(theirs))


def test_groups_without_ties_are_divided_as_scikit_learn_does():
    groups = np.repeat(np.arange(12), np.arange(1, 13))
    ours = {tuple(scored) for _, scored in rows_of(grouped(mark("groups", groups), 3), len(groups))}
    assert ours == {tuple(test) for _, test in GroupKFold(3).split(groups, groups=groups)}
    y = np.arange(len(groups)) % 3 % 2
    spread = np.array([np.bincount(y[groups == g], minlength=2).std() for g in range(12)])
    folds = grouped(mark("groups", groups), 3, strata=RowNumbers(np.uint16, [y]))
    theirs = [np.bincount(y[test]) for _, test in StratifiedGroupKFold(3).split(y, y, groups)]
    ours = [np.bincount(y[scored]) for _, scored in rows_of(folds, len(groups))]
    assert folds.used.stratified
    assert np.std(ours, axis=0).mean() <= np.std(theirs, axis=0).mean() + spread.max() / 3


def test_another_seed_gives_other_folds_of_groups_and_halves_are_random():
    groups = mark("groups", np.repeat(np.arange(60), 5))
    for options in ({}, {"at_random": True}, {"by_value": True}):
        one, other = (grouped(groups, 2, seed, **options).code_of(np.arange(N)) for seed in (1, 2))
        assert 0.2 < np.mean(one == other) < 0.8
        assert 0.2 < np.mean(one) < 0.8


@pytest.mark.parametrize("options", [{}, {"by_value": True}])
def test_a_group_has_the_same_fold_whatever_its_type(options, monkeypatch):
    numbers = np.arange(N) % 40
    found = [
        grouped(mark("groups", values), 3, **options).code_of(np.arange(N))
        for values in (numbers, numbers.astype(float), numbers.astype(np.uint8), pd.Series(numbers, dtype="Int64"))
    ]
    for codes in found[1:]:
        assert_array_equal(codes, found[0])
    names = numbers.astype(str)
    words = [
        grouped(mark("groups", values), 3, **options).code_of(np.arange(N))
        for values in (names, pd.Series(names, dtype="category"), pd.Series(names, dtype="string"))
    ]
    for codes in words:
        assert_array_equal(codes, found[0])


def test_a_fold_by_value_does_not_depend_on_other_rows(monkeypatch, rng):
    groups = rng.integers(0, 50, N)
    whole = grouped(mark("groups", groups), 3, by_value=True).code_of(np.arange(N))
    part = grouped(mark("groups", groups[::3]), 3, by_value=True).code_of(np.arange(N // 3))
    assert_array_equal(whole[::3], part)
    monkeypatch.setattr(fold_rules, "MOST_BALANCED", 10)  # too many groups to even out
    assert_array_equal(grouped(mark("groups", groups), 3).code_of(np.arange(N)), whole)


def test_numbers_have_the_same_hash_as_text():
    whole = [0, 7, -7, 12, 2**53 + 1, -(2**63)]
    assert_array_equal(hashes_of(pa.array(whole)), hashes_of(pa.array(map(str, whole))))
    others = [0.5, -1.25, 12.0, 3e-5]
    assert_array_equal(hashes_of(pa.array(others)), hashes_of(pa.array([f"{value:f}" for value in others])))
    apart = ["7", "007", "7a", "", "1" * 30, "7,5"]
    assert len(set(hashes_of(pa.array(apart)).tolist())) == len(apart)


def test_hashes_of_text_are_the_same_everywhere():
    assert hashes_of(pa.array(["a", "b"])).tolist() == [3405396810240292928, 8453121595177857668]


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("n_folds", [2, 4, 5])
@pytest.mark.parametrize("gap", [0, 1, 30])
def test_blocks_in_time_are_those_of_scikit_learn(rng, n_folds, gap):
    order = rng.permutation(N)
    times = np.empty(N)
    times[order] = np.arange(N)
    dates = pd.Timestamp("2021-03-01") + pd.to_timedelta(times, unit="D")
    theirs = [(order[train], order[test]) for train, test in TimeSeriesSplit(n_folds, gap=gap).split(order)]
    for values in (times, times.astype(int), dates):
        assert_same_pairs(rows_of(forward(mark("time", values), n_folds, float(gap))), theirs)


@pytest.mark.usefixtures("place")
def test_rows_of_the_same_time_are_in_the_same_block(rng):
    days = rng.integers(0, 30, N)
    for gap in (0.0, 2.0):
        for learnt, scored in rows_of(forward(mark("time", days), 4, gap)):
            assert days[learnt].max() < days[scored].min() - gap
            assert not set(days[scored]) & set(days[np.setdiff1d(np.arange(N), scored)])


@pytest.mark.usefixtures("place")
def test_order_statistics(rng):
    values = np.concatenate([rng.normal(size=100), -np.exp(rng.normal(size=100) * 20), np.zeros(100)])
    ranks = [0, 1, 50, 99, 100, 150, 200, N - 2, N - 1]
    found = order_statistics(RowNumbers(np.float64, [values]), ranks)
    assert_array_equal(found, np.sort(values)[ranks])


def test_a_column_of_fold_numbers_is_a_predefined_split(rng):
    numbers = rng.integers(-1, 4, N)
    assert_same_pairs(rows_of(numbered(mark("folds", numbers))), PredefinedSplit(numbers).split())
    assert numbered(mark("folds", numbers + 2)).n_folds == 5


@pytest.mark.parametrize(
    "splitter",
    [KFold(4), ShuffleSplit(6, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2, random_state=1),
     TimeSeriesSplit(3, gap=5, max_train_size=60), LeaveOneGroupOut()],
    ids=lambda splitter: type(splitter).__name__,
)  # fmt: skip
def test_pairs_of_rows_are_kept_as_they_are(splitter):
    groups = {"groups": np.arange(N) // 60} if isinstance(splitter, LeaveOneGroupOut) else {}
    pairs = list(splitter.split(np.zeros(N), **groups))
    assert_same_pairs(rows_of(as_given(pairs, N)), pairs)
    masks = [tuple(np.isin(np.arange(N), rows) for rows in pair) for pair in pairs]
    assert_same_pairs(rows_of(as_given(masks, N)), pairs)
    kept = np.arange(N) % 7 > 0
    place = np.cumsum(kept) - 1
    some = [tuple(place[rows[kept[rows]]] for rows in pair) for pair in pairs]
    assert_same_pairs(rows_of(as_given(pairs, int(kept.sum()), kept=kept), int(kept.sum())), some)


def test_folds_travel():
    folds = stratified(RowNumbers(np.uint16, [np.arange(N) % 2]), 3)
    back = pickle.loads(pickle.dumps(folds.scored(1)))
    assert_array_equal(back(np.arange(N)), folds.scored(1)(np.arange(N)))


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: grouped(mark("groups", np.zeros(9)), 3), OptionError, "3 folds need as many groups, and 'group"),
        (lambda: mark("groups", ["a", None]), DataError, "row 2: 'groups' has no value there"),
        (lambda: mark("groups", [1.0, np.nan]), DataError, "row 2: 'groups' has no value there"),
        (lambda: mark("time", [1.0, np.inf]), DataError, "row 2: 'time' holds inf, which is not a time"),
        (lambda: mark("time", ["2020-01-01", "soon"]), DataError, "row 2: column 'time' holds 'soon', which is no"),
        (lambda: forward(mark("time", np.zeros(9)), 2), OptionError, "'time' has too few different times"),
        (lambda: forward(mark("time", np.arange(3)), 5), OptionError, "'time' has too few different times"),
        (lambda: forward(mark("time", np.arange(9)), 2, 50.0), OptionError, "fold 1 of 2 has no rows to learn from"),
        (lambda: mark("folds", [0, 1.5]), DataError, "row 2: 'folds' holds 1.5, which is not a fold number"),
        (lambda: mark("folds", ["a", "b"]), DataError, "where fold numbers are wanted"),
        (lambda: numbered(mark("folds", [3, 3, -1])), DataError, "must number at least 2 folds"),
        (lambda: numbered(mark("folds", np.arange(2000))), DataError, "more than 1000 different values"),
        (lambda: as_given([([0], [1])], 2), OptionError, "at least 2 folds, and it gives 1"),
        (lambda: as_given([([0], [2]), ([1], [0])], 2), OptionError, "fold 1 of cv names rows that are not there"),
        (lambda: as_given([([0], [1]), ([0, 1], [0])], 2), OptionError, "fold 2 of cv scores rows that it learns from"),
        (lambda: as_given([([0], [1]), ([], [0])], 2), OptionError, "fold 2 of cv has no rows to learn from"),
        (lambda: as_given([([0], []), ([1], [0])], 2), OptionError, "fold 1 of cv has no rows to score"),
        (lambda: as_given([([0], [1])] * 1001, 2), OptionError, "cv makes more than 1000 folds"),
        (lambda: as_given([3, 4], 2), OptionError, "cv must be a number of folds"),
        (lambda: MarksGiven({"groups": [1, 2]}, 3), DataError, "there are 3 rows of data but 2 values of groups"),
    ],
)  # fmt: skip
def test_what_cannot_be_folds_gets_a_sentence(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


def test_marks_of_some_rows():
    whole = MarksGiven({"groups": np.arange(10), "time": np.arange(10.0)}, 10)
    some = whole.of_rows(lambda positions: positions % 3 == 0)
    assert isinstance(some["time"], Mark)
    assert_array_equal(some["time"].numbers.all(), [0, 3, 6, 9])
