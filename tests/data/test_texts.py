"""Words of texts as features: as scikit-learn counts them, with names, the same when rows are predicted."""

import copy

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import riata
from riata.data.columns.stop_words import ENGLISH, stop_words_of
from riata.data.columns.texts import TextLearner, Vocabulary
from riata.data.columns.words import WordRules
from riata.errors import OptionError

TOKENS = r"(?u)[^\W_]+"  # riata's words: letters and digits, also alone


SPELLINGS = "the a not Good bad FILM 42 Éclair über “quoted” naïve café x7 и снег film-noir it's…"


def texts(rng, n=300):
    """Sentences of a small vocabulary, with punctuation, capitals, other alphabets, and nothing."""
    words = SPELLINGS.split()
    shares = 1 / np.arange(1, len(words) + 1)
    lines = [" ".join(rng.choice(words, rng.integers(0, 12), p=shares / shares.sum())) for _ in range(n)]
    return [line.replace(" ", ",  ", 1) for line in lines]


def opened(lines, **options):
    frame = pd.DataFrame({"t": lines, "x": np.arange(len(lines)) % 7 / 7, "y": np.arange(len(lines)) % 5 / 5})
    data = riata.open(frame, target="y", text=["t"], task="regression", **options)
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    return pd.DataFrame(X, columns=list(data.feature_names)).drop(columns="x"), data


@pytest.mark.parametrize("ngrams", [1, 2, 3, 5])
@pytest.mark.parametrize("stop_words", [(), ("the", "not", "über")], ids=["all words", "stop words"])
@pytest.mark.parametrize("min_rows", [1, 4])
@pytest.mark.parametrize("tfidf", [False, True], ids=["counts", "tf-idf"])
def test_as_scikit_learn_has_them(ngrams, stop_words, min_rows, tfidf, rng):
    lines = texts(rng)
    X, _ = opened(lines, ngrams=ngrams, stop_words=stop_words, min_rows=min_rows, tfidf=tfidf)
    kind = TfidfVectorizer if tfidf else CountVectorizer
    theirs = kind(token_pattern=TOKENS, ngram_range=(1, ngrams), stop_words=list(stop_words) or None, min_df=min_rows)
    expected = theirs.fit_transform(lines).toarray()
    assert list(X) == [f"t:{word}" for word in theirs.get_feature_names_out()]
    assert_allclose(X.to_numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"tfidf": True, "ngrams": 3, "stop_words": "english"}, {"hash_text": True}])
def test_other_rows_are_encoded_as_those_of_the_fit(options, rng, tmp_path):
    lines = texts(rng)
    frame = pd.DataFrame({"t": lines, "y": rng.normal(size=len(lines)) + [line.count("bad") for line in lines]})
    fitted = riata.SparseRegressor(k=4).fit(riata.open(frame, target="y", text=["t"], **options))
    fitted.to_model().save(tmp_path / "model.json")
    model = riata.load_model(tmp_path / "model.json")
    expected = fitted.predict(riata.open(frame, target="y", text=["t"], **options))
    assert_allclose(model.predict(frame), expected, atol=1e-12)
    few = pd.concat([frame[5:9], pd.DataFrame({"t": ["a word never seen", None]})])
    assert_allclose(model.predict(few)[:4], expected[5:9], atol=1e-12)
    assert np.isfinite(model.predict(few)).all()


def test_parts_are_put_together_as_threads_and_workers_do(rng):
    lines = pa.array(texts(rng))
    at_once = TextLearner("t", Vocabulary(WordRules(2), min_rows=2, tfidf=True))
    parts = [copy.deepcopy(at_once) for _ in range(3)]
    at_once.add([lines], np.ones(300), None)
    for part, start in zip(parts, (0, 10, 200), strict=True):
        some = lines[start : {0: 10, 10: 200, 200: 300}[start]]
        part.add([some], np.ones(len(some)), None)
    parts[0].merge(parts[1])
    parts[0].merge(parts[2])
    assert parts[0].encoder(300) == at_once.encoder(300)


def test_hashed_words_pass_over_stop_words_too(rng):
    lines = texts(rng)
    rules = WordRules(2, ("the",))
    names = {rules.name(spelled) for spelled in rules.words(pa.array(lines)).spelled(np.arange(50))}
    assert not any("the" in name.split() for name in names)
    _, data = opened(lines, hash_text=True, stop_words=["the"], ngrams=2)
    assert not any("t:the" in name.split("|")[0] for name in data.feature_names)
    hashed = riata.open(
        pd.DataFrame({"t": lines, "y": rng.normal(size=300)}), target="y", text=["t"], stop_words=["the"], hashed=True
    )
    assert next(iter(hashed.visit())).X.array.nnz == sum(
        len({word for word in CountVectorizer(token_pattern=TOKENS).build_analyzer()(line) if word != "the"})
        for line in lines
    )


def test_stop_words_of_lists_and_of_ones_own():
    assert stop_words_of("english") == tuple(sorted(ENGLISH)) == stop_words_of(["english"])
    assert stop_words_of(["english", "Don't"]) == tuple(sorted({*ENGLISH, "don", "t"}))
    assert not {"not", "no", "never", "very", "few"} & set(ENGLISH)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ngrams": 0}, "ngrams must be 1"),
        ({"ngrams": 9}, "ngrams must be 1"),
        ({"min_rows": 0}, "min_rows must be one row or more"),
        ({"tfidf": True, "hash_text": True}, "tfidf asks in how many rows"),
        ({"min_rows": 3, "hashed": True}, "min_rows asks in how many rows"),
    ],
)
def test_what_makes_no_sense_is_refused(options, sentence, rng):
    with pytest.raises(OptionError, match=sentence):
        opened(texts(rng, 30), **options)


def test_prose_is_taken_for_text_and_said(rng):
    words = ["good", "bad", "film", "the", "of", "plot", "music", "long"]
    lines = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    frame = pd.DataFrame({"review": lines, "y": rng.normal(size=200)})
    data = riata.open(frame, target="y")
    assert "review:good" in data.feature_names
    assert any(
        "looks like free text: its words are counted (categorical=['review'] makes levels of it)" in n
        for n in data.profile.notes
    )
    assert "review:good" not in riata.open(frame, target="y", categorical=["review"]).feature_names
