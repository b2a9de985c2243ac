"""How good predictions are, in one pass and in memory that does not grow with the rows.

What adds over rows (errors, hits, log losses, a confusion) is added; scores are kept by `ScoreTable`, and of a
regression's rows a sample for pictures. Times to events are the exception (`risks`).
"""

from typing import TYPE_CHECKING

from riata.data.dataset import Dataset
from riata.model.quality.classes import ClassQuality, class_quality
from riata.model.quality.numbers import NumberQuality, number_quality
from riata.model.quality.risks import RiskQuality, risk_quality

if TYPE_CHECKING:
    from riata.model.model import Model

__all__ = ["ClassQuality", "NumberQuality", "Quality", "RiskQuality", "quality"]

Quality = ClassQuality | NumberQuality | RiskQuality


def quality(model: "Model", data: Dataset) -> Quality:
    """How good the model is on these rows: one pass."""
    data = model.rows(data)  # with the model's features, however they were opened
    if model.task == "survival":
        return risk_quality(model, data)
    return (number_quality if model.task == "regression" else class_quality)(model, data)
