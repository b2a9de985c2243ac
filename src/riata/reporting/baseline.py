"""What the baseline of a model of numbers is, in words."""

from collections.abc import Callable

from riata.data.offset import Offset


def what_it_predicts(mean: float | None, offset: Offset | None, shown: Callable[[float], str]) -> str:
    """What the baseline does without any feature; `mean` is None where that of the training rows is not known."""
    if offset is None:
        rows = "these rows" if mean is None else "the training rows"
        return f"predicts the mean of {rows}" + ("" if mean is None else f", {shown(mean)}")
    at = "an exposure of 1" if offset.exposure else "an offset of 0"
    return f"knows the {offset.role} of a row alone" + ("" if mean is None else f", and predicts {shown(mean)} at {at}")
