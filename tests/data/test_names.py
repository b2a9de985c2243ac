"""Names that are made on demand are those of a list, and are found where a list has them."""

import numpy as np
import pyarrow as pa
import pytest

from riata.data.columns.names import Buckets, Joined, Listed, Numbered
from riata.data.columns.strings import MANY, BucketNames, NamedBuckets, bucket_of, compact, hashes_of

NAMED = {"0": "UA", "3": "DL|AA", "6": "#2"}
LISTS = {
    "listed": (Listed(("b", "", "=a"), "c="), ["c=b", "c=", "c==a"]),
    "numbered": (Numbered("x[", 1, 3, "]"), ["x[1]", "x[2]", "x[3]"]),
    "buckets": (Buckets("c=", 3, NAMED), ["c=UA", "c=#1", "c=#2", "c=DL|AA", "c=#4", "c=#5", "c=#2", "c=#7"]),
    "joined": (Joined([Listed(("a",), "c="), [], ["x"], Numbered("y", 0, 2)]), ["c=a", "x", "y0", "y1"]),
    "none": (Joined([]), []),
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
    found = BucketNames()
    for rows in np.array_split(np.arange(len(strings)), portions):
        part = pa.array(strings).take(pa.array(rows))
        other = BucketNames() if merged else found
        other.add(bucket_of(hashes_of(part), 5), hashes_of(part), part)
        if merged:
            found.merge(other)
    wanted = {b: "|".join(seen[:2] + ["..."] * (len(seen) > 2)) for b, seen in expected.items()}
    named = found.named()
    assert dict(named) == wanted
    assert dict(named.items()) == wanted
    assert {str(named.bucket_named(name, 5)): name for name in wanted.values()} == wanted
    assert named.bucket_named("none of them", 5) is None
    assert str(2**5) not in named


def test_many_names_from_a_file_are_kept_in_less_memory():
    many = {str(3 * i): f"level {i}" for i in reversed(range(MANY))}
    kept = compact(many)
    assert isinstance(kept, NamedBuckets)
    assert kept == many
    for few_or_odd in ({"1": "a"}, many | {"one": "odd"}, many | {"9" * 30: "odd"}):
        assert compact(few_or_odd) is few_or_odd
