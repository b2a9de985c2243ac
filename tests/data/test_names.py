"""Names that are made on demand are those of a list, and are found where a list has them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import riata
from riata.data.columns.kept_names import KeptNames
from riata.data.columns.names import Buckets, Joined, Listed, Numbered
from riata.data.columns.packed_names import MANY, compact_names, for_json, plain_names
from riata.data.columns.strings import BucketNames, NamedBuckets, bucket_of, hashes_of, taken_from
from riata.schema import SchemaError

NAMED = {"0": "UA", "3": "DL|AA", "6": "#2"}
LISTS = {
    "listed": (Listed(("b", "", "=a"), "c="), ["c=b", "c=", "c==a"]),
    "numbered": (Numbered("x[", 1, 3, "]"), ["x[1]", "x[2]", "x[3]"]),
    "buckets": (Buckets("c=", 3, NAMED), ["c=UA", "c=#1", "c=#2", "c=DL|AA", "c=#4", "c=#5", "c=#2", "c=#7"]),
    "joined": (Joined([Listed(("a",), "c="), [], ["x"], Numbered("y", 0, 2)]), ["c=a", "x", "y0", "y1"]),
    "none": (Joined([]), []),
    "kept": (KeptNames(iter(["a", "", "Stra\u00dfe", "a"])), ["a", "", "Stra\u00dfe", "a"]),
    "none kept": (KeptNames([]), []),
}


@pytest.mark.parametrize("kind", LISTS)
def test_they_are_those_of_a_list(kind):
    names, expected = LISTS[kind]
    assert list(names) == expected == names
    assert names[1:] == expected[1:]
    assert names[:-1] == expected[:-1]
    with pytest.raises(IndexError):
        names[len(expected)]
    for name in expected:
        assert expected[names.find(name)] == name
    for other in ("", "c", "c=#", "c=#01", "c=#8", "c=#99999999999999", "x[4]", "y2", "c=DL"):
        assert other in expected or names.find(other) is None


@pytest.mark.parametrize("portions", [1, 3, 7])
@pytest.mark.parametrize("merged", [False, True])
def test_buckets_are_named_by_the_first_two_strings_seen(rng, portions, merged):
    strings = [f"s{i}" for i in rng.zipf(1.3, 400) % 90]
    buckets = bucket_of(hashes_of(pa.array(strings)), 5)
    expected = {}
    for bucket, string in zip(buckets.tolist(), strings, strict=True):
        seen = expected.setdefault(str(bucket), [])
        if string not in seen:
            seen.append(string)
    found = BucketNames(5)
    for rows in np.array_split(np.arange(len(strings)), portions):
        part = pa.array(strings).take(pa.array(rows))
        other = BucketNames(5) if merged else found
        other.add(hashes_of(part), taken_from(part))
        if merged:
            found.merge(other)
    wanted = {b: "|".join(seen[:2] + ["..."] * (len(seen) > 2)) for b, seen in expected.items()}
    named = found.named()
    assert dict(named) == wanted
    assert dict(named.items()) == wanted
    some = rng.permutation(2**5)
    assert found.names_of(some) == named.names_of(some) == [wanted.get(str(bucket)) for bucket in some]
    assert {str(named.bucket_named(name, 5)): name for name in wanted.values()} == wanted
    assert named.bucket_named("none of them", 5) is None
    assert str(2**5) not in named


def test_many_names_from_a_file_are_kept_in_less_memory():
    many = {str(3 * i): f"level {i}" for i in reversed(range(MANY))}
    kept = compact_names(many)
    assert isinstance(kept, NamedBuckets)
    assert kept == many
    for few_or_odd in ({"1": "a"}, many | {"one": "odd"}, many | {"9" * 30: "odd"}):
        assert compact_names(few_or_odd) is few_or_odd


@pytest.mark.parametrize("wanted", [0, 1, 1000, MANY])
def test_many_names_are_narrowed_as_few_are(rng, wanted):
    """To those that are asked for, whatever else is: by hashes in place of a look at each."""
    named = compact_names({str(3 * i): f"level {i}|other {i}" for i in range(MANY)})
    chosen = np.sort(rng.choice(MANY, wanted, replace=False))
    names = [f"c=level {i}|other {i}" for i in rng.permutation(chosen)]
    narrowed = named.among([*names, "c=none of them", "level 0|other 0"], "c=")
    assert narrowed == {str(3 * i): f"level {i}|other {i}" for i in chosen.tolist()}
    assert narrowed == named.among(iter(names), "c=")
    assert (narrowed == named) == (wanted == MANY)


TABLE = pa.table({
    "x": [1.5, None, 3.0, 4.0] * 50,
    "few": ["a", "b", None, "c"] * 50,
    "many": [f"level {i % 70}" for i in range(200)],
    "words": ["so it is", "it was", "so", ""] * 50,
    "y": [0, 1] * 100,
})  # fmt: skip


@pytest.mark.parametrize("one_pass", [False, True])
def test_an_encoding_is_narrowed_to_places_as_to_names(rng, tmp_path, one_pass):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    options = {"text": ["words"], "crosses": [("few", "many"), ("few", "x")], "max_levels": 20, "hash_bits": 5}
    data = riata.open(tmp_path / "t.parquet", "y", one_pass=one_pass, **options)
    list(data.visit())
    whole, names = data.encoding, list(data.feature_names)
    for n_chosen in (0, 1, 10, len(names)):
        chosen = np.sort(rng.choice(len(names), n_chosen, replace=False))
        wanted = whole.of_features([names[i] for i in chosen])
        assert whole.of_places(chosen).to_json() == wanted.to_json()
        assert data.feature_names.at_all(chosen) == [names[i] for i in chosen]


def packed_names():
    return for_json(compact_names({str(3 * i): f"Stra\u00dfe {i}" * (i > 0) for i in range(MANY)}))


def test_many_names_go_through_a_file_packed():
    plain = packed_names()
    assert all(isinstance(part, str) for part in plain.values())
    found = compact_names(plain)
    assert len(found) == MANY
    assert [found[bucket] for bucket in ("0", "3", str(3 * MANY - 3))] == [
        "",
        "Stra\u00dfe 1",
        f"Stra\u00dfe {MANY - 1}",
    ]
    assert for_json(found) == plain
    assert plain_names(found) is found
    assert compact_names(found) is found
    with pytest.raises(TypeError, match="a set is no plain value"):
        for_json({1})


DAMAGE = {
    "fewer buckets": ("buckets", lambda text: text[:-12]),
    "buckets in disorder": ("buckets", lambda text: text[12:] + text[:12]),
    "no numbers": ("ends", lambda text: "?"),
    "half a number": ("ends", lambda text: text[:-8]),
    "less text": ("text", lambda text: text[1:]),
    "a letter of two names": ("text", lambda text: text[:7] + "\u00df" + text[9:]),
    "half a letter": ("text", lambda text: text[:-1] + "\ud800"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_packed_names_that_are_damaged_are_refused(damage):
    (part, wrong), plain = DAMAGE[damage], packed_names()
    with pytest.raises(SchemaError, match="damaged"):
        compact_names(plain | {part: wrong(plain[part])})
