"""How good predictions are: the numbers that `evaluate` and `--test` report."""

from riata.data.dataset import Dataset
from riata.model.model import Model
from riata.model.quality import quality


def scores(model: Model, data: Dataset) -> dict[str, float | None]:
    """Accuracy, AUC and log loss of a classifier, R2 and mean squared error of a regression: one pass."""
    return quality(model, data).scores
