"""The profile of a stream as a checkpoint has it: later rows go on naming hash buckets and bringing labels."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from riata.data.columns.column import Encoder
from riata.data.columns.crosses import Cross
from riata.data.columns.hashed_names import HashedNames
from riata.data.columns.strings import BucketNames, GrowingNames
from riata.data.encoding import Encoding
from riata.data.opening.profile import Profile
from riata.data.target import GrowingTarget
from riata.schema import checked


def saved_profile(profile: Profile) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Plain values, and arrays by their names: those of growing names, column by column."""
    encoding, arrays = profile.encoding, dict[str, np.ndarray]()
    growing = [one for one in map(_growing, _inmost(encoding)) if one is not None]
    for i, names in enumerate(growing):
        arrays |= {f"names.{i}.{part}": values for part, values in names.saved().items()}
    bare = _changed(encoding, lambda one: one if _growing(one) is None else replace(one, bucket_names={}))
    plain = replace(profile, encoding=bare).to_json()
    places = [i for i, one in enumerate(_inmost(encoding)) if _growing(one) is not None]
    return plain | {"growing": {"names": places, "labels": isinstance(encoding.target, GrowingTarget)}}, arrays


def restored_profile(plain: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Profile:
    """The profile that was saved; damaged values are an error of some kind, which `restoring` makes a sentence."""
    plain = dict(plain)
    growing = checked(dict[str, Any], plain.pop("growing", None), "what grows")
    profile = Profile.from_json(plain)
    places = {place: i for i, place in enumerate(checked(list[int], growing.get("names"), "columns of names"))}
    numbers = iter(range(len(list(_inmost(profile.encoding)))))

    def named(encoder: HashedNames) -> HashedNames:
        i = places.get(next(numbers))
        if i is None:
            return encoder
        saved = {name.rpartition(".")[2]: values for name, values in arrays.items() if name.startswith(f"names.{i}.")}
        return replace(encoder, bucket_names=GrowingNames(BucketNames.restored(encoder.bits, saved)))

    encoding = _changed(profile.encoding, named)
    target = encoding.target
    if growing.get("labels") and target is not None and target.classes is not None:
        encoding = replace(encoding, target=GrowingTarget(target.column, list(target.classes)))
    profile.encoding = encoding
    return profile


def _growing(encoder: HashedNames) -> GrowingNames | None:
    return encoder.bucket_names if isinstance(encoder.bucket_names, GrowingNames) else None


def _inmost(encoding: Encoding) -> Iterator[HashedNames]:
    """All encoders into hash buckets, also those within crosses, in order."""
    found: list[HashedNames] = []

    def note(encoder: HashedNames) -> HashedNames:
        found.append(encoder)
        return encoder

    _changed(encoding, note)
    return iter(found)


def _changed(encoding: Encoding, change: Callable[[HashedNames], HashedNames]) -> Encoding:
    """The encoding in which every encoder into hash buckets is changed."""

    def of(encoder: Encoder) -> Encoder:
        if isinstance(encoder, HashedNames):
            return change(encoder)
        if isinstance(encoder, Cross):
            return replace(encoder, inner=of(encoder.inner))
        return encoder

    return replace(encoding, encoders=tuple(map(of, encoding.encoders)))
