"""How good predictions are, in one pass and in memory that does not grow with the rows.

What adds over rows (errors, hits, log losses, a confusion) is added; scores are kept by `ScoreTable`, and of a
regression's rows a sample for pictures.
"""

from typing import TYPE_CHECKING

from riata.data.dataset import Dataset
from riata.model.quality.classes import ClassQuality, class_quality
from riata.model.quality.numbers import NumberQuality, number_quality

if TYPE_CHECKING:
    from riata.model.model import Model

__all__ = ["ClassQuality", "NumberQuality", "quality"]


def quality(model: "Model", data: Dataset) -> ClassQuality | NumberQuality:
    """How good the model is on these rows: one pass."""
    data = model.rows(data)  # with the model's features, however they were opened
    return (number_quality if model.task == "regression" else class_quality)(model, data)
