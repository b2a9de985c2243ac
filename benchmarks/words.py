"""Words a second: texts into counts of words, beside scikit-learn's vectorizers.

    python benchmarks/words.py [--rows 10000] [--data ../shared/data] [--out docs/words.md]

The texts are drawn at random from the words of the imdb reviews, or from made-up words where that file is missing, with
frequencies that fall as those of natural words do, and about as long as the reviews. To learn is to find the vocabulary
(riata's first pass, scikit-learn's fit), to encode is to count its words in other rows. Seconds are of the processor,
with one thread.
"""

import argparse
import lzma
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from riata.data.columns.stop_words import ENGLISH
from riata.data.columns.texts import TextLearner, Vocabulary
from riata.data.columns.words import WordRules

TOKENS = r"(?u)[^\W_]+"
CASES = {
    "counts": {},
    "counts, without stop words": {"stop_words": ENGLISH},
    "counts of words and pairs": {"ngrams": 2},
    "tf-idf": {"tfidf": True},
    "hashed counts": {"bits": 16},
}


def vocabulary(folder: Path) -> list[str]:
    path = folder / "imdb_vocab.txt.xz"
    if path.exists():
        return lzma.decompress(path.read_bytes()).decode().split()
    return [f"word{i}" for i in range(80_000)]


def reviews(words: list[str], rows: int, seed: int) -> list[str]:
    """Texts of some two hundred words each, whose frequencies fall as those of a language do."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(10, len(words) + 10)
    drawn = rng.choice(len(words), size=rows * 200, p=shares / shares.sum())
    ends = np.cumsum(rng.multinomial(rows * 200, np.full(rows, 1 / rows)))[:-1]
    return [" ".join([words[j] for j in part]) for part in np.split(drawn, ends)]


def cpu_seconds(work) -> float:
    """The least of three times."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def of_riata(case, learn, other):
    rules = WordRules(case.get("ngrams", 1), case.get("stop_words", ()))
    asked = Vocabulary(rules, 50_000, 5, case.get("tfidf", False), case.get("bits"))
    batches = [learn[i : i + 4096] for i in range(0, len(learn), 4096)]

    def learner():
        found = TextLearner("t", asked)
        for batch in batches:
            found.add([batch], np.ones(len(batch)), None)
        return found

    learner()  # compiled
    encoder = learner().encoder(len(learn))
    encoder.encode([other[:10]], np.float64)
    return cpu_seconds(learner), cpu_seconds(lambda: encoder.encode([other], np.float64))


def of_scikit_learn(case, learn, other):
    how = {"token_pattern": TOKENS, "ngram_range": (1, case.get("ngrams", 1))}
    how["stop_words"] = list(case["stop_words"]) if "stop_words" in case else None
    if "bits" in case:
        hashing = HashingVectorizer(**how, n_features=2 ** case["bits"], alternate_sign=False, norm=None)
        return None, cpu_seconds(lambda: hashing.transform(other))
    kind = TfidfVectorizer if case.get("tfidf") else CountVectorizer
    fitted = kind(**how, max_features=50_000, min_df=5)
    return cpu_seconds(lambda: fitted.fit(learn)), cpu_seconds(lambda: fitted.transform(other))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    words = vocabulary(chosen.data)
    learn, other = (reviews(words, chosen.rows, seed) for seed in (0, 1))
    n_words = sum(map(len, map(str.split, other)))
    lines = [
        f"Millions of words a second of one core, {chosen.rows:,} texts, {n_words:,} words.",
        "",
        "| | riata learns | scikit-learn | riata encodes | scikit-learn |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, case in CASES.items():
        seconds = of_riata(case, pa.array(learn), pa.array(other)), of_scikit_learn(case, learn, other)
        speeds = [["-" if s is None else f"{n_words / s / 1e6:.2f}" for s in both] for both in seconds]
        lines.append(f"| {name} | {speeds[0][0]} | {speeds[1][0]} | {speeds[0][1]} | {speeds[1][1]} |")
    print("\n".join(lines))
    if chosen.out:
        chosen.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
