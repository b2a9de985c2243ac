"""Cases of several choices: all pairs of them, and not every combination.

What goes wrong with choices that are right by themselves mostly goes wrong with two of them; a combination of three
repeats what its pairs have shown, and takes as long.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, product
from typing import Any, TypeVar

Case = TypeVar("Case", bound=tuple[Any, ...])


def every_pair(first: Collection[Any], second: Collection[Any], *more: Collection[Any]) -> list[tuple[Any, ...]]:
    """Few tuples of one value of each choice, so that any two values of different choices are together in one."""
    choices = [list(choice) for choice in (first, second, *more)]
    numbers = product(*(range(len(choice)) for choice in choices))  # values may not be hashable
    return [tuple(choice[i] for choice, i in zip(choices, case, strict=True)) for case in _with_new_pairs(numbers)]


def pairs_first(cases: Iterable[Case]) -> list[Case]:
    """All of these cases, in an order of which a short beginning has all pairs that there are."""
    cases = list(cases)
    first = list(_with_new_pairs(cases))
    return first + [case for case in cases if case not in set(first)]


def _with_new_pairs(cases: Iterable[Case]) -> Iterator[Case]:
    """Those that together have every pair of values, the one with most that are new first."""
    pairs = {case: set(combinations(enumerate(case), 2)) for case in cases}
    unseen = set().union(*pairs.values())
    while unseen:
        case = max(pairs, key=lambda case: len(unseen & pairs[case]))
        unseen -= pairs[case]
        yield case
