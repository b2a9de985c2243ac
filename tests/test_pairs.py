"""The few cases stand for all: no pair of choices is left out."""

from itertools import combinations
from math import prod

import pytest

from pairs import every_pair, pairs_first


@pytest.mark.parametrize("sizes", [(8, 5), (2, 3, 7), (7, 4, 4, 2), (2, 2, 2, 2, 2)], ids=str)
def test_any_two_values_are_together_in_a_case(sizes):
    cases = every_pair(*(range(size) for size in sizes))
    for one, other in combinations(range(len(sizes)), 2):
        assert len({(case[one], case[other]) for case in cases}) == sizes[one] * sizes[other]
    assert len(cases) <= 1.5 * prod(sorted(sizes)[-2:])


def test_cases_that_do_not_have_every_combination_begin_with_all_pairs_that_there_are():
    cases = [(a, b, c) for a in range(6) for b in range(4) for c in range(4) if b <= c]
    ordered = pairs_first(cases)
    assert sorted(ordered) == cases
    pairs = {pair for case in cases for pair in combinations(enumerate(case), 2)}
    assert {pair for case in ordered[:36] for pair in combinations(enumerate(case), 2)} == pairs
