"""One encoding per model: new rows become features by the encoding that the model learnt with, whichever way they come.

Later days count from another first day, their gaps have another mean, their hashed levels other names: an encoding of
their own gives numbers that are far off, as the scores here would show.
"""

import json

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import riata
from riata.cli import main
from riata.data.opening.convert import convert
from riata.errors import DataError, OptionError
from riata.plot.tested import tested as tried

COLUMNS = {"text": ["note"], "categorical": ["code"], "max_levels": 8, "hash_bits": 10}
WORDS = ("late", "early", "calm", "storm", "snow")
CITIES = [f"city{i}" for i in range(12)]  # more than max_levels: hashed


def rows(days: range, rng, mean: float) -> pd.DataFrame:
    """A row per day with a column of every kind, and targets that are exact in the features of the first days."""
    n = len(days)
    words = rng.integers(0, 2, (n, len(WORDS))).astype(bool)
    frame = pd.DataFrame(
        {
            "day": pd.Timestamp("2013-01-01") + pd.to_timedelta(list(days), unit="D"),
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(mean, 1.0, n)),
            "code": rng.choice(["007", "012", "100"], n),
            "city": rng.choice(CITIES if mean < 10 else [*CITIES[::-1], "new"], n),
            "note": [" ".join(np.array(WORDS)[row]) or "none" for row in words],
            "w": rng.integers(1, 4, n).astype(float),
        }
    )
    y = 0.5 * np.array(days) + 3.0 * frame["size"].fillna(GAP).to_numpy() + 20.0 * (frame["code"] == "012")
    y += 15.0 * frame["city"].isin(CITIES[:3]) + 10.0 * words[:, 3] - 12.0 * frame["size"].isna()
    return frame.assign(y=y, label=np.where(y > y.median(), "high", "low"))


GAP = 2.0  # about the mean of the first days


@pytest.fixture(scope="module")
def first() -> pd.DataFrame:
    return rows(range(500), np.random.default_rng(1), mean=GAP)


@pytest.fixture(scope="module")
def later() -> pd.DataFrame:
    return rows(range(500, 640), np.random.default_rng(2), mean=50.0)


@pytest.fixture(scope="module")
def files(first, later, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for name, frame in (("first", first), ("later", later)):
        frame.to_parquet(folder / f"{name}.parquet")
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_json(folder / f"{name}.jsonl", orient="records", lines=True, date_format="iso", double_precision=15)
        frame.to_json(folder / f"{name}.json", orient="records", date_format="iso", double_precision=15)
        frame.to_orc(folder / f"{name}.orc")
        frame.to_excel(folder / f"{name}.xlsx", index=False)
    return folder


def command(*arguments) -> str:
    result = CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def opened(source, target="y", **options):
    drop = [name for name in ("y", "label") if name != target]
    return riata.open(source, target, **{"drop": drop, "weight": "w", **COLUMNS, **options})


def learnt(data):
    kind = riata.SparseRegressor if data.classes is None else riata.SparseClassifier
    return kind(alpha=1e-3, tol=1e-9).fit(data)


def by_command_line(files, target):
    """A model that `riata fit` made: of a converted file, since hashing at so few levels is no option there."""
    convert(opened(files / "first.parquet", target), files / f"first-{target}.arrow")
    out = files / f"cli-{target}.json"
    command("fit", files / f"first-{target}.arrow", "--alpha", 1e-3, "--tol", 1e-9, "--quiet", "--out", out)
    return riata.load_model(out)


def saved_and_loaded(files, first, target):
    learnt(opened(first, target)).to_model().save(files / "saved.json")
    return riata.load_model(files / "saved.json")


FITS = {
    "parquet": lambda files, first, target: learnt(opened(files / "first.parquet", target)),
    "csv": lambda files, first, target: learnt(opened(str(files / "first.csv"), target)),
    "json": lambda files, first, target: learnt(opened(files / "first.json", target)),
    "excel": lambda files, first, target: learnt(opened(files / "first.xlsx", target)),
    "duckdb": lambda files, first, target: learnt(opened(f"duckdb:FROM '{files}/first.parquet'", target)),
    "pandas": lambda files, first, target: learnt(opened(first, target)),
    "polars": lambda files, first, target: learnt(opened(pl.from_pandas(first), target)),
    "kept stream": lambda files, first, target: learnt(opened(iter([first[:300], first[300:]]), target)),
    "out of core": lambda files, first, target: learnt(opened(files / "first.csv", target, memory="1MB")),
    "converted": lambda files, first, target: learnt(riata.open(first_converted(files, target))),
    "command line": lambda files, first, target: by_command_line(files, target),
    "loaded": saved_and_loaded,
}


def first_converted(files, target):
    convert(opened(files / "first.parquet", target), files / f"again-{target}.arrow")
    return files / f"again-{target}.arrow"


def predicted_by_command(fitted, files, data):
    model = fitted if isinstance(fitted, riata.model.Model) else fitted.to_model()
    model.save(files / "now.json")
    command("predict", files / "now.json", data, "--out", files / "answers.parquet")
    return pq.read_table(files / "answers.parquet")["prediction"].to_numpy()


def shuffled(frame: pd.DataFrame) -> pd.DataFrame:
    """Without its targets, its columns the other way round, and one more."""
    return frame.drop(columns=["y", "label"])[["note", "city", "w", "code", "size", "day"]].assign(more="x")


ROWS = {
    "pandas": lambda files, later: later,
    "other columns": lambda files, later: shuffled(later),
    "polars": lambda files, later: pl.from_pandas(later),
    "lazy": lambda files, later: pl.from_pandas(later).lazy(),
    "pyarrow": lambda files, later: pa.Table.from_pandas(later),
    "stream": lambda files, later: iter([later[:100], later[100:]]),
    "parquet": lambda files, later: files / "later.parquet",
    "csv": lambda files, later: str(files / "later.csv"),
    "json lines": lambda files, later: files / "later.jsonl",
    "json array": lambda files, later: files / "later.json",
    "orc": lambda files, later: files / "later.orc",
    "excel": lambda files, later: files / "later.xlsx",
    "duckdb": lambda files, later: duckdb.from_arrow(pa.Table.from_pandas(later)),
    "duckdb query": lambda files, later: f"duckdb:SELECT * FROM '{files}/later.parquet'",
    "dataset of a frame": lambda files, later: opened(later),
    "dataset of a file": lambda files, later: opened(str(files / "later.csv"), memory="1MB"),
    "dataset of labels": lambda files, later: riata.open(later, "label"),
    "dataset, no target": lambda files, later: riata.open(shuffled(later), need_target=False),
}


@pytest.fixture(scope="module", params=FITS)
def regression(request, files, first):
    return FITS[request.param](files, first, "y")


@pytest.fixture(scope="module")
def answers(files, first, later):
    """What one way gives, to which all others are held: close to the truth, which another encoding is not."""
    found = learnt(opened(first)).predict(later)
    known = later["city"] != "new"
    assert np.abs(found - later["y"])[known].max() < 1.0
    return found


@pytest.mark.parametrize("way", [way for way in ROWS if way != "dataset of labels"])
def test_every_way_to_fit_and_to_predict_gives_the_same_numbers(regression, way, files, later, answers):
    np.testing.assert_allclose(regression.predict(ROWS[way](files, later)), answers, rtol=1e-6)


@pytest.mark.parametrize("data", ["later.parquet", "later.csv"])
def test_the_command_line_predicts_the_same_numbers(regression, data, files, answers):
    np.testing.assert_allclose(predicted_by_command(regression, files, files / data), answers, rtol=1e-6)


def test_every_way_scores_alike(regression, files, later):
    expected = regression.score(later)
    assert expected > 0.99
    for test in (files / "later.csv", opened(later), opened(files / "later.parquet", memory="1MB")):
        assert regression.score(test) == pytest.approx(expected, rel=1e-9)
        assert tried(regression, test).scores["r2"] == pytest.approx(expected, rel=1e-9)
    assert regression.score(later.drop(columns="y"), later["y"], later["w"]) == pytest.approx(expected, rel=1e-9)
    assert tried(regression, (later, later["y"], later["w"])).scores["r2"] == pytest.approx(expected, rel=1e-9)
    model = regression if isinstance(regression, riata.model.Model) else regression.to_model()
    model.save(files / "now.json")
    said = json.loads(command("evaluate", files / "now.json", files / "later.parquet", "--target", "y", "--json"))
    assert said["r2"] == pytest.approx(expected, rel=1e-9)


@pytest.fixture(scope="module")
def expected_of_labels(first, later):
    """Margins, probabilities, labels and accuracy."""
    reference = learnt(opened(first, "label"))
    answers = reference.decision_function, reference.predict_proba, reference.predict, reference.score
    return [answer(later) for answer in answers]


@pytest.mark.parametrize("fit", FITS)
def test_classes_probabilities_and_margins_are_the_same_numbers(fit, files, first, later, expected_of_labels):
    fitted = FITS[fit](files, first, "label")
    margins, probabilities, labels, accuracy = expected_of_labels
    for way in ("other columns", "polars", "csv", "dataset of labels"):
        new = lambda way=way: ROWS[way](files, later)  # noqa: E731
        np.testing.assert_allclose(fitted.decision_function(new()), margins, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(fitted.predict_proba(new()), probabilities, atol=1e-3)
        assert list(fitted.predict(new())) == list(labels)
    assert fitted.score(riata.open(later, "label", weight="w")) == pytest.approx(accuracy)


def test_a_sketch_of_hashed_columns_predicts_alike(first, later, files):
    fitted = riata.SparseRegressor(k=5, solver="sketch", random_state=0).fit(opened(first, hashed=True))
    expected = fitted.predict(opened(later, encoding=fitted.trained_.encoding))
    for new in (later, shuffled(later), files / "later.parquet", opened(later), opened(later, hashed=True)):
        np.testing.assert_allclose(fitted.predict(new), expected, rtol=1e-12)
    np.testing.assert_allclose(predicted_by_command(fitted, files, files / "later.csv"), expected, rtol=1e-12)


def test_svmlight_rows_count_from_where_the_model_s_did(tmp_path):
    """Rows that lack the first and the last features look one-based, and narrow, by themselves."""
    (tmp_path / "first.svm").write_text("".join(f"{i % 7} 0:{i % 7} 3:{i % 5} 4:1\n" for i in range(50)))
    (tmp_path / "later.svm").write_text("".join(f"0 1:1 3:{i}\n" for i in range(9)))
    fitted = riata.SparseRegressor(k=1).fit(riata.open(tmp_path / "first.svm", task="regression"))
    assert list(fitted.get_support(indices=True)) == [0]
    for new in (tmp_path / "later.svm", riata.open(tmp_path / "later.svm", task="regression")):
        np.testing.assert_allclose(fitted.predict(new), np.zeros(9), atol=1e-9)


def test_validation_rows_choose_alike_however_they_come(first, later, files):
    train = opened(first)
    expected = None
    for others in (
        riata.open(later, "y", encoding=train.encoding),
        opened(later),
        opened(files / "later.csv", memory="1MB"),
        later,
        files / "later.parquet",
        (shuffled(later), later["y"], later["w"]),
    ):
        fitted = riata.SparseRegressor(alpha="auto", select="validation", n_alphas=20).fit(train, validation=others)
        found = fitted.selection_.scores
        expected = found if expected is None else expected
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_validation_rows_with_labels_choose_alike(first, later):
    train = opened(first, "label")
    fit = riata.SparseClassifier(k="auto", select="validation", k_max=5).fit
    ways = (opened(later, "label"), riata.open(later, "label", encoding=train.encoding), later)
    scores = [fit(train, validation=others).selection_.scores for others in ways]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-9)
    np.testing.assert_allclose(scores[2], scores[0], rtol=1e-9)


def test_a_dataset_keeps_its_rows_its_target_and_its_weights(first, later):
    fitted = learnt(opened(first))
    some = later.assign(v=np.where(np.arange(len(later)) % 3, 2.0, 0.0), z=later["y"] + 100.0)
    data = riata.open(some, "z", weight="v")
    counted = np.arange(len(later)) % 3 > 0
    np.testing.assert_allclose(fitted.predict(data), fitted.predict(later)[counted])
    errors = fitted.predict(later)[counted] - some["z"][counted]
    spread = some["z"][counted] - some["z"][counted].mean()
    assert fitted.score(data) == pytest.approx(1 - (errors**2).sum() / (spread**2).sum())


def test_what_cannot_be_read_anew_is_refused_in_a_sentence(first, later, files):
    fitted = learnt(opened(first))
    with pytest.raises(DataError, match="cannot be read again: give the model the stream itself"):
        fitted.predict(opened(iter([later])))
    train = opened(first)
    alike = opened(iter([later]), encoding=train.encoding)
    np.testing.assert_allclose(fitted.predict(alike), fitted.predict(later))
    convert(opened(later), files / "otherwise.arrow")
    for new in (files / "otherwise.arrow", riata.open(files / "otherwise.arrow")):
        with pytest.raises(DataError, match="encoded before, and otherwise"):
            fitted.predict(new)
    with pytest.raises(DataError, match="no column 'city', which the model needs"):
        fitted.predict(later.drop(columns="city"))
    with pytest.raises(DataError, match="no column 'y', the target"):
        fitted.score(later.drop(columns="y"))
    with pytest.raises(OptionError, match="brings its own target"):
        fitted.score(opened(later), later["y"])


def test_a_model_of_plain_numbers_finds_columns_by_name_and_refuses_gaps(tmp_path, rng):
    X = pd.DataFrame(rng.normal(size=(50, 3)), columns=list("abc"))
    fitted = riata.SparseRegressor(k=2).fit(X, X["a"] - 2 * X["c"])
    fitted.to_model().save(tmp_path / "plain.json")
    model = riata.load_model(tmp_path / "plain.json")
    mixed = X[["c", "b", "a"]].assign(more="text", b=None)
    mixed.to_parquet(tmp_path / "mixed.parquet")
    for new in (mixed, tmp_path / "mixed.parquet"):
        np.testing.assert_allclose(model.predict(new), fitted.predict(X))
    np.testing.assert_allclose(fitted.predict(tmp_path / "mixed.parquet"), fitted.predict(X))
    with pytest.raises(DataError, match="column 'a' has gaps"):
        model.predict(mixed.assign(a=[np.nan, *X["a"][1:]]))


def test_a_model_says_what_it_cannot_answer(first, later):
    regression = learnt(opened(first)).to_model()
    with pytest.raises(OptionError, match="no classes to decide between"):
        regression.decision_function(later)
    with pytest.raises(OptionError, match="has no probabilities: only classifiers have"):
        regression.predict_proba(later)
    with pytest.raises(DataError, match="must have two dimensions"):
        regression.predict([1.0, 2.0])
