"""How good a regression of several targets is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riata.data.dataset import Dataset
from riata.errors import DataError
from riata.model.quality.numbers import NumberQuality, NumberSums, check_numbers

if TYPE_CHECKING:
    from riata.model.model import Model

Scores = dict[str, float | None]
AVERAGED = ("r2", "rmse", "mae", "mse")  # over the targets, as scikit-learn does it


@dataclass(frozen=True)
class TargetsQuality:
    """Scores of all targets together, which are means, and how good predictions of each of them are."""

    n_rows: int
    scores: Scores
    by_target: Mapping[str, NumberQuality]
    baseline: Scores = field(default_factory=dict)  # scores of constant predictions


def targets_quality(model: "Model", data: Dataset) -> TargetsQuality:
    """Of each target what is known of one, and the means over targets: one pass."""
    check_numbers(data)
    names = model.targets or []
    if (there := data.facts.targets) is None or len(there) != len(names):
        raise DataError(
            f"the model predicts {len(names)} targets, {', '.join(names)}, and these rows have "
            f"{1 if there is None else len(there)}"
        )
    known = model.training.baseline
    sums = [NumberSums(model, None if known is None else known[k]) for k in range(len(names))]
    for z, chunk in model.visit(data):
        for k, of_target in enumerate(sums):
            of_target.add(z[:, k], chunk._replace(y=chunk.y[:, k]))
    found = {name: of_target.quality() for name, of_target in zip(names, sums, strict=True)}
    of_all, of_constants = (
        _means([one.scores for one in found.values()]),
        _means([one.baseline for one in found.values()]),
    )
    return TargetsQuality(next(iter(found.values())).n_rows, of_all, found, of_constants)


def _means(of_targets: list[Scores]) -> Scores:
    """The mean of each score over the targets; None where some target has none."""
    means: Scores = {}
    for name in AVERAGED:
        values = [one[name] for one in of_targets]
        means[name] = None if None in values else float(np.mean(np.array(values, dtype=np.float64)))
    return means
