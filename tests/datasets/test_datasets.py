"""digits49 is what its names say, its cache is harmless, and Gisette is checked before it is believed."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from riata.datasets import digits49 as recipe
from riata.datasets import fetch_gisette, gisette, is_probe, load_digits49, read_gisette
from riata.datasets.table import recall
from riata.errors import DataError

SPLITS = ["train", "test"]


@pytest.fixture(scope="module")
def built():
    return recipe.build()


@pytest.fixture
def few(built):
    """Some rows of each split: what a cache does with them it does with all."""
    return {split: type(table)(table.X[:50], table.y[:50], table.feature_names) for split, table in built.items()}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RIATA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def no_rebuild(monkeypatch):
    """A call that forbids building from then on, so that what loads came from the cache."""

    def refuse():
        raise AssertionError("built again")

    return lambda: monkeypatch.setattr(recipe, "build", refuse)


def assert_same(table, other):
    for ours, theirs in zip(table, other, strict=True):
        assert ours.dtype == theirs.dtype
        assert_array_equal(ours, theirs)


def largest_correlation(X, y):
    X = X - X.mean(axis=0)
    norms = np.linalg.norm(X, axis=0) * np.linalg.norm(y)
    return np.max(np.abs(y @ X) / np.where(norms > 0, norms, 1))


# digits49: contents


@pytest.mark.parametrize(("split", "n"), [("train", 6000), ("test", 1000)])
def test_shape_labels_density_and_range(built, split, n):
    X, y, names = built[split]
    assert X.shape == (n, 5000)
    assert X.dtype == np.float32
    assert y.dtype == np.float64
    assert np.sum(y == 1) == np.sum(y == -1) == n // 2
    assert len(set(names)) == 5000
    assert is_probe(names).sum() == 2500
    assert X.min() == 0
    assert X.max() == 999
    assert_array_equal(X, np.rint(X))
    assert 0.13 < np.mean(X > 0) < 0.20


def test_few_columns_are_constant(built):
    assert np.sum(np.ptp(built["train"].X, axis=0) == 0) < 25


def test_splits_have_the_same_columns(built):
    assert_array_equal(built["train"].feature_names, built["test"].feature_names)


@pytest.mark.parametrize("split", SPLITS)
def test_real_columns_are_what_their_names_say(built, split):
    X, y, names = built[split]
    with np.load(recipe.files("riata.datasets") / "mnist49.npz") as mnist:
        v = mnist[f"{split}_images"] / 255
        assert_array_equal(y == 1, mnist[f"{split}_digits"] == 9)
    for j in np.flatnonzero(~is_probe(names)):
        places = [(int(r), int(c)) for r, c in re.findall(r"r(\d\d)c(\d\d)", names[j])]
        assert names[j].startswith("pixel_" if len(places) == 1 else "product_")
        expected = 999 * np.prod([v[:, r, c] for r, c in places], axis=0)
        assert np.max(np.abs(X[:, j] - expected)) <= 0.5 + 1e-9


@pytest.mark.parametrize("split", SPLITS)
def test_probes_know_nothing_of_the_label(built, split):
    X, y, names = built[split]
    probes = is_probe(names)
    # 4.5 deviations of a chance correlation, over 2500 columns: exceeded once in about 60 seeds
    assert largest_correlation(X[:, probes], y) < 4.5 / np.sqrt(len(y))
    assert largest_correlation(X[:, ~probes], y) > 0.5


def test_probes_look_like_real_columns(built):
    X, _, names = built["train"]
    probes = is_probe(names)
    assert np.mean(X[:, probes] > 0) == pytest.approx(np.mean(X[:, ~probes] > 0), abs=0.02)
    assert X[:, probes].mean() == pytest.approx(X[:, ~probes].mean(), rel=0.1)


def test_the_seed_decides(built):
    assert_same(built["test"], recipe.build()["test"])
    assert np.any(built["test"].feature_names != recipe.build(seed=1)["test"].feature_names)


def test_is_probe_takes_a_list():
    assert_array_equal(is_probe(["pixel_r07c12", "probe_0001", "probes"]), [False, True, False])


# digits49: cache


def test_what_is_cached_is_what_was_built(few, cache, monkeypatch, no_rebuild):
    monkeypatch.setattr(recipe, "build", lambda: few)
    assert_same(load_digits49("train"), few["train"])
    no_rebuild()
    for split in SPLITS:
        assert_same(load_digits49(split), few[split])
    assert not list(cache.glob("*.part"))


@pytest.mark.parametrize("damage", ["truncate", "text", "flip"])
def test_a_corrupt_cache_is_rebuilt(few, cache, monkeypatch, no_rebuild, damage):
    monkeypatch.setattr(recipe, "build", lambda: {"test": few["test"]})
    load_digits49("test")
    path = cache / f"{recipe.VERSION}-test.npz"
    content = path.read_bytes()
    half = len(content) // 2
    flipped = content[:half] + bytes([content[half] ^ 255]) + content[half + 1 :]
    path.write_bytes({"truncate": content[:half], "text": b"not a cache", "flip": flipped}[damage])
    assert recall(f"{recipe.VERSION}-test") is None
    assert_same(load_digits49("test"), few["test"])
    no_rebuild()
    assert_same(load_digits49("test"), few["test"])


def test_a_cache_that_cannot_be_written_is_no_cache(built, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RIATA_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(recipe, "build", lambda: {"test": built["test"]})
    assert_same(load_digits49("test"), built["test"])


@pytest.mark.parametrize("load", [load_digits49, fetch_gisette, lambda split: read_gisette(".", split)])
def test_unknown_split(load):
    with pytest.raises(ValueError, match=r"^split must be 'train' or 'test', not 'valid'$"):
        load("valid")


# Gisette


@pytest.fixture
def uci(tmp_path, monkeypatch):
    """A stand-in for UCI's folder, with a validation set of the right size."""
    root = tmp_path / "uci"
    (root / "GISETTE").mkdir(parents=True)
    rows = [" ".join(["0"] * i + ["999"] + ["0"] * (4999 - i)) + " \n" for i in range(1000)]
    (root / "GISETTE" / "gisette_valid.data").write_text("".join(rows))
    (root / "gisette_valid.labels").write_text("1\n-1\n" * 500)
    monkeypatch.setattr(gisette, "UCI", root.as_uri())
    return root


def test_gisette_is_fetched_once(uci, cache):
    table = fetch_gisette("test")
    assert_array_equal(table.X, 999 * np.eye(1000, 5000, dtype=np.float32))
    assert_array_equal(table.y, np.tile([1.0, -1.0], 500))
    assert list(table.feature_names[[0, -1]]) == ["f0001", "f5000"]
    (uci / "gisette_valid.labels").unlink()
    for path in (cache / "gisette").iterdir():
        path.unlink()
    assert_same(fetch_gisette("test"), table)


DATA, LABELS = gisette.FILES["test"]
WRONG = {
    "labels": (LABELS, "1\n" * 1000, "500 labels +1 and 500 labels -1, not 1000 and 0 among 1000"),
    "few labels": (LABELS, "1\n-1\n", "not 1 and 1 among 2"),
    "shape": (DATA, "1 2 3\n4 5 6\n", "1000 rows of 5000 numbers, not 2 of 3"),
    "range": (DATA, ("-1" + " 0" * 4999 + "\n") * 1000, "from 0 to 999, not -1 to 0"),
    "page": (DATA, "<html>moved</html>", "gisette_valid.data is not a table of numbers"),
}


@pytest.mark.parametrize(("name", "content", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_files_are_deleted_and_said_so(uci, cache, name, content, sentence):
    (uci / name).write_text(content)
    with pytest.raises(DataError, match=re.escape(sentence)) as caught:
        fetch_gisette("test")
    assert "were deleted" in str(caught.value)
    assert not list((cache / "gisette").iterdir())


def test_offline_says_what_where_and_what_to_do(cache, monkeypatch):
    monkeypatch.setattr(gisette, "UCI", "http://127.0.0.1:9")  # the discard port: refused at once
    with pytest.raises(DataError) as caught:
        fetch_gisette("train")
    sentence = str(caught.value)
    for part in ("gisette_train.data", "http://127.0.0.1:9", str(cache / "gisette"), "digits49"):
        assert part in sentence
    assert "\n" not in sentence
    assert not list(cache.rglob("*.part"))


def test_reading_a_folder_without_the_files(tmp_path):
    with pytest.raises(DataError, match=r"^there is no gisette_train\.data in .*take digits49"):
        read_gisette(tmp_path, "train")
