"""A baseline that knows offsets does not predict one and the same number for every row, and does not say so."""

import pytest

from riata.data.offset import Offset
from riata.reporting.baseline import what_it_predicts

SENTENCES = [
    (0.25, None, "predicts the mean of the training rows, 0.25"),
    (None, None, "predicts the mean of these rows"),
    (0.25, Offset("years", exposure=True), "knows the exposure of a row alone, and predicts 0.25 at an exposure of 1"),
    (0.25, Offset(), "knows the offset of a row alone, and predicts 0.25 at an offset of 0"),
    (None, Offset(), "knows the offset of a row alone"),
]


@pytest.mark.parametrize(("mean", "offset", "sentence"), SENTENCES)
def test_what_a_baseline_predicts(mean, offset, sentence):
    assert what_it_predicts(mean, offset, str) == sentence
