"""What the baseline of a model of numbers is, in words, and which errors are in the unit of the target."""

from collections.abc import Callable

from riata.data.offset import Offset
from riata.model import Model


def what_it_predicts(
    mean: float | None, offset: Offset | None, shown: Callable[[float], str], what: str = "mean"
) -> str:
    """What the baseline does without any feature; `mean` is None where that of the training rows is not known."""
    if offset is None:
        rows = "these rows" if mean is None else "the training rows"
        return f"predicts the {what} of {rows}" + ("" if mean is None else f", {shown(mean)}")
    at = "an exposure of 1" if offset.exposure else "an offset of 0"
    return f"knows the {offset.role} of a row alone" + ("" if mean is None else f", and predicts {shown(mean)} at {at}")


def unit_of(model: Model, target: str) -> str:
    """The unit of the scores that `errors_of` names."""
    return f"shares, of successes ({target}) among trials" if model.loss_function.of_shares else f"the unit of {target}"


def errors_of(model: Model) -> str:
    """The scores that are in the unit of the target."""
    return "RMSE and MAE" if model.loss_function.level is None else "The pinball loss and MAE"
