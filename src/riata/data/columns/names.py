"""Names of features, made when they are asked for: there may be millions, of which a model has a few."""

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import overload

import numpy as np


class Names(Sequence[str]):
    """A list of names that also finds the place of one."""

    @abstractmethod
    def find(self, name: str) -> int | None:
        """The position of a name, None if it is not one of these; of names that are equal, the last."""

    @abstractmethod
    def at(self, i: int) -> str:
        """The name at a position from 0 on."""

    def at_all(self, places: np.ndarray) -> list[str]:
        """The names at some positions."""
        return [self.at(i) for i in places.tolist()]

    @overload
    def __getitem__(self, i: int) -> str: ...

    @overload
    def __getitem__(self, i: slice) -> list[str]: ...

    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self.at(j) for j in range(*i.indices(len(self)))]
        return self.at(range(len(self))[i])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return repr(list(self)) if len(self) <= 10 else f"[{', '.join(map(repr, self[:5]))}, ... {len(self)} names]"


class Listed(Names):
    """A prefix before each of some strings."""

    def __init__(self, strings: Sequence[str], prefix: str = "") -> None:
        self._strings, self._prefix = strings, prefix

    def __len__(self) -> int:
        return len(self._strings)

    def at(self, i: int) -> str:
        return self._prefix + self._strings[i]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {string: i for i, string in enumerate(self._strings)}

    def find(self, name: str) -> int | None:
        return self._places.get(name[len(self._prefix) :]) if name.startswith(self._prefix) else None


class Numbered(Names):
    """The names prefix + number + suffix for consecutive numbers."""

    def __init__(self, prefix: str, first: int, count: int, suffix: str = "") -> None:
        self._prefix, self._numbers, self._suffix = prefix, range(first, first + count), suffix

    def __len__(self) -> int:
        return len(self._numbers)

    def at(self, i: int) -> str:
        return f"{self._prefix}{self._numbers[i]}{self._suffix}"

    def find(self, name: str) -> int | None:
        digits = name.removeprefix(self._prefix).removesuffix(self._suffix)
        found = int(digits) - self._numbers.start if digits.isdecimal() else -1
        return found if 0 <= found < len(self) and self[found] == name else None


class Buckets(Names):
    """Hash buckets: those with a name by it, the others by their numbers, as in `#17`."""

    def __init__(self, prefix: str, bits: int, named: Mapping[str, str]) -> None:
        self._prefix, self._bits, self._n, self._named = prefix, bits, 1 << bits, named

    def __len__(self) -> int:
        return self._n

    def at(self, i: int) -> str:
        return self._prefix + self._named.get(str(i), f"#{i}")

    def at_all(self, places: np.ndarray) -> list[str]:
        names = names_in(self._named, places)
        return [self._prefix + (name or f"#{i}") for i, name in zip(places.tolist(), names, strict=True)]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: int(bucket) for bucket, name in self._named.items()}

    def find(self, name: str) -> int | None:
        if not name.startswith(self._prefix):
            return None
        own = name[len(self._prefix) :]
        digits = own.removeprefix("#")
        by_number = int(digits) if own.startswith("#") and digits.isdecimal() and len(digits) < 10 else -1
        if 0 <= by_number < self._n and str(by_number) == digits and digits not in self._named:
            return by_number
        by_name = getattr(self._named, "bucket_named", None)  # of many names, without a dictionary of them
        return self._places.get(own) if by_name is None else by_name(own, self._bits)


class Joined(Names):
    """Several lists of names, one after the other."""

    def __init__(self, parts: Sequence[Sequence[str]]) -> None:
        self._parts = [part if isinstance(part, Names) else Listed(part) for part in parts]
        self._starts = list(accumulate(map(len, self._parts), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def at(self, i: int) -> str:
        part = bisect_right(self._starts, i) - 1
        return self._parts[part].at(i - self._starts[part])

    def at_all(self, places: np.ndarray) -> list[str]:
        names = np.empty(len(places), dtype=object)
        for part, start in zip(self._parts, self._starts, strict=False):
            own = np.flatnonzero((places >= start) & (places < start + len(part)))
            if len(own):
                names[own] = part.at_all(places[own] - start)
        return names.tolist()

    def find(self, name: str) -> int | None:
        for part, start in zip(reversed(self._parts), reversed(self._starts[:-1]), strict=True):
            if (place := part.find(name)) is not None:
                return start + place
        return None


def names_in(of_buckets: Mapping[str, str], buckets: np.ndarray) -> Sequence[str | None]:
    """The names of some buckets; None for those without one."""
    all_at_once = getattr(of_buckets, "names_of", None)  # where to look each of them up takes long
    return [of_buckets.get(str(i)) for i in buckets.tolist()] if all_at_once is None else all_at_once(buckets)


def named_alone(of_buckets: Mapping[str, str], buckets: np.ndarray) -> dict[str, str]:
    """The names of these buckets by their numbers, without buckets that have no name."""
    names = zip(buckets.tolist(), names_in(of_buckets, buckets), strict=True)
    return {str(bucket): name for bucket, name in names if name is not None}
