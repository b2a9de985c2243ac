"""Cases of several choices: all pairs of them, and not every combination.

What goes wrong with choices that are right by themselves mostly goes wrong with two of them; a combination of three
repeats what its pairs have shown, and takes as long.
"""

from collections.abc import Collection
from itertools import combinations, product
from typing import Any


def every_pair(first: Collection[Any], second: Collection[Any], *more: Collection[Any]) -> list[tuple[Any, ...]]:
    """Few tuples of one value of each choice, so that any two values of different choices are together in one."""
    choices = [list(choice) for choice in (first, second, *more)]
    cases = product(*(range(len(choice)) for choice in choices))
    pairs = {case: set(combinations(enumerate(case), 2)) for case in cases}
    unseen, taken = set().union(*pairs.values()), []
    while unseen:
        case = max(pairs, key=lambda case: len(unseen & pairs[case]))
        unseen -= pairs[case]
        taken.append(tuple(choice[i] for choice, i in zip(choices, case, strict=True)))
    return taken
