"""How good predictions are, in one pass and in memory that does not grow with the rows.

What adds over rows (errors, hits, log losses, a confusion) is added; scores are kept by `ScoreTable`, and of a
regression's rows a sample for pictures. Times to events are the exception (`risks`).
"""

from typing import TYPE_CHECKING

from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.model.quality.classes import ClassQuality, class_quality
from riata.model.quality.numbers import NumberQuality, number_quality
from riata.model.quality.risks import RiskQuality, risk_quality
from riata.model.quality.targets import TargetsQuality, levels_quality, targets_quality

if TYPE_CHECKING:
    from riata.model.model import Model

__all__ = ["ClassQuality", "NumberQuality", "Quality", "RiskQuality", "TargetsQuality", "quality"]

Quality = ClassQuality | NumberQuality | RiskQuality | TargetsQuality


def quality(model: "Model", data: Dataset) -> Quality:
    """How good the model is on these rows: one pass."""
    data = model.rows(data)  # with the model's features, however they were opened
    if model.task == "survival":
        return risk_quality(model, data)
    if model.targets is not None:
        return targets_quality(model, data)
    if data.facts.targets is not None:
        raise DataError(f"the model predicts one target, and these rows have {len(data.facts.targets)}")
    if model.levels:
        return levels_quality(model, data)
    return (number_quality if model.task == "regression" else class_quality)(model, data)
